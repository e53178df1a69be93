/**
 * `start`, `stop` and `restart` of a supervisor: of all it keeps, in its order. They change no agent's intent: what is
 * stopped here stays so until the supervisor, or the agent itself, is started. One at a time a supervisor; a stop takes
 * over from the other two.
 */
import { HoltError } from '../model/error.ts'
import type { Report } from '../model/fact.ts'
import { type Command, preempts } from '../model/intent.ts'
import { LIVE } from '../model/lifecycle.ts'
import type { CommandOptions } from '../model/snapshot.ts'
import type { SupervisorAnswer, TreeNode } from '../model/view.ts'
import type { Clock } from '../platform/clock.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import { NO_DEADLINE } from '../supervisor/supervisor-spec.ts'
import type { Commands } from './commands.ts'
import { agentsBelow, type Tree } from './tree.ts'

export interface SupervisorCommandDeps {
  readonly clock: Clock
  readonly report: Report
  readonly tree: Tree
  readonly commands: Commands
  /** The supervisor as it stands. */
  node(supervisor: Supervisor): TreeNode
  /** @param fresh as of {@link Supervisor.start} */
  start(supervisor: Supervisor, fresh: boolean): Promise<void>
  shuttingDown(): boolean
}

const VERBS = ['start', 'stop', 'restart'] as const
type Verb = (typeof VERBS)[number]

interface Held {
  readonly verb: Verb
  readonly by: string
  /** Wall clock. */
  readonly since: number
  preempted: boolean
}

type Extra = Pick<SupervisorAnswer, 'killed' | 'stillRunning'>

export class SupervisorCommands {
  readonly #deps: SupervisorCommandDeps
  readonly #held = new Map<string, Held>()

  constructor(deps: SupervisorCommandDeps) {
    this.#deps = deps
  }

  /**
   * Carries out a command and answers with what is below the supervisor after it.
   * @throws HoltError `InvalidCommand`, `AgentBusy`, `Preempted`, `ShuttingDown`
   */
  async run(supervisor: Supervisor, command: Command, options: CommandOptions = {}): Promise<SupervisorAnswer> {
    const { report, node, shuttingDown } = this.#deps
    const { id } = supervisor
    const by = options.by ?? 'program'
    if (shuttingDown()) throw new HoltError('ShuttingDown', `the host is shutting down: '${command}' is not taken`)
    const verb = this.#checked(supervisor, command)
    if (options.dryRun === true) return { ...node(supervisor), wouldChange: wouldChange(supervisor, verb) }
    const before = this.#held.get(id)
    if (before !== undefined) before.preempted = true
    const held: Held = { verb, by, since: this.#deps.clock.wall(), preempted: false }
    this.#held.set(id, held)
    try {
      const extra = await this.#carryOut(supervisor, held, options)
      if (held.preempted) throw new HoltError('Preempted', `'${verb}' of supervisor '${id}' was pre-empted by 'stop'`)
      const answer = { ...node(supervisor), ...extra }
      report('supervisor.command', { supervisor: id, command, by, outcome: answer.status })
      return answer
    } finally {
      if (this.#held.get(id) === held) this.#held.delete(id)
    }
  }

  /** @throws HoltError `AgentBusy` unless it is the stronger; `InvalidCommand` naming what would apply */
  #checked(supervisor: Supervisor, command: Command): Verb {
    const { id } = supervisor
    const held = this.#held.get(id)
    if (held !== undefined && !preempts(command, held.verb)) {
      const text = `supervisor '${id}' is held by '${held.verb}' of ${held.by} since ${new Date(held.since).toISOString()}: '${command}' has to wait`
      throw new HoltError('AgentBusy', text, { command: held.verb, by: held.by, since: held.since })
    }
    const valid = held === undefined ? validVerbs(supervisor) : (['stop'] as const)
    const verb = valid.find((one) => one === command)
    if (verb === undefined) {
      const text = `Cannot apply '${command}' to supervisor '${id}', which is ${supervisor.up ? 'Running' : 'Stopped'}. Valid commands: ${valid.join(', ')}`
      throw new HoltError('InvalidCommand', text, { valid })
    }
    return verb
  }

  async #carryOut(supervisor: Supervisor, held: Held, options: CommandOptions): Promise<Extra> {
    const extra = held.verb === 'start' ? {} : await this.#stop(supervisor, held, options)
    if (held.verb !== 'stop') await this.#start(supervisor, held)
    return extra
  }

  async #start(supervisor: Supervisor, held: Held): Promise<void> {
    await this.#deps.tree.revive(supervisor.id)
    await supervisor.settled()
    if (held.preempted || this.#deps.shuttingDown()) return
    supervisor.forgiveAll()
    await this.#deps.start(supervisor, held.verb === 'start')
  }

  async #stop(supervisor: Supervisor, { by, since }: Held, { reason, now }: CommandOptions): Promise<Extra> {
    supervisor.stopped = { by, at: since, reason: reason ?? null }
    this.#deps.tree.above(supervisor.id)[0]?.cancel(supervisor.id)
    for (const { id } of agentsBelow(supervisor)) this.#deps.commands.preempt(id, 'stop')
    const deadline = now === true ? this.#deps.clock.now() : NO_DEADLINE
    const { killed, stuck } = await supervisor.stop({ deadline, rule: 'supervisor', by })
    return { killed, stillRunning: stuck }
  }
}

type Change = NonNullable<SupervisorAnswer['wouldChange']>[number]

/** What a command would do to the agents below. */
function wouldChange(supervisor: Supervisor, verb: Verb): Change[] {
  return agentsBelow(supervisor).flatMap(({ id, phase, standing }): Change[] => {
    const ends = verb !== 'start' && LIVE.has(phase)
    const starts = verb !== 'stop' && standing.intent === 'running' && (ends || !LIVE.has(phase))
    if (!ends && !starts) return []
    return [{ agent: id, thread: ends && starts ? 'ends and starts' : ends ? 'ends' : 'starts' }]
  })
}

/** `start` while something below that ought to run does not; the others while it supervises, `stop` also before it does. */
export const validVerbs = (supervisor: Supervisor): readonly Verb[] =>
  VERBS.filter((verb) => {
    if (verb === 'start') return !isComplete(supervisor)
    return supervisor.up || (verb === 'stop' && supervisor.nextStartAt !== null)
  })

const isComplete = ({ up, children }: Supervisor): boolean =>
  up &&
  children.every(({ member }) => {
    if (member.kind === 'supervisor') return isComplete(member.supervisor)
    const { phase, standing, startScheduled } = member.agent
    return standing.intent !== 'running' || LIVE.has(phase) || startScheduled
  })
