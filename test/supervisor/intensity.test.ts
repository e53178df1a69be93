/** The budget of restarts: at its limit, above it, and how long a restart counts. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BACKOFF_DEFAULTS } from '../../src/supervisor/backoff.ts'
import { addRestart, type Budget, budgetOf } from '../../src/supervisor/intensity.ts'

const THREE_IN_FIVE: Budget = { intensity: 3, periodMs: 5000 }

const at = (...times: readonly number[]) => times.map((time) => ({ at: time }))

/** What each restart in turn answers. */
function run(times: readonly number[], budget: Budget): boolean[] {
  let window: readonly { readonly at: number }[] = []
  return at(...times).map((restart) => {
    const next = addRestart(window, restart, budget)
    window = next.window
    return next.exceeded
  })
}

describe('more than the intensity within the period', () => {
  it('is reached by the fourth restart and not by the third', () => {
    expect(run([0, 1, 2, 3], THREE_IN_FIVE)).toEqual([false, false, false, true])
  })

  it('counts a restart exactly one period old', () => {
    expect(run([0, 100, 200, 5000], THREE_IN_FIVE)).toEqual([false, false, false, true])
  })

  it('forgets a restart one millisecond older', () => {
    expect(run([0, 100, 200, 5001], THREE_IN_FIVE)).toEqual([false, false, false, false])
  })

  it('never exceeds at an even pace just below the budget', () => {
    const pace = Array.from({ length: 100 }, (_, i) => i * 1667)
    expect(run(pace, THREE_IN_FIVE)).not.toContain(true)
  })

  it('allows none at all with intensity 0', () => {
    expect(run([0], { intensity: 0, periodMs: 5000 })).toEqual([true])
  })

  it('leaves the window it was given as it was', () => {
    const window = Object.freeze(at(1, 2, 3))
    expect(addRestart(window, { at: 4 }, THREE_IN_FIVE)).toEqual({ window: at(1, 2, 3, 4), exceeded: true })
  })

  it('keeps what else is said of each restart', () => {
    const window = [{ at: 1, child: 'a' }]
    expect(addRestart(window, { at: 2, child: 'b' }, THREE_IN_FIVE).window).toEqual([
      { at: 1, child: 'a' },
      { at: 2, child: 'b' },
    ])
  })

  it('holds at most one restart more than allowed, all within the period, and agrees with a plain count', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 3000 }), { maxLength: 200 })
    const budgets = fc.record({ intensity: fc.nat({ max: 6 }), periodMs: fc.integer({ min: 1, max: 10_000 }) })
    fc.assert(
      fc.property(gaps, budgets, (steps, budget) => {
        const past: number[] = []
        let window: readonly { readonly at: number }[] = []
        let now = 0
        for (const step of steps) {
          now += step
          past.push(now)
          const next = addRestart(window, { at: now }, budget)
          window = next.window
          expect(window.length).toBeLessThanOrEqual(budget.intensity + 1)
          expect(window.every((restart) => now - restart.at <= budget.periodMs)).toBe(true)
          expect(next.exceeded).toBe(past.filter((time) => now - time <= budget.periodMs).length > budget.intensity)
        }
      }),
    )
  })
})

describe('the budget in force', () => {
  const { backoff } = BACKOFF_DEFAULTS

  it.each([
    ['off with backoff', {}, backoff, null],
    ['three in five seconds without', {}, 'none', THREE_IN_FIVE],
    ['as set, with backoff too', { intensity: 5, periodMs: 10_000 }, backoff, { intensity: 5, periodMs: 10_000 }],
    ['completed by the default period', { intensity: 1 }, backoff, { intensity: 1, periodMs: 5000 }],
    ['completed by the default intensity', { periodMs: 60_000 }, 'none', { intensity: 3, periodMs: 60_000 }],
    ['a set intensity of 0', { intensity: 0 }, 'none', { intensity: 0, periodMs: 5000 }],
  ] as const)('%s', (_name, setting, curve, expected) => {
    expect(budgetOf(setting, curve)).toEqual(expected)
  })
})
