/** Any schedules under any time, steps of the clock, whereabouts, ends of runs and deaths of the host. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MISSED_POLICIES, OVERLAPS, type ScheduleInput } from '../../src/model/schedule.ts'
import { completeSchedule } from '../../src/schedules/check.ts'
import { type AgentMode, messageIdOf } from '../../src/schedules/ports.ts'
import { nextTime } from '../../src/schedules/times.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, PlayedFleet, START_MS, utc } from './played-fleet.ts'

const AGENTS = ['a', 'b'] as const
const MODES: readonly AgentMode[] = ['deliver', 'queue', 'hold', 'gone']

const times = fc.oneof(
  fc.record({
    cron: fc.constantFrom('* * * * *', '*/7 * * * *', '0 * * * *', '30 2 * * *', '0 */6 * * *'),
    timezone: fc.constantFrom('UTC', 'Europe/Vienna', 'Australia/Lord_Howe'),
  }),
  fc.record({ everyMs: fc.integer({ min: MINUTE_MS, max: 3 * HOUR_MS }) }),
  fc.record({ at: fc.integer({ min: START_MS, max: START_MS + 2 * DAY_MS }) }),
)
const schedules = fc.array(
  fc.record({
    agent: fc.constantFrom(...AGENTS),
    time: times,
    overlap: fc.constantFrom(...OVERLAPS),
    missed: fc.constantFrom(...MISSED_POLICIES),
  }),
  { minLength: 1, maxLength: 4 },
)

const advance = fc.record({ advance: fc.integer({ min: 1, max: 3 * HOUR_MS }) })
const events = fc.oneof(
  { weight: 4, arbitrary: advance },
  { weight: 1, arbitrary: fc.record({ step: fc.integer({ min: -2 * HOUR_MS, max: DAY_MS }) }) },
  { weight: 1, arbitrary: fc.record({ stall: fc.integer({ min: 1, max: DAY_MS }) }) },
  { weight: 3, arbitrary: fc.record({ move: fc.constantFrom(...AGENTS), to: fc.constantFrom(...MODES) }) },
  {
    weight: 3,
    arbitrary: fc.record({ settle: fc.nat(), as: fc.constantFrom('handled', 'failed', 'queued', 'aborted') }),
  },
  { weight: 1, arbitrary: fc.record({ crash: fc.integer({ min: 0, max: DAY_MS }), midway: fc.boolean() }) },
)
type Event = typeof events extends fc.Arbitrary<infer E> ? E : never

/** The hosts that follow one another, and all that they sent. */
class History {
  fleet: PlayedFleet
  readonly inputs: readonly (ScheduleInput & { readonly agent: string })[]
  readonly sent: string[] = []
  #taken = 0
  /** The latest that the wall clock has said: what was due then may be sent later by a clock that was set back. */
  #latest = 0

  constructor(fleet: PlayedFleet, inputs: History['inputs']) {
    this.fleet = fleet
    this.inputs = inputs
  }

  async apply(event: Event): Promise<void> {
    const { fleet } = this
    if ('advance' in event) await fleet.advance(event.advance, MINUTE_MS)
    else if ('step' in event) {
      fleet.clock.stepWall(event.step)
      await this.#calm()
    } else if ('stall' in event) {
      fleet.clock.stall(event.stall)
      await this.#calm()
    } else if ('move' in event) await fleet.move(event.move, event.to)
    else if ('settle' in event) {
      fleet.sent[event.settle % Math.max(1, fleet.sent.length)]?.settle({ outcome: event.as as 'handled' })
      await fleet.rest()
    } else await this.#crash(event.crash, event.midway)
    this.take()
  }

  /** A minute, within which a stand-still is noticed: one run to catch up and one that falls due, of each schedule. */
  async #calm(): Promise<void> {
    const before = this.fleet.sent.length
    await this.fleet.advance(MINUTE_MS)
    const now = this.fleet.sent.slice(before)
    for (const { id, agent, missed, overlap } of this.inputs) {
      const runs = now.filter((one) => one.agent === agent && one.schedule === id).length
      expect(runs, `runs of ${id}`).toBeLessThanOrEqual(missed === 'all' && overlap === 'parallel' ? 101 : 2)
    }
  }

  async #crash(downMs: number, midway: boolean): Promise<void> {
    // Midway: decisions are committed, and nothing of them was sent.
    if (midway) this.fleet.clock.advance(MINUTE_MS)
    this.take()
    const accepted = new Set(this.sent)
    this.fleet = this.fleet.afterCrash(downMs, (id) => accepted.has(id))
    this.#taken = 0
    await this.fleet.scheduler.load()
    await this.fleet.rest()
  }

  take(): void {
    const { sent, clock } = this.fleet
    for (const { agent, schedule, dueAt, at } of sent.slice(this.#taken)) {
      this.sent.push(messageIdOf(agent, schedule, dueAt))
      expect(Math.max(at, this.#latest), 'never early').toBeGreaterThanOrEqual(dueAt)
    }
    this.#taken = sent.length
    this.#latest = Math.max(this.#latest, clock.wall())
    expect(clock.timers).toBeLessThanOrEqual(1)
    for (const agent of AGENTS) {
      for (const { nextAt } of this.fleet.scheduler.list(agent)) {
        if (nextAt !== null) expect(nextAt).toBeGreaterThan(clock.wall())
      }
    }
  }
}

describe('any schedules, whatever happens', () => {
  it('C139 C142 each due time is sent once at most, none early, none in a burst, by one timer', async () => {
    await fc.assert(
      fc.asyncProperty(
        schedules,
        fc.constantFrom(START_MS, utc('2026-03-28T20:00:00'), utc('2026-10-24T20:00:00'), utc('2026-04-04T10:00:00')),
        fc.array(events, { minLength: 1, maxLength: 10 }),
        async (made, wallMs, happening) => {
          const fleet = new PlayedFleet({ wallMs, outcome: null })
          const inputs = made.map(({ agent, time, overlap, missed }, i) => ({
            agent,
            input: { id: `s${i}`, event: 'e', overlap, missed, ...time },
          }))
          for (const { agent, input } of inputs) await fleet.scheduler.add(agent, input, 'runtime')
          const history = new History(
            fleet,
            inputs.map(({ agent, input }) => ({ agent, ...input })),
          )
          for (const event of happening) await history.apply(event)
          expect(new Set(history.sent).size).toBe(history.sent.length)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('what was due and could be sent was sent: no due time is lost while the agent is there', async () => {
    await fc.assert(
      fc.asyncProperty(
        times,
        fc.array(fc.integer({ min: 1, max: 2 * HOUR_MS }), { maxLength: 10 }),
        async (time, waits) => {
          const fleet = new PlayedFleet()
          const input: ScheduleInput = { id: 's', event: 'e', ...time }
          await fleet.scheduler.replaceManifest('a', [input])
          for (const wait of waits) await fleet.advance(wait, MINUTE_MS)
          const spec = completeSchedule(input)
          const expected: number[] = []
          let next = nextTime(spec, START_MS)
          for (; next !== null && next <= fleet.clock.wall(); next = nextTime(spec, next)) expected.push(next)
          expect(fleet.sent.map(({ dueAt }) => dueAt)).toEqual(expected)
        },
      ),
      { numRuns: 60 },
    )
  })
})
