/**
 * Whom a death concerns: the four strategies of OTP's supervisors as pure functions over places in the start order.
 * `supervisor.ts` asks once a death and hands what comes out to a lane, which ends and starts.
 */
import type { Decision } from '../model/death.ts'
import type { Intent } from '../model/intent.ts'
import type { RestartType } from './restart.ts'

export const STRATEGIES = ['one_for_one', 'one_for_all', 'rest_for_one', 'dynamic'] as const
/**
 * `one_for_one`: the one that died; `one_for_all`: all; `rest_for_one`: it and those started after it; `dynamic`: as
 * one_for_one, with children that are added and removed at run time.
 */
export type Strategy = (typeof STRATEGIES)[number]

export const AUTO_SHUTDOWNS = ['never', 'any_significant', 'all_significant'] as const
/** Whether a supervisor ends when significant children have ended by themselves and do not come back. */
export type AutoShutdown = (typeof AUTO_SHUTDOWNS)[number]

/** Whether children are restarted in groups, and so one after the other. */
export const isGrouped = (strategy: Strategy): boolean => strategy === 'one_for_all' || strategy === 'rest_for_one'

/** The children that share the fate of the one at `failed`, that one included: from here to the end of the start order. */
export function firstOfGroup(
  strategy: Strategy,
  failed: number,
): { readonly from: number; readonly to: number | null } {
  if (strategy === 'one_for_all') return { from: 0, to: null }
  if (strategy === 'rest_for_one') return { from: failed, to: null }
  return { from: failed, to: failed + 1 }
}

/** How a sibling of the one that died stands. */
export interface Sibling {
  readonly type: RestartType
  /** It runs, or is on its way up or down. */
  readonly live: boolean
  /** Its own restart is scheduled. */
  readonly scheduled: boolean
  readonly intent: Intent
  /** The decision after its last death; null where it has not died yet. */
  readonly lastDecision: Pick<Decision, 'rule' | 'action'> | null
}

/** Ends after which only somebody's word brings a child back. */
const FOR_GOOD: ReadonlySet<Decision['rule']> = new Set<Decision['rule']>(['restart_limit', 'final_boot_failure'])

/**
 * What a group restart does to a sibling. As in OTP a `temporary` one is ended and does not come back, and a `transient`
 * one that had ended by itself is started again with the others. What nobody wants running, and what has failed for
 * good, stays as it is.
 */
export function shareOf({ type, live, scheduled, intent, lastDecision }: Sibling): 'restart' | 'end' | 'none' {
  if (type === 'temporary') return live ? 'end' : 'none'
  if (intent !== 'running') return live ? 'end' : 'none'
  if (live || scheduled) return 'restart'
  return lastDecision !== null && FOR_GOOD.has(lastDecision.rule) ? 'none' : 'restart'
}

/** Whether a supervisor ends now that a significant child has ended by itself, with so many others of them left. */
export function endsWith(mode: AutoShutdown, significantLeft: number): boolean {
  return mode === 'any_significant' || (mode === 'all_significant' && significantLeft === 0)
}
