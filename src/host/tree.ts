/** The supervisors of a fleet, built from its manifest, and the way from an agent up to the root. */
import type { Agent } from '../actors/agent.ts'
import { DEFAULTS } from '../manifest/defaults.ts'
import type { AgentChild, SupervisorManifest } from '../manifest/fleet-manifest.ts'
import { type Child, newChild } from '../supervisor/child.ts'
import { Supervisor, type SupervisorDeps } from '../supervisor/supervisor.ts'

export interface Tree {
  readonly root: Supervisor
  /** From the one right above the agent to the root. */
  above(agent: string): readonly Supervisor[]
  /** Those above the agent that gave up supervise again, with fresh budgets. */
  revive(agent: string): void
}

export function buildTree(
  manifest: SupervisorManifest,
  agentOf: (child: AgentChild) => Agent,
  deps: SupervisorDeps,
): Tree {
  const paths = new Map<string, readonly Supervisor[]>()
  const build = (node: SupervisorManifest): { supervisor: Supervisor; agents: string[] } => {
    const agents: string[] = []
    const children = node.children.map((child): Child => {
      if (child.kind === 'agent') {
        agents.push(child.id)
        return newChild(child.id, { kind: 'agent', agent: agentOf(child) }, agentSpec(child))
      }
      const below = build(child)
      agents.push(...below.agents)
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
    for (const agent of agents) paths.set(agent, [...(paths.get(agent) ?? []), supervisor])
    return { supervisor, agents }
  }
  const { supervisor: root } = build(manifest)
  const above = (agent: string): readonly Supervisor[] => paths.get(agent) ?? [root]
  return {
    root,
    above,
    revive: (agent) => {
      for (const supervisor of above(agent)) if (supervisor.gaveUp !== null) supervisor.revive()
    },
  }
}

function agentSpec(child: AgentChild): Pick<Child['spec'], 'restart' | 'shutdown'> {
  const own = child.result.ok ? child.result.manifest.restart : DEFAULTS.restart
  return { restart: { ...own, type: child.restart }, shutdown: child.shutdown }
}
