/** How an agent's instance is ended: in what time, for what cause, and by whose word. */
import type { Told } from '../model/death.ts'

/** How to end the instance that is there. */
export interface EndOptions {
  readonly cause: 'shutdown' | 'suspended' | 'reclaimed' | 'shutdown_timeout'
  /** 0: at once. */
  readonly graceMs: number
  /** Abort what is in flight, once the gate is shut: nothing is begun in its place. */
  readonly abort: boolean
  /** Whoever ends it sees to a next instance: what arrives meanwhile waits for that. */
  readonly handOver: boolean
  /** Who ends it, by which rule. */
  readonly told: Told
}

/** A command's word stands over a supervisor's: whoever gave it sees to what comes next. */
const RANK: Readonly<Record<Told['rule'], number>> = { strategy: 0, supervisor: 1, command: 2, host_shutdown: 3 }

/** Whether the newcomer's word is the one recorded. */
export const outranks = (newcomer: Told, holder: Told): boolean => RANK[newcomer.rule] >= RANK[holder.rule]
