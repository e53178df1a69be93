/** Why the catalog does not do what it was asked to: each names what was found and what to do next. Pure. */
import type { Agent } from '../actors/agent.ts'
import { HoltError } from '../model/error.ts'
import { validCommands } from '../model/intent.ts'
import { LIVE } from '../model/lifecycle.ts'
import { nearest } from '../model/nearest.ts'
import type { AgentSnapshot } from '../model/snapshot.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'

/** Taken out of the catalog, an agent is gone with all it had: it has to have ended before. */
export function stillUp(agent: Agent): HoltError {
  const { id, phase, startScheduled } = agent
  const valid = validCommands(agent.commandState)
  const next = valid.includes('suspend') ? `Suspend it first: holt suspend ${id}` : 'Wait until it has ended'
  const waiting = startScheduled && !LIVE.has(phase) ? ' with a start scheduled' : ''
  return new HoltError('InvalidCommand', `Cannot uninstall agent '${id}' in ${phase}${waiting}. ${next}`, {
    phase,
    valid,
  })
}

export function held(id: string, { name, by, since }: NonNullable<AgentSnapshot['command']>): HoltError {
  const text = `agent '${id}' is held by '${name}' of ${by} since ${new Date(since).toISOString()}: 'uninstall' has to wait`
  return new HoltError('AgentBusy', text, { command: name, by, since })
}

/** To whoever wants an agent while it is being taken out. */
export const beingUninstalled = (id: string): HoltError =>
  new HoltError('AgentBusy', `agent '${id}' is being uninstalled`, { command: 'uninstall' })

/**
 * @param supervisor the one above it, where the fleet has something of that name
 * @param installed names of what is in the catalog
 */
export function notInCatalog(
  name: string,
  supervisor: Supervisor | undefined,
  installed: readonly string[],
): HoltError {
  if (supervisor !== undefined) {
    const text =
      supervisor.options.strategy === 'dynamic'
        ? `'${name}' was added to supervisor '${supervisor.id}' at run time, not by the catalog. It goes when it has ended`
        : `'${name}' is part of the fleet's holt.yml, not of the catalog. Take it out there, then restart the host`
    return new HoltError('InvalidCommand', text, { agent: name })
  }
  const close = nearest(name, installed)
  const hint =
    close === undefined ? `Installed: ${installed.slice(0, 10).join(', ') || 'nothing'}` : `Did you mean '${close}'?`
  return new HoltError('NoSuchAgent', `there is no '${name}' in the catalog. ${hint}`, {
    agent: name,
    ...(close === undefined ? {} : { nearest: close }),
  })
}

export const tooManyAgents = (max: number): HoltError =>
  new HoltError('TooManyChildren', `the host has ${max} agents, and may have no more: raise maxAgents`, { max })

/** An error that speaks of the files of a draft, with the files where whoever asked has them. */
export function speakingOf(source: string, draft: string, error: unknown): unknown {
  if (!(error instanceof HoltError)) return error
  const moved = (text: string): string => text.replaceAll(draft, source)
  const details = JSON.parse(JSON.stringify(error.details), (_key, value: unknown) =>
    typeof value === 'string' ? moved(value) : value,
  ) as HoltError['details']
  return new HoltError(error.code, moved(error.message), details, error.cause)
}
