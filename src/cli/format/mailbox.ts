/** `holt mailbox`: what an agent is at since when, and what waits. */
import type { MailboxView } from '../../model/view.ts'
import { type Cell, type Column, table } from './table.ts'
import { clean, type Look, wrap } from './text.ts'
import { duration } from './time.ts'

const COLUMNS: readonly Column[] = [
  { title: '', least: 7 },
  { title: 'MESSAGE', right: true },
  { title: 'KIND' },
  { title: 'NAME', least: 10 },
  { title: 'FOR', right: true },
  { title: 'FROM', least: 6 },
]

/** More rows than this are counted and not shown. */
const MAX_ROWS = 20

/** @param now the wall clock, for how long something has been in flight */
export function mailboxLines(view: MailboxView, now: number, look: Look): string[] {
  const { id, depth, capacity, inFlight, waiting, dropped, ignored, deadLetters } = view
  const head = `${id}: ${depth} of ${capacity} wait, ${inFlight.length} in flight; ${dropped} dropped, ${ignored} ignored, ${deadLetters} dead letters`
  const rows: Cell[][] = [
    ...inFlight.map((one): Cell[] => [
      { text: 'in flight', colour: 'green' },
      String(one.id),
      one.kind,
      one.name,
      duration(now - one.begunAt),
      '',
    ]),
    ...waiting.map((one): Cell[] => ['waits', String(one.id), one.kind, one.name, duration(one.ageMs), one.from ?? '']),
  ]
  const lines = wrap(clean(head), look.width, '  ', '')
  if (rows.length > 0) lines.push('', ...table(COLUMNS, rows.slice(0, MAX_ROWS), look))
  const hidden = inFlight.length + depth - Math.min(rows.length, MAX_ROWS)
  if (hidden > 0) lines.push(`… and ${hidden} more`)
  return lines
}
