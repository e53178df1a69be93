/** A part of a stream: what gets through, and that the guard holds behind it. */
import { describe, expect, it } from 'vitest'
import { createBus } from '../../src/streams/bus.ts'
import { where } from '../../src/streams/where.ts'
import { heldTurns } from './held-turns.ts'

describe('a part of a stream', () => {
  it('has what was asked for, in order, and ends with it', () => {
    const { schedule, settle } = heldTurns()
    const bus = createBus<number>({ onObserverError: () => {}, schedule })
    const seen: (number | 'end')[] = []
    where(bus.stream$, (n) => n % 2 === 0).subscribe({ next: (n) => seen.push(n), complete: () => seen.push('end') })
    for (let n = 0; n < 6; n++) bus.publish(n)
    bus.close()
    settle()
    expect(seen).toEqual([0, 2, 4, 'end'])
  })

  it('cuts off an observer that throws, and reports it once', () => {
    const { schedule, settle } = heldTurns()
    const reported: unknown[] = []
    const bus = createBus<number>({ onObserverError: (error) => reported.push(error), schedule })
    where(bus.stream$, () => true).subscribe(() => {
      throw new Error('observer')
    })
    bus.publish(1)
    bus.publish(2)
    settle()
    expect(reported).toMatchObject([{ message: 'observer' }])
    expect(bus.listenerCount).toBe(0)
  })

  it('leaves the whole when its observer goes', () => {
    const bus = createBus<number>({ onObserverError: () => {} })
    const subscription = where(bus.stream$, () => true).subscribe()
    expect(bus.listenerCount).toBe(1)
    subscription.unsubscribe()
    expect(bus.listenerCount).toBe(0)
  })
})
