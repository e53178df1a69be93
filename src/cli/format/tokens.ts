/** Tokens as a table, and one that was just made. */
import type { CreatedToken, TokenView } from '../../model/access.ts'
import { type Cell, type Column, table } from './table.ts'
import { type Look, wrap } from './text.ts'
import { dayAndTime, fullTime } from './time.ts'

const COLUMNS: readonly Column[] = [
  { title: 'ID' },
  { title: 'NAME', least: 8 },
  { title: 'ACCESS' },
  { title: 'MADE (UTC)' },
  { title: 'LAST USED' },
  { title: 'EXPIRES' },
]

export function tokenLines(tokens: readonly TokenView[], now: number, look: Look): string[] {
  if (tokens.length === 0) return ['there are no tokens; holt token create NAME makes one']
  const rows = tokens.map(({ id, name, access, createdAt, lastUsedAt, expiresAt }): Cell[] => [
    id,
    name,
    access,
    dayAndTime(createdAt),
    lastUsedAt === null ? 'never' : dayAndTime(lastUsedAt),
    expiresAt === null ? 'never' : expiresAt <= now ? { text: 'expired', colour: 'red' } : dayAndTime(expiresAt),
  ])
  return table(COLUMNS, rows, look)
}

/** The token on a line of its own, whole, so that it can be copied. */
export function createdTokenLines({ id, name, access, expiresAt, token }: CreatedToken, look: Look): string[] {
  const end = expiresAt === null ? 'never expires' : `expires ${fullTime(expiresAt)}`
  const text = `'${name}' (${id}) has ${access} access and ${end}. It is not shown again:`
  return [...wrap(text, look.width, ''), '', token]
}
