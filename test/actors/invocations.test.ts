/** Counts of handlers over instances: what is added up, and what is read live. */
import { describe, expect, it } from 'vitest'
import { Invocations } from '../../src/actors/invocations.ts'
import { countCall, countError, type HandlerCounts, newHandlerCounts } from '../../src/model/handler-counts.ts'

/** An instance with these handlers has begun. */
function begun(invocations: Invocations, names: readonly string[]): HandlerCounts {
  const counts = newHandlerCounts(names.length)
  invocations.take({ type: 'handlers', names, counts })
  return counts
}

const counted = (invocations: Invocations): Record<string, readonly [number, number]> =>
  Object.fromEntries(Object.entries(invocations.metrics()).map(([name, { count, errors }]) => [name, [count, errors]]))

describe('counts', () => {
  it('are none before the first instance', () => {
    expect(new Invocations().metrics()).toEqual({})
  })

  it('are read live', () => {
    const invocations = new Invocations()
    const counts = begun(invocations, ['a', 'b'])
    expect(counted(invocations)).toEqual({ a: [0, 0], b: [0, 0] })
    countCall(counts, 1)
    countCall(counts, 1)
    countError(counts, 1)
    expect(counted(invocations)).toEqual({ a: [0, 0], b: [2, 1] })
  })

  it('add up over instances by name, whatever place a handler has in each', () => {
    const invocations = new Invocations()
    const first = begun(invocations, ['a', 'b'])
    countCall(first, 0)
    countCall(first, 1)
    countError(first, 1)
    const second = begun(invocations, ['b', 'c'])
    countCall(second, 0)
    countCall(second, 1)
    const third = begun(invocations, ['c'])
    countCall(third, 0)
    expect(counted(invocations)).toEqual({ a: [1, 0], b: [2, 1], c: [2, 0] })
  })

  it('take names that every object has', () => {
    const invocations = new Invocations()
    countCall(begun(invocations, ['constructor', '__proto__']), 1)
    expect(Object.entries(invocations.metrics()).map(([name, { count }]) => [name, count])).toEqual([
      ['constructor', 0],
      ['__proto__', 1],
    ])
  })

  it('are in memory that an agent without handlers has too', () => {
    const invocations = new Invocations()
    begun(invocations, [])
    expect(counted(invocations)).toEqual({})
  })
})

describe('percentiles', () => {
  it('are those of the newest histogram, in milliseconds', () => {
    const invocations = new Invocations()
    begun(invocations, ['a', 'b', 'c'])
    for (const scale of [1, 1000])
      invocations.take({
        type: 'histogram',
        handler: 'a',
        histogram: { count: 1, percentile: (percentile) => percentile * scale },
      })
    invocations.take({ type: 'histogram', handler: 'b', histogram: { count: 0, percentile: () => 1 } })
    const none = { p50Ms: null, p95Ms: null, p99Ms: null }
    expect(invocations.metrics()).toMatchObject({ a: { p50Ms: 50, p95Ms: 95, p99Ms: 99 }, b: none, c: none })
  })
})
