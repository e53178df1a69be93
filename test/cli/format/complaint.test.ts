import { describe, expect, it } from 'vitest'
import { complaintLines } from '../../../src/cli/format/complaint.ts'
import { exitCodeLines } from '../../../src/cli/format/exit-codes.ts'
import { widthOf } from '../../../src/cli/format/text.ts'
import { ERRORS } from '../../../src/model/error.ts'
import { PLAIN } from '../agents.ts'

describe('a complaint', () => {
  it('says what is wrong, and what to do next', () => {
    expect(complaintLines('AgentDied', "agent 'reader' died (crash)", 'reader', undefined, PLAIN)).toEqual([
      "holt: agent 'reader' died (crash)",
      '  see what was decided: holt why reader',
    ])
  })

  it('lets whoever complains know better', () => {
    expect(complaintLines('NoSuchAgent', 'no', 'x', 'look there', PLAIN)).toEqual(['holt: no', '  look there'])
  })

  it('says nothing more where there is nothing more to say', () => {
    expect(complaintLines(null, 'one\ntwo\u001b[2J', '', undefined, PLAIN)).toEqual(['holt: one', 'two\\u001b[2J'])
  })
})

describe('the exit codes', () => {
  it('are those of the table, and the few of the command', () => {
    const lines = exitCodeLines(PLAIN)
    for (const code of Object.keys(ERRORS)) expect(lines.join('\n')).toContain(`  ${code}: `)
    expect(lines.slice(0, 3)).toEqual(['Exit codes', '', '   0  it was done; also when the reader of a pipe has gone'])
    expect(lines).toContain('   3  NoSuchAgent: No agent has this id. The message names the nearest one.')
    expect(lines).toContain('  74  the output could not be written, as on a full disk')
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(80)
  })
})
