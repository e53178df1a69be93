/**
 * What was, read at leisure, then what is: with no gap and no double where the reader of the past takes its picture in
 * the very call. What comes meanwhile is held, within bounds. Used for logs, whose past lies in files; a past that can be
 * read at once, page by page, is for `resume.ts`.
 */
import type { Observable } from 'rxjs'
import { nextTurn, type Schedule } from './bus.ts'
import { guarded, type OnObserverError, type Sink } from './guarded.ts'
import { Ring } from './ring.ts'

export interface PastOptions<T> {
  /** Called once per subscriber, after it hears the live values: nothing that is published later may be in it. */
  readonly past: () => Promise<readonly T[]>
  /** Null: the stream ends with the past. */
  readonly live$: Observable<T> | null
  readonly onObserverError: OnObserverError
  /** Told how many live values were not held until the past was told. */
  readonly onMissed: (missed: number) => void
  /** When the past is told on. @default the next turn of the event loop */
  readonly schedule?: Schedule
  /** Values told in one turn. @default 256 */
  readonly perTurn?: number
  /** Live values held meanwhile. @default 16384 */
  readonly limit?: number
}

export const PAST_DEFAULTS = { perTurn: 256, limit: 16_384, schedule: nextTurn } as const

export function pastThenLive<T>(options: PastOptions<T>): Observable<T> {
  return guarded(options.onObserverError, (sink) => new Telling(sink, options).start())
}

/** One subscription. */
class Telling<T> {
  readonly #sink: Sink<T>
  readonly #options: PastOptions<T>
  /** Null once the past has been told. */
  #held: Ring<T> | null
  #missed = 0
  #ended = false
  #stop = (): void => {}

  constructor(sink: Sink<T>, options: PastOptions<T>) {
    this.#sink = sink
    this.#options = options
    this.#held = new Ring(options.limit ?? PAST_DEFAULTS.limit)
  }

  start(): () => void {
    const { live$, past } = this.#options
    const subscription = live$?.subscribe({
      next: (value) => this.#live(value),
      error: (error) => this.#sink.error(error),
      complete: () => this.#end(),
    })
    if (subscription !== undefined) this.#stop = () => subscription.unsubscribe()
    else this.#ended = true
    past().then(
      (values) => this.#tell(values, 0),
      (error: unknown) => this.#sink.error(error),
    )
    return () => this.#stop()
  }

  #live(value: T): void {
    if (this.#held === null) this.#sink.next(value)
    else if (this.#held.push(value)) this.#missed++
  }

  #end(): void {
    this.#ended = true
    if (this.#held === null) this.#sink.complete()
  }

  #tell(values: readonly T[], from: number): void {
    const { perTurn = PAST_DEFAULTS.perTurn, schedule = PAST_DEFAULTS.schedule } = this.#options
    const to = Math.min(values.length, from + perTurn)
    for (let index = from; index < to && !this.#sink.closed; index++) this.#sink.next(values[index]!)
    if (this.#sink.closed) return
    if (to < values.length) schedule(() => this.#tell(values, to))
    else this.#join()
  }

  #join(): void {
    const held = this.#held!
    this.#held = null
    if (this.#missed > 0) this.#options.onMissed(this.#missed)
    while (held.size > 0 && !this.#sink.closed) this.#sink.next(held.shift())
    if (this.#ended) this.#sink.complete()
  }
}
