/** What becomes of a message by where its agent is, in every cell; and overflow at its bound. */
import { describe, expect, it } from 'vitest'
import { PHASES } from '../../src/model/lifecycle.ts'
import { acceptance, admit, OVERFLOWS, type Whereabouts } from '../../src/model/mailbox-policy.ts'

const BOOLS = [true, false] as const
const cells: Whereabouts[] = PHASES.flatMap((phase) =>
  BOOLS.flatMap((running) =>
    BOOLS.flatMap((suspended) => BOOLS.map((successor) => ({ phase, running, suspended, successor }))),
  ),
)

describe('a message', () => {
  it('has its cell in 9 by 8', () => {
    expect(cells).toHaveLength(72)
  })

  it.each(cells)('in $phase, running $running, suspended $suspended, successor $successor', (where) => {
    const { phase, running, suspended, successor } = where
    if (phase === 'ACTIVE') expect(acceptance(where)).toBe(running ? 'deliver' : 'queue')
    else if (['PAUSING', 'PAUSED', 'RESUMING'].includes(phase)) expect(acceptance(where)).toBe('queue')
    else expect(acceptance(where)).toBe(suspended || successor ? 'queue' : 'ignore')
  })

  it('is delivered to an agent that is Running, and to no other', () => {
    const delivered = cells.filter((where) => acceptance(where) === 'deliver')
    expect(delivered.every(({ phase, running }) => phase === 'ACTIVE' && running)).toBe(true)
  })
})

describe('overflow', () => {
  it.each(OVERFLOWS)('%s begins at the bound and not before', (overflow) => {
    expect(admit(0, 2, overflow)).toBe('push')
    expect(admit(1, 2, overflow)).toBe('push')
    expect(admit(2, 2, overflow)).toBe(overflow)
    expect(admit(3, 2, overflow)).toBe(overflow)
  })

  it('evicts nothing that was accepted before the agent left ACTIVE: with no newer one, the newest goes', () => {
    expect(admit(0, 0, 'drop-oldest')).toBe('drop-newest')
    expect(admit(0, 0, 'reject')).toBe('reject')
  })
})
