/**
 * The phase of one agent and those who wait for it to change. Written by `agent.ts` alone, by {@link Phases.move},
 * which reads the table.
 */
import { type Phase, transition } from '../model/lifecycle.ts'
import type { Clock } from '../platform/clock.ts'

export class Phases {
  readonly #agent: string
  readonly #clock: Clock
  readonly #onMove: (from: Phase, to: Phase) => void
  #current: Phase
  #waiting: { readonly done: () => boolean; readonly resolve: () => void }[] = []

  constructor(agent: string, initial: Phase, clock: Clock, onMove: (from: Phase, to: Phase) => void) {
    this.#agent = agent
    this.#current = initial
    this.#clock = clock
    this.#onMove = onMove
  }

  get current(): Phase {
    return this.#current
  }

  /**
   * Through these, one after the other.
   * @throws HoltError `InvalidTransition`
   */
  move(...path: readonly Phase[]): void {
    for (const to of path) {
      const from = this.#current
      this.#current = transition(this.#agent, from, to)
      this.#onMove(from, to)
      this.recheck()
    }
  }

  /** Something else that somebody may wait for has changed. */
  recheck(): void {
    this.#waiting = this.#waiting.filter(({ done, resolve }) => {
      if (!done()) return true
      resolve()
      return false
    })
  }

  /** Resolves once a move makes `done` true, or after `timeoutMs`. */
  until(done: () => boolean, timeoutMs?: number): Promise<void> {
    if (done()) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = timeoutMs === undefined ? null : this.#clock.after(timeoutMs, resolve)
      const settle = (): void => {
        timer?.cancel()
        resolve()
      }
      this.#waiting.push({ done, resolve: settle })
    })
  }
}
