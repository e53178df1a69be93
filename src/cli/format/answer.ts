/** What a command, an event and an ask answer with, for people. */
import type { Fate } from '../../model/message.ts'
import type { AgentSnapshot, CommandExtras } from '../../model/snapshot.ts'
import type { SupervisorAnswer } from '../../model/view.ts'
import { inFlightText } from './deaths.ts'
import { statusText } from './status.ts'
import { clean, type Look, wrap } from './text.ts'
import { treeLines } from './tree.ts'

export type CommandAnswer = AgentSnapshot & CommandExtras

/** One line on how the agent stands now, and one for each thing that the command adds. */
export function answerLines(answer: CommandAnswer | SupervisorAnswer, now: number, look: Look): string[] {
  if ('kind' in answer) return supervisorLines(answer, look)
  const { id, phase, drained, inFlight = [] } = answer
  const lines = wrap(clean(`${id}: ${statusText(answer, now)}, ${phase}`), look.width, '  ', '')
  if (drained !== undefined) lines.push(`  ${drained} that waited ${drained === 1 ? 'was' : 'were'} handed over`)
  if (inFlight.length > 0)
    lines.push(...wrap(clean(`still in flight: ${inFlightText(inFlight)}`), look.width, '    ', '  '))
  return lines
}

function supervisorLines(answer: SupervisorAnswer, look: Look): string[] {
  const { killed = [], stillRunning = [] } = answer
  const named = (what: string, ids: readonly string[]): string[] =>
    ids.length === 0 ? [] : wrap(clean(`${what}: ${ids.join(', ')}`), look.width, '    ', '  ')
  return [
    ...treeLines(answer, look),
    ...named('killed past its deadline', killed),
    ...named('did not end even so', stillRunning),
  ]
}

/** `handled`, `dropped (overflow)`, `crashed (…), death d-1`. */
export function fateLines({ fate, reason, deathId }: Fate, look: Look): string[] {
  const death = deathId === undefined ? '' : `, death ${deathId}`
  const why = reason === undefined || reason === fate ? '' : ` (${reason})`
  return wrap(clean(fate + why + death), look.width, '  ', '')
}

/** A reply as JSON to read. What was undefined is null on the wire. */
export const replyLines = (reply: unknown): string[] => JSON.stringify(reply ?? null, null, 2).split('\n')
