/**
 * Whether a child that has died comes back, when, and by which rule: the one function over restart type, class of
 * cause and circumstances. The supervisor's loop calls it once per death, stores the state it gives back and acts on the
 * decision. Pure: it starts nothing, stops nothing and reads no clock.
 */
import { classOf, type DeathCause, type DeathStep, type Decision, isFinalStep, type Told } from '../model/death.ts'
import type { Intent } from '../model/intent.ts'
import { afterLife, type BackoffOptions, type BackoffState, FRESH_BACKOFF, type Life, nextDelay } from './backoff.ts'
import { addRestart, type Budget, MEMORY_BUDGET } from './intensity.ts'

export const RESTART_TYPES = ['permanent', 'transient', 'temporary'] as const
/** `permanent`: always; `transient`: not after class `normal`; `temporary`: never. */
export type RestartType = (typeof RESTART_TYPES)[number]

/** What a manifest says of a child's restarts. */
export interface RestartOptions extends BackoffOptions {
  readonly type: RestartType
  /** Restarts in a row without progress before the child alone is stopped; null: no limit. @default null */
  readonly maxRestarts: number | null
}

/** What is remembered of one child between its deaths. */
export interface ChildHistory {
  readonly backoff: BackoffState
  /** When it died by memory, monotonic ms. */
  readonly memoryDeaths: readonly { readonly at: number }[]
}

/** A new child, and one that an operator has started. */
export const FRESH_HISTORY: ChildHistory = { backoff: FRESH_BACKOFF, memoryDeaths: [] }

/** One restart, as a supervisor's budget counts it. */
export interface Restart {
  /** Monotonic ms. */
  readonly at: number
  readonly child: string
  /** The record of the death that it followed; of a supervisor its own id. */
  readonly deathId: string
}

/** One death, and all that bears on what follows. */
export interface RestartCase {
  readonly supervisor: string
  readonly child: string
  readonly deathId: string
  readonly options: RestartOptions
  readonly cause: DeathCause
  readonly step?: DeathStep | undefined
  /** The life that ended. A boot that failed has no uptime to speak of and no progress. */
  readonly life: Life
  /** What the operator wants now, not what was wanted when it started. `running` for a supervisor. */
  readonly intent: Intent
  readonly shuttingDown: boolean
  /** Who had it ended; null where nobody had. A `kill` is nobody's: the rules decide. */
  readonly told: Told | null
  /** Where a strategy had it ended: how long until its turn to start comes, ms. @default 0 */
  readonly groupDelayMs?: number
  readonly history: ChildHistory
  /** The supervisor's budget for this child, from `budgetOf`. */
  readonly budget: Budget | null
  /** The supervisor's past restarts. */
  readonly window: readonly Restart[]
  /** Monotonic ms. */
  readonly now: number
  readonly random: () => number
}

/** The decision, and what to store in place of `history` and `window`. */
export interface RestartOutcome {
  readonly decision: Decision
  readonly history: ChildHistory
  readonly window: readonly Restart[]
}

type NoRestart = Exclude<Decision['rule'], 'backoff' | 'restart_intensity' | 'auto_shutdown'>

/** The first rule by which it does not come back whatever the counts, strongest first. */
function ruledOut({ options, cause, step, intent, shuttingDown, told }: RestartCase): NoRestart | null {
  if (shuttingDown) return 'host_shutdown'
  if (told !== null && told.rule !== 'strategy') return told.rule
  if (intent !== 'running') return 'intent'
  // Ended along with a sibling: it comes back with it, whatever its own end looked like, unless it never comes back.
  if (told !== null) return options.type === 'temporary' ? 'strategy' : null
  if (isFinalStep(step)) return 'final_boot_failure'
  if (options.type === 'temporary') return 'restart_type'
  return options.type === 'transient' && classOf(cause) === 'normal' ? 'restart_type' : null
}

/** What to do after this death. */
export function decideRestart(death: RestartCase): RestartOutcome {
  const { supervisor, options, cause, now, window, told } = death
  const lived = afterLife(death.history.backoff, death.life, options)
  const memory = cause === 'out_of_memory' ? addRestart(death.history.memoryDeaths, { at: now }, MEMORY_BUDGET) : null
  const history = { backoff: lived, memoryDeaths: memory?.window ?? death.history.memoryDeaths }
  const by = told === null ? {} : { by: told.by }
  const end = (rule: Decision['rule'], action: Decision['action'], kept = window): RestartOutcome => ({
    decision: { rule, action, supervisor, attempt: lived.attempt, ...by },
    history,
    window: kept,
  })

  const rule = ruledOut(death)
  if (rule !== null) return end(rule, 'none')
  // The group counts once, for the one that died.
  if (told !== null) {
    const { decision, ...kept } = end('strategy', 'restart')
    return { ...kept, decision: { ...decision, delayMs: death.groupDelayMs ?? 0 } }
  }
  const limit = options.maxRestarts
  if (memory?.exceeded || (limit !== null && lived.attempt >= limit)) return end('restart_limit', 'none')
  // The child's own limit comes first: it is stopped alone, and nothing is restarted that could count.
  const restart = { at: now, child: death.child, deathId: death.deathId }
  const counted = death.budget === null ? { window, exceeded: false } : addRestart(window, restart, death.budget)
  if (counted.exceeded) return end('restart_intensity', 'give_up', counted.window)
  const { delayMs, state } = nextDelay(lived, options, death.random)
  return {
    decision: {
      rule: delayMs === 0 ? 'restart_type' : 'backoff',
      action: 'restart',
      delayMs,
      supervisor,
      attempt: state.attempt,
    },
    history: { ...history, backoff: state },
    window: counted.window,
  }
}
