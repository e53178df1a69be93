/** Moments as people write them. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { moment } from '../../src/cli/moment.ts'

const NOW = Date.UTC(2026, 6, 30, 12)

describe('a moment', () => {
  it.each([
    ['10m', NOW - 600_000],
    ['1h30m', NOW - 5_400_000],
    ['1.5h', NOW - 5_400_000],
    ['250ms', NOW - 250],
    ['2d', NOW - 172_800_000],
    ['2026-07-30T11:00:00Z', NOW - 3_600_000],
    ['2026-07-30 11:00Z', NOW - 3_600_000],
    ['2026-07-30T13:00:00+02:00', NOW - 3_600_000],
    ['2026-07-30', Date.UTC(2026, 6, 30)],
    [String(NOW), NOW],
    ['999999999d', 0],
  ])('%s', (text, at) => {
    expect(moment('--since', text, NOW)).toBe(at)
  })

  it.each(['', '10', 'yesterday', '10 m', '-5m', '2026-13-01', '2026-07-30T25:00:00Z', '1e3s', '12:00'])(
    '%j is none',
    (text) => {
      expect(() => moment('--since', text, NOW)).toThrow(/^--since: expected a duration/)
    },
  )

  it('is a whole number from 0, or refused', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          expect(Number.isSafeInteger(moment('--since', text, NOW))).toBe(true)
        } catch (error) {
          expect(error).toMatchObject({ code: 'InvalidOption' })
        }
      }),
    )
  })
})
