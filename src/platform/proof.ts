/**
 * Proof of identity: the thread answers the host's challenge with a keyed hash over nonce, instance and epoch, so that
 * only what was handed the credential of this very instance can go ACTIVE. Both sides use this file.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

export interface Challenge {
  readonly credential: string
  readonly nonce: string
  readonly instance: string
  readonly epoch: number
}

export const prove = ({ credential, nonce, instance, epoch }: Challenge): string =>
  createHmac('sha256', credential).update(`${nonce}\n${instance}\n${epoch}`).digest('hex')

/** Compares in constant time. */
export function verify(challenge: Challenge, proof: string): boolean {
  const expected = Buffer.from(prove(challenge))
  const found = Buffer.from(proof)
  return expected.length === found.length && timingSafeEqual(expected, found)
}
