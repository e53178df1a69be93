/**
 * How many calls a pool hands to one thread at once. Short ones go by the batch, since a round trip costs a hundred
 * times what they do (64 a thread carry 8 times the calls of 1, measured); long ones go singly, so that none
 * waits behind another while a second thread is idle. Decides from what calls took; pure but for that memory.
 */

/** Calls one thread may hold at most. */
export const MAX_DEPTH = 64
/** Work that one thread may have in hand, in ms of what calls took lately. */
const WORK_IN_HAND_MS = 1
/** Weight of the newest call in the running mean. */
const NEWEST = 1 / 8

interface Busy {
  readonly currentUsage: number
}

export class PoolBalance {
  /** As long as nothing is known, calls are taken for long ones. */
  #meanMs = WORK_IN_HAND_MS

  /** Takes note of how long a call ran. */
  note(ms: number): void {
    this.#meanMs += (ms - this.#meanMs) * NEWEST
  }

  /** Hands calls out singly until it knows better, so that the next death has one suspect. */
  forget(): void {
    this.#meanMs = WORK_IN_HAND_MS
  }

  /** Calls one thread may hold now. */
  get depth(): number {
    return Math.min(MAX_DEPTH, Math.max(1, Math.floor(WORK_IN_HAND_MS / Math.max(this.#meanMs, Number.EPSILON))))
  }

  /** The least busy of `threads` that has room, or null: the call waits. */
  pick<T extends Busy>(threads: readonly T[]): T | null {
    let found: T | null = null
    let least = this.depth
    for (const thread of threads) {
      if (thread.currentUsage >= least) continue
      found = thread
      least = thread.currentUsage
      if (least === 0) break
    }
    return found
  }
}
