import { describe, expect, it } from 'vitest'
import { answerLines, fateLines, replyLines } from '../../../src/cli/format/answer.ts'
import { agent, NOW, PLAIN } from '../agents.ts'
import { death } from '../deaths.ts'

describe('the answer to a command', () => {
  it('says how the agent stands', () => {
    expect(answerLines(agent({ status: 'Stopped', phase: 'STOPPED', intent: 'suspended' }), NOW, PLAIN)).toEqual([
      'librarian: Stopped (suspended), STOPPED',
    ])
  })

  it('says what was drained, and what is still in flight', () => {
    expect(answerLines({ ...agent(), drained: 256 }, NOW, PLAIN)).toEqual([
      'librarian: Running, ACTIVE',
      '  256 that waited were handed over',
    ])
    expect(answerLines({ ...agent(), inFlight: death().inFlight }, NOW, PLAIN)).toEqual([
      'librarian: Running, ACTIVE',
      '  still in flight: read',
    ])
    expect(answerLines({ ...agent(), drained: 1, inFlight: [] }, NOW, PLAIN)[1]).toBe('  1 that waited was handed over')
  })

  it('of a supervisor is its tree, and who did not end in time', () => {
    const answer = {
      id: 'root',
      kind: 'supervisor',
      strategy: 'one_for_one',
      status: 'Stopped',
      restarts: 0,
      children: [],
      killed: ['a', 'b'],
      stillRunning: ['b'],
    } as const
    expect(answerLines(answer, NOW, PLAIN)).toEqual([
      'root  Stopped  one_for_one',
      '  killed past its deadline: a, b',
      '  did not end even so: b',
    ])
  })
})

it('a fate says why, and which death', () => {
  expect(fateLines({ fate: 'handled' }, PLAIN)).toEqual(['handled'])
  expect(fateLines({ fate: 'dropped', reason: 'overflow' }, PLAIN)).toEqual(['dropped (overflow)'])
  expect(fateLines({ fate: 'crashed', reason: 'crashed', deathId: 'd-1' }, PLAIN)).toEqual(['crashed, death d-1'])
})

it('a reply is JSON to read', () => {
  expect(replyLines([{ title: 'Otters' }])).toEqual(['[', '  {', '    "title": "Otters"', '  }', ']'])
  expect(replyLines('text')).toEqual(['"text"'])
  expect(replyLines(undefined)).toEqual(['null'])
})
