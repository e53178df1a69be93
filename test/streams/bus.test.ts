/** The bus: order, bounds, gaps, and observers that misbehave; turns are held, no time passes. */
import fc from 'fast-check'
import { map } from 'rxjs'
import { describe, expect, it } from 'vitest'
import { type BusOptions, createBus } from '../../src/streams/bus.ts'
import { Ring } from '../../src/streams/ring.ts'
import { heldTurns } from './held-turns.ts'

type Item = number | { readonly missed: number }

function makeBus(options: Partial<BusOptions<Item>> = {}) {
  const turns = heldTurns()
  const reported: unknown[] = []
  const bus = createBus<Item>({
    onObserverError: (error) => reported.push(error),
    gap: (missed) => ({ missed }),
    schedule: turns.schedule,
    ...options,
  })
  return { bus, turns, reported }
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

describe('publishing', () => {
  it('schedules and keeps nothing while nobody listens', () => {
    const { bus, turns } = makeBus()
    bus.publish(1)
    expect([turns.waiting, bus.buffered]).toEqual([0, 0])
  })

  it('calls no observer itself', () => {
    const { bus, turns } = makeBus()
    const seen: Item[] = []
    bus.stream$.subscribe((value) => seen.push(value))
    bus.publish(1)
    expect(seen).toEqual([])
    turns.turn()
    expect(seen).toEqual([1])
  })

  it('reaches every subscriber in order, in slices of 64 a turn', () => {
    const { bus, turns } = makeBus()
    const first: Item[] = []
    const second: Item[] = []
    bus.stream$.subscribe((value) => first.push(value))
    bus.stream$.subscribe((value) => second.push(value))
    for (const value of numbers(200)) bus.publish(value)
    turns.turn()
    expect(first).toHaveLength(64)
    expect(turns.settle()).toBe(3)
    expect(first).toEqual(numbers(200))
    expect(second).toEqual(numbers(200))
  })

  it('reaches a subscriber only with what is published after it came', () => {
    const { bus, turns } = makeBus()
    const early: Item[] = []
    const late: Item[] = []
    bus.stream$.subscribe((value) => early.push(value))
    bus.publish(1)
    bus.stream$.subscribe((value) => late.push(value))
    bus.publish(2)
    turns.settle()
    expect([early, late]).toEqual([[1, 2], [2]])
  })

  it('within next keeps the order', () => {
    const { bus, turns } = makeBus()
    const seen: Item[] = []
    bus.stream$.subscribe((value) => {
      seen.push(value)
      if (value === 1) bus.publish(3)
    })
    bus.publish(1)
    bus.publish(2)
    turns.settle()
    expect(seen).toEqual([1, 2, 3])
  })

  it('delivers on a later turn by the platform when no scheduler is handed in', async () => {
    const bus = createBus<number>({ onObserverError: () => {} })
    const seen: number[] = []
    const done = new Promise<void>((resolve) => {
      bus.stream$.subscribe({ next: (value) => seen.push(value), complete: resolve })
    })
    for (const value of numbers(500)) bus.publish(value)
    bus.close()
    expect(seen).toEqual([])
    await done
    expect(seen).toEqual(numbers(500))
  })
})

describe('a subscriber that does not keep up', () => {
  it('holds a bounded number of 100 000 values and learns exactly how many it missed', () => {
    const { bus, turns } = makeBus()
    const seen: Item[] = []
    bus.stream$.subscribe((value) => seen.push(value))
    for (const value of numbers(100_000)) bus.publish(value)
    expect(bus.buffered).toBe(1024)
    expect(turns.waiting).toBe(1)
    turns.settle()
    expect(seen[0]).toEqual({ missed: 98_976 })
    expect(seen.slice(1)).toEqual(numbers(100_000).slice(98_976))
  })

  it('gets a marker at the place of each gap', () => {
    const { bus, turns } = makeBus({ limit: 2, slice: 2 })
    const seen: Item[] = []
    bus.stream$.subscribe((value) => seen.push(value))
    for (const value of [1, 2, 3]) bus.publish(value)
    turns.turn()
    expect(seen).toEqual([{ missed: 1 }, 2])
    for (const value of [4, 5]) bus.publish(value)
    turns.settle()
    expect(seen).toEqual([{ missed: 1 }, 2, { missed: 1 }, 4, 5])
  })

  it('gets no marker when the buffer is full to the last place', () => {
    const { bus, turns } = makeBus({ limit: 3 })
    const seen: Item[] = []
    bus.stream$.subscribe((value) => seen.push(value))
    for (const value of [1, 2, 3]) bus.publish(value)
    turns.settle()
    expect(seen).toEqual([1, 2, 3])
  })

  it('does not cost the others anything', () => {
    const held = heldTurns()
    const { bus, turns } = makeBus({
      limit: 8,
      schedule: (task) => (hold ? held.schedule(task) : turns.schedule(task)),
    })
    let hold = true
    const slow: Item[] = []
    const quick: Item[] = []
    bus.stream$.subscribe((value) => slow.push(value))
    bus.publish(-1)
    hold = false
    bus.stream$.subscribe((value) => quick.push(value))
    for (const value of numbers(100)) {
      bus.publish(value)
      turns.settle()
    }
    expect(quick).toEqual(numbers(100))
    held.turn()
    turns.settle()
    expect(slow).toEqual([{ missed: 93 }, ...numbers(100).slice(92)])
  })

  it('sees values and markers that add up, for any interleaving', () => {
    const steps = fc.array(fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constant('turn' as const)), { maxLength: 60 })
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 5 }), (script, limit, slice) => {
        const { bus, turns } = makeBus({ limit, slice })
        let next = 0
        let expected = 0
        bus.stream$.subscribe((item) => {
          if (typeof item === 'number') expect(item).toBe(expected++)
          else expected += item.missed
        })
        for (const step of script) {
          if (step === 'turn') turns.turn()
          else for (let i = 0; i < step; i++) bus.publish(next++)
          expect(bus.buffered).toBeLessThanOrEqual(limit)
        }
        turns.settle()
        expect(expected).toBe(next)
      }),
    )
  })
})

describe('an observer that throws', () => {
  it('is cut off and told once, and the others get everything', () => {
    const { bus, turns, reported } = makeBus()
    const seen: Item[] = []
    const boom = new Error('boom')
    const subscription = bus.stream$.pipe(map((value) => value)).subscribe(() => {
      throw boom
    })
    bus.stream$.subscribe((value) => seen.push(value))
    for (const value of numbers(200)) bus.publish(value)
    turns.settle()
    expect(seen).toEqual(numbers(200))
    expect(reported).toEqual([boom])
    expect(subscription.closed).toBe(true)
    expect([bus.listenerCount, bus.buffered]).toEqual([1, 0])
  })

  it('may be told of on the same bus', () => {
    const turns = heldTurns()
    const bus = createBus<string>({
      onObserverError: (error) => bus.publish(`an observer threw: ${String(error)}`),
      schedule: turns.schedule,
    })
    const seen: string[] = []
    bus.stream$.subscribe((value) => {
      throw value
    })
    bus.stream$.subscribe((value) => seen.push(value))
    bus.publish('first')
    turns.settle()
    expect(seen).toEqual(['first', 'an observer threw: first'])
  })
})

describe('a subscription that ends', () => {
  it('leaves no listener and no value behind', () => {
    const { bus, turns } = makeBus()
    const seen: Item[] = []
    const subscription = bus.stream$.subscribe((value) => seen.push(value))
    for (const value of numbers(100)) bus.publish(value)
    expect([bus.listenerCount, bus.buffered]).toEqual([1, 100])
    subscription.unsubscribe()
    expect([bus.listenerCount, bus.buffered]).toEqual([0, 0])
    turns.settle()
    bus.publish(1)
    expect(turns.waiting).toBe(0)
    expect(seen).toEqual([])
  })

  it('within next gets nothing more', () => {
    const { bus, turns } = makeBus()
    const seen: Item[] = []
    const subscription = bus.stream$.subscribe((value) => {
      seen.push(value)
      if (value === 1) subscription.unsubscribe()
    })
    for (const value of numbers(10)) bus.publish(value)
    turns.settle()
    expect(seen).toEqual([0, 1])
    expect([bus.listenerCount, bus.buffered]).toEqual([0, 0])
  })

  it('within next of another gets nothing more', () => {
    const { bus, turns } = makeBus()
    const seen: Item[] = []
    bus.stream$.subscribe(() => second.unsubscribe())
    const second = bus.stream$.subscribe((value) => seen.push(value))
    bus.publish(1)
    turns.settle()
    expect(seen).toEqual([])
    expect(bus.listenerCount).toBe(1)
  })

  it('a thousand times over leaves none behind', () => {
    const { bus, turns } = makeBus()
    for (let i = 0; i < 1000; i++) {
      const subscription = bus.stream$.subscribe()
      bus.publish(i)
      subscription.unsubscribe()
    }
    turns.settle()
    expect([bus.listenerCount, bus.buffered, turns.waiting]).toEqual([0, 0, 0])
  })
})

describe('closing', () => {
  it('completes subscribers after what is buffered', () => {
    const { bus, turns } = makeBus()
    const seen: (Item | 'done')[] = []
    bus.stream$.subscribe({ next: (value) => seen.push(value), complete: () => seen.push('done') })
    for (const value of numbers(100)) bus.publish(value)
    bus.close()
    bus.close()
    bus.publish(100)
    turns.settle()
    expect(seen).toEqual([...numbers(100), 'done'])
    expect(bus.listenerCount).toBe(0)
  })

  it('completes idle subscribers, and those that come later', () => {
    const { bus, turns } = makeBus()
    let completed = 0
    const complete = (): void => {
      completed++
    }
    bus.stream$.subscribe({ complete })
    bus.close()
    turns.settle()
    bus.stream$.subscribe({ complete })
    expect([completed, bus.listenerCount]).toEqual([2, 0])
  })
})

describe('the buffer', () => {
  it('is a queue of the newest, for any order of pushes and shifts', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(fc.boolean(), { maxLength: 100 }), (limit, pushes) => {
        const ring = new Ring<number>(limit)
        let model: number[] = []
        pushes.forEach((push, value) => {
          if (push) {
            expect(ring.push(value)).toBe(model.length === limit)
            model = [...model, value].slice(-limit)
          } else if (model.length > 0) expect(ring.shift()).toBe(model.shift())
          expect(ring.size).toBe(model.length)
        })
      }),
    )
  })

  it('holds one value at least', () => {
    const ring = new Ring<number>(0)
    ring.push(1)
    expect(ring.push(2)).toBe(true)
    expect(ring.shift()).toBe(2)
  })
})
