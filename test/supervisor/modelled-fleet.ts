/** A fleet on the testkit and the model of it: what is done is done to both, and both are held against one another. */
import type { Command } from '../../src/model/intent.ts'
import type { TreeNode } from '../../src/model/view.ts'
import type { TestHost } from '../../src/testkit/index.ts'
import type { OtpModel } from './otp-model.ts'
import type { Agent, Supervisor } from './otp-tree.ts'
import type { Act } from './random-fleet.ts'

const REFUSED = { boot: { step: 'roles', error: new Error('a bad boot') } } as const
const CAUSES = { crash: 'crash', exit: 'crash', stop: 'normal', outOfMemory: 'memory' } as const
const VERBS = { startAll: 'start', stopAll: 'stop', restartAll: 'restart' } as const

export class ModelledFleet {
  readonly #kit: TestHost
  readonly #model: OtpModel
  readonly #badBoots = new Map<string, number>()
  /** More than one live thread of an agent was seen at its start. */
  readonly #twins: string[] = []
  readonly #began: number

  constructor(kit: TestHost, model: OtpModel) {
    this.#kit = kit
    this.#model = model
    this.#began = kit.clock.now()
    for (const id of model.agents.keys()) {
      kit.threads.behave(id, () => {
        if (kit.threads.alive.some(({ agent }) => agent === id)) this.#twins.push(id)
        const bad = this.#badBoots.get(id) ?? 0
        this.#badBoots.set(id, Math.max(0, bad - 1))
        return bad > 0 ? REFUSED : {}
      })
    }
  }

  async act(act: Act): Promise<void> {
    const model = this.#model
    switch (act.do) {
      case 'die': {
        // Siblings only: where two supervisors end in one moment, either may be the first.
        const [first, ...more] = act.who.map((n) => this.#agent(n))
        const siblings = more.filter(({ parent }) => parent === first!.parent)
        const agents = [...new Set([first!, ...siblings])].filter(({ up }) => up)
        for (const agent of agents) this.#end(agent, act.how)
        model.die(agents, CAUSES[act.how])
        break
      }
      case 'wait':
        await this.#kit.advance(act.ms)
        model.advance(act.ms)
        break
      case 'badBoots': {
        const agent = this.#agent(act.who)
        agent.badBoots = act.count
        this.#badBoots.set(agent.node.id, act.count)
        break
      }
      case 'work': {
        const agent = this.#agent(act.who)
        // What is sent to one that is not up may wait for the next.
        if (!agent.up) break
        agent.progressed = true
        this.#kit.host.agent(agent.node.id).tell('work')
        break
      }
      case 'startAll':
      case 'stopAll':
      case 'restartAll': {
        const supervisors = [...model.supervisors.values()].filter(({ node }) => node.id !== 'catalog')
        const supervisor = supervisors[act.who % supervisors.length]!
        await this.#command(supervisor.node.id, VERBS[act.do], () => this.#supervised(supervisor, act.do))
        break
      }
      default: {
        const { who, do: command } = act
        const agent = this.#agent(who)
        await this.#command(agent.node.id, command, () => this.#commanded(agent, command))
      }
    }
    await this.#kit.advance(0)
    model.advance(0)
  }

  /** @throws where the two differ, saying where */
  check(when: string): void {
    const { host, clock } = this.#kit
    const real: Record<string, unknown> = {}
    const wanted: Record<string, unknown> = {}
    for (const [id, agent] of this.#model.agents) {
      const { phase, nextRestartAt, intent } = host.agent(id).snapshot()
      real[id] = `${phase === 'ACTIVE' ? 'up' : nextRestartAt === null ? 'down' : 'waiting'}, ${intent}`
      wanted[id] = `${agent.up ? 'up' : agent.waiting ? 'waiting' : 'down'}, ${agent.intent}`
    }
    for (const { id, status, end } of supervisorsOf(host.tree())) {
      const { up, end: ended, parent } = this.#model.supervisors.get(id)!
      // Of two that end in one moment, the lower may have been at giving up, or have been ended before it was.
      const told = parent === null || parent.up
      real[id] = told ? `${status} ${end?.cause ?? ''}` : status
      wanted[id] = told ? `${up ? 'Running' : 'Stopped'} ${ended ?? ''}` : 'Stopped'
    }
    const threads = this.#kit.threads.alive.map(({ agent }) => agent)
    const up = [...this.#model.agents.values()].filter((agent) => agent.up).map(({ node }) => node.id)
    if (threads.toSorted().join() !== up.toSorted().join())
      throw new Error(`${when}: threads of ${threads}, not of ${up}`)
    const differ = Object.keys(real).filter((id) => real[id] !== wanted[id])
    const text = differ.map((id) => `${id} is ${real[id]}, not ${wanted[id]}`).join('; ')
    if (differ.length > 0) throw new Error(`${when}, at ${clock.now() - this.#began} ms: ${text}`)
    if (this.#twins.length > 0) throw new Error(`${when}: two instances at once of ${this.#twins}`)
  }

  /** Once it is closed. */
  checkEnd(): void {
    const { host, threads } = this.#kit
    if (threads.alive.length > 0) throw new Error(`threads left: ${threads.alive.map(({ agent }) => agent)}`)
    for (const id of this.#model.agents.keys()) {
      const records = host.deaths(id)
      const instances = new Set(records.map(({ instance }) => instance))
      // An instance that is told to end while its files are read has no thread.
      const started = Math.min(64, threads.all(id).length)
      if (records.length < started || instances.size !== records.length)
        throw new Error(`${id}: ${records.length} records of ${instances.size} instances, ${started} threads`)
    }
  }

  #agent(n: number): Agent {
    return [...this.#model.agents.values()][n % this.#model.agents.size]!
  }

  #end(agent: Agent, how: keyof typeof CAUSES): void {
    const thread = this.#kit.threads.of(agent.node.id)
    if (how === 'exit') thread.exit(3)
    else thread[how]()
  }

  /** Refused by both, or carried out by both. */
  async #command(id: string, command: Command, inModel: () => boolean): Promise<void> {
    const outcome = await this.#kit.finish(
      this.#kit.host.command(id, command).then(
        () => 'taken',
        (error: { code: string; message: string }) =>
          error.code === 'BootFailed' ? 'taken' : `${error.code}: ${error.message}`,
      ),
    )
    const taken = inModel()
    if (taken !== (outcome === 'taken')) throw new Error(`${command} of ${id}: ${outcome}; by the model ${taken}`)
  }

  #commanded(agent: Agent, command: 'start' | 'stop' | 'suspend' | 'restart' | 'kill'): boolean {
    const model = this.#model
    if (command === 'stop' || command === 'suspend')
      return model.stop(agent, command === 'stop' ? 'stopped' : 'suspended')
    return model[command](agent)
  }

  #supervised(supervisor: Supervisor, act: keyof typeof VERBS): boolean {
    const model = this.#model
    if (act === 'startAll') return model.startSupervisor(supervisor)
    return act === 'stopAll' ? model.stopSupervisor(supervisor) : model.restartSupervisor(supervisor)
  }
}

const supervisorsOf = (node: TreeNode): TreeNode[] =>
  node.kind === 'agent' ? [] : [node, ...(node.children ?? []).flatMap(supervisorsOf)]
