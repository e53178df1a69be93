/** The supervisors of a fleet, built from its manifest, and the way from an agent up to the root. */
import type { Agent } from '../actors/agent.ts'
import { DEFAULTS } from '../manifest/defaults.ts'
import type { AgentChild, SupervisorManifest } from '../manifest/fleet-manifest.ts'
import { type Child, newChild } from '../supervisor/child.ts'
import { Supervisor, type SupervisorDeps } from '../supervisor/supervisor.ts'

export interface Tree {
  readonly root: Supervisor
  /** By id, from the root down. */
  readonly supervisors: ReadonlyMap<string, Supervisor>
  /** From the one right above the agent or supervisor to the root. */
  above(id: string): readonly Supervisor[]
  /**
   * Those above the agent or supervisor that gave up, or were stopped, supervise again, with fresh budgets; once what
   * they still end has ended.
   */
  revive(id: string): Promise<void>
}

export function buildTree(
  manifest: SupervisorManifest,
  agentOf: (child: AgentChild) => Agent,
  deps: SupervisorDeps,
): Tree {
  const paths = new Map<string, readonly Supervisor[]>()
  const build = (node: SupervisorManifest): { supervisor: Supervisor; ids: string[] } => {
    const ids: string[] = []
    const children = node.children.map((child): Child => {
      if (child.kind === 'agent') {
        ids.push(child.id)
        return newChild(child.id, { kind: 'agent', agent: agentOf(child) }, agentSpec(child))
      }
      const below = build(child)
      ids.push(child.id, ...below.ids)
      const restart = { ...DEFAULTS.restart, type: child.restart }
      return newChild(
        child.id,
        { kind: 'supervisor', supervisor: below.supervisor },
        { restart, shutdown: child.shutdown },
      )
    })
    const { id, strategy, intensity, periodMs } = node
    const budget = intensity === null ? {} : { intensity, periodMs }
    const supervisor = new Supervisor({ id, strategy, ...budget }, children, deps)
    for (const below of ids) paths.set(below, [...(paths.get(below) ?? []), supervisor])
    return { supervisor, ids }
  }
  const { supervisor: root } = build(manifest)
  const above = (id: string): readonly Supervisor[] => paths.get(id) ?? []
  return {
    root,
    supervisors: new Map(supervisorsOf(root).map((supervisor) => [supervisor.id, supervisor])),
    above,
    revive: async (id) => {
      await Promise.all(above(id).map((supervisor) => supervisor.settled()))
      for (const supervisor of above(id)) if (!supervisor.up) supervisor.revive()
    },
  }
}

/** This one and all below it, from the top down. */
const supervisorsOf = (top: Supervisor): Supervisor[] => [
  top,
  ...top.children.flatMap(({ member }) => (member.kind === 'supervisor' ? supervisorsOf(member.supervisor) : [])),
]

/** The agents below a supervisor, in start order. */
export const agentsBelow = ({ children }: Supervisor): Agent[] =>
  children.flatMap(({ member }) => (member.kind === 'agent' ? [member.agent] : agentsBelow(member.supervisor)))

function agentSpec(child: AgentChild): Pick<Child['spec'], 'restart' | 'shutdown'> {
  const own = child.result.ok ? child.result.manifest.restart : DEFAULTS.restart
  return { restart: { ...own, type: child.restart }, shutdown: child.shutdown }
}
