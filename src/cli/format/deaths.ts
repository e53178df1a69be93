/** Deaths as a table, and one of them in a few words. */
import type { DeathRecord, Decision, InFlight } from '../../model/death.ts'
import { type Cell, type Column, table } from './table.ts'
import { clean, type Look, wrap } from './text.ts'
import { dayAndTime, duration } from './time.ts'

const COLUMNS: readonly Column[] = [
  { title: 'WHEN (UTC)' },
  { title: 'AGENT', least: 8 },
  { title: 'CAUSE', least: 10 },
  { title: 'IN FLIGHT', least: 9 },
  { title: 'DECIDED', least: 10 },
]

export function deathLines(deaths: readonly DeathRecord[], look: Look): string[] {
  if (deaths.length === 0) return ['no deaths']
  const rows = deaths.map((death): Cell[] => [
    dayAndTime(death.at),
    death.agent,
    { text: causeText(death), colour: death.class === 'crash' ? 'red' : undefined },
    inFlightText(death.inFlight),
    decisionText(death.decision),
  ])
  return table(COLUMNS, rows, look)
}

export const causeText = ({ cause, step }: Pick<DeathRecord, 'cause' | 'step'>): string =>
  step === undefined ? cause : `${cause} (${step})`

/** `read, find (2)`; a dash for nothing. */
export function inFlightText(inFlight: readonly Pick<InFlight, 'name'>[]): string {
  const counts = new Map<string, number>()
  for (const { name } of inFlight) counts.set(name, (counts.get(name) ?? 0) + 1)
  const each = [...counts].map(([name, n]) => (n === 1 ? name : `${name} (${n})`))
  return each.length === 0 ? '-' : each.join(', ')
}

/** `restart 2 in 1s`, `gave up (restart_limit)`, `stays ended (intent)`. */
export function decisionText({ action, attempt, delayMs = 0, rule }: Decision): string {
  if (action === 'restart') return `restart ${attempt} ${delayMs === 0 ? 'at once' : `in ${duration(delayMs)}`}`
  return `${action === 'give_up' ? 'gave up' : 'stays ended'} (${rule})`
}

/** A death in one sentence, for a page about its agent. */
export function lastDeathLines(death: DeathRecord, look: Look, indent: string, first: string): string[] {
  const { error } = death
  const why = error === undefined ? '' : `: ${error.message}`
  const text = `${dayAndTime(death.at)} UTC ${causeText(death)}${why}; ${decisionText(death.decision)}`
  return wrap(clean(text), look.width, indent, first)
}
