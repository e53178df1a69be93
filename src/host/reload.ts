/**
 * Replacing what agents run from: the files are read anew, the new version is booted beside the old one, and takes over
 * in front of whoever sends; one that does not become ready is dropped, and the old one goes on.
 */
import type { Agent } from '../actors/agent.ts'
import { BootFailure, type Prepared } from '../actors/agent-spec.ts'
import type { Directory } from '../actors/directory.ts'
import { succeed } from '../actors/successor.ts'
import type { DeathRecord } from '../model/death.ts'
import { HoltError } from '../model/error.ts'
import { validCommands } from '../model/intent.ts'
import type { Phase } from '../model/lifecycle.ts'
import type { FleetReload, ReloadAnswer, ReloadOutcome } from '../model/reload.ts'
import type { CommandOptions } from '../model/snapshot.ts'
import type { Commands, Held } from './commands.ts'
import type { Drift } from './drift.ts'
import { changesOf } from './reload-changes.ts'
import { stillRunning } from './started.ts'

export interface ReloadDeps {
  readonly directory: Directory
  readonly commands: Commands
  readonly drift: Drift
  /** What of holt.yml differs from what the host was started with, and so needs a restart of the host. */
  fleetChanges(): Promise<readonly string[]>
}

/** Phases in which an instance can be replaced. */
const REPLACEABLE: ReadonlySet<Phase> = new Set<Phase>(['ACTIVE', 'PAUSING', 'PAUSED', 'RESUMING'])

export class Reloads {
  readonly #deps: ReloadDeps

  constructor(deps: ReloadDeps) {
    this.#deps = deps
  }

  /**
   * Replaces one agent's version by what its files say now; nothing where they say the same.
   * @throws HoltError `InvalidCommand` where there is no instance to replace; `BootFailed` where the new one does not become
   *   ready: the old one goes on; `Unkillable`, `AgentBusy`, `Preempted`, `GenerationMismatch`, `ShuttingDown`
   */
  one(agent: Agent, options: CommandOptions = {}): Promise<ReloadAnswer> {
    const { commands } = this.#deps
    return commands.exclusively(agent, 'reload', options, refused(agent), async (held) => ({
      reload: await this.#replace(agent, options, held),
    }))
  }

  /**
   * Every agent that runs, one at a time in start order; stops at the first that fails.
   * @throws HoltError `RestartNeeded` where holt.yml has changed; what {@link one} throws, with what has been done so far
   */
  async all(options: CommandOptions = {}): Promise<FleetReload> {
    const needed = await this.#deps.fleetChanges()
    if (needed.length > 0)
      throw new HoltError(
        'RestartNeeded',
        `holt.yml has changed in what only a start of the host takes up: ${needed.join('; ')}. Restart the host, or change it back`,
        { needed },
      )
    const agents: FleetReload['agents'][number][] = []
    const waiting = this.#deps.directory.all().filter((agent) => refused(agent) === null)
    for (const [index, agent] of waiting.entries()) {
      try {
        const { reload } = await this.one(agent, options)
        agents.push({ id: agent.id, ...reload })
      } catch (error) {
        if (!(error instanceof HoltError)) throw error
        const left = waiting.slice(index + 1).map(({ id }) => id)
        const rest = left.length === 0 ? '' : `. Not reloaded: ${left.join(', ')}`
        throw new HoltError(error.code, `${error.message}${rest}`, { ...error.details, reloaded: agents, left }, error)
      }
    }
    return { agents }
  }

  /** Agents that run, and whose files are not those they run from; found out now. */
  async changed(): Promise<string[]> {
    await this.#deps.drift.look()
    const all = this.#deps.directory.all()
    return all.filter((agent) => agent.changedOnDisk && refused(agent) === null).map(({ id }) => id)
  }

  async #replace(agent: Agent, options: CommandOptions, held: Held): Promise<ReloadOutcome> {
    const prepared = await prepare(agent)
    const outcome = {
      from: agent.spec.version,
      to: prepared.spec.version,
      changed: changesOf(agent.prepared, prepared),
    }
    if (options.dryRun === true || outcome.changed.length === 0) return { ...outcome, replaced: false }
    if (held.preemptedBy !== null) return { ...outcome, replaced: false }
    const successor = await succeed(agent, prepared, held.by)
    // The one before it has died meanwhile, and its supervisor has started what stood ready.
    if (successor.taken) return { ...outcome, replaced: true }
    if (held.preemptedBy !== null) {
      await successor.drop()
      return { ...outcome, replaced: false }
    }
    if (!successor.ready) throw notReady(agent, await successor.settled)
    const graceMs = agent.spec.limits.stopTimeoutMs
    const told = { rule: 'command', by: held.by } as const
    if (!(await agent.end({ cause: 'shutdown', graceMs, abort: false, handOver: true, told })))
      throw stillRunning(agent.id)
    await this.#deps.commands.boot(agent, held, false)
    return { ...outcome, replaced: true }
  }
}

/** `null` where an instance can be replaced, else the sentence that refuses it. */
function refused(agent: Agent): string | null {
  if (REPLACEABLE.has(agent.phase) && !agent.unkillable) return null
  const state = agent.commandState
  const scheduled = state.scheduled ? ' with a start scheduled' : ''
  const valid = validCommands(state).join(', ') || 'none'
  return `Cannot apply 'reload' to agent '${agent.id}' in ${state.phase}${scheduled}: there is no instance to replace, and a start reads the files anew. Valid commands: ${valid}`
}

async function prepare(agent: Agent): Promise<Prepared> {
  try {
    return await agent.deps.prepare(agent.id)
  } catch (error) {
    const { step, cause } = error instanceof BootFailure ? error : { step: 'manifest', cause: error }
    const why = cause instanceof Error ? cause.message : String(cause)
    throw goesOn(agent, `its new version cannot be started (step '${step}'): ${why}`, { step })
  }
}

function notReady(agent: Agent, record: DeathRecord | null): HoltError {
  const why = record?.error?.message ?? record?.cause ?? 'it ended before it could take over'
  const step = record?.step === undefined ? '' : ` (step '${record.step}')`
  return goesOn(agent, `its new version did not become ready${step}: ${why}`, record === null ? {} : { record })
}

const goesOn = ({ id, spec }: Agent, text: string, details: Record<string, unknown>): HoltError =>
  new HoltError('BootFailed', `agent '${id}' was not reloaded, and version ${spec.version} goes on: ${text}`, details)
