/**
 * Tables `schedules` and `schedule_runs`: where each schedule is in time, and what its due times came to. A run is one row
 * per agent, schedule and due time; a later one takes its place.
 */
import type { RunOutcome, ScheduleOrigin, ScheduleRun, ScheduleSpec } from '../model/schedule.ts'
import type { Connection } from './connection.ts'
import { type Retention, TrimTally } from './retention.ts'
import { integer, json, maybe, type RowOf, text, word } from './rows.ts'

const ROW = {
  agent: text,
  id: text,
  origin: word<ScheduleOrigin>(),
  spec: json<ScheduleSpec>(),
  lastDueAt: maybe(integer),
  nextDueAt: maybe(integer),
  lastFiredAt: maybe(integer),
  lastOutcome: maybe(word<RunOutcome>()),
  lastDetail: maybe(text),
  missedCount: integer,
}
const RUN = {
  agent: text,
  schedule: text,
  dueAt: integer,
  firedAt: maybe(integer),
  outcome: word<RunOutcome>(),
  detail: maybe(text),
}

/** A schedule as it is kept. Instants are wall clock, ms since the epoch. */
export type ScheduleRow = RowOf<typeof ROW>

const SAVE = `
INSERT INTO schedules (agent, id, origin, spec, last_due_at, next_due_at, last_fired_at, last_outcome, last_detail, missed_count)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (agent, id) DO UPDATE SET origin = excluded.origin, spec = excluded.spec,
  last_due_at = excluded.last_due_at, next_due_at = excluded.next_due_at, last_fired_at = excluded.last_fired_at,
  last_outcome = excluded.last_outcome, last_detail = excluded.last_detail, missed_count = excluded.missed_count`

/** A pending run is somebody's promise, and never trimmed. */
const TRIM = `
DELETE FROM schedule_runs WHERE agent = ?1 AND schedule = ?2 AND outcome <> 'pending' AND due_at <=
  (SELECT due_at FROM schedule_runs WHERE agent = ?1 AND schedule = ?2 ORDER BY due_at DESC LIMIT 1 OFFSET ?3)`
const TRIM_ALL = `
DELETE FROM schedule_runs WHERE outcome <> 'pending' AND number <=
  (SELECT number FROM schedule_runs ORDER BY number DESC LIMIT 1 OFFSET ?)`

export class Schedules {
  readonly #retention: Retention
  readonly #ofSchedule: TrimTally
  readonly #inAll: TrimTally
  readonly #list
  readonly #pending
  readonly #history
  readonly #save
  readonly #saveRun
  readonly #remove
  readonly #removeAgent
  readonly #removeRuns
  readonly #trim
  readonly #trimAll

  constructor(connection: Connection, retention: Retention) {
    this.#retention = retention
    this.#ofSchedule = new TrimTally(retention.runsPerSchedule)
    this.#inAll = new TrimTally(retention.runs)
    this.#list = connection.query(ROW, 'FROM schedules ORDER BY agent, id')
    this.#pending = connection.query(
      RUN,
      "FROM schedule_runs WHERE outcome = 'pending' ORDER BY agent, schedule, due_at",
    )
    this.#history = connection.query(
      RUN,
      'FROM schedule_runs WHERE agent = ? AND schedule = ? ORDER BY due_at DESC LIMIT ?',
    )
    this.#save = connection.change(SAVE)
    this.#saveRun = connection.insert(
      'schedule_runs',
      ['agent', 'schedule', 'due_at', 'fired_at', 'outcome', 'detail'],
      'ON CONFLICT (agent, schedule, due_at) DO UPDATE SET ' +
        'fired_at = excluded.fired_at, outcome = excluded.outcome, detail = excluded.detail',
    )
    this.#remove = connection.change('DELETE FROM schedules WHERE agent = ? AND id = ?')
    this.#removeAgent = connection.change('DELETE FROM schedules WHERE agent = ?')
    this.#removeRuns = connection.change('DELETE FROM schedule_runs WHERE agent = ?')
    this.#trim = connection.change(TRIM)
    this.#trimAll = connection.change(TRIM_ALL)
  }

  /** All schedules, by agent and id. */
  list(): readonly ScheduleRow[] {
    return this.#list.all()
  }

  /** Runs that were decided and whose end is not known, by agent, schedule and due time. */
  pending(): readonly ScheduleRun[] {
    return this.#pending.all()
  }

  /** The newest `limit` runs, newest first; also of a schedule that has been removed. */
  history(agent: string, id: string, limit: number): readonly ScheduleRun[] {
    return this.#history.all(agent, id, limit)
  }

  /** @param row the schedule; null leaves it as it is */
  save(row: ScheduleRow | null, runs: readonly ScheduleRun[]): void {
    if (row !== null) {
      this.#save.run(
        ...[row.agent, row.id, row.origin, JSON.stringify(row.spec), row.lastDueAt, row.nextDueAt, row.lastFiredAt],
        ...[row.lastOutcome, row.lastDetail, row.missedCount],
      )
    }
    for (const run of runs) this.#add(run)
  }

  /** Its history stays. */
  remove(agent: string, id: string): void {
    this.#remove.run(agent, id)
  }

  /** With their history. */
  removeAgent(agent: string): void {
    this.#removeAgent.run(agent)
    this.#removeRuns.run(agent)
  }

  #add({ agent, schedule, dueAt, firedAt, outcome, detail }: ScheduleRun): void {
    this.#saveRun.run(agent, schedule, dueAt, firedAt, outcome, detail)
    const { runsPerSchedule, runs } = this.#retention
    if (this.#ofSchedule.isDue(`${agent}/${schedule}`)) this.#trim.run(agent, schedule, runsPerSchedule)
    if (this.#inAll.isDue()) this.#trimAll.run(runs)
  }
}
