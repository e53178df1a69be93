/** The ring of those who wait, beside a Map. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Waiting } from '../../src/actors/waiting.ts'

const step = fc.record({
  take: fc.boolean(),
  position: fc.oneof(fc.integer({ min: -40, max: 40 }), fc.integer({ min: -2000, max: 2000 })),
  far: fc.boolean(),
})

it('holds what a Map would, for any positions in any order', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), fc.integer({ min: -5, max: 2 ** 33 }), (steps, start) => {
      const waiting = new Waiting<number>()
      const model = new Map<number, number>()
      let base = start
      steps.forEach(({ take, position, far }, value) => {
        if (far) base += 100
        const at = base + position
        if (take) {
          expect(waiting.take(at)).toBe(model.get(at))
          model.delete(at)
        } else {
          waiting.set(at, value)
          model.set(at, value)
        }
        expect(waiting.get(at)).toBe(model.get(at))
        expect(waiting.size).toBe(model.size)
      })
      expect(waiting.entries()).toEqual([...model].sort(([a], [b]) => a - b))
    }),
  )
})

it('passes a window along a million positions', () => {
  const waiting = new Waiting<number>()
  for (let position = 1; position <= 1_000_000; position++) {
    waiting.set(position, position)
    if (position > 256) expect(waiting.take(position - 256)).toBe(position - 256)
  }
  expect(waiting.size).toBe(256)
  expect(waiting.get(1)).toBeUndefined()
})
