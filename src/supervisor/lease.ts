/**
 * When is a lease taken, renewed, lost, asked back, and when is it too late? Pure judgement over what a tick of the watch
 * sees; `leases.ts` carries it out. It reads no clock.
 *
 *     silence:   renewed ── renewEveryMs ── held, not renewed ── ttlMs ── lost ── recoverMs ── ended
 *                                                                  └── signs of life again: challenged ── held
 */

/** Ms. */
export interface LeaseTerms {
  /** How long an instance may be silent before it is fenced. 0: there are no leases. @default 15000 */
  readonly ttlMs: number
  /** @default 5000 */
  readonly renewEveryMs: number
  /** How long it has from then on to prove its identity again. @default 30000 */
  readonly recoverMs: number
}

export const LEASE_TERMS: LeaseTerms = { ttlMs: 15_000, renewEveryMs: 5000, recoverMs: 30_000 }

export interface LeaseSigns {
  /** Ms since the last sign of life. */
  readonly silentMs: number
  /** By how much the host's own tick came late, ms. */
  readonly hostLagMs: number
  /** For how long it has been lost, ms, by ticks: lags of the host are not counted; null: it is held. */
  readonly lostForMs: number | null
  /** It was as silent at the tick before: nobody loses a lease at first sight. */
  readonly wasSilent: boolean
  /** Of the challenge that was sent since it was lost. */
  readonly proof: 'none' | 'asked' | 'proved' | 'wrong'
}

export type LeaseJudgement =
  /** `fresh`: it is to be renewed when the time comes. */
  'fresh' | 'silent' | 'lose' | 'wait' | 'challenge' | 'regain' | 'end'

export const silentFor = ({ silentMs, hostLagMs }: LeaseSigns): number => silentMs - Math.max(0, hostLagMs)

export const isSilent = (signs: LeaseSigns, { ttlMs }: LeaseTerms): boolean => silentFor(signs) > ttlMs

/** What these signs amount to. */
export function judgeLease(signs: LeaseSigns, terms: LeaseTerms): LeaseJudgement {
  const fresh = silentFor(signs) <= terms.renewEveryMs
  if (signs.lostForMs === null) {
    if (isSilent(signs, terms)) return signs.wasSilent ? 'lose' : 'silent'
    return fresh ? 'fresh' : 'silent'
  }
  if (signs.proof === 'wrong') return 'end'
  if (signs.proof === 'proved') return 'regain'
  if (signs.lostForMs > terms.recoverMs) return 'end'
  return signs.proof === 'none' && fresh ? 'challenge' : 'wait'
}
