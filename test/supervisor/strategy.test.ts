/** Whom a death concerns: the four strategies, what a sibling's share is, and when a supervisor ends; whole matrices. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RESTART_TYPES } from '../../src/supervisor/restart.ts'
import {
  AUTO_SHUTDOWNS,
  endsWith,
  firstOfGroup,
  isGrouped,
  type Sibling,
  STRATEGIES,
  shareOf,
} from '../../src/supervisor/strategy.ts'

describe('whom a death concerns', () => {
  const CHILDREN = ['a', 'b', 'c', 'd'] as const
  const group = (strategy: (typeof STRATEGIES)[number], failed: number): string => {
    const { from, to } = firstOfGroup(strategy, failed)
    return CHILDREN.slice(from, to ?? undefined).join('')
  }

  it.each([
    ['one_for_one', ['a', 'b', 'c', 'd']],
    ['one_for_all', ['abcd', 'abcd', 'abcd', 'abcd']],
    ['rest_for_one', ['abcd', 'bcd', 'cd', 'd']],
    ['dynamic', ['a', 'b', 'c', 'd']],
  ] as const)('%s, by the place of the one that died', (strategy, groups) => {
    expect(CHILDREN.map((_, place) => group(strategy, place))).toEqual(groups)
  })

  it('is a group for two of the four', () => {
    expect(STRATEGIES.filter(isGrouped)).toEqual(['one_for_all', 'rest_for_one'])
  })

  it('always has the one that died in it, and all of it in one piece', () => {
    const cases = fc.record({
      strategy: fc.constantFrom(...STRATEGIES),
      failed: fc.nat({ max: 50 }),
      after: fc.nat({ max: 50 }),
    })
    fc.assert(
      fc.property(cases, ({ strategy, failed, after }) => {
        const { from, to } = firstOfGroup(strategy, failed)
        const places = Array.from({ length: failed + 1 + after }, (_, place) => place).slice(from, to ?? undefined)
        expect(places).toContain(failed)
        if (!isGrouped(strategy)) expect(places).toEqual([failed])
        if (strategy === 'one_for_all') expect(places).toHaveLength(failed + 1 + after)
        if (strategy === 'rest_for_one') expect(places).toHaveLength(after + 1)
      }),
    )
  })
})

describe('the share of a sibling', () => {
  const DECISIONS: readonly Sibling['lastDecision'][] = [
    null,
    { rule: 'restart_type', action: 'none' },
    { rule: 'restart_type', action: 'restart' },
    { rule: 'backoff', action: 'restart' },
    { rule: 'strategy', action: 'restart' },
    { rule: 'strategy', action: 'none' },
    { rule: 'intent', action: 'none' },
    { rule: 'command', action: 'none' },
    { rule: 'supervisor', action: 'none' },
    { rule: 'auto_shutdown', action: 'shutdown' },
    { rule: 'host_shutdown', action: 'none' },
    { rule: 'restart_intensity', action: 'give_up' },
    { rule: 'restart_limit', action: 'none' },
    { rule: 'final_boot_failure', action: 'none' },
  ]
  const cells = RESTART_TYPES.flatMap((type) =>
    (['live', 'scheduled', 'ended'] as const).flatMap((where) =>
      (['running', 'suspended', 'stopped'] as const).flatMap((intent) =>
        DECISIONS.map((lastDecision) => ({
          type,
          where,
          intent,
          lastDecision,
          rule: lastDecision?.rule ?? 'none yet',
        })),
      ),
    ),
  )

  it('is all of 3 by 3 by 3 by 14', () => {
    expect(cells).toHaveLength(378)
  })

  it.each(cells)('$type, $where, $intent, last $rule', ({ type, where, intent, lastDecision }) => {
    const share = shareOf({ type, live: where === 'live', scheduled: where === 'scheduled', intent, lastDecision })
    if (type === 'temporary' || intent !== 'running') {
      expect(share).toBe(where === 'live' ? 'end' : 'none')
      return
    }
    const forGood = lastDecision?.rule === 'restart_limit' || lastDecision?.rule === 'final_boot_failure'
    expect(share).toBe(where === 'ended' && forGood ? 'none' : 'restart')
  })
})

describe('the end of a significant child', () => {
  it.each([
    ['never', false, false, false],
    ['any_significant', true, true, true],
    ['all_significant', true, false, false],
  ] as const)('%s ends the supervisor with none, one or two others left: %s, %s, %s', (mode, ...expected) => {
    expect([0, 1, 2].map((left) => endsWith(mode, left))).toEqual(expected)
  })

  it('knows OTP words only', () => {
    expect(AUTO_SHUTDOWNS).toEqual(['never', 'any_significant', 'all_significant'])
  })
})
