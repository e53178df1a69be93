/** The newest lines of one agent in memory, bounded by their number and their size. Used by `logs.ts`. */

/** A line as it is kept: JSON of an `Output`, with its number. */
export interface KeptLine {
  /** Counts up over all agents of one host. */
  readonly n: number
  readonly at: number
  readonly json: string
}

export class LineRing {
  readonly #maxLines: number
  readonly #maxChars: number
  #lines: KeptLine[] = []
  #head = 0
  #chars = 0

  constructor(maxLines: number, maxChars: number) {
    this.#maxLines = maxLines
    this.#maxChars = maxChars
  }

  get size(): number {
    return this.#lines.length - this.#head
  }

  push(line: KeptLine): void {
    this.#lines.push(line)
    this.#chars += line.json.length
    while (this.size > this.#maxLines || (this.#chars > this.#maxChars && this.size > 1)) {
      this.#chars -= this.#lines[this.#head]!.json.length
      this.#head++
    }
    // The front is cut off now and then, not at each line.
    if (this.#head > this.#maxLines) {
      this.#lines = this.#lines.slice(this.#head)
      this.#head = 0
    }
  }

  /** Oldest first; a copy. */
  lines(): KeptLine[] {
    return this.#lines.slice(this.#head)
  }
}
