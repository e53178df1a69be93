/**
 * What the scheduler is handed by the host: where agents are, how an event reaches one and what becomes of it, and where
 * what happens is told. The scheduler knows no agent.
 */
import type { RunOutcome, ScheduleSpec } from '../model/schedule.ts'
import type { Clock } from '../platform/clock.ts'
import type { ScheduleStore } from './store-contract.ts'

/**
 * What may be sent to an agent. `deliver`: it is ACTIVE; `queue`: an event waits in its mailbox (paused, restarting);
 * `hold`: nothing is sent (suspended, stopped, not started yet); `gone`: it is no member of the fleet.
 */
export type AgentMode = 'deliver' | 'queue' | 'hold' | 'gone'

/** What became of a run that was sent. `queued`: accepted while the agent was not ACTIVE, and no more will be told. */
export interface Delivered {
  readonly outcome: Exclude<RunOutcome, 'pending' | 'skipped' | 'missed'>
  /** The reason, where there is one. */
  readonly detail?: string
}

/** What happened, for people. */
export type ScheduleReport =
  /** A run settled. */
  | ({ readonly kind: 'fired'; readonly agent: string; readonly schedule: string; readonly dueAt: number } & Delivered)
  /** Overlap let a due time pass. */
  | {
      readonly kind: 'skipped'
      readonly agent: string
      readonly schedule: string
      readonly dueAt: number
      readonly detail: string
    }
  /** `count` due times passed without a run; `more`: at least so many. */
  | {
      readonly kind: 'missed'
      readonly agent: string
      readonly schedule: string
      readonly count: number
      readonly more: boolean
      readonly detail: string
    }
  /** The wall clock moved against the monotonic one: it was set, or the machine slept. Back is below 0. */
  | { readonly kind: 'clock_stepped'; readonly byMs: number }
  /** A write failed. What could not be committed is not sent. */
  | { readonly kind: 'not_recorded'; readonly agent: string; readonly schedule: string; readonly error: unknown }
  /** A stored schedule does not pass the check any more; it does not run and stays stored. */
  | { readonly kind: 'unreadable'; readonly agent: string; readonly schedule: string; readonly detail: string }

export interface SchedulerPorts {
  readonly clock: Clock
  readonly store: ScheduleStore
  readonly mode: (agent: string) => AgentMode
  /**
   * Sends `spec.event` with `spec.payload` under the id of {@link messageIdOf}. Resolves with the final fate where the
   * host can know it, else with `queued`; a rejection is the outcome `failed`.
   */
  readonly deliver: (agent: string, spec: ScheduleSpec, dueAt: number) => Promise<Delivered>
  /** Whether a message of this id was accepted, or handled, before the host ended. @default none was */
  readonly isAccepted?: (messageId: string) => boolean
  readonly report: (what: ScheduleReport) => void
}

/** The id of the message of one due time, by which a receiver knows it again. */
export const messageIdOf = (agent: string, schedule: string, dueAt: number): string =>
  `schedule:${agent}:${schedule}:${dueAt}`
