import { describe, expect, it } from 'vitest'
import { table } from '../../../src/cli/format/table.ts'

const COLUMNS = [
  { title: 'ID', least: 4 },
  { title: 'STATUS', least: 6 },
  { title: 'N', right: true },
]
const ROWS = [
  ['librarian', 'Running', '7'],
  ['a', { text: 'Paused', colour: 'yellow' as const }, '12'],
]

describe('a table', () => {
  it('is as wide as what is in it', () => {
    expect(table(COLUMNS, ROWS, { width: 80, colour: false })).toEqual([
      'ID         STATUS    N',
      'librarian  Running   7',
      'a          Paused   12',
    ])
  })

  it('takes from the widest column that may shrink', () => {
    expect(table(COLUMNS, ROWS, { width: 18, colour: false })).toEqual([
      'ID      STATUS   N',
      'libra…  Runni…   7',
      'a       Paused  12',
    ])
  })

  it('is cut where it cannot shrink any more', () => {
    const lines = table(COLUMNS, ROWS, { width: 10, colour: false })
    expect(lines).toEqual(['ID    STA…', 'lib…  Run…', 'a     Pau…'])
  })

  it('has colour where there may be, and none in a line that is cut', () => {
    const [head, , paused] = table(COLUMNS, ROWS, { width: 80, colour: true })
    expect(head).toBe('\u001b[1mID       \u001b[0m  \u001b[1mSTATUS \u001b[0m  \u001b[1m N\u001b[0m')
    expect(paused).toBe('a          \u001b[33mPaused \u001b[0m  12')
    expect(table(COLUMNS, ROWS, { width: 10, colour: true }).join('')).not.toContain('\u001b')
  })

  it('shows what would act on the terminal, and does not let it act', () => {
    expect(table([{ title: 'ID' }], [['\u001b[2J']], { width: 80, colour: false })).toEqual(['ID', '\\u001b[2J'])
  })
})
