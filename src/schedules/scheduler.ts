/**
 * The schedules of all agents: one timer for the earliest due time of them, looked at again every minute at the latest, so
 * that a wall clock that was set and a machine that slept are noticed. What is due is decided in due.ts and run in runs.ts.
 *
 * - Each due time of a schedule is decided once, however the clock moves: to run, to be skipped, or as missed. The
 *   decision is committed before the event is sent.
 * - After the death of a host, a run that was committed and whose message its receiver is not known to have accepted counts
 *   as missed. So with `missed: skip` it is sent at most once; with `once` and `all` it may be sent again, under the same
 *   message id.
 * - While an agent can be sent nothing, its due times pass. `wake` decides on them.
 */
import { isDeepStrictEqual } from 'node:util'
import { HoltError } from '../model/error.ts'
import {
  SCHEDULE_LIMITS,
  type ScheduleInput,
  type ScheduleOrigin,
  type ScheduleRun,
  type ScheduleSpec,
  type ScheduleView,
} from '../model/schedule.ts'
import type { Timer } from '../platform/clock.ts'
import { checkSchedule, completeSchedule } from './check.ts'
import { afterStepBack, judge } from './due.ts'
import { DueQueue } from './due-queue.ts'
import { Entry } from './entry.ts'
import { messageIdOf, type SchedulerPorts } from './ports.ts'
import { Runs } from './runs.ts'
import { nextTime } from './times.ts'

/** A wall clock that was set is noticed after this time at the latest. */
const LOOK_AGAIN_MS = 60_000
/** After so long the loop is given a turn, and what else is due follows. */
const SLICE_MS = 10
/** A clock that is led to the right time moves less between two looks. */
const STEP_MS = 1000

const DOWN = 'the host was down'
const AWAY = 'the agent was suspended, stopped or not started'
const PAST = 'its time had passed when it was made'

export class Scheduler {
  readonly #ports: SchedulerPorts
  readonly #agents = new Map<string, Map<string, Entry>>()
  readonly #queue = new DueQueue<Entry>()
  readonly #runs: Runs
  #timer: Timer | undefined
  /** Wall clock less monotonic clock, when last looked at. */
  #offsetMs: number
  #ticking = false
  #closed = false

  constructor(ports: SchedulerPorts) {
    this.#ports = ports
    this.#runs = new Runs(ports, {
      settled: (entry) => this.#settled(entry),
      putOff: (entry, times) => this.#putOff(entry, times, AWAY),
    })
    this.#offsetMs = ports.clock.wall() - ports.clock.now()
  }

  /** Takes in what is stored. Once, before all else; then `replaceManifest` for each agent, and `wake` as they come up. */
  async load(): Promise<void> {
    const { rows, pending } = await this.#ports.store.load()
    const wall = this.#ports.clock.wall()
    for (const row of rows) {
      const detail = checkSchedule(row.spec)
      if (detail === null) this.#restore(Entry.from(row), wall)
      else this.#ports.report({ kind: 'unreadable', agent: row.agent, schedule: row.id, detail })
    }
    for (const run of pending) await this.#recall(run)
    for (const [agent, entries] of this.#agents) {
      for (const entry of entries.values()) this.#settled(entry)
      this.wake(agent)
    }
  }

  /**
   * Adds a schedule, or replaces the one of this id: with other times it begins anew from now, else it keeps its place.
   * Resolves when that is committed. A single instant that has passed does not run.
   * @throws HoltError `InvalidOption`: the check's sentence; the id is one of the manifest's; the agent has too many
   */
  async add(agent: string, input: ScheduleInput, origin: ScheduleOrigin): Promise<ScheduleView> {
    const fault = checkSchedule(input) ?? this.#refusal(agent, input.id, origin)
    if (fault !== null) throw new HoltError('InvalidOption', fault, { agent })
    const { entry, committed } = this.#put(agent, completeSchedule(input), origin)
    const view = entry.view(this.#ports.clock.wall())
    await committed
    this.#settled(entry)
    return view
  }

  /**
   * The schedules of an agent's manifest, in place of those it had from one; those made at run time stay, but for one
   * of the same id. Resolves when that is committed.
   * @throws HoltError `InvalidManifest`, and nothing has changed
   */
  async replaceManifest(agent: string, inputs: readonly ScheduleInput[]): Promise<void> {
    const ids = new Set<string>()
    for (const input of inputs) {
      const fault = checkSchedule(input) ?? (ids.has(input.id) ? `schedule '${input.id}': expected each id once` : null)
      if (fault !== null) throw new HoltError('InvalidManifest', `agent '${agent}': ${fault}`, { agent })
      ids.add(input.id)
    }
    const gone = [...this.#of(agent).values()].filter(({ origin, spec }) => origin === 'manifest' && !ids.has(spec.id))
    await Promise.all([
      ...gone.map((entry) => this.#drop(entry)),
      ...inputs.map((input) => this.#put(agent, completeSchedule(input), 'manifest').committed),
    ])
  }

  /**
   * Takes out a schedule that was made at run time; what of it runs ends by itself. False: there is none of this id.
   * @throws HoltError `InvalidOption`: it is the manifest's
   */
  async remove(agent: string, id: string): Promise<boolean> {
    const entry = this.#of(agent).get(id)
    if (entry === undefined) return false
    if (entry.origin === 'manifest') {
      throw new HoltError('InvalidOption', `schedule '${id}' is from the manifest: take it out of agent.yml`, { agent })
    }
    await this.#drop(entry)
    return true
  }

  /** Takes out all an agent has here, with its history. */
  async removeAgent(agent: string): Promise<void> {
    for (const entry of this.#of(agent).values()) {
      this.#queue.remove(entry)
      entry.removed = 'agent'
    }
    this.#agents.delete(agent)
    await this.#ports.store.removeAgent(agent)
  }

  list(agent: string): ScheduleView[] {
    const wall = this.#ports.clock.wall()
    return [...this.#of(agent).values()].map((entry) => entry.view(wall))
  }

  /** The newest `limit` runs of a schedule, newest first; also of one that was taken out. */
  history(agent: string, id: string, limit: number): Promise<readonly ScheduleRun[]> {
    return this.#ports.store.history(agent, id, limit)
  }

  /** The agent's whereabouts have changed: call it at every change of what `mode` answers. */
  wake(agent: string): void {
    const entries = this.#agents.get(agent)
    const mode = this.#ports.mode(agent)
    if (entries === undefined || this.#closed || mode === 'hold' || mode === 'gone') return
    for (const entry of entries.values()) {
      if (mode === 'deliver') this.#runs.release(entry)
      this.#enqueue(entry)
    }
    this.#tick()
  }

  /**
   * Nothing is sent from now on. Outcomes of what was sent are still written: call it again when the agents have ended,
   * and close the store after that. Resolves when all writes so far are done.
   */
  async close(): Promise<void> {
    this.#closed = true
    this.#timer?.cancel()
    this.#timer = undefined
    this.#queue.clear()
    await this.#runs.close()
  }

  #of(agent: string): ReadonlyMap<string, Entry> {
    return this.#agents.get(agent) ?? new Map()
  }

  #keep(entry: Entry): void {
    const entries = this.#agents.get(entry.agent) ?? new Map<string, Entry>()
    this.#agents.set(entry.agent, entries.set(entry.spec.id, entry))
  }

  #restore(entry: Entry, wall: number): void {
    Object.assign(entry, afterStepBack(entry, wall))
    this.#keep(entry)
    // What is due is not queued before its agent is woken: by then it is missed, however short the host was away.
    if (entry.dueAt <= wall) entry.held = DOWN
    else this.#enqueue(entry)
  }

  /** A run that a host which died left open. */
  async #recall(run: ScheduleRun): Promise<void> {
    const entry = this.#of(run.agent).get(run.schedule)
    const accepted = this.#ports.isAccepted?.(messageIdOf(run.agent, run.schedule, run.dueAt)) ?? false
    if (entry !== undefined && !accepted) return this.#putOff(entry, [run.dueAt], DOWN)
    const [outcome, detail] = accepted
      ? (['queued', 'accepted before the host ended'] as const)
      : (['missed', DOWN] as const)
    await this.#ports.store.save(null, [{ ...run, outcome, detail }])
  }

  #refusal(agent: string, id: string, origin: ScheduleOrigin): string | null {
    if (origin === 'manifest') return null
    const entries = this.#of(agent)
    const present = entries.get(id)
    if (present?.origin === 'manifest') return `schedule '${id}': this id is the manifest's; choose another`
    const made = [...entries.values()].filter((entry) => entry.origin === 'runtime').length
    const { runtimePerAgent } = SCHEDULE_LIMITS
    if (present !== undefined || made < runtimePerAgent) return null
    return `schedule '${id}': agent '${agent}' has ${runtimePerAgent} made at run time, as many as it may; remove one first`
  }

  /** In force at once; what the store refuses is undone. */
  #put(agent: string, spec: ScheduleSpec, origin: ScheduleOrigin): { entry: Entry; committed: Promise<void> } {
    const wall = this.#ports.clock.wall()
    const present = this.#of(agent).get(spec.id)
    const entry = present ?? new Entry(agent, spec, origin, null)
    const before = { spec: entry.spec, origin: entry.origin, nextDueAt: entry.nextDueAt }
    this.#queue.remove(entry)
    if (present === undefined || !sameTimes(present.spec, spec)) {
      entry.nextDueAt = nextTime(spec, Math.max(wall, entry.lastDueAt ?? wall))
      if (entry.nextDueAt === null) entry.note('missed', PAST)
    }
    Object.assign(entry, { spec, origin })
    this.#keep(entry)
    this.#enqueue(entry)
    const committed = this.#ports.store.save(entry.row(), []).catch((error: unknown) => {
      if (entry.spec === spec && entry.removed === 'no') this.#undo(entry, present === undefined ? null : before)
      throw error
    })
    return { entry, committed }
  }

  #undo(entry: Entry, before: Pick<Entry, 'spec' | 'origin' | 'nextDueAt'> | null): void {
    this.#queue.remove(entry)
    if (before === null) return this.#forget(entry)
    Object.assign(entry, before)
    this.#enqueue(entry)
  }

  async #drop(entry: Entry): Promise<void> {
    this.#forget(entry)
    await this.#ports.store.remove(entry.agent, entry.spec.id)
  }

  #forget(entry: Entry): void {
    this.#queue.remove(entry)
    entry.removed = 'schedule'
    this.#agents.get(entry.agent)?.delete(entry.spec.id)
  }

  /** A schedule that an agent made while it ran is forgotten with its last run. */
  #settled(entry: Entry): void {
    if (entry.origin !== 'runtime' || entry.removed !== 'no' || !entry.spent || this.#closed) return
    this.#forget(entry)
    void this.#runs.write(entry, (store) => store.remove(entry.agent, entry.spec.id))
  }

  /** These were decided to run and were not sent, for the agent or the host went away. `wake` decides on them again. */
  #putOff(entry: Entry, times: readonly number[], why: string): void {
    this.#queue.remove(entry)
    entry.owe(times)
    entry.held = why
  }

  #enqueue(entry: Entry): void {
    if (this.#closed || entry.slot !== -1 || entry.dueAt === Number.POSITIVE_INFINITY) return
    if (entry.dueAt > this.#ports.clock.wall()) entry.held = null
    this.#queue.add(entry)
    if (this.#queue.peek() === entry) this.#arm()
  }

  #arm(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    const first = this.#queue.peek()
    if (this.#ticking || this.#closed || first === undefined) return
    const { clock } = this.#ports
    const waitMs = Math.min(Math.max(1, first.dueAt - clock.wall()), LOOK_AGAIN_MS)
    this.#timer = clock.after(waitMs, () => this.#tick())
  }

  #tick(): void {
    if (this.#ticking || this.#closed) return
    const { clock } = this.#ports
    const wall = clock.wall()
    const endMs = clock.now() + SLICE_MS
    this.#ticking = true
    this.#noticeStep(wall)
    for (let entry = this.#queue.peek(); entry !== undefined && entry.dueAt <= wall; entry = this.#queue.peek()) {
      this.#decide(entry, wall)
      if (clock.now() > endMs) break
    }
    this.#ticking = false
    this.#arm()
  }

  /** Decides on one that is due. Where that throws, it alone does not run any more. */
  #decide(entry: Entry, wall: number): void {
    this.#queue.remove(entry)
    const mode = this.#ports.mode(entry.agent)
    if (mode === 'hold' || mode === 'gone') {
      entry.held ??= AWAY
      return
    }
    try {
      this.#runs.begin(entry, judge({ ...standing(entry), held: entry.held !== null, owed: entry.owed }, wall))
      this.#enqueue(entry)
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error)
      this.#ports.report({ kind: 'unreadable', agent: entry.agent, schedule: entry.spec.id, detail })
    }
  }

  #noticeStep(wall: number): void {
    const offsetMs = wall - this.#ports.clock.now()
    const byMs = offsetMs - this.#offsetMs
    this.#offsetMs = offsetMs
    if (Math.abs(byMs) < STEP_MS) return
    this.#ports.report({ kind: 'clock_stepped', byMs: Math.round(byMs) })
    if (byMs > 0) return
    for (const entry of [...this.#agents.values()].flatMap((entries) => [...entries.values()])) {
      const changed = afterStepBack(standing(entry), wall)
      if (changed === null) continue
      this.#queue.remove(entry)
      Object.assign(entry, changed)
      this.#enqueue(entry)
    }
  }
}

const standing = ({ spec, lastDueAt, nextDueAt }: Entry) => ({ spec, lastDueAt, nextDueAt })

const sameTimes = (a: ScheduleSpec, b: ScheduleSpec): boolean =>
  isDeepStrictEqual([a.cron, a.everyMs, a.at, a.timezone], [b.cron, b.everyMs, b.at, b.timezone])
