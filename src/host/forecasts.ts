/** Dry runs of what changes no intent: what would become of an event, of what waits, of the fleet. They change nothing. */
import type { Agent } from '../actors/agent.ts'
import { type Forecast, forecast } from '../model/forecast.ts'
import { LIVE } from '../model/lifecycle.ts'
import type { DeadLetter } from '../model/message.ts'

/** What an `emit` would come to. */
export function emitForecast(agent: Agent, event: string): Forecast {
  const { id, inbox, roles } = agent
  const where = agent.whereabouts()
  if (!inbox.takes) return forecast(`be ignored by '${id}': ${where}`)
  if (roles.length > 0 && !roles.some(({ events }) => events.includes(event)))
    return forecast(`be ignored: '${id}' has no handler of '${event}'`)
  if (agent.status === 'Running')
    return forecast(inbox.hasRoom ? `be handed to '${id}'` : `wait for room: the backlog of '${id}' is full`)
  if (inbox.hasRoom) return forecast(`wait in the mailbox of '${id}': ${where}`)
  return forecast(`find the mailbox of '${id}' full (${inbox.options.overflow}): ${where}`)
}

export function purgeForecast({ id, inbox }: Agent): Forecast {
  inbox.pump.reclaim()
  return forecast(`take out ${inbox.mailbox.unsent} that wait for '${id}'`)
}

export const letterForecast = (what: 'send again' | 'throw away', { id, name, agent }: DeadLetter): Forecast =>
  forecast(`${what} dead letter ${id}, '${name}' of agent '${agent}'`)

/** @param agents in start order */
export function shutdownForecast(agents: readonly Agent[]): Forecast {
  const live = agents.filter(({ phase }) => LIVE.has(phase)).map(({ id }) => id)
  return forecast(
    live.length === 0
      ? 'end the host; no agent runs'
      : `end the host, and first these agents: ${live.reverse().join(', ')}`,
  )
}
