/**
 * The supervisors of a fleet, built from its manifest, and the way from any agent up to the root. What a `dynamic`
 * supervisor gains and loses at run time is entered here.
 */
import type { Agent } from '../actors/agent.ts'
import type { AgentManifest } from '../manifest/agent-manifest.ts'
import { DEFAULTS } from '../manifest/defaults.ts'
import type { AgentChild, SupervisorManifest } from '../manifest/fleet-manifest.ts'
import { type Child, type ChildSpec, newChild } from '../supervisor/child.ts'
import { Supervisor } from '../supervisor/supervisor.ts'
import type { SupervisorDeps } from '../supervisor/supervisor-spec.ts'

export class Tree {
  readonly root: Supervisor
  /** By id, from the root down. */
  readonly supervisors: ReadonlyMap<string, Supervisor>
  /** Of each agent and supervisor, the supervisor right above it. */
  readonly #parents = new Map<string, Supervisor>()

  constructor(manifest: SupervisorManifest, agentOf: (child: AgentChild) => Agent, deps: SupervisorDeps) {
    const build = (node: SupervisorManifest): Supervisor => {
      const children = node.children.map((child): Child => {
        if (child.kind === 'agent')
          return newChild(child.id, { kind: 'agent', agent: agentOf(child) }, specOfAgent(child))
        const { id, restart: type, shutdown, significant, backoff } = child
        const restart = { ...DEFAULTS.restart, type, backoff }
        return newChild(id, { kind: 'supervisor', supervisor: build(child) }, { restart, shutdown, significant })
      })
      const { id, strategy, intensity, periodMs, autoShutdown, maxChildren } = node
      const budget = intensity === null ? {} : { intensity, periodMs }
      const supervisor = new Supervisor({ id, strategy, autoShutdown, maxChildren, ...budget }, children, deps)
      for (const child of children) this.#parents.set(child.id, supervisor)
      return supervisor
    }
    this.root = build(manifest)
    this.supervisors = new Map(supervisorsFrom(this.root).map((supervisor) => [supervisor.id, supervisor]))
  }

  /** Whether an agent or a supervisor has this id. */
  has(id: string): boolean {
    return id === this.root.id || this.#parents.has(id)
  }

  /** From the one right above the agent or supervisor to the root. */
  above(id: string): readonly Supervisor[] {
    const path: Supervisor[] = []
    for (let one = this.#parents.get(id); one !== undefined; one = this.#parents.get(one.id)) path.push(one)
    return path
  }

  /**
   * Those above the agent or supervisor that gave up, or were stopped, supervise again, with fresh budgets; once what
   * they still end has ended.
   * @param stands asked after that: whether it is still to be
   */
  async revive(id: string, stands: () => boolean = () => true): Promise<void> {
    const above = this.above(id)
    // While one is waited for, another may begin to end.
    while (above.some(({ ending }) => ending)) await Promise.all(above.map((supervisor) => supervisor.settled()))
    if (!stands()) return
    if (this.supervisors.has(id)) this.#parents.get(id)?.forgive(id)
    for (const supervisor of above) {
      if (supervisor.up) continue
      // A restart of it that its parent has planned would end what is started now.
      this.#parents.get(supervisor.id)?.forgive(supervisor.id)
      supervisor.revive()
    }
  }

  /** Adds an agent to a `dynamic` supervisor; it is not started by this. */
  add(supervisor: Supervisor, child: AgentChild, agent: Agent, by: string): void {
    this.#parents.set(child.id, supervisor)
    supervisor.add(newChild(child.id, { kind: 'agent', agent }, specOfAgent(child)), by)
  }

  /** An agent that its supervisor has taken out. */
  forget(id: string): void {
    this.#parents.delete(id)
  }
}

/** This one and all below it, from the top down. */
const supervisorsFrom = (top: Supervisor): Supervisor[] => [
  top,
  ...top.children.flatMap(({ member }) => (member.kind === 'supervisor' ? supervisorsFrom(member.supervisor) : [])),
]

/** The agents below a supervisor, in start order. */
export const agentsBelow = ({ children }: Supervisor): Agent[] =>
  children.flatMap(({ member }) => (member.kind === 'agent' ? [member.agent] : agentsBelow(member.supervisor)))

const specOfAgent = (child: AgentChild): ChildSpec => {
  if (child.result.ok) return specOf(child, child.result.manifest)
  return {
    restart: { ...DEFAULTS.restart, type: child.restart },
    shutdown: child.shutdown,
    significant: child.significant,
  }
}

/** What an accepted manifest means to the supervisor, under what the fleet's own file says of the child. */
export function specOf({ override, significant }: AgentChild, { restart, limits }: AgentManifest): ChildSpec {
  return {
    restart: { ...restart, type: override.restart ?? restart.type },
    shutdown: override.shutdown ?? limits.stopTimeoutMs,
    significant,
  }
}

/** Those of the agents that could be read. */
export const manifestsOf = ({ children }: SupervisorManifest): AgentManifest[] =>
  children.flatMap((child) => {
    if (child.kind === 'supervisor') return manifestsOf(child)
    return child.result.ok ? [child.result.manifest] : []
  })
