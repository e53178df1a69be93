/**
 * The operator's commands. One at a time an agent: a stronger one pre-empts, an equal or weaker one is refused. The
 * order is always: may it? → commit the intent → do it → answer. Nothing here decides restarts.
 */
import type { Agent } from '../actors/agent.ts'
import type { EndOptions } from '../actors/ending.ts'
import { inFlightOf } from '../actors/snapshot.ts'
import type { Told } from '../model/death.ts'
import { HoltError } from '../model/error.ts'
import type { Report } from '../model/fact.ts'
import {
  type Admission,
  type Command,
  type CommandState,
  type Holding,
  type Intent,
  type IntentStore,
  preempts,
  refusal,
  validCommands,
  WANTS,
} from '../model/intent.ts'
import { LIVE } from '../model/lifecycle.ts'
import type { AgentSnapshot, CommandExtras, CommandOptions, WouldChange } from '../model/snapshot.ts'
import type { Clock } from '../platform/clock.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import { startedOrThrow, stillRunning } from './started.ts'

export interface CommandDeps {
  readonly clock: Clock
  readonly intents: IntentStore
  readonly report: Report
  /** None of one that has been removed. */
  supervisorOf(agent: string): Supervisor | undefined
  /** Supervises again all the way up, with fresh budgets. */
  revive(agent: string, stands: () => boolean): Promise<void>
  /** @throws HoltError `GateRefused` listing what is missing */
  checkGate(agent: string): Promise<void>
  /** Of one that was left aside, and has no place to come back to. @throws HoltError `NotEnoughMemory` */
  checkRoom(agent: Agent): void
  snapshot(agent: Agent): AgentSnapshot
  /** Resolves once the deaths there have been are on disk, or cannot be written. */
  recorded(): Promise<void>
  shuttingDown(): boolean
}

/** What holds an agent. */
export interface Held {
  readonly name: Holding
  readonly by: string
  /** Wall clock. */
  readonly since: number
  preemptedBy: Holding | null
  readonly preempt: (by: Holding) => void
}

type Extra = CommandExtras | undefined

export class Commands {
  readonly #deps: CommandDeps
  readonly #held = new Map<string, Held>()

  constructor(deps: CommandDeps) {
    this.#deps = deps
  }

  /** The command that holds the agent now. */
  holding(agent: string): AgentSnapshot['command'] {
    const held = this.#held.get(agent)
    return held === undefined ? null : { name: held.name, since: held.since, by: held.by }
  }

  /** A command to a supervisor above takes over from the one that holds the agent, if it is the stronger. */
  preempt(agent: string, by: Command): void {
    const held = this.#held.get(agent)
    if (held !== undefined && preempts(by, held.name)) held.preempt(by)
  }

  /**
   * Carries out a command and answers with the snapshot after it.
   * @throws HoltError `InvalidCommand`, `AgentBusy`, `Preempted`, `GateRefused`, `NotEnoughMemory`, `BootFailed`, `ShuttingDown`
   */
  async run(agent: Agent, command: Command, options: CommandOptions = {}): Promise<AgentSnapshot & CommandExtras> {
    const by = options.by ?? 'program'
    const state = this.#stateOf(agent)
    return this.exclusively(agent, command, options, refusal(command, agent.id, state), async (held) =>
      options.dryRun === true
        ? { wouldChange: wouldChange(command, state) }
        : EFFECTS[command](this, agent, { ...options, by }, held),
    )
  }

  /**
   * Holds the agent for as long as the effect takes, and answers with the snapshot after it and what it adds. A dry run
   * holds nothing, and is not told of.
   * @param refused why it does not apply; null where it does
   */
  async exclusively<E extends object>(
    agent: Agent,
    name: Holding,
    options: CommandOptions,
    refused: string | null,
    effect: (held: Held) => Promise<E | undefined>,
  ): Promise<AgentSnapshot & E> {
    const by = options.by ?? 'program'
    if (this.#deps.shuttingDown())
      throw new HoltError('ShuttingDown', `the host is shutting down: '${name}' is not taken`)
    const reason = options.reason ?? null
    this.#checkRank(agent.id, name)
    if (refused !== null) {
      const state = this.#stateOf(agent)
      throw new HoltError('InvalidCommand', refused, { phase: state.phase, valid: validCommands(state) })
    }
    this.#checkGeneration(agent.id, options)
    const { held, preempted } = this.#hold(name, by, agent.id)
    const answer = (extra: E | undefined) => ({ ...this.#deps.snapshot(agent), ...extra }) as AgentSnapshot & E
    if (options.dryRun === true) return answer(await effect(held))
    this.#held.get(agent.id)?.preempt(name)
    this.#held.set(agent.id, held)
    try {
      const extra = await Promise.race([effect(held), preempted])
      this.#deps.report(
        'agent.command',
        { command: name, by, reason, outcome: `${agent.phase} (${agent.status})` },
        { agent: agent.id },
      )
      return answer(extra)
    } catch (error) {
      const outcome = error instanceof Error ? error.message : String(error)
      this.#deps.report('agent.command', { command: name, by, reason, outcome }, { agent: agent.id })
      throw error
    } finally {
      if (this.#held.get(agent.id) === held) this.#held.delete(agent.id)
    }
  }

  // --- effects, one a command --------------------------------------------------------------------------------------

  async begin(agent: Agent, options: CommandOptions, held: Held): Promise<Extra> {
    await this.#deps.checkGate(agent.id)
    if (held.preemptedBy !== null) return undefined
    await this.commit(agent, options, { intent: 'running' })
    await this.boot(agent, held, true)
    return undefined
  }

  async end(agent: Agent, options: CommandOptions, intent: Intent, how: EndOptions): Promise<Extra> {
    await this.commit(agent, options, { intent })
    this.#above(agent).cancel(agent.id)
    const ended = await agent.end(how)
    await this.#deps.recorded()
    return ended ? undefined : { stillRunning: true }
  }

  async restart(agent: Agent, held: Held): Promise<Extra> {
    this.#deps.checkRoom(agent)
    this.#above(agent).cancel(agent.id)
    const graceMs = agent.spec.limits.stopTimeoutMs
    if (
      agent.unkillable ||
      !(await agent.end({ cause: 'shutdown', graceMs, abort: false, handOver: true, told: told(held) }))
    )
      throw stillRunning(agent.id)
    await this.boot(agent, held, false)
    return undefined
  }

  async pause(agent: Agent, options: CommandOptions): Promise<Extra> {
    await this.commit(agent, options, { admission: 'cordoned' })
    await agent.pause(agent.spec.limits.pauseTimeoutMs, options.now === true)
    return { inFlight: inFlightOf(agent, this.#deps.clock) }
  }

  async resume(agent: Agent, options: CommandOptions): Promise<Extra> {
    await this.commit(agent, options, { admission: 'open' })
    return agent.resume()
  }

  /** The death that a command has led to is on disk before the command is answered. */
  recorded(): Promise<void> {
    return this.#deps.recorded()
  }

  /** Committed before anything is done, and before anyone is answered. */
  async commit(
    agent: Agent,
    options: CommandOptions,
    change: { intent?: Intent; admission?: Admission },
  ): Promise<void> {
    const by = options.by ?? 'program'
    const reason = options.reason ?? null
    const { ifGeneration } = options
    const condition = ifGeneration === undefined ? {} : { ifGeneration }
    const record = await this.#deps.intents.commit(
      agent.id,
      { ...change, by, reason, at: this.#deps.clock.wall() },
      condition,
    )
    const { intent, admission, generation } = record
    this.#deps.report('agent.intent', { intent, admission, by, reason, generation }, { agent: agent.id })
    agent.refresh()
  }

  // --- inside ------------------------------------------------------------------------------------------------------

  /** Those above supervise again, and it is started; unless a stronger command has come, or they have started it. */
  async boot(agent: Agent, held: Held, fresh: boolean): Promise<void> {
    const { revive, shuttingDown } = this.#deps
    const stands = (): boolean => held.preemptedBy === null && !shuttingDown()
    // Between its answer and what follows that, another stop may have begun.
    do await revive(agent.id, stands)
    while (stands() && !this.#above(agent).up)
    if (LIVE.has(agent.phase)) return
    // A stop that was pre-empted may have been committed all the same.
    if (held.preemptedBy !== null || agent.standing.intent !== 'running') return agent.schedule(null)
    if (shuttingDown())
      throw new HoltError('ShuttingDown', `the host is shutting down: agent '${agent.id}' is not started`)
    this.#above(agent).forgive(agent.id)
    startedOrThrow(agent, await agent.start(fresh))
  }

  /** @throws HoltError `NoSuchAgent` where it has been removed since it was looked up */
  #above({ id }: Agent): Supervisor {
    const supervisor = this.#deps.supervisorOf(id)
    if (supervisor !== undefined) return supervisor
    throw new HoltError('NoSuchAgent', `agent '${id}' has been removed meanwhile`, { agent: id })
  }

  /** What a newcomer finds: a start that has been taken counts as wanted, also before that is committed. */
  #stateOf(agent: Agent): CommandState {
    const holder = this.#held.get(agent.id)?.name
    const starting = holder === 'start' || holder === 'activate'
    return starting ? { ...agent.commandState, intent: 'running' } : agent.commandState
  }

  /** @throws HoltError `GenerationMismatch`: before anything is done, also where the command changes no intent */
  #checkGeneration(agent: string, { ifGeneration }: CommandOptions): void {
    const present = this.#deps.intents.read(agent)
    const generation = present?.generation ?? 0
    if (ifGeneration === undefined || ifGeneration === generation) return
    const found =
      present === undefined
        ? 'nobody has wanted anything of it yet'
        : `${present.intent} and ${present.admission}, last wanted by ${present.by}`
    const text = `expected generation ${ifGeneration} of agent '${agent}', found generation ${generation}: ${found}. Look at it and decide again`
    throw new HoltError('GenerationMismatch', text, { agent, expected: ifGeneration, found: generation })
  }

  /** @throws HoltError `AgentBusy` unless the newcomer is the stronger */
  #checkRank(agent: string, newcomer: Holding): void {
    const held = this.#held.get(agent)
    if (held === undefined || preempts(newcomer, held.name)) return
    const forMs = this.#deps.clock.wall() - held.since
    const text = `agent '${agent}' is held by '${held.name}' of ${held.by} since ${new Date(held.since).toISOString()} (${forMs} ms): '${newcomer}' has to wait`
    throw new HoltError('AgentBusy', text, { command: held.name, by: held.by, since: held.since })
  }

  #hold(name: Holding, by: string, agent: string): { held: Held; preempted: Promise<never> } {
    let reject = (_error: Error): void => {}
    const preempted = new Promise<never>((_, fail) => {
      reject = fail
    })
    // It may lose the race with nobody left to hear it.
    preempted.catch(() => {})
    const held: Held = {
      name,
      by,
      since: this.#deps.clock.wall(),
      preemptedBy: null,
      preempt: (newcomer) => {
        held.preemptedBy = newcomer
        reject(
          new HoltError('Preempted', `'${name}' of agent '${agent}' was pre-empted by '${newcomer}'`, { by: newcomer }),
        )
      },
    }
    return { held, preempted }
  }
}

const told = ({ by }: Pick<Held, 'by'>): Told => ({ rule: 'command', by })

function wouldChange(command: Command, state: CommandState): WouldChange {
  const { intent, admission } = WANTS[command]
  const ends = LIVE.has(state.phase) && ENDS.has(command)
  const starts = intent === 'running' || command === 'restart'
  return {
    ...(intent === undefined || intent === state.intent ? {} : { intent: [state.intent, intent] as const }),
    ...(admission === undefined || admission === state.admission
      ? {}
      : { admission: [state.admission, admission] as const }),
    ...(ends || starts ? { thread: ends && starts ? 'ends and starts' : ends ? 'ends' : 'starts' } : {}),
  }
}

const ENDS: ReadonlySet<Command> = new Set<Command>(['stop', 'suspend', 'restart', 'kill'])

type Effect = (commands: Commands, agent: Agent, options: CommandOptions, held: Held) => Promise<Extra>

const EFFECTS: Readonly<Record<Command, Effect>> = {
  start: (commands, agent, options, held) => commands.begin(agent, options, held),
  activate: (commands, agent, options, held) => commands.begin(agent, options, held),
  stop: (commands, agent, options, held) => {
    const now = options.now === true
    const graceMs = now ? 0 : agent.spec.limits.stopTimeoutMs
    const how = { cause: 'shutdown', graceMs, abort: now, handOver: false, told: told(held) } as const
    return commands.end(agent, options, 'stopped', how)
  },
  suspend: (commands, agent, options, held) => {
    const graceMs = agent.spec.limits.abortGraceMs
    const how = { cause: 'suspended', graceMs, abort: true, handOver: false, told: told(held) } as const
    return commands.end(agent, options, 'suspended', how)
  },
  restart: (commands, agent, _options, held) => commands.restart(agent, held),
  pause: (commands, agent, options) => commands.pause(agent, options),
  resume: (commands, agent, options) => commands.resume(agent, options),
  kill: async (commands, agent) => {
    await agent.kill()
    await commands.recorded()
    return agent.unkillable ? { stillRunning: true } : undefined
  },
}
