/**
 * A bus: one publisher, any number of subscribers, none of whom can slow or harm the publisher or one another. Each has
 * a bounded buffer of its own that is drained in slices on later turns; what a slow one misses is told by a gap marker.
 *
 *     publish ─┬─► buffer ─ ─ next turn, 64 at a time ─ ─► observer
 *              └─► buffer ─ ─ (full: the oldest go, and are counted) ─ ─► gap(missed), observer
 *
 * It must not call an observer within `publish`.
 */
import type { Observable } from 'rxjs'
import { guarded, type OnObserverError, type Sink } from './guarded.ts'
import { Ring } from './ring.ts'

/** Runs a task on a later turn, in the order given. */
export type Schedule = (task: () => void) => void

export const nextTurn: Schedule = (task) => {
  setImmediate(task)
}

export interface BusOptions<T> {
  /** Told what an observer threw; it is cut off already. */
  readonly onObserverError: OnObserverError
  /** The marker that stands for values one subscriber missed. @default none: they are left out without a word */
  readonly gap?: (missed: number) => T
  /** Told how many values a subscriber missed, where no value of the stream can stand for them. */
  readonly onMissed?: (missed: number) => void
  /** When buffers are drained. @default the next turn of the event loop */
  readonly schedule?: Schedule
  /** Values kept for each subscriber. @default 1024 */
  readonly limit?: number
  /** Values handed to one subscriber per turn. @default 64 */
  readonly slice?: number
}

export const BUS_DEFAULTS = { limit: 1024, slice: 64, schedule: nextTurn } as const

export interface Bus<T> {
  /** Buffers the value for each subscriber; does nothing while there is none, or after `close`. */
  publish(value: T): void
  readonly stream$: Observable<T>
  /** Lets subscribers have what is buffered, then completes them. Later ones complete at once. */
  close(): void
  readonly listenerCount: number
  /** Values that wait in all buffers together. */
  readonly buffered: number
}

/** One subscription: its buffer and what it missed. */
class Mailbag<T> {
  readonly buffer: Ring<T>
  readonly #sink: Sink<T>
  readonly #options: BusOptions<T>
  readonly #schedule: Schedule
  #missed = 0
  #scheduled = false
  #ended = false

  constructor(sink: Sink<T>, options: BusOptions<T>) {
    this.#sink = sink
    this.#options = options
    this.#schedule = options.schedule ?? BUS_DEFAULTS.schedule
    this.buffer = new Ring(options.limit ?? BUS_DEFAULTS.limit)
  }

  put(value: T): void {
    if (this.buffer.push(value)) this.#missed++
    this.#wake()
  }

  /** Complete once all that is buffered has gone. */
  end(): void {
    this.#ended = true
    this.#wake()
  }

  #wake(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#schedule(() => this.#drain())
  }

  #drain(): void {
    const { gap, onMissed, slice = BUS_DEFAULTS.slice } = this.#options
    for (let left = slice; left > 0 && this.buffer.size > 0 && !this.#sink.closed; left--) {
      const missed = this.#missed
      this.#missed = 0
      if (missed > 0) onMissed?.(missed)
      if (missed > 0 && gap !== undefined) this.#sink.next(gap(missed))
      else this.#sink.next(this.buffer.shift())
    }
    this.#scheduled = false
    if (this.#sink.closed) return
    if (this.buffer.size > 0) this.#wake()
    else if (this.#ended) this.#sink.complete()
  }
}

export function createBus<T>(options: BusOptions<T>): Bus<T> {
  const bags = new Set<Mailbag<T>>()
  let closed = false
  const stream$ = guarded<T>(options.onObserverError, (sink) => {
    const bag = new Mailbag(sink, options)
    if (closed) {
      sink.complete()
      return () => {}
    }
    bags.add(bag)
    return () => {
      bags.delete(bag)
      bag.buffer.clear()
    }
  })
  return {
    stream$,
    publish(value) {
      if (closed || bags.size === 0) return
      for (const bag of bags) bag.put(value)
    },
    close() {
      if (closed) return
      closed = true
      for (const bag of bags) bag.end()
    },
    get listenerCount() {
      return bags.size
    },
    get buffered() {
      let count = 0
      for (const bag of bags) count += bag.buffer.size
      return count
    },
  }
}
