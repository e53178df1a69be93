import { describe, expect, it } from 'vitest'
import { validationLines } from '../../../src/cli/format/faults.ts'
import { PLAIN } from '../agents.ts'

const fault = {
  file: '/fleet/agents/a/agent.yml',
  line: 3,
  column: 1,
  field: 'versoin',
  expected: 'no such field',
  found: '1.0.0',
}

describe('a validation', () => {
  it('tells every fault with its place, and what would not start', () => {
    const faults = [
      { ...fault, hint: 'did you mean version?' },
      { ...fault, file: '/elsewhere/x.yml', line: null, column: null, field: '' },
    ]
    const agents = [
      { id: 'a', ok: false },
      { id: 'b', ok: true },
    ]
    expect(validationLines({ ok: false, dir: '/fleet', agents, faults }, '/fleet', PLAIN)).toEqual([
      'agents/a/agent.yml:3:1',
      '    field     versoin',
      '    expected  no such field',
      '    found     1.0.0',
      '    hint      did you mean version?',
      '',
      '/elsewhere/x.yml',
      '    expected  no such field',
      '    found     1.0.0',
      '',
      '2 faults; these agents would not start: a',
    ])
  })

  it('without faults is one line', () => {
    expect(
      validationLines({ ok: true, dir: '/fleet', agents: [{ id: 'a', ok: true }], faults: [] }, '/', PLAIN),
    ).toEqual(['no faults, 1 agent'])
  })
})
