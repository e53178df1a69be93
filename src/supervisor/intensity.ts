/**
 * How often a supervisor may restart before it gives up, after OTP's `add_restart`: more than `intensity` restarts
 * within `periodMs` are too many. Pure: the window of past restarts is plain data that the supervisor's loop keeps.
 * Times are on one monotonic clock.
 */
import type { Backoff } from './backoff.ts'

export interface Budget {
  /** Restarts allowed within the period; one more exceeds it. @default 3 */
  readonly intensity: number
  /** The period, ms, both ends included. @default 5000 */
  readonly periodMs: number
}

export const BUDGET_DEFAULTS: Budget = { intensity: 3, periodMs: 5000 }

/** Deaths by memory that one child may have before it alone is stopped; each costs minutes of collecting. */
export const MEMORY_BUDGET: Budget = { intensity: 3, periodMs: 600_000 }

/** What a manifest says of a budget. */
export type BudgetSetting = { readonly [K in keyof Budget]?: Budget[K] | undefined }

/**
 * The budget a child's restart counts against, or null where it counts against none: with backoff the delays bound the
 * rate, and a budget would stop a whole fleet for two children that loop slowly; so there it applies only when set.
 */
export function budgetOf(setting: BudgetSetting, backoff: Backoff): Budget | null {
  const { intensity, periodMs } = setting
  if (backoff !== 'none' && intensity === undefined && periodMs === undefined) return null
  return { intensity: intensity ?? BUDGET_DEFAULTS.intensity, periodMs: periodMs ?? BUDGET_DEFAULTS.periodMs }
}

/** The window with one restart more, oldest first, and whether that is one too many. `at` on one monotonic clock. */
export function addRestart<T extends { readonly at: number }>(
  window: readonly T[],
  restart: T,
  { intensity, periodMs }: Budget,
): { readonly window: readonly T[]; readonly exceeded: boolean } {
  const within = [...window.filter(({ at }) => restart.at - at <= periodMs), restart]
  const exceeded = within.length > intensity
  return { window: exceeded ? within.slice(-(intensity + 1)) : within, exceeded }
}
