/** When a lease is renewed, lost, asked back and given up: each limit reached and passed, and the host's own lag. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { judgeLease, LEASE_TERMS, type LeaseSigns } from '../../src/supervisor/lease.ts'

const HELD: LeaseSigns = { silentMs: 0, hostLagMs: 0, lostForMs: null, wasSilent: false, proof: 'none' }
const LOST: LeaseSigns = { ...HELD, silentMs: 20_000, lostForMs: 1000 }

describe('a lease that is held', () => {
  it.each([
    ['a fresh heartbeat', {}, 'fresh'],
    ['a heartbeat as old as one renewal', { silentMs: 5000 }, 'fresh'],
    ['a heartbeat older than that', { silentMs: 5001 }, 'silent'],
    ['silence up to its time', { silentMs: 15_000, wasSilent: true }, 'silent'],
    ['silence past it, at first sight', { silentMs: 15_001 }, 'silent'],
    ['silence past it', { silentMs: 15_001, wasSilent: true }, 'lose'],
    ['silence, all of it the lag of the host', { silentMs: 60_000, hostLagMs: 59_000, wasSilent: true }, 'fresh'],
    ['silence, the lag aside', { silentMs: 75_001, hostLagMs: 60_000, wasSilent: true }, 'lose'],
  ] as const)('%s', (_name, signs, expected) => {
    expect(judgeLease({ ...HELD, ...signs }, LEASE_TERMS)).toBe(expected)
  })

  it('is never lost for a time in which the host itself did not run', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat({ max: 5000 }), fc.boolean(), (hostLagMs, own, wasSilent) => {
        expect(judgeLease({ ...HELD, hostLagMs, silentMs: hostLagMs + own, wasSilent }, LEASE_TERMS)).toBe('fresh')
      }),
    )
  })
})

describe('a lease that is lost', () => {
  it.each([
    ['silence still', {}, 'wait'],
    ['signs of life again', { silentMs: 100 }, 'challenge'],
    ['a challenge that is not answered yet', { silentMs: 100, proof: 'asked' }, 'wait'],
    ['a right answer', { silentMs: 100, proof: 'proved' }, 'regain'],
    ['a right answer in the last moment', { proof: 'proved', lostForMs: 30_001 }, 'regain'],
    ['a wrong answer', { silentMs: 100, proof: 'wrong' }, 'end'],
    ['the last millisecond', { lostForMs: 30_000 }, 'wait'],
    ['a time that is over', { lostForMs: 30_001 }, 'end'],
    ['a time that is over, and signs of life', { silentMs: 100, lostForMs: 30_001 }, 'end'],
  ] as const)('%s', (_name, signs, expected) => {
    expect(judgeLease({ ...LOST, ...signs }, LEASE_TERMS)).toBe(expected)
  })
})
