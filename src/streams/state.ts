/**
 * Streams of a state: the present value at once, then its changes, on later turns. `createEveryState` hands on each
 * value in order (a phase); `createLatestState` hands on the newest once a turn (a snapshot that is costly to make and
 * of which only the last counts). The owner of the state is their only writer; they decide nothing.
 */
import type { Observable } from 'rxjs'
import { createBus, nextTurn, type Schedule } from './bus.ts'
import { guarded, type OnObserverError, type Sink } from './guarded.ts'

export interface StateOptions<T> {
  /** Told what an observer threw; it is cut off already. */
  readonly onObserverError: OnObserverError
  /** Two values that need not be told apart. @default Object.is */
  readonly same?: (a: T, b: T) => boolean
  /** When changes are handed on. @default the next turn of the event loop */
  readonly schedule?: Schedule
}

/** Changes of state that may wait for one subscriber; no state changes so often within a turn. */
const EVERY_LIMIT = 65_536

export interface EveryState<T> {
  set(value: T): void
  readonly stream$: Observable<T>
  /** Completes subscribers after the last value. */
  close(): void
}

/** Every value that is set, in order, none left out; equal neighbours count as one. */
export function createEveryState<T>(initial: T, options: StateOptions<T>): EveryState<T> {
  const { onObserverError, schedule = nextTurn, same = Object.is } = options
  const bus = createBus<T>({ onObserverError, schedule, limit: EVERY_LIMIT })
  let present = initial
  let closed = false
  const stream$ = guarded<T>(onObserverError, (sink) => {
    const first = present
    // Listen before the first value is handed over: its observer may change the state.
    const subscription = closed ? undefined : bus.stream$.subscribe(sink)
    sink.next(first)
    if (subscription === undefined) sink.complete()
    return () => subscription?.unsubscribe()
  })
  return {
    stream$,
    set(value) {
      if (same(present, value)) return
      present = value
      bus.publish(value)
    },
    close() {
      closed = true
      bus.close()
    },
  }
}

export interface LatestState<T> {
  /** Says that the state may have changed. Costs nothing while nobody listens, and little when called often. */
  touch(): void
  readonly stream$: Observable<T>
  /** Hands on the last value, then completes subscribers. */
  close(): void
}

/** One subscription, and what it was handed last. */
interface Viewer<T> {
  readonly sink: Sink<T>
  last: T
}

/** The newest value, at most one a turn and only where it differs; `read` is called once a turn for all subscribers. */
export function createLatestState<T>(read: () => T, options: StateOptions<T>): LatestState<T> {
  const { onObserverError, schedule = nextTurn, same = Object.is } = options
  const viewers = new Set<Viewer<T>>()
  let scheduled = false
  let closed = false
  const flush = (): void => {
    scheduled = false
    if (viewers.size === 0) return
    const value = read()
    const ended = closed
    for (const viewer of [...viewers]) {
      if (!same(viewer.last, value)) {
        viewer.last = value
        viewer.sink.next(value)
      }
      if (ended) viewer.sink.complete()
    }
  }
  const touch = (): void => {
    if (scheduled || viewers.size === 0) return
    scheduled = true
    schedule(flush)
  }
  const stream$ = guarded<T>(onObserverError, (sink) => {
    const viewer = { sink, last: read() }
    if (!closed) viewers.add(viewer)
    sink.next(viewer.last)
    if (!viewers.has(viewer)) sink.complete()
    return () => {
      viewers.delete(viewer)
    }
  })
  return {
    stream$,
    touch,
    close() {
      closed = true
      touch()
    },
  }
}
