/** The past, then the present: nothing between the two is lost or told twice. */
import fc from 'fast-check'
import { Subject } from 'rxjs'
import { describe, expect, it } from 'vitest'
import { type PastOptions, pastThenLive } from '../../src/streams/past.ts'
import { heldTurns } from './held-turns.ts'

const quiet = { onObserverError: () => {}, onMissed: () => {} }

interface Told {
  readonly values: number[]
  ended: boolean
  error: unknown
}

function listen(options: Partial<PastOptions<number>> & Pick<PastOptions<number>, 'past' | 'live$'>): Told {
  const told: Told = { values: [], ended: false, error: undefined }
  pastThenLive({ ...quiet, ...options }).subscribe({
    next: (value) => told.values.push(value),
    error: (error: unknown) => {
      told.error = error
    },
    complete: () => {
      told.ended = true
    },
  })
  return told
}

const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('a past and a present', () => {
  it('are told in order, with no gap and no double, whenever something comes', async () => {
    const some = fc.integer({ min: 0, max: 20 })
    await fc.assert(
      fc.asyncProperty(some, some, some, some, async (before, reading, telling, after) => {
        const live$ = new Subject<number>()
        const log: number[] = []
        const publish = (count: number): void => {
          for (let i = 0; i < count; i++) {
            log.push(log.length)
            live$.next(log.length - 1)
          }
        }
        publish(before)
        let read = (): void => {}
        const past = (): Promise<number[]> => {
          const picture = [...log]
          return new Promise((resolve) => {
            read = () => resolve(picture)
          })
        }
        const turns = heldTurns()
        const told = listen({ past, live$, schedule: turns.schedule, perTurn: 3 })
        publish(reading)
        read()
        await later()
        turns.turn()
        publish(telling)
        turns.settle()
        publish(after)
        expect(told.values).toEqual(log)
        live$.complete()
        expect(told.ended).toBe(true)
      }),
    )
  })

  it('end with the past where nothing is followed', async () => {
    const told = listen({ past: async () => [1, 2], live$: null })
    await later()
    expect(told).toEqual({ values: [1, 2], ended: true, error: undefined })
  })

  it('end once the past is told where the present has ended meanwhile', async () => {
    const live$ = new Subject<number>()
    const told = listen({ past: async () => [1], live$ })
    live$.next(2)
    live$.complete()
    await later()
    expect(told).toEqual({ values: [1, 2], ended: true, error: undefined })
  })

  it('hold no more than they may, and say what was missed', async () => {
    const live$ = new Subject<number>()
    const missed: number[] = []
    const told = listen({ past: async () => [0], live$, limit: 2, onMissed: (count) => missed.push(count) })
    for (let i = 1; i <= 5; i++) live$.next(i)
    await later()
    expect({ values: told.values, missed }).toEqual({ values: [0, 4, 5], missed: [3] })
  })

  it('fail where the past cannot be read, and let go of the present', async () => {
    const live$ = new Subject<number>()
    const told = listen({ past: () => Promise.reject(new Error('unreadable')), live$ })
    await later()
    expect(told.error).toMatchObject({ message: 'unreadable' })
    expect(live$.observed).toBe(false)
  })

  it('let go when the subscriber leaves', async () => {
    const live$ = new Subject<number>()
    const left = pastThenLive({ ...quiet, past: async () => [1], live$ }).subscribe()
    left.unsubscribe()
    await later()
    expect(live$.observed).toBe(false)
  })
})
