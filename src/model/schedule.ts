/**
 * Schedules of agents as plain data: what a manifest or an agent asks for, the same with every default filled in, what
 * one due time came to, and how a schedule is shown. All instants are wall clock, ms since the epoch.
 */
import type { Fate } from './message.ts'

export const OVERLAPS = ['skip', 'queue', 'parallel'] as const
/** What becomes of a due time while a run is not settled: not run, run after it, or run beside it. */
export type Overlap = (typeof OVERLAPS)[number]

export const MISSED_POLICIES = ['once', 'skip', 'all'] as const
/** What becomes of due times that passed while nothing could be sent: the latest is run, none is, or each is in order. */
export type MissedPolicy = (typeof MISSED_POLICIES)[number]

/** Who made a schedule: agent.yml, or a call while the agent ran. */
export type ScheduleOrigin = 'manifest' | 'runtime'

export const SCHEDULE_DEFAULTS = {
  timezone: 'UTC',
  overlap: 'skip' as Overlap,
  missed: 'once' as MissedPolicy,
} as const

export const SCHEDULE_LIMITS = {
  /** Runs that may wait where `overlap` is `queue`; one more is skipped. */
  waiting: 16,
  /** Missed due times that `all` runs, the newest ones; older ones are recorded as missed. */
  catchUp: 100,
  /** Runs of one schedule that may be unsettled at once where `overlap` is `parallel`. */
  open: 1000,
  /** Schedules that one agent may make while it runs. */
  runtimePerAgent: 1000,
  everyMinMs: 10,
  /** Ten years. */
  everyMaxMs: 315_360_000_000,
  /** Of the payload, as JSON text. */
  payloadChars: 65_536,
  /** From this late on a due time counts as missed and not as late. */
  lateMs: 5000,
} as const

interface ScheduleFields {
  /** Unique within the agent; `^[a-z][a-z0-9-]{0,62}$`. */
  readonly id: string
  /** Name of the event that is sent. */
  readonly event: string
  /** Payload of the event: JSON data, at most 64 KiB. @default none */
  readonly payload?: unknown
  /** A cron pattern of five fields, or six with seconds first, or seven with years last. */
  readonly cron?: string
  /** A fixed distance in ms, the first after one distance. */
  readonly everyMs?: number
}

/** A schedule as it is asked for: exactly one of `cron`, `everyMs` and `at`. */
export interface ScheduleInput extends ScheduleFields {
  /** Once: ms since the epoch, or ISO 8601 text, which is local to `timezone` where it names no offset. */
  readonly at?: number | string
  /** IANA name of the zone that `cron` and `at` are read in. @default 'UTC' */
  readonly timezone?: string
  /** @default 'skip' */
  readonly overlap?: Overlap
  /** @default 'once' */
  readonly missed?: MissedPolicy
}

/** A schedule that was checked, with every default filled in. */
export interface ScheduleSpec extends ScheduleFields {
  /** Once, ms since the epoch. */
  readonly at?: number
  readonly timezone: string
  readonly overlap: Overlap
  readonly missed: MissedPolicy
}

/**
 * What a due time came to. `pending`: committed, and no fate is known yet; `queued`: accepted, its end is not known;
 * `failed`: its handler threw, or it could not be sent; `skipped`: by `overlap`; `missed`: by `missed`, or removed.
 */
export type RunOutcome = Fate['fate'] | 'failed' | 'pending' | 'skipped' | 'missed'

/** One due time of a schedule and what it came to; at most one per agent, schedule and due time. */
export interface ScheduleRun {
  readonly agent: string
  readonly schedule: string
  readonly dueAt: number
  /** When it was sent; null where it was not. */
  readonly firedAt: number | null
  readonly outcome: RunOutcome
  readonly detail: string | null
}

/** A schedule as it is shown. */
export interface ScheduleView {
  readonly id: string
  readonly event: string
  readonly cron: string | null
  readonly everyMs: number | null
  readonly at: number | null
  readonly timezone: string
  readonly overlap: Overlap
  readonly missed: MissedPolicy
  readonly origin: ScheduleOrigin
  /** The next due time; null where there is none any more. */
  readonly nextAt: number | null
  readonly lastFiredAt: number | null
  /** Of the newest due time that was decided; null before the first. */
  readonly lastOutcome: RunOutcome | null
  readonly lastDetail: string | null
  /** A run is not settled. */
  readonly running: boolean
  /** Runs that wait for the one before them. */
  readonly waiting: number
  /** Due times that passed without a run. Of one gap at most 101 are counted. */
  readonly missedCount: number
}
