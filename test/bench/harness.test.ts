/**
 * The arithmetic and the tables of the benches. No test here asserts a time or runs a bench.
 */
import { describe, expect, it } from 'vitest'
import { median, orderOfRound, percentile, ratios, spread } from '../../bench/arithmetic.ts'
import type { Bench, Outcomes } from '../../bench/definition.ts'
import { failureLines, formatFigure, judge, markdownTable, verdictLine } from '../../bench/table.ts'

const bench: Bench = {
  name: 'sample',
  summary: 'two variants',
  metrics: [
    { key: 'rate', label: 'events/s', ratio: true },
    { key: 'p99', label: 'p99 µs', ratio: false },
  ],
  base: 'bare',
  variants: {},
  targets: [],
  packages: [],
}

const figures = (rate: number, p99 = 1) => ({ figures: { rate, p99 } })

describe('median', () => {
  it('is the middle of an odd number of values, in any order', () => {
    expect(median([9, 1, 5])).toBe(5)
  })
  it('is the mean of the two in the middle of an even number', () => {
    expect(median([4, 1, 3, 100])).toBe(3.5)
  })
  it('sorts by size, not by text', () => {
    expect(median([10, 9, 100])).toBe(10)
  })
  it('leaves its input as it was', () => {
    const values = [3, 1, 2]
    median(values)
    expect(values).toEqual([3, 1, 2])
  })
  it('is no number of nothing', () => {
    expect(median([])).toBeNaN()
  })
})

describe('percentile', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)

  it.each([
    [0.5, 50],
    [0.99, 99],
    [1, 100],
    [0, 1],
  ])('%d of 1 to 100 is %d', (share, expected) => {
    expect(percentile(hundred, share)).toBe(expected)
  })
})

describe('spread', () => {
  it('counts only rounds with a figure', () => {
    expect(spread([undefined, 2, 8, Number.NaN, 4])).toEqual({ median: 4, min: 2, max: 8, count: 3 })
  })
  it('is nothing when every round failed', () => {
    expect(spread([undefined, undefined])).toBeUndefined()
  })
})

describe('ratios', () => {
  it('divides round by round', () => {
    expect(ratios([10, 30], [5, 10])).toEqual([2, 3])
  })
  it('has none where either side failed or the base is zero', () => {
    expect(ratios([undefined, 30, 8], [5, undefined, 0])).toEqual([undefined, undefined, undefined])
  })
  it('does not follow a machine that slows down for a round', () => {
    expect(median(ratios([20, 2, 20], [10, 1, 10]) as number[])).toBe(2)
  })
})

describe('the order of a round', () => {
  const items = ['a', 'b', 'c']

  it.each([0, 1, 2, 3, 4, 5, 6])('runs every variant once in round %d', (round) => {
    expect([...orderOfRound(items, round)].sort()).toEqual(items)
  })
  it('moves the start on and turns every second round', () => {
    expect([0, 1, 2, 3].map((round) => orderOfRound(items, round).join(''))).toEqual(['abc', 'acb', 'cab', 'cba'])
  })
  it('copes with nothing', () => {
    expect(orderOfRound([], 3)).toEqual([])
  })
})

describe('a figure as text', () => {
  it.each([
    [2_343_210, '2.34 M'],
    [999_999, '1,000,000'],
    [61_723, '61,700'],
    [612, '612'],
    [8.2149, '8.21'],
    [0.1234, '0.123'],
    [Number.NaN, '–'],
  ])('%d is %s', (value, text) => {
    expect(formatFigure(value)).toBe(text)
  })
})

describe('the table', () => {
  const outcomes: Outcomes = {
    bare: [figures(100), figures(200), figures(150)],
    ours: [figures(300, 5), { failure: 'killed after 10 ms' }, figures(600, 7)],
    broken: [{ failure: 'Error: no' }, { failure: 'Error: no' }, { failure: 'not tried again' }],
  }

  it('shows median, min and max, and the ratio to the base', () => {
    expect(markdownTable(bench, outcomes).split('\n')).toEqual([
      '| variant | events/s | ÷ bare | p99 µs |',
      '| --- | --- | --- | --- |',
      '| bare | 150 [100–200] | 1.00 | 1.00 [1.00–1.00] |',
      '| ours | 450 [300–600] | 3.50 | 6.00 [5.00–7.00] |',
      '| broken | failed | – | failed |',
    ])
  })
  it('names every failure with its round', () => {
    expect(failureLines(outcomes)).toEqual([
      '- FAILED ours, round 2: killed after 10 ms',
      '- FAILED broken, round 1: Error: no',
      '- FAILED broken, round 2: Error: no',
      '- FAILED broken, round 3: not tried again',
    ])
  })
})

describe('a target', () => {
  const outcomes: Outcomes = { bare: [figures(100), figures(100)], ours: [figures(300), figures(290)], broken: [] }
  const target = { variant: 'ours', against: 'bare', metric: 'rate', atLeast: 3 }

  it('is missed below its ratio', () => {
    expect(verdictLine(judge(target, outcomes))).toBe('- MISSED: ours ≥ 3 × bare (2.95 ×)')
  })
  it('is met at its ratio', () => {
    expect(verdictLine(judge({ ...target, atLeast: 2.95 }, outcomes))).toBe('- met: ours ≥ 2.95 × bare (2.95 ×)')
  })
  it('is not met without a figure', () => {
    const verdict = judge({ ...target, against: 'broken' }, outcomes)
    expect(verdict.met).toBe(false)
    expect(verdictLine(verdict)).toBe('- no figure: ours ≥ 3 × broken')
  })
})
