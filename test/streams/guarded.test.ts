/** Guarded streams: whatever an observer does, it harms itself alone, and it is told once. */
import {
  concatWith,
  config,
  finalize,
  firstValueFrom,
  interval,
  lastValueFrom,
  map,
  mergeMap,
  NEVER,
  Observable,
  of,
  publish,
  range,
  refCount,
  Subject,
  scan,
  share,
  switchMap,
  take,
  tap,
  toArray,
} from 'rxjs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { guard, guarded, type Sink } from '../../src/streams/guarded.ts'

/** A guarded stream that the test feeds, with all that was reported. */
function fed() {
  const sinks = new Set<Sink<number>>()
  const reported: unknown[] = []
  const stream$ = guarded<number>(
    (error) => reported.push(error),
    (sink) => {
      sinks.add(sink)
      return () => {
        sinks.delete(sink)
      }
    },
  )
  const all = (pass: (sink: Sink<number>) => void): void => {
    for (const sink of [...sinks]) pass(sink)
  }
  return {
    stream$,
    reported,
    sinks,
    next: (value: number) => all((sink) => sink.next(value)),
    error: (error: unknown) => all((sink) => sink.error(error)),
    complete: () => all((sink) => sink.complete()),
  }
}

const boom = new Error('boom')
const thrower = (): never => {
  throw boom
}

// RxJS rethrows on a timer: with the timers held, one that waits is a throw that would have ended the process.
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())
const expectNothingRethrown = (): void => expect(vi.getTimerCount()).toBe(0)

describe('the check itself', () => {
  it('sees what an unguarded observable rethrows', () => {
    of(1).subscribe(thrower)
    expect(vi.getTimerCount()).toBe(1)
    vi.clearAllTimers()
  })

  it('finds the global configuration of rxjs untouched', () => {
    expect(config.onUnhandledError).toBeNull()
    expect(config.onStoppedNotification).toBeNull()
  })
})

describe('an observer that throws', () => {
  it('in next is cut off and told once, and the others get everything', () => {
    const source = fed()
    const before: number[] = []
    const after: number[] = []
    source.stream$.subscribe((value) => before.push(value))
    const subscription = source.stream$.subscribe(thrower)
    source.stream$.subscribe((value) => after.push(value))
    for (const value of [1, 2, 3]) source.next(value)
    expect(source.reported).toEqual([boom])
    expect(subscription.closed).toBe(true)
    expect(source.sinks.size).toBe(2)
    expect([before, after]).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ])
    expectNothingRethrown()
  })

  it('in error is told once, with what it threw', () => {
    const source = fed()
    source.stream$.subscribe({ error: thrower })
    source.error(new Error('the source failed'))
    expect(source.reported).toEqual([boom])
    expect(source.sinks.size).toBe(0)
    expectNothingRethrown()
  })

  it('in complete is told once', () => {
    const source = fed()
    source.stream$.subscribe({ complete: thrower })
    source.complete()
    expect(source.reported).toEqual([boom])
    expect(source.sinks.size).toBe(0)
    expectNothingRethrown()
  })

  it('by a rejection of its promise is cut off too', async () => {
    const source = fed()
    const seen: number[] = []
    const subscription = source.stream$.subscribe(async (value) => {
      seen.push(value)
      await null
      thrower()
    })
    source.next(1)
    await vi.waitFor(() => expect(subscription.closed).toBe(true))
    source.next(2)
    expect(seen).toEqual([1])
    expect(source.reported).toEqual([boom])
  })

  it('while it subscribes is cut off too', () => {
    const reported: unknown[] = []
    let torn = 0
    const stream$ = guarded<number>(
      (error) => reported.push(error),
      (sink) => {
        sink.next(1)
        sink.next(2)
        return () => {
          torn++
        }
      },
    )
    expect(stream$.subscribe(thrower).closed).toBe(true)
    expect([reported, torn]).toEqual([[boom], 1])
    expectNothingRethrown()
  })

  it('keeps its receiver when it is an object with methods', () => {
    const source = fed()
    const observer = {
      seen: [] as number[],
      next(value: number) {
        this.seen.push(value)
      },
    }
    source.stream$.subscribe(observer)
    source.next(1)
    expect(observer.seen).toEqual([1])
  })

  it('without an error handler is told the error of its source', () => {
    const source = fed()
    source.stream$.subscribe(() => {})
    source.error(boom)
    expect(source.reported).toEqual([boom])
    expectNothingRethrown()
  })

  it('does no more harm when the report throws as well', () => {
    const stream$ = guarded<number>(thrower, (sink) => {
      sink.next(1)
      return () => {}
    })
    expect(stream$.subscribe(thrower).closed).toBe(true)
    expectNothingRethrown()
  })

  it('is gone before it is told of, so a report that comes back as a value does not reach it', () => {
    let sinks: Sink<number>[] = []
    let calls = 0
    const stream$ = guarded<number>(
      () => {
        for (const sink of sinks) sink.next(2)
      },
      (sink) => {
        sinks.push(sink)
        return () => {
          sinks = sinks.filter((other) => other !== sink)
        }
      },
    )
    stream$.subscribe(() => {
      calls++
      thrower()
    })
    for (const sink of sinks) sink.next(1)
    expect(calls).toBe(1)
  })
})

describe('operators piped onto it', () => {
  it.each<[string, (source: Observable<number>) => Observable<unknown>]>([
    ['map', (source) => source.pipe(map(thrower))],
    [
      'map, then others',
      (source) =>
        source.pipe(
          map(thrower),
          scan((all: unknown[], one) => [...all, one], []),
        ),
    ],
    ['others, then map', (source) => source.pipe(tap(), share(), map(thrower))],
    ['tap', (source) => source.pipe(tap(thrower))],
    ['switchMap', (source) => source.pipe(switchMap(thrower))],
    ['an async mergeMap', (source) => source.pipe(mergeMap(() => new Observable((inner) => inner.error(boom))))],
    ['the teardown of what switchMap leaves', (source) => source.pipe(switchMap(() => NEVER.pipe(finalize(thrower))))],
  ])('that throw in %s are told once and cut off alone', (_name, piped) => {
    const source = fed()
    const others: number[] = []
    piped(source.stream$).subscribe(() => {})
    source.stream$.subscribe((value) => others.push(value))
    source.next(1)
    source.next(2)
    expect(source.reported).toHaveLength(1)
    expect(others).toEqual([1, 2])
    expect(source.sinks.size).toBe(1)
    expectNothingRethrown()
  })

  it('leave the guard at their end, for an observer that throws', () => {
    const source = fed()
    source.stream$
      .pipe(
        map((value) => value * 2),
        share(),
      )
      .subscribe(thrower)
    source.next(1)
    expect(source.reported).toEqual([boom])
    expect(source.sinks.size).toBe(0)
    expectNothingRethrown()
  })

  it('hand their error to an observer that takes errors, and nothing is reported', () => {
    const source = fed()
    const errors: unknown[] = []
    source.stream$.pipe(map(thrower)).subscribe({ error: (error) => errors.push(error) })
    source.next(1)
    expect([errors, source.reported]).toEqual([[boom], []])
  })

  it('that throw in finalize harm nobody at completion', () => {
    const source = fed()
    source.stream$.pipe(finalize(thrower)).subscribe(() => {})
    source.complete()
    expect(source.reported).toHaveLength(1)
    expectNothingRethrown()
  })

  it('that throw where one source is left for the next harm nobody', () => {
    const source = fed()
    const subscription = source.stream$.pipe(finalize(thrower), concatWith(NEVER)).subscribe(() => {})
    expect(() => source.complete()).not.toThrow()
    expect(source.reported).toHaveLength(1)
    expect(() => subscription.unsubscribe()).not.toThrow()
    expectNothingRethrown()
  })

  it('that wait keep the guard too', () => {
    const source = fed()
    source.stream$.pipe(switchMap(() => interval(10))).subscribe(thrower)
    source.next(1)
    vi.advanceTimersByTime(10)
    expect(source.reported).toEqual([boom])
    expect(source.sinks.size).toBe(0)
    expectNothingRethrown()
  })

  it('see values and completion as ever', async () => {
    const source = fed()
    const collected = lastValueFrom(source.stream$.pipe(take(2), toArray()))
    const first = firstValueFrom(source.stream$)
    for (const value of [1, 2, 3]) source.next(value)
    expect(await collected).toEqual([1, 2])
    expect(await first).toBe(1)
    expect(source.sinks.size).toBe(0)
  })

  it.each<[string, (source: Observable<number>) => Observable<number>]>([
    ['share', (source) => source.pipe(share({ connector: () => new Subject() }))],
    ['publish, to whose observable rxjs lends our lift', (source) => source.pipe(publish(), refCount())],
  ])('that share one subscription keep the guard: %s', (_name, shared) => {
    const source = fed()
    const shared$ = shared(source.stream$)
    const seen: number[] = []
    shared$.pipe(map((value) => value + 1)).subscribe((value) => seen.push(value))
    shared$.subscribe(thrower)
    source.next(1)
    source.next(2)
    expect(seen).toEqual([2, 3])
    expect(source.reported).toEqual([boom])
    expectNothingRethrown()
  })
})

describe('guard', () => {
  it('guards an observable made elsewhere, also one that emits within subscribe', () => {
    const reported: unknown[] = []
    const seen: number[] = []
    guard(range(1, 1_000_000_000), (error) => reported.push(error)).subscribe((value) => {
      seen.push(value)
      if (value === 3) thrower()
    })
    expect([seen, reported]).toEqual([[1, 2, 3], [boom]])
    expectNothingRethrown()
  })

  it('ends the subscription to its source with its own', () => {
    const source = new Subject<number>()
    const subscription = guard(source, () => {}).subscribe()
    expect(source.observed).toBe(true)
    subscription.unsubscribe()
    expect(source.observed).toBe(false)
  })
})
