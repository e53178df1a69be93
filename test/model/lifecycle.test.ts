/** The transition table, cell by cell. */
import { describe, expect, it } from 'vitest'
import { HoltError } from '../../src/model/error.ts'
import { canTransition, LIVE, PHASES, type Phase, transition } from '../../src/model/lifecycle.ts'

/** Written out once more, so that a slip in the table is seen. Rows are from, columns to, in the order of PHASES. */
const TABLE: Readonly<Record<Phase, string>> = {
  //         BIAPPRSSF
  BOOTING: '.xx...x.x',
  IDLE: 'x.....x..',
  ACTIVE: '...x..x..',
  PAUSING: '....x.x..',
  PAUSED: '.....xx..',
  RESUMING: '..x...x..',
  STOPPING: '.......x.',
  STOPPED: 'x........',
  FAILED: 'x........',
}

const cells = PHASES.flatMap((from) => PHASES.map((to, i) => ({ from, to, allowed: TABLE[from][i] === 'x' })))

describe('every move of nine phases to nine', () => {
  it('is 81 cells, 17 of them allowed', () => {
    expect(cells).toHaveLength(81)
    expect(cells.filter(({ allowed }) => allowed)).toHaveLength(17)
  })

  it.each(cells)('$from to $to: $allowed', ({ from, to, allowed }) => {
    expect(canTransition(from, to)).toBe(allowed)
    if (allowed) expect(transition('greeter', from, to)).toBe(to)
    else expect(() => transition('greeter', from, to)).toThrow(`agent 'greeter' cannot go from ${from} to ${to}`)
  })
})

describe('a forbidden move', () => {
  it('is told with what would be allowed', () => {
    expect.assertions(2)
    try {
      transition('greeter', 'STOPPED', 'ACTIVE')
    } catch (error) {
      expect(error).toBeInstanceOf(HoltError)
      expect(error).toMatchObject({
        code: 'InvalidTransition',
        details: { agent: 'greeter', from: 'STOPPED', to: 'ACTIVE', allowed: ['BOOTING'] },
      })
    }
  })
})

describe('an ended life', () => {
  it('leaves only by a new boot', () => {
    for (const ended of ['STOPPED', 'FAILED'] as const) {
      expect(PHASES.filter((to) => canTransition(ended, to))).toEqual(['BOOTING'])
    }
  })

  it('is not live, nor is one that has not begun', () => {
    expect(PHASES.filter((phase) => !LIVE.has(phase))).toEqual(['IDLE', 'STOPPED', 'FAILED'])
  })
})
