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
export const verify = (challenge: Challenge, proof: string): boolean => isEqual(prove(challenge), proof)

function isEqual(first: string, second: string): boolean {
  const expected = Buffer.from(first)
  const found = Buffer.from(second)
  return expected.length === found.length && timingSafeEqual(expected, found)
}

/** Signs what the host writes down for itself, and knows it again; what anybody else has written it does not. */
export interface HostSeal {
  sign(text: string): string
  verify(text: string, signature: string): boolean
}

/** @param key secret of this host; in memory only */
export function hostSeal(key: string): HostSeal {
  const sign = (text: string): string => createHmac('sha256', key).update(text).digest('hex')
  return { sign, verify: (text, signature) => isEqual(sign(text), signature) }
}
