/**
 * What was, then what is: the values of a log after a cursor, then the live ones, with no gap and no double. Used by
 * whoever comes back after a cut. It reads the log page by page, a bounded number of values a turn, and joins the live
 * stream in the same breath in which the log has nothing more, so nothing can fall between and nothing is buffered.
 * It must not keep a page across turns: the log may be a database that would stay locked.
 */
import type { Observable } from 'rxjs'
import { nextTurn, type Schedule } from './bus.ts'
import { guarded, type OnObserverError, type Sink } from './guarded.ts'

export interface ResumeOptions<T> {
  /**
   * Values after this number, in order: all of them or a page; asked again until it gives none. It must know of a value
   * no later than the live stream publishes it, of one that is not on disk yet too.
   */
  readonly past: (afterSeq: number) => Iterable<T>
  readonly live$: Observable<T>
  /** The number of a value, growing; null for a marker that is only passed on. */
  readonly seqOf: (value: T) => number | null
  /** The cursor: the last number the subscriber has. */
  readonly afterSeq: number
  /** A live value that stands for others this subscriber missed: they are read from the log instead. @default none does */
  readonly isGap?: (value: T) => boolean
  readonly onObserverError: OnObserverError
  /** When the log is read on. @default the next turn of the event loop */
  readonly schedule?: Schedule
  /** After this many past values in one turn the rest waits for the next. @default 512 */
  readonly perTurn?: number
}

export const RESUME_DEFAULTS = { perTurn: 512, schedule: nextTurn } as const

/** The past after the cursor, then the live values. */
export function resume<T>(options: ResumeOptions<T>): Observable<T> {
  return guarded(options.onObserverError, (sink) => new Resumption(sink, options).start())
}

/** One subscription and its cursor. */
class Resumption<T> {
  readonly #sink: Sink<T>
  readonly #options: ResumeOptions<T>
  #cursor: number
  #stop = (): void => {}

  constructor(sink: Sink<T>, options: ResumeOptions<T>) {
    this.#sink = sink
    this.#options = options
    this.#cursor = options.afterSeq
  }

  start(): () => void {
    this.#readOn()
    return () => this.#stop()
  }

  #readOn(): void {
    const { schedule = RESUME_DEFAULTS.schedule } = this.#options
    let more = false
    try {
      more = this.#passTurn()
    } catch (error) {
      this.#sink.error(error)
    }
    if (this.#sink.closed) return
    if (more) schedule(() => !this.#sink.closed && this.#readOn())
    else this.#join()
  }

  /** Passes on what one turn may; whether the log may have more. */
  #passTurn(): boolean {
    let left = this.#options.perTurn ?? RESUME_DEFAULTS.perTurn
    while (left > 0) {
      const passed = this.#passPage()
      if (passed === 0 || this.#sink.closed) return false
      left -= passed
    }
    return true
  }

  /** Passes one page on; the number of values that were new. */
  #passPage(): number {
    let passed = 0
    for (const value of this.#options.past(this.#cursor)) {
      if (this.#pass(value)) passed++
      if (this.#sink.closed) break
    }
    return passed
  }

  #join(): void {
    const { live$, isGap, schedule = RESUME_DEFAULTS.schedule } = this.#options
    const subscription = live$.subscribe({
      next: (value) => {
        if (isGap?.(value) !== true) {
          this.#pass(value)
          return
        }
        subscription.unsubscribe()
        schedule(() => !this.#sink.closed && this.#readOn())
      },
      error: (error) => this.#sink.error(error),
      complete: () => this.#sink.complete(),
    })
    this.#stop = () => subscription.unsubscribe()
    if (this.#sink.closed) subscription.unsubscribe()
  }

  /** Whether the value was new; what came before the cursor is left out. */
  #pass(value: T): boolean {
    const seq = this.#options.seqOf(value)
    if (seq !== null && seq <= this.#cursor) return false
    if (seq !== null) this.#cursor = seq
    this.#sink.next(value)
    return seq !== null
  }
}
