/**
 * One schedule while the host runs: what is stored of it, its runs that are not settled, and what is owed. Only the
 * scheduler and its runs change one.
 */
import type { RunOutcome, ScheduleOrigin, ScheduleRun, ScheduleSpec, ScheduleView } from '../model/schedule.ts'
import type { Queued } from './due-queue.ts'
import type { ScheduleRow } from './store-contract.ts'
import { nextTime } from './times.ts'

export class Entry implements Queued {
  readonly agent: string
  spec: ScheduleSpec
  origin: ScheduleOrigin
  lastDueAt: number | null = null
  nextDueAt: number | null
  lastFiredAt: number | null = null
  lastOutcome: RunOutcome | null = null
  lastDetail: string | null = null
  missedCount = 0
  slot = -1
  /** Why what falls due is not sent but missed; null while the agent can be sent to. */
  held: string | null = null
  /** Due times that were to run and were not sent, ascending; the policy for missed ones decides on them again. */
  owed: number[] = []
  /** Runs on their way or at work, with when they were fired. */
  readonly open = new Map<number, number>()
  /** Of those, the ones whose end nobody will tell: open until the agent is ACTIVE again. */
  readonly untold = new Set<number>()
  /** Due times that wait for the run before them, ascending. */
  waiting: number[] = []
  /** What of it was taken out while runs were open. */
  removed: 'no' | 'schedule' | 'agent' = 'no'

  constructor(agent: string, spec: ScheduleSpec, origin: ScheduleOrigin, nextDueAt: number | null) {
    this.agent = agent
    this.spec = spec
    this.origin = origin
    this.nextDueAt = nextDueAt
  }

  static from(row: ScheduleRow): Entry {
    const entry = new Entry(row.agent, row.spec, row.origin, row.nextDueAt)
    entry.lastDueAt = row.lastDueAt
    entry.lastFiredAt = row.lastFiredAt
    entry.lastOutcome = row.lastOutcome
    entry.lastDetail = row.lastDetail
    entry.missedCount = row.missedCount
    return entry
  }

  /** When it is to be looked at; infinite where never. */
  get dueAt(): number {
    return this.owed[0] ?? this.nextDueAt ?? Number.POSITIVE_INFINITY
  }

  /** Nothing will come of it any more. */
  get spent(): boolean {
    return this.nextDueAt === null && this.open.size + this.waiting.length + this.owed.length === 0
  }

  owe(times: readonly number[]): void {
    this.owed = [...this.owed, ...times].sort((a, b) => a - b)
  }

  note(outcome: RunOutcome, detail: string | null): void {
    this.lastOutcome = outcome
    this.lastDetail = detail
  }

  /** What one due time came to, as a row; not sent. */
  run(dueAt: number, outcome: RunOutcome, detail: string | null): ScheduleRun {
    return { agent: this.agent, schedule: this.spec.id, dueAt, firedAt: null, outcome, detail }
  }

  row(): ScheduleRow {
    const { agent, origin, spec, lastDueAt, nextDueAt, lastFiredAt, lastOutcome, lastDetail, missedCount } = this
    return { agent, id: spec.id, origin, spec, lastDueAt, nextDueAt, lastFiredAt, lastOutcome, lastDetail, missedCount }
  }

  view(wallMs: number): ScheduleView {
    const { spec, nextDueAt } = this
    const passed = nextDueAt !== null && nextDueAt <= wallMs
    return {
      id: spec.id,
      event: spec.event,
      cron: spec.cron ?? null,
      everyMs: spec.everyMs ?? null,
      at: spec.at ?? null,
      timezone: spec.timezone,
      overlap: spec.overlap,
      missed: spec.missed,
      origin: this.origin,
      nextAt: passed ? nextTime(spec, wallMs, nextDueAt) : nextDueAt,
      lastFiredAt: this.lastFiredAt,
      lastOutcome: this.lastOutcome,
      lastDetail: this.lastDetail,
      running: this.open.size > 0,
      waiting: this.waiting.length,
      missedCount: this.missedCount,
    }
  }
}
