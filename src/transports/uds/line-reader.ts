/**
 * Bytes to lines. Only LF ends a line, and it is looked for in bytes, so a character is never cut and no other kind of
 * line end counts. What is held is copied a bounded number of times, however small the pieces in which it comes. Used at
 * both ends of the socket.
 */

const LF = 10
const EMPTY = Buffer.alloc(0)
const LEAST_BYTES = 1024

export class LineReader {
  readonly #limit: number
  #bytes: Buffer = EMPTY
  /** What is held lies from here to #to; an LF is looked for from #scanned on. */
  #from = 0
  #to = 0
  #scanned = 0
  /** The buffer is our own and may be written to; else it is the piece that came last. */
  #own = false
  #overlong = false

  /** @param limit longest line in bytes, without its LF */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Bytes that are held. */
  get held(): number {
    return this.#to - this.#from
  }

  /** A line is longer than may be; found by `next`. Nothing comes after it. */
  get overlong(): boolean {
    return this.#overlong
  }

  push(piece: Buffer): void {
    if (this.held === 0) {
      this.#hold(piece, piece.length, false)
      return
    }
    if (!this.#own || this.#bytes.length - this.#to < piece.length) this.#makeRoom(piece.length)
    piece.copy(this.#bytes, this.#to)
    this.#to += piece.length
  }

  /** The next whole line without its LF, good until the next `push`; null: there is none yet. */
  next(): Buffer | null {
    const at = this.#overlong ? -1 : this.#bytes.subarray(0, this.#to).indexOf(LF, this.#scanned)
    const end = at === -1 ? this.#to : at
    if (end - this.#from > this.#limit) this.#overlong = true
    if (at === -1 || this.#overlong) {
      this.#scanned = this.#to
      return null
    }
    return this.#take(at, at + 1)
  }

  /** What is left after the last LF, once nothing more can come. */
  rest(): Buffer {
    return this.#take(this.#to, this.#to)
  }

  /** The first of what is held, for a message. */
  peek(bytes: number): Buffer {
    return this.#bytes.subarray(this.#from, Math.min(this.#to, this.#from + bytes))
  }

  clear(): void {
    this.#hold(EMPTY, 0, false)
  }

  #take(end: number, next: number): Buffer {
    const line = this.#bytes.subarray(this.#from, end)
    this.#from = next
    this.#scanned = next
    if (this.#from === this.#to) this.clear()
    return line
  }

  #hold(bytes: Buffer, length: number, own: boolean): void {
    this.#bytes = bytes
    this.#from = 0
    this.#to = length
    this.#scanned = 0
    this.#own = own
  }

  /** Doubles, so that all copying together is no more than twice what came; moves to the front where that is enough. */
  #makeRoom(more: number): void {
    const { held } = this
    const scanned = this.#scanned - this.#from
    const enough = this.#own && 2 * (held + more) <= this.#bytes.length
    const bytes = enough ? this.#bytes : Buffer.allocUnsafeSlow(Math.max(LEAST_BYTES, 2 * (held + more)))
    this.#bytes.copy(bytes, 0, this.#from, this.#to)
    this.#hold(bytes, held, true)
    this.#scanned = scanned
  }
}
