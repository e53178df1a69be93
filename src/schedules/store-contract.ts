/**
 * What the scheduler asks of a store. Calls take effect in the order in which they are made, and what a promise has
 * answered is on disk. A run is one row per agent, schedule and due time: a later one replaces it.
 */
import type { RunOutcome, ScheduleOrigin, ScheduleRun, ScheduleSpec } from '../model/schedule.ts'

/** A schedule as it is stored: one row per agent and id. Instants are wall clock, ms since the epoch. */
export interface ScheduleRow {
  readonly agent: string
  readonly id: string
  readonly origin: ScheduleOrigin
  readonly spec: ScheduleSpec
  /** The newest due time that was decided; null before the first. */
  readonly lastDueAt: number | null
  /** The first due time that was not; null where there is none any more. */
  readonly nextDueAt: number | null
  readonly lastFiredAt: number | null
  readonly lastOutcome: RunOutcome | null
  readonly lastDetail: string | null
  readonly missedCount: number
}

export interface ScheduleStore {
  /** All schedules, and all runs whose outcome is `pending`. */
  load(): Promise<{ readonly rows: readonly ScheduleRow[]; readonly pending: readonly ScheduleRun[] }>
  /** Writes the schedule (null: leaves it as it is) and the runs in one commit. */
  save(row: ScheduleRow | null, runs: readonly ScheduleRun[]): Promise<void>
  /** Takes out the schedule; its history stays. */
  remove(agent: string, id: string): Promise<void>
  /** Takes out the agent's schedules and their history. */
  removeAgent(agent: string): Promise<void>
  /** The newest `limit` runs, newest first. The store bounds how many it keeps, and never trims a pending one. */
  history(agent: string, id: string, limit: number): Promise<readonly ScheduleRun[]>
}
