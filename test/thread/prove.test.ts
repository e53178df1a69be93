/** The hash that a thread proves its identity with is the one the host expects, whatever is hashed. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newSecret } from '../../src/platform/id.ts'
import { prove as expected, verify } from '../../src/platform/proof.ts'
import { prove } from '../../src/thread/prove.ts'

describe('the proof of a thread', () => {
  it('is the one the host expects', () => {
    const challenge = { credential: newSecret(), nonce: newSecret(), instance: 'i_1', epoch: 7 }
    expect(prove(challenge)).toBe(expected(challenge))
    expect(verify(challenge, prove(challenge))).toBe(true)
    expect(verify(challenge, prove({ ...challenge, epoch: 8 }))).toBe(false)
  })

  it('is so for every length about the edges of a block, of the key and of the text', () => {
    for (let length = 0; length <= 200; length++) {
      const text = 'k'.repeat(length)
      const challenge = { credential: text, nonce: text, instance: '', epoch: 0 }
      expect([length, prove(challenge)]).toEqual([length, expected(challenge)])
    }
  })

  it('is so for any text', () => {
    const text = fc.string({ unit: 'binary', maxLength: 300 })
    const challenges = fc.record({ credential: text, nonce: text, instance: text, epoch: fc.nat() })
    // The seed is printed where it fails.
    fc.assert(fc.property(challenges, (challenge) => prove(challenge) === expected(challenge)))
  })
})
