/** What a bench names must be there: a target of a variant that was renamed would never be judged. Runs no bench. */
import { describe, expect, it } from 'vitest'
import { benchNames, openBench } from '../../bench/catalogue.ts'

describe.each(benchNames)('bench %s', (name) => {
  it('is the one of that name, and its base is one of its variants', async () => {
    const bench = await openBench(name)
    expect(bench?.name).toBe(name)
    expect(Object.keys(bench?.variants ?? {})).toContain(bench?.base)
  })

  it('has targets and omissions of variants and metrics that it has', async () => {
    const { targets, leavesOut = {}, metrics, variants } = (await openBench(name))!
    const named = [...targets.flatMap(({ variant, against }) => [variant, against]), ...Object.keys(leavesOut)]
    const measured = targets.flatMap(({ metric, againstMetric = metric }) => [metric, againstMetric])
    expect(named.filter((variant) => !(variant in variants))).toEqual([])
    expect(measured.filter((key) => !metrics.some((metric) => metric.key === key))).toEqual([])
  })

  it('says of each target either how much at least or how much at most', async () => {
    const { targets } = (await openBench(name))!
    for (const { atLeast, atMost } of targets) expect([atLeast, atMost].filter(Number.isFinite)).toHaveLength(1)
  })
})
