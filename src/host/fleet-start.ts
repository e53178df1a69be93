/** Starts the agents below a supervisor in order, while the threads of those whose turn comes next are coming up. */
import type { Agent } from '../actors/agent.ts'
import type { Threads } from '../actors/spawn.ts'
import type { Report } from '../model/fact.ts'
import { LIVE } from '../model/lifecycle.ts'
import { machineMemoryMb } from '../platform/memory.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import { agentsBelow } from './tree.ts'

const isToStart = ({ phase, standing }: Agent): boolean => standing.intent === 'running' && !LIVE.has(phase)

/** @param fresh as of {@link Supervisor.start} */
export async function startBelow(supervisor: Supervisor, threads: Threads, fresh: boolean): Promise<void> {
  const expected = agentsBelow(supervisor).filter(isToStart)
  threads.expect?.(expected.map(({ id, spec }) => ({ name: id, heapMb: spec.limits.heapMb })))
  await supervisor.start(fresh)
  // Those that did not get as far as asking for theirs.
  for (const { id, phase } of expected) if (!LIVE.has(phase)) threads.release?.(id)
}

export function reportStarted(report: Report, agents: readonly Agent[], tookMs: number): void {
  const heapsMb = agents.reduce((sum, { spec }) => sum + spec.limits.heapMb, 0)
  const memoryMb = machineMemoryMb()
  if (heapsMb > memoryMb) report('host.heaps_exceed_memory', { heapsMb, memoryMb })
  report('host.started', { agents: agents.length, tookMs: Math.round(tookMs) })
}
