/** The queue of what is due, against a sorted list. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DueQueue, type Queued } from '../../src/schedules/due-queue.ts'

const one = (dueAt: number): Queued => ({ dueAt, slot: -1 })

function drained(queue: DueQueue<Queued>): number[] {
  const times: number[] = []
  for (let first = queue.peek(); first !== undefined; first = queue.peek()) {
    times.push(first.dueAt)
    queue.remove(first)
  }
  return times
}

describe('a queue of what is due', () => {
  it('gives the earliest first', () => {
    const queue = new DueQueue<Queued>()
    for (const dueAt of [5, 3, 9, 1, 7, 1]) queue.add(one(dueAt))
    expect(drained(queue)).toEqual([1, 1, 3, 5, 7, 9])
    expect(queue.peek()).toBeUndefined()
  })

  it('knows nothing of what was taken out, and takes it again', () => {
    const queue = new DueQueue<Queued>()
    const item = one(1)
    queue.remove(item)
    queue.add(item)
    queue.remove(item)
    queue.remove(item)
    expect([queue.size, item.slot]).toEqual([0, -1])
    queue.add(item)
    queue.clear()
    expect([queue.size, item.slot]).toEqual([0, -1])
  })

  it('agrees with a sorted list over any adding and taking', () => {
    const change = fc.oneof(
      fc.record({ add: fc.integer({ min: 0, max: 50 }) }),
      fc.record({ take: fc.nat() }),
      fc.constant({ first: true }),
    )
    fc.assert(
      fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
        const queue = new DueQueue<Queued>()
        let kept: Queued[] = []
        for (const what of changes) {
          if ('add' in what) {
            const item = one(what.add)
            queue.add(item)
            kept.push(item)
          } else {
            const item = 'take' in what ? kept[what.take % Math.max(1, kept.length)] : queue.peek()
            if (item === undefined) continue
            queue.remove(item)
            expect(item.slot).toBe(-1)
            kept = kept.filter((other) => other !== item)
          }
          expect(queue.size).toBe(kept.length)
          expect(queue.peek()?.dueAt).toBe(kept.length === 0 ? undefined : Math.min(...kept.map(({ dueAt }) => dueAt)))
        }
        expect(drained(queue)).toEqual(kept.map(({ dueAt }) => dueAt).sort((a, b) => a - b))
      }),
    )
  })
})
