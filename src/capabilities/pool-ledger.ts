/**
 * One byte of shared memory for each outstanding call of a pool: whether a thread is running it right now. The pool takes
 * and gives slots, the pool's threads mark them. It tells, when a thread has died, which calls it took along and
 * which were only waiting behind them. Must not know what a call is.
 */

/** Set while a thread runs the call. */
export const RUNNING = 1
/** Not begun, or ended. */
export const WAITING = 0

export class PoolLedger {
  readonly shared: SharedArrayBuffer
  readonly #marks: Uint8Array
  readonly #free: number[] = []
  #used = 0

  /** @param capacity calls that may be outstanding at once */
  constructor(capacity: number) {
    this.shared = new SharedArrayBuffer(capacity)
    this.#marks = new Uint8Array(this.shared)
  }

  /** Calls that hold a slot. */
  get outstanding(): number {
    return this.#used - this.#free.length
  }

  /** A slot for a call, or undefined when all are taken. */
  take(): number | undefined {
    const slot = this.#free.pop() ?? (this.#used < this.#marks.length ? this.#used++ : undefined)
    if (slot !== undefined) Atomics.store(this.#marks, slot, WAITING)
    return slot
  }

  give(slot: number): void {
    this.#free.push(slot)
  }

  isRunning(slot: number): boolean {
    return Atomics.load(this.#marks, slot) === RUNNING
  }
}
