/**
 * The runs of schedules, from the decision to the outcome. The order of writing is the point: a due time is committed as
 * `pending`, together with the schedule's new place in time, and only then sent; its outcome is committed when it is
 * known. So a host that dies in between finds it again: what its receiver had accepted is done, the rest counts as missed.
 */
import type { ScheduleRun } from '../model/schedule.ts'
import { type Gap, place, type Verdict } from './due.ts'
import type { Entry } from './entry.ts'
import type { Delivered, SchedulerPorts } from './ports.ts'

/** An outcome, with its reason where there is one. */
type Settled = Pick<Delivered, 'outcome'> & { readonly detail?: string | null }

const iso = (ms: number): string => new Date(ms).toISOString()

const UNRECORDED = 'it could not be recorded, so it was not sent'
const REMOVED = 'the schedule was removed before it was sent'

/** Whom the runs tell. */
export interface RunsOwner {
  /** A schedule may have come to its end. */
  settled(entry: Entry): void
  /** These were to be sent, and the agent has gone: they are to be decided on when it is back. */
  putOff(entry: Entry, times: readonly number[]): void
}

export class Runs {
  readonly #ports: SchedulerPorts
  readonly #writes = new Set<Promise<boolean>>()
  readonly #owner: RunsOwner
  #closed = false

  constructor(ports: SchedulerPorts, owner: RunsOwner) {
    this.#ports = ports
    this.#owner = owner
  }

  /** Does what was decided: commits all of it at once, then sends what is to be sent, in order. */
  begin(entry: Entry, verdict: Verdict): void {
    const { spec } = entry
    const { send, wait, skip } = place(verdict, spec.overlap, { open: entry.open.size, waiting: entry.waiting.length })
    const why = entry.held ?? 'the clock or the process had stood still, or the clock was set'
    const missed = verdict.dropped.map((dueAt) => entry.run(dueAt, 'missed', why))
    if (verdict.missed !== null) missed.push(entry.run(verdict.missed.from, 'missed', said(verdict.missed, why)))
    const skipped = skip.map((dueAt) => entry.run(dueAt, 'skipped', this.#inTheWay(entry)))
    entry.lastDueAt = verdict.lastDueAt
    entry.nextDueAt = verdict.nextDueAt
    entry.owed = []
    entry.waiting.push(...wait)
    this.#tell(entry, verdict, missed, skipped)
    this.#launch(entry, send, [...missed, ...wait.map((dueAt) => entry.run(dueAt, 'pending', null)), ...skipped])
  }

  /** The agent is ACTIVE: what was queued for it is its own affair now. */
  release(entry: Entry): void {
    if (entry.untold.size === 0) return
    for (const dueAt of entry.untold) entry.open.delete(dueAt)
    entry.untold.clear()
    this.#next(entry)
    this.#owner.settled(entry)
  }

  /** Writes the schedule as it is, and runs that are over. Answers whether that went well; a failure is reported. */
  save(entry: Entry, runs: readonly ScheduleRun[] = []): Promise<boolean> {
    if (entry.removed === 'agent') return Promise.resolve(true)
    return this.write(entry, (store) => store.save(entry.removed === 'no' ? entry.row() : null, runs))
  }

  /** One call of the store, about this schedule. */
  write(entry: Entry, call: (store: SchedulerPorts['store']) => Promise<void>): Promise<boolean> {
    const written = (async () => call(this.#ports.store))().then(
      () => true,
      (error: unknown) => {
        this.#ports.report({ kind: 'not_recorded', agent: entry.agent, schedule: entry.spec.id, error })
        return false
      },
    )
    this.#writes.add(written)
    void written.finally(() => this.#writes.delete(written))
    return written
  }

  /** Nothing is sent any more; outcomes that come in are still written. Resolves when all writes so far are done. */
  async close(): Promise<void> {
    this.#closed = true
    while (this.#writes.size > 0) await Promise.all(this.#writes)
  }

  /** Commits these due times as pending, with what else was decided, and sends them once that is done. */
  #launch(entry: Entry, times: readonly number[], others: readonly ScheduleRun[]): void {
    const firedAt = this.#ports.clock.wall()
    for (const dueAt of times) entry.open.set(dueAt, firedAt)
    const pending = times.map((dueAt): ScheduleRun => ({ ...entry.run(dueAt, 'pending', null), firedAt }))
    void this.save(entry, [...others, ...pending]).then((written) => {
      for (const dueAt of times) {
        if (written) void this.#send(entry, dueAt)
        else this.#settle(entry, dueAt, null, { outcome: 'failed', detail: UNRECORDED })
      }
      if (times.length === 0) this.#owner.settled(entry)
    })
  }

  async #send(entry: Entry, dueAt: number): Promise<void> {
    // It stays pending, and is missed at the next start.
    if (this.#closed) return
    if (entry.removed !== 'no') return this.#giveUp(entry, [dueAt])
    if (!this.#reachable(entry)) {
      entry.open.delete(dueAt)
      this.#owner.putOff(entry, [dueAt])
      return this.#next(entry)
    }
    const firedAt = entry.open.get(dueAt) ?? this.#ports.clock.wall()
    this.#settle(entry, dueAt, firedAt, await this.#deliver(entry, dueAt))
  }

  async #deliver({ agent, spec }: Entry, dueAt: number): Promise<Settled> {
    try {
      return await this.#ports.deliver(agent, spec, dueAt)
    } catch (error) {
      return { outcome: 'failed', detail: error instanceof Error ? error.message : String(error) }
    }
  }

  /** @param firedAt null where it was not sent */
  #settle(entry: Entry, dueAt: number, firedAt: number | null, { outcome, detail = null }: Settled): void {
    if (outcome === 'queued' && this.#ports.mode(entry.agent) !== 'deliver') entry.untold.add(dueAt)
    else entry.open.delete(dueAt)
    if (firedAt !== null) entry.lastFiredAt = Math.max(firedAt, entry.lastFiredAt ?? firedAt)
    entry.note(outcome, detail)
    void this.save(entry, [{ ...entry.run(dueAt, outcome, detail), firedAt }])
    const told = { agent: entry.agent, schedule: entry.spec.id, dueAt, outcome }
    this.#ports.report({ kind: 'fired', ...told, ...(detail === null ? {} : { detail }) })
    this.#next(entry)
    this.#owner.settled(entry)
  }

  /** The run that waits first, where none is open. */
  #next(entry: Entry): void {
    if (this.#closed || entry.open.size > 0 || entry.waiting.length === 0) return
    if (entry.removed !== 'no') return this.#giveUp(entry, entry.waiting.splice(0))
    if (!this.#reachable(entry)) return this.#owner.putOff(entry, entry.waiting.splice(0))
    this.#launch(entry, [entry.waiting.shift() as number], [])
  }

  #reachable(entry: Entry): boolean {
    const mode = this.#ports.mode(entry.agent)
    return mode === 'deliver' || mode === 'queue'
  }

  #giveUp(entry: Entry, times: readonly number[]): void {
    for (const dueAt of times) entry.open.delete(dueAt)
    void this.save(
      entry,
      times.map((dueAt) => entry.run(dueAt, 'missed', REMOVED)),
    )
    this.#next(entry)
  }

  #inTheWay({ open, waiting }: Entry): string {
    const [since] = open.values()
    const running = since === undefined ? 'runs wait' : `a run has not ended since ${iso(since)}`
    return waiting.length === 0 ? running : `${running}, and ${waiting.length} wait`
  }

  #tell(entry: Entry, verdict: Verdict, missed: readonly ScheduleRun[], skipped: readonly ScheduleRun[]): void {
    const count = verdict.dropped.length + (verdict.missed?.count ?? 0)
    const about = { agent: entry.agent, schedule: entry.spec.id }
    const last = missed.at(-1)
    if (last?.detail != null) {
      entry.missedCount += count
      entry.note('missed', last.detail)
      this.#ports.report({ kind: 'missed', ...about, count, more: verdict.missed?.more ?? false, detail: last.detail })
    }
    for (const { dueAt, detail } of skipped) {
      entry.note('skipped', detail)
      this.#ports.report({ kind: 'skipped', ...about, dueAt, detail: detail ?? '' })
    }
  }
}

/** A gap as a sentence, with its reason. */
const said = ({ from, to, count, more }: Gap, why: string): string =>
  count === 1 && !more ? why : `${more ? 'more than ' : ''}${count} due times from ${iso(from)} to ${iso(to)}: ${why}`
