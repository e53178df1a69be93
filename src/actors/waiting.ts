/**
 * What waits for messages, by their positions: a ring from the oldest that is waited for to the newest. Positions come in
 * order and go nearly so, which makes it several times cheaper than a Map. Used by `asks.ts` and `fates.ts`.
 */

const INITIAL = 64

export class Waiting<T> {
  #slots: (T | undefined)[] = new Array<T | undefined>(INITIAL).fill(undefined)
  #mask = INITIAL - 1
  /** All that waits lies in [first, next). */
  #first = 0
  #next = 0
  #size = 0

  get size(): number {
    return this.#size
  }

  get(position: number): T | undefined {
    return position >= this.#first && position < this.#next ? this.#slots[position & this.#mask] : undefined
  }

  /** Whoever waited there before is forgotten. */
  set(position: number, value: T): void {
    if (this.#size === 0) {
      this.#first = position
      this.#next = position + 1
    } else if (position >= this.#next) this.#reachUp(position)
    else if (position < this.#first) this.#reachDown(position)
    const index = position & this.#mask
    if (this.#slots[index] === undefined) this.#size++
    this.#slots[index] = value
  }

  /** Takes it out. */
  take(position: number): T | undefined {
    const value = this.get(position)
    if (value === undefined) return undefined
    this.#slots[position & this.#mask] = undefined
    this.#size--
    return value
  }

  /** All there is at this moment, in the order of positions. */
  entries(): [position: number, value: T][] {
    const found: [number, T][] = []
    for (let position = this.#first; this.#size > 0 && position < this.#next; position++) {
      const value = this.#slots[position & this.#mask]
      if (value !== undefined) found.push([position, value])
    }
    return found
  }

  /** Gives up what is empty at the low end before it grows. */
  #reachUp(position: number): void {
    while (position - this.#first > this.#mask && this.#slots[this.#first & this.#mask] === undefined) this.#first++
    if (position - this.#first > this.#mask) this.#grow(position + 1 - this.#first)
    this.#next = position + 1
  }

  #reachDown(position: number): void {
    const full = (): boolean => this.#next - position > this.#mask + 1
    while (full() && this.#slots[(this.#next - 1) & this.#mask] === undefined) this.#next--
    if (full()) this.#grow(this.#next - position)
    this.#first = position
  }

  #grow(span: number): void {
    const [slots, mask] = [this.#slots, this.#mask]
    let size = slots.length
    while (size < span) size *= 2
    this.#slots = new Array<T | undefined>(size).fill(undefined)
    this.#mask = size - 1
    for (let position = this.#first; position < this.#next; position++)
      this.#slots[position & this.#mask] = slots[position & mask]
  }
}
