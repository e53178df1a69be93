/** `holt drain`: lets the fleet work off what it has, then ends the host. */
import type { DrainReport } from '../host/drain.ts'
import { forecastLines } from './format/answer.ts'
import { clean, type Look, wrap } from './format/text.ts'
import type { Run } from './invocation.ts'
import { duration } from './moment.ts'

export const drain: Run = async ({ options, client, print }) => {
  const { deadline, dryRun } = options
  const deadlineMs = deadline === undefined ? undefined : duration('--deadline', deadline)
  const answer = await (await client()).drain({ deadlineMs, dryRun })
  await print(answer, (look) => ('dryRun' in answer ? forecastLines(answer, look) : reportLines(answer, look)))
  return undefined
}

function reportLines({ drained, left, killed, stuck }: DrainReport, look: Look): string[] {
  const named = (what: string, items: readonly string[]): string[] =>
    items.length === 0 ? [] : wrap(clean(`${what}: ${items.join(', ')}`), look.width, '  ', '')
  return [
    left.length + killed.length + stuck.length === 0
      ? 'the host is drained and has ended'
      : 'the host has ended, and was not drained',
    ...named(
      'worked off',
      drained.map(({ agent, handled }) => `${agent} ${handled}`),
    ),
    ...named(
      'still waiting',
      left.map(({ agent, waiting }) => `${agent} ${waiting}`),
    ),
    ...named('killed past the deadline', killed),
    ...named('could not be stopped', stuck),
  ]
}
