/**
 * A fleet to which everything is done at once: threads that hang, boot late, end late or not at all, commands that nobody
 * waits for, children that come and go. What must never be is looked for at every move; what must hold once it is left
 * alone, at the end.
 */
import type { ChildObject } from '../../src/manifest/fleet-manifest.ts'
import type { Command } from '../../src/model/intent.ts'
import { LIVE } from '../../src/model/lifecycle.ts'
import type { TreeNode } from '../../src/model/view.ts'
import { createTestHost, type FakeBehaviour, type TestHost } from '../../src/testkit/index.ts'
import type { SupervisorNode } from './otp-tree.ts'
import { fleetObject } from './random-fleet.ts'

/** Longer than any delay, time-out and order of stops that there is. */
const LONG_MS = 300_000
const POOL = 'pool'

/** A dynamic supervisor beside the rest. */
const pool: ChildObject = {
  supervisor: { id: POOL, strategy: 'dynamic', intensity: 2, maxChildren: 3, backoff: 'none' },
}

/** One thing that is done, and not waited for. Agents and supervisors by a number that is cut to how many there are. */
export type Blow =
  | { readonly do: 'die'; readonly who: number; readonly how: 'crash' | 'exit' | 'stop' | 'outOfMemory' | 'hang' }
  | { readonly do: 'agent'; readonly who: number; readonly command: Command; readonly now: boolean }
  | {
      readonly do: 'supervisor'
      readonly who: number
      readonly command: 'start' | 'stop' | 'restart'
      readonly now: boolean
    }
  | { readonly do: 'behave'; readonly who: number; readonly count: number; readonly behaviour: FakeBehaviour }
  | { readonly do: 'spawn'; readonly restart: 'permanent' | 'transient' | 'temporary' }
  | { readonly do: 'remove'; readonly who: number }
  | { readonly do: 'release' }
  | { readonly do: 'wait'; readonly ms: number | null }

type LogCall = (data: { kind?: string; agent?: string }, text: string) => void

export class Chaos {
  readonly kit: TestHost
  readonly wrongs: string[]
  readonly #tree: SupervisorNode
  readonly #behaviours = new Map<string, { count: number; behaviour: FakeBehaviour }>()
  readonly #pending = new Set<Promise<unknown>>()

  static async of(tree: SupervisorNode, baseDir: string): Promise<Chaos> {
    const wrongs: string[] = []
    let chaos: Chaos | null = null
    const heard: LogCall = ({ kind, agent }, text) => {
      if (kind === 'agent.phase' && agent !== undefined) chaos?.onPhase(agent, text)
    }
    const log = { debug: heard, info: heard, warn: heard, error: heard } as never
    const { supervisor, children } = fleetObject(tree)
    const fleet = { supervisor: supervisor!, children: [...children!, pool] }
    chaos = new Chaos(await createTestHost({ fleet, baseDir, log }), tree, wrongs)
    return chaos
  }

  constructor(kit: TestHost, tree: SupervisorNode, wrongs: string[]) {
    this.kit = kit
    this.wrongs = wrongs
    this.#tree = tree
    for (const { id } of kit.host.agents()) this.#watch(id)
  }

  /** New threads of the agent behave as was said, so often. */
  #watch(id: string): void {
    this.kit.threads.behave(id, () => {
      if (this.kit.threads.alive.some(({ agent }) => agent === id)) this.wrongs.push(`a second thread of ${id}`)
      const special = this.#behaviours.get(id)
      if (special === undefined || special.count-- <= 0) return {}
      return special.behaviour
    })
  }

  /** Called in the very moment of the move. */
  onPhase(id: string, text: string): void {
    const { host } = this.kit
    const agent = host.directory.find(id)
    if (agent === undefined || agent.phase !== 'BOOTING' || !text.includes('to BOOTING')) return
    const { intent, command, supervisor } = host.agent(id).snapshot()
    if (intent !== 'running') this.wrongs.push(`${id} is started, and is to be ${intent}`)
    const node = find(host.tree(), supervisor)
    if (node?.status !== 'Running')
      this.wrongs.push(`${id} is started, and supervisor ${supervisor} does not supervise`)
    // An operator may start any; a supervisor starts those of a group in order.
    if (command !== null || (node?.strategy !== 'one_for_all' && node?.strategy !== 'rest_for_one')) return
    for (const { id: other, kind } of node.children ?? []) {
      if (other === id) return
      if (kind === 'supervisor') continue
      const earlier = host.directory.get(other)
      const waits = !LIVE.has(earlier.phase) && earlier.startScheduled && host.agent(other).snapshot().command === null
      if (waits) this.wrongs.push(`${id} is started while ${other}, which comes before it in its group, waits`)
    }
  }

  async strike(blow: Blow): Promise<void> {
    const { host, threads } = this.kit
    switch (blow.do) {
      case 'die': {
        const id = this.#agent(blow.who)
        const thread = id === undefined ? undefined : threads.all(id).at(-1)
        if (blow.how === 'exit') thread?.exit(3)
        else thread?.[blow.how]()
        return
      }
      case 'agent': {
        const id = this.#agent(blow.who)
        if (id !== undefined) this.#fire(host.command(id, blow.command, { now: blow.now }))
        return
      }
      case 'supervisor': {
        const ids = [...supervisorsOf(this.#tree), POOL]
        return this.#fire(host.command(ids[blow.who % ids.length]!, blow.command, { now: blow.now }))
      }
      case 'behave': {
        const id = this.#agent(blow.who)
        if (id !== undefined) this.#behaviours.set(id, { count: blow.count, behaviour: blow.behaviour })
        return
      }
      case 'spawn':
        this.#fire(
          host.spawn(POOL, { agent: 'agents/worker', restart: blow.restart }).then(({ id }) => this.#watch(id)),
        )
        return
      case 'remove': {
        const pooled = find(host.tree(), POOL)?.children ?? []
        if (pooled.length > 0) this.#fire(host.remove(pooled[blow.who % pooled.length]!.id))
        return
      }
      case 'release':
        return this.#release()
      default:
        if (blow.ms !== null) await this.kit.advance(blow.ms)
    }
  }

  /** Nothing is done to it any more, and all that was odd is well again. */
  async leaveAlone(): Promise<void> {
    const { host, threads } = this.kit
    this.#behaviours.clear()
    this.#release()
    for (const thread of threads.alive) thread.behaviour = {}
    await this.kit.advance(LONG_MS)
    if (this.#pending.size > 0) this.wrongs.push(`${this.#pending.size} commands were never answered`)
    for (const agent of host.directory.all()) {
      const { id, phase, startScheduled } = agent
      if (!['ACTIVE', 'PAUSED', 'STOPPED', 'FAILED', 'IDLE'].includes(phase)) this.wrongs.push(`${id} stays ${phase}`)
      if (!LIVE.has(phase) && startScheduled) this.wrongs.push(`${id} waits for a start that does not come`)
    }
    this.#checkBelow(host.tree(), true)
    await this.#startEverything()
    const alive = threads.alive.map(({ agent }) => agent).toSorted()
    const live = host.directory.all().flatMap(({ id, phase }) => (LIVE.has(phase) ? [id] : []))
    if (alive.join() !== live.toSorted().join()) this.wrongs.push(`threads of ${alive}, agents that live ${live}`)
  }

  /** Nothing runs below a supervisor that does not. */
  #checkBelow({ id, kind, status, phase, children = [] }: TreeNode, mayRun: boolean): void {
    const runs = kind === 'supervisor' ? status === 'Running' : LIVE.has(phase!)
    if (runs && !mayRun) this.wrongs.push(`${id} runs, and its supervisor does not`)
    for (const child of children) this.#checkBelow(child, runs)
  }

  /** What is wanted is up, once the root has been started. */
  async #startEverything(): Promise<void> {
    const { host } = this.kit
    await this.kit.finish(host.command('root', 'start').catch(() => {}))
    for (const { id, phase } of host.directory.all()) {
      const { intent } = host.agent(id).snapshot()
      const up = phase === 'ACTIVE' || phase === 'PAUSED'
      if (up !== (intent === 'running'))
        this.wrongs.push(`${id} is ${phase} after a start of all, and is to be ${intent}`)
    }
    for (const id of [...supervisorsOf(this.#tree), POOL])
      if (find(host.tree(), id)?.status !== 'Running') this.wrongs.push(`supervisor ${id} is down after a start of all`)
  }

  async close(): Promise<void> {
    const { host, threads } = this.kit
    const live = host.directory.all().flatMap(({ id, phase }) => (LIVE.has(phase) ? [id] : []))
    const ended: string[] = []
    host.deaths$.subscribe(({ agent }) => ended.push(agent))
    await this.kit.close()
    if (ended.join() !== live.toReversed().join()) this.wrongs.push(`ended ${ended}, in the order of ${live}`)
    if (threads.alive.length > 0) this.wrongs.push(`threads left: ${threads.alive.map(({ agent }) => agent)}`)
    const records = [...new Map(host.deaths().map((record) => [record.id, record])).values()]
    const instances = new Set(records.map(({ instance }) => instance))
    if (instances.size !== records.length) this.wrongs.push(`${records.length} records of ${instances.size} instances`)
  }

  #release(): void {
    for (const thread of this.kit.threads.alive) {
      if (thread.behaviour.unkillable !== true) continue
      thread.behaviour = {}
      if (thread.terminated) thread.release()
    }
  }

  #fire(work: Promise<unknown>): void {
    const answered = work.then(
      () => {},
      (error: Error & { code?: string }) => {
        if (error.code === undefined || error.code === 'InvalidTransition') this.wrongs.push(String(error.stack))
      },
    )
    this.#pending.add(answered)
    void answered.then(() => this.#pending.delete(answered))
  }

  #agent(n: number): string | undefined {
    const all = this.kit.host.directory.all()
    return all[n % all.length]?.id
  }
}

const supervisorsOf = (node: SupervisorNode): string[] => [
  node.id,
  ...node.children.flatMap((child) => (child.kind === 'supervisor' ? supervisorsOf(child) : [])),
]

function find(node: TreeNode, id: string): TreeNode | undefined {
  if (node.id === id) return node
  for (const child of node.children ?? []) {
    const found = find(child, id)
    if (found !== undefined) return found
  }
  return undefined
}
