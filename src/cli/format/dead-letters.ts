/** Dead letters as a table. */
import type { DeadLetter } from '../../model/message.ts'
import { type Cell, type Column, table } from './table.ts'
import type { Look } from './text.ts'
import { dayAndTime } from './time.ts'

const COLUMNS: readonly Column[] = [
  { title: 'LETTER', right: true },
  { title: 'WHEN (UTC)' },
  { title: 'AGENT', least: 8 },
  { title: 'REASON', least: 10 },
  { title: 'MESSAGE', least: 10 },
  { title: 'TRIES', right: true },
  { title: 'DEATH', least: 8 },
]

export function deadLetterLines(letters: readonly DeadLetter[], look: Look): string[] {
  if (letters.length === 0) return ['no dead letters']
  const rows = letters.map((letter): Cell[] => [
    String(letter.id),
    dayAndTime(letter.at),
    letter.agent,
    letter.reason,
    letter.kind === 'ask' ? `${letter.name} (ask)` : letter.name,
    String(letter.deliveryCount),
    letter.deathId ?? '-',
  ])
  return table(COLUMNS, rows, look)
}
