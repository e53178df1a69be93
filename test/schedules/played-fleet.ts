/** Agents as the scheduler sees them: where they are is set by the test, and what is sent stays open until it says so. */
import type { ScheduleInput } from '../../src/model/schedule.ts'
import type { AgentMode, Delivered, ScheduleReport } from '../../src/schedules/ports.ts'
import { Scheduler } from '../../src/schedules/scheduler.ts'
import { FakeClock, nextTurn } from '../../src/testkit/fake-clock.ts'
import { PlayedStore } from './played-store.ts'

export interface Sent {
  readonly agent: string
  readonly schedule: string
  readonly dueAt: number
  /** Wall clock when it was sent. */
  readonly at: number
  readonly settle: (delivered: Delivered) => void
}

/** 1 January 2026, a Thursday, 00:00 UTC. */
export const START_MS = Date.UTC(2026, 0, 1)
export const SECOND_MS = 1000
export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

export const utc = (iso: string): number => Date.parse(`${iso}Z`)

/** A fake clock of a process that can be stopped: then time passes and no timer fires until it goes on. */
class StallingClock extends FakeClock {
  #stalledMs = 0

  stall(ms: number): void {
    this.#stalledMs += ms
  }

  override now(): number {
    return super.now() + this.#stalledMs
  }

  override wall(): number {
    return super.wall() + this.#stalledMs
  }
}

interface Played {
  readonly store?: PlayedStore
  readonly wallMs?: number
  /** What runs come to, at once; null: they stay open. @default handled */
  readonly outcome?: Delivered | null
  readonly accepted?: (messageId: string) => boolean
}

export class PlayedFleet {
  readonly clock: StallingClock
  readonly store: PlayedStore
  readonly scheduler: Scheduler
  readonly sent: Sent[] = []
  readonly reports: ScheduleReport[] = []
  readonly modes = new Map<string, AgentMode>()
  outcome: Delivered | null

  constructor({
    store = new PlayedStore(),
    wallMs = START_MS,
    outcome = { outcome: 'handled' },
    accepted,
  }: Played = {}) {
    this.clock = new StallingClock(1000, wallMs)
    this.store = store
    this.outcome = outcome
    this.scheduler = new Scheduler({
      clock: this.clock,
      store,
      mode: (agent) => this.modes.get(agent) ?? 'deliver',
      deliver: (agent, spec, dueAt) =>
        new Promise((settle) => {
          this.sent.push({ agent, schedule: spec.id, dueAt, at: this.clock.wall(), settle })
          if (this.outcome !== null) settle(this.outcome)
        }),
      report: (what) => void this.reports.push(what),
      ...(accepted === undefined ? {} : { isAccepted: accepted }),
    })
  }

  /** Moves time in steps, and lets commits and deliveries happen after each. */
  async advance(ms: number, stepMs = ms): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      this.clock.advance(Math.min(left, stepMs))
      await this.rest()
    }
    await this.rest()
  }

  /** The next host, after this one has died: the same agents and the same time, and what was on disk. */
  afterCrash(downMs: number, accepted?: (messageId: string) => boolean): PlayedFleet {
    void this.scheduler.close()
    const wallMs = this.clock.wall() + downMs
    const next = new PlayedFleet({
      ...{ store: this.store.afterCrash(), wallMs, outcome: this.outcome },
      ...(accepted === undefined ? {} : { accepted }),
    })
    for (const agent of ['a', 'b']) next.modes.set(agent, 'hold')
    return next
  }

  /** Until nothing more happens by itself. */
  async rest(): Promise<void> {
    for (let turns = 0; turns < 3; turns++) await nextTurn()
  }

  /** The agent is there now. */
  async move(agent: string, mode: AgentMode): Promise<void> {
    this.modes.set(agent, mode)
    this.scheduler.wake(agent)
    await this.rest()
  }

  async add(input: Partial<ScheduleInput>, agent = 'a'): Promise<void> {
    await this.scheduler.add(agent, { id: 's', event: 'tick', ...input }, 'runtime')
  }

  /** Due times that were sent, as ISO without milliseconds, in order. */
  due(schedule = 's'): string[] {
    return this.sent.filter((one) => one.schedule === schedule).map(({ dueAt }) => short(dueAt))
  }

  /** What the history says, oldest first. */
  async history(schedule = 's', agent = 'a'): Promise<string[]> {
    const runs = await this.scheduler.history(agent, schedule, 1000)
    return runs.toReversed().map(({ dueAt, outcome }) => `${short(dueAt)} ${outcome}`)
  }

  settleAll(outcome: Delivered['outcome'] = 'handled'): void {
    for (const { settle } of this.sent) settle({ outcome })
  }
}

/** `MM-DDThh:mm:ss` */
export const short = (ms: number): string => new Date(ms).toISOString().slice(5, 19)
