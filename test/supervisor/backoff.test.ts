/** Backoff: the delays of a loop of failures, and what counts as progress. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  afterLife,
  BACKOFF_DEFAULTS,
  type BackoffCurve,
  type BackoffState,
  FRESH_BACKOFF,
  nextDelay,
} from '../../src/supervisor/backoff.ts'

const CURVE: BackoffCurve = { minMs: 1000, maxMs: 300_000, factor: 2, jitter: 0 }
const middle = () => 0.5

/** The delays of `count` failures in a row. */
function delaysOf(backoff: BackoffCurve | 'none', count: number, random: () => number = middle): number[] {
  const delays: number[] = []
  let state = FRESH_BACKOFF
  for (let i = 0; i < count; i++) {
    const next = nextDelay(state, { backoff }, random)
    delays.push(next.delayMs)
    state = next.state
  }
  return delays
}

const curves = fc.record({
  minMs: fc.integer({ min: 1, max: 10_000 }),
  maxMs: fc.integer({ min: 10_000, max: 1_000_000 }),
  factor: fc.double({ min: 1, max: 10, noNaN: true }),
  jitter: fc.double({ min: 0, max: 1, noNaN: true }),
})
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('the delays of failures in a row', () => {
  it('are nothing at first, then double from the least to the cap, for ever', () => {
    expect(delaysOf(CURVE, 12)).toEqual([
      0, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 256_000, 300_000, 300_000,
    ])
    expect(delaysOf(CURVE, 5000).at(-1)).toBe(300_000)
  })

  it('count every attempt', () => {
    let state = FRESH_BACKOFF
    for (let i = 1; i <= 3; i++) {
      state = nextDelay(state, { backoff: CURVE }, middle).state
      expect(state.attempt).toBe(i)
    }
    expect(state.delayMs).toBe(2000)
  })

  it('are always nothing without backoff, and the attempts still count', () => {
    expect(delaysOf('none', 5)).toEqual([0, 0, 0, 0, 0])
    expect(nextDelay({ attempt: 7, delayMs: 0 }, { backoff: 'none' }, middle).state).toEqual({ attempt: 8, delayMs: 0 })
  })

  it('reach both ends of the jitter, and growth does not compound it', () => {
    const jittery = { ...CURVE, jitter: 0.2 }
    expect(delaysOf(jittery, 4, () => 0)).toEqual([0, 800, 1600, 3200])
    expect(delaysOf(jittery, 4, () => 1 - Number.EPSILON)).toEqual([0, 1200, 2400, 4800])
  })

  it('are not cut to what a platform timer can hold: the clock chains long ones', () => {
    const month = 30 * 24 * 3600 * 1000
    expect(delaysOf({ minMs: month, maxMs: 4 * month, factor: 2, jitter: 0 }, 5)).toEqual([
      0,
      month,
      2 * month,
      4 * month,
      4 * month,
    ])
  })

  it('stay at the cap when the least is above it', () => {
    expect(delaysOf({ ...CURVE, minMs: 5000, maxMs: 100 }, 3)).toEqual([0, 100, 100])
  })

  it('are whole, never below nothing and within the jitter of the cap, for any curve and any chance', () => {
    fc.assert(
      fc.property(curves, fc.array(chance, { minLength: 1, maxLength: 30 }), (curve, chances) => {
        let at = 0
        for (const delay of delaysOf(curve, chances.length, () => chances[at++ % chances.length] ?? 0)) {
          expect(Number.isSafeInteger(delay)).toBe(true)
          expect(delay).toBeGreaterThanOrEqual(0)
          expect(delay).toBeLessThanOrEqual(Math.ceil(curve.maxMs * (1 + curve.jitter)))
        }
      }),
    )
  })

  it('lie within the jitter of the delay that is kept', () => {
    fc.assert(
      fc.property(curves, chance, fc.integer({ min: 1, max: 40 }), (curve, luck, failures) => {
        let state: BackoffState = FRESH_BACKOFF
        for (let i = 0; i < failures; i++) state = nextDelay(state, { backoff: curve }, () => luck).state
        const { delayMs, state: kept } = nextDelay(state, { backoff: curve }, () => luck)
        expect(Math.abs(delayMs - kept.delayMs)).toBeLessThanOrEqual(kept.delayMs * curve.jitter + 0.5 + 1e-6)
      }),
    )
  })

  it('never shrink without jitter', () => {
    fc.assert(
      fc.property(curves, (curve) => {
        const delays = delaysOf({ ...curve, jitter: 0 }, 40)
        expect(delays).toEqual(delays.toSorted((a, b) => a - b))
      }),
    )
  })
})

describe('after a life', () => {
  const late: BackoffState = { attempt: 5, delayMs: 8000 }
  const later: BackoffState = { attempt: 9, delayMs: 64_000 }
  const options = { stableMs: 10_000 }

  it.each([
    ['a message done and stable to the millisecond', late, 10_000, true, true],
    ['a message done, one millisecond short', late, 9999, true, false],
    ['a message done, as long as a delay above stableMs', later, 64_000, true, true],
    ['a message done, one millisecond short of such a delay', later, 63_999, true, false],
    ['nothing done, ten times stable', late, 100_000, false, true],
    ['nothing done, one millisecond short of it', late, 99_999, false, false],
    ['nothing done, stable once', late, 10_000, false, false],
    ['nothing at all', late, 0, false, false],
  ] as const)('%s', (_name, state, uptimeMs, progressed, fresh) => {
    expect(afterLife(state, { uptimeMs, progressed }, options)).toEqual(fresh ? FRESH_BACKOFF : state)
  })

  it('a stableMs of 0 does not turn quick ends without work into progress', () => {
    expect(afterLife(late, { uptimeMs: 5, progressed: false }, { stableMs: 0 })).toBe(late)
    expect(afterLife(late, { uptimeMs: 8000, progressed: true }, { stableMs: 0 })).toEqual(FRESH_BACKOFF)
  })

  it('an agent that always works for half a minute and then fails starts afresh by default', () => {
    expect(afterLife(late, { uptimeMs: 30_000, progressed: true }, BACKOFF_DEFAULTS)).toEqual(FRESH_BACKOFF)
  })
})
