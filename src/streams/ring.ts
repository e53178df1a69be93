/**
 * A first-in, first-out buffer of bounded size that gives up its oldest for the newest. One per subscriber of a bus. It
 * keeps no reference to what was taken or given up.
 */
export class Ring<T> {
  readonly #limit: number
  readonly #slots: (T | undefined)[] = []
  #head = 0
  #size = 0

  /** @param limit how many it holds at most, a whole number from 1 */
  constructor(limit: number) {
    this.#limit = Math.max(1, Math.floor(limit))
  }

  get size(): number {
    return this.#size
  }

  /** Adds the newest; true when the oldest had to go for it. */
  push(value: T): boolean {
    const full = this.#size === this.#limit
    this.#slots[(this.#head + this.#size) % this.#limit] = value
    if (full) this.#head = (this.#head + 1) % this.#limit
    else this.#size++
    return full
  }

  /** Takes the oldest. Call it only while `size` is above 0. */
  shift(): T {
    const value = this.#slots[this.#head] as T
    this.#slots[this.#head] = undefined
    this.#size--
    // From the front again when empty, so that a subscriber who keeps up never grows its slots.
    this.#head = this.#size === 0 ? 0 : (this.#head + 1) % this.#limit
    return value
  }

  clear(): void {
    this.#slots.length = 0
    this.#head = 0
    this.#size = 0
  }
}
