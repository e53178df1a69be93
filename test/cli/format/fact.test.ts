import { describe, expect, it } from 'vitest'
import { toldLine } from '../../../src/cli/format/fact.ts'
import { widthOf } from '../../../src/cli/format/text.ts'
import { NOW, PLAIN } from '../agents.ts'

describe('a line of what happens', () => {
  it('has the time, whom it is about, and what', () => {
    expect(toldLine({ at: NOW, level: 'info', agent: 'reader', text: 'restart 1 at once' }, PLAIN)).toBe(
      '12:03:04.567 reader       restart 1 at once',
    )
  })

  it('is the host’s own where it is about no agent', () => {
    expect(toldLine({ at: NOW, level: 'info', text: 'host is up' }, PLAIN)).toBe('12:03:04.567 holt         host is up')
  })

  it('is one line, cut at the width', () => {
    const told = { at: NOW, level: 'warn', agent: 'a-very-long-name', text: `died: ${'x'.repeat(100)}\n  at y` }
    expect(toldLine(told, PLAIN)).toBe(`12:03:04.567 a-very-long… died: ${'x'.repeat(47)}…`)
    for (const width of [10, 20, 26, 40])
      expect(widthOf(toldLine(told, { width, colour: false }))).toBeLessThanOrEqual(width)
  })

  it('has the colour of its level', () => {
    expect(toldLine({ at: NOW, level: 'error', text: 'gave up' }, { width: 80, colour: true })).toBe(
      '\u001b[2m12:03:04.567\u001b[0m holt         \u001b[31mgave up\u001b[0m',
    )
  })
})
