/** What a command, an event and an ask answer with, for people. */
import type { Forecast } from '../../model/forecast.ts'
import type { Fate } from '../../model/message.ts'
import type { AgentSnapshot, CommandExtras, WouldChange } from '../../model/snapshot.ts'
import type { SupervisorAnswer } from '../../model/view.ts'
import { inFlightText } from './deaths.ts'
import { statusText } from './status.ts'
import { clean, type Look, wrap } from './text.ts'
import { treeLines } from './tree.ts'

export type CommandAnswer = AgentSnapshot & CommandExtras

/** One line on how the agent stands now, and one for each thing that the command adds. */
export function answerLines(answer: CommandAnswer | SupervisorAnswer, now: number, look: Look): string[] {
  if ('kind' in answer) return supervisorLines(answer, look)
  const { id, phase, drained, inFlight = [], stillRunning, wouldChange } = answer
  if (wouldChange !== undefined) return changeLines(id, wouldChange, look)
  const lines = wrap(clean(`${id}: ${statusText(answer, now)}, ${phase}`), look.width, '  ', '')
  if (drained !== undefined) lines.push(`  ${drained} that waited ${drained === 1 ? 'was' : 'were'} handed over`)
  if (inFlight.length > 0)
    lines.push(...wrap(clean(`still in flight: ${inFlightText(inFlight)}`), look.width, '    ', '  '))
  if (stillRunning === true) lines.push('  its thread is inside a native call and could not be ended yet')
  return lines
}

/** `--dry-run`: what would change. */
function changeLines(id: string, { intent, admission, thread }: WouldChange, look: Look): string[] {
  const changes = [
    ...(intent === undefined ? [] : [`intent ${intent[0]} to ${intent[1]}`]),
    ...(admission === undefined ? [] : [`admission ${admission[0]} to ${admission[1]}`]),
    ...(thread === undefined ? [] : [`its thread ${thread}`]),
  ]
  const text = changes.length === 0 ? 'nothing would change' : `would change: ${changes.join(', ')}`
  return wrap(clean(`${id}: ${text}`), look.width, '  ', '')
}

function supervisorLines(answer: SupervisorAnswer, look: Look): string[] {
  const { killed = [], stillRunning = [], wouldChange } = answer
  const named = (what: string, ids: readonly string[]): string[] =>
    ids.length === 0 ? [] : wrap(clean(`${what}: ${ids.join(', ')}`), look.width, '    ', '  ')
  if (wouldChange !== undefined) return wouldChange.flatMap(({ agent, thread }) => changeLines(agent, { thread }, look))
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

/** `--dry-run` of what changes no intent. */
export const forecastLines = ({ would }: Forecast, look: Look): string[] =>
  wrap(clean(`would ${would}`), look.width, '  ', '')

/** A reply as JSON to read. What was undefined is null on the wire. */
export const replyLines = (reply: unknown): string[] => JSON.stringify(reply ?? null, null, 2).split('\n')
