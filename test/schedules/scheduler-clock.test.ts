/** The scheduler and the clock: processes that were stopped, clocks that were set, long waits, and what it costs. */
import { describe, expect, it } from 'vitest'
import type { ScheduleReport } from '../../src/schedules/ports.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, PlayedFleet, SECOND_MS, START_MS, short, utc } from './played-fleet.ts'

const at = (ms: number): string => short(START_MS + ms)

const steps = (fleet: PlayedFleet): ScheduleReport[] => fleet.reports.filter(({ kind }) => kind === 'clock_stepped')

describe('C142 after a stand-still', () => {
  const kinds = [
    ['a process stopped for ten minutes', (fleet: PlayedFleet) => fleet.clock.stall(10 * MINUTE_MS), 10 * MINUTE_MS],
    ['a machine asleep for ten minutes', (fleet: PlayedFleet) => fleet.clock.stepWall(10 * MINUTE_MS), 10 * MINUTE_MS],
    ['a clock set forward by a day', (fleet: PlayedFleet) => fleet.clock.stepWall(DAY_MS), DAY_MS],
  ] as const

  it.each(kinds)(
    '%s: a schedule of each second has one run with `once`, `skip` and no burst',
    async (_name, stand, ms) => {
      for (const missed of ['once', 'skip'] as const) {
        const fleet = new PlayedFleet()
        await fleet.add({ cron: '* * * * * *', missed })
        await fleet.advance(2 * SECOND_MS, SECOND_MS)
        stand(fleet)
        await fleet.advance(SECOND_MS)
        // The one that is due just now is on time; the others passed.
        expect(fleet.due()).toEqual([at(SECOND_MS), at(2 * SECOND_MS), at(ms + 3 * SECOND_MS)])
        await fleet.advance(2 * SECOND_MS, SECOND_MS)
        expect(fleet.due().slice(3)).toEqual([at(ms + 4 * SECOND_MS), at(ms + 5 * SECOND_MS)])
        expect(fleet.reports.filter(({ kind }) => kind === 'missed')).toMatchObject([{ count: 100, more: true }])
      }
    },
  )

  it.each(kinds)(
    '%s: a schedule of each minute catches up once with `once`, and not at all with `skip`',
    async (_n, stand, ms) => {
      for (const missed of ['once', 'skip'] as const) {
        const fleet = new PlayedFleet()
        await fleet.add({ cron: '* * * * *', missed })
        await fleet.advance(90 * SECOND_MS)
        stand(fleet)
        await fleet.advance(30 * SECOND_MS - 1)
        const caughtUp = missed === 'once' ? [at(ms + MINUTE_MS)] : []
        // Noticed within a minute: where no timer was due, at the next look.
        await fleet.advance(1)
        expect(fleet.due().slice(0, 3)).toEqual([at(MINUTE_MS), ...(ms === 0 ? caughtUp : []), at(ms + 2 * MINUTE_MS)])
        await fleet.advance(2 * MINUTE_MS, SECOND_MS)
        expect(fleet.due().slice(-2)).toEqual([at(ms + 3 * MINUTE_MS), at(ms + 4 * MINUTE_MS)])
        expect(fleet.sent).toHaveLength(4)
      }
    },
  )

  it('a daily run that passed meanwhile: `once` runs it late, `skip` records it', async () => {
    for (const missed of ['once', 'skip'] as const) {
      const fleet = new PlayedFleet()
      await fleet.add({ cron: '0 3 * * *', missed })
      fleet.clock.stall(3 * HOUR_MS + 10 * MINUTE_MS)
      await fleet.advance(MINUTE_MS)
      expect(fleet.due()).toEqual(missed === 'once' ? [at(3 * HOUR_MS)] : [])
      expect(await fleet.scheduler.history('a', 's', 1)).toMatchObject([
        missed === 'once'
          ? { outcome: 'handled', firedAt: START_MS + 3 * HOUR_MS + 11 * MINUTE_MS }
          : { outcome: 'missed', detail: 'the clock or the process had stood still, or the clock was set' },
      ])
    }
  })

  it('a loop that was held up for some seconds makes nothing missed', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '0 3 * * *', missed: 'skip' })
    await fleet.advance(3 * HOUR_MS - 1)
    fleet.clock.stall(5 * SECOND_MS)
    await fleet.advance(1)
    expect(fleet.due()).toEqual([at(3 * HOUR_MS)])
  })
})

describe('a wall clock that is set', () => {
  it('back by two hours: what ran is not run again, then it goes on; it is told', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '0 * * * *' })
    await fleet.add({ id: 't', everyMs: 30 * MINUTE_MS })
    await fleet.advance(3 * HOUR_MS, MINUTE_MS)
    fleet.clock.stepWall(-2 * HOUR_MS)
    await fleet.advance(2 * HOUR_MS, MINUTE_MS)
    expect(fleet.due()).toEqual([1, 2, 3].map((n) => at(n * HOUR_MS)))
    expect(steps(fleet)).toEqual([{ kind: 'clock_stepped', byMs: -2 * HOUR_MS }])
    await fleet.advance(HOUR_MS, MINUTE_MS)
    expect(fleet.due()).toEqual([1, 2, 3, 4].map((n) => at(n * HOUR_MS)))
    expect(fleet.due('t')).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((n) => at(n * 30 * MINUTE_MS)))
  })

  it('back, and other times then: those that ran by the times before are not run again', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '0 * * * *' })
    await fleet.advance(3 * HOUR_MS, HOUR_MS)
    fleet.clock.stepWall(-2 * HOUR_MS)
    await fleet.add({ cron: '0,30 * * * *' })
    await fleet.advance(3 * HOUR_MS, MINUTE_MS)
    expect(fleet.due()).toEqual([1, 2, 3, 3.5, 4].map((n) => at(n * HOUR_MS)))
  })

  it('forward and back by a day: nothing runs twice', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '0 3 * * *' })
    fleet.clock.stepWall(DAY_MS)
    await fleet.advance(4 * HOUR_MS, MINUTE_MS)
    fleet.clock.stepWall(-DAY_MS)
    await fleet.advance(2 * DAY_MS, HOUR_MS)
    expect(fleet.due()).toEqual([at(3 * HOUR_MS), at(27 * HOUR_MS), at(51 * HOUR_MS)])
  })

  it('forward across a due time is noticed within a minute', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '0 3 * * *' })
    await fleet.advance(HOUR_MS, MINUTE_MS)
    fleet.clock.stepWall(2 * HOUR_MS)
    await fleet.advance(MINUTE_MS)
    expect(fleet.due()).toEqual([at(3 * HOUR_MS)])
    expect(steps(fleet)).toEqual([{ kind: 'clock_stepped', byMs: 2 * HOUR_MS }])
  })

  it('from a year that was wrong: schedules made then, and run then, go on', async () => {
    const fleet = new PlayedFleet({ wallMs: utc('2099-01-01T00:00:00') })
    await fleet.add({ cron: '0 * * * *' })
    await fleet.advance(HOUR_MS)
    await fleet.add({ id: 't', cron: '0 3 * * *' })
    await fleet.add({ id: 'u', everyMs: HOUR_MS })
    fleet.clock.stepWall(START_MS - fleet.clock.wall())
    await fleet.advance(MINUTE_MS)
    expect(fleet.scheduler.list('a').map(({ nextAt }) => short(nextAt ?? 0))).toEqual([
      at(HOUR_MS),
      at(3 * HOUR_MS),
      at(HOUR_MS),
    ])
    await fleet.advance(4 * HOUR_MS, MINUTE_MS)
    expect(fleet.due().slice(1)).toEqual([1, 2, 3, 4].map((n) => at(n * HOUR_MS)))
    expect(fleet.due('t')).toEqual([at(3 * HOUR_MS)])
    expect(fleet.due('u')).toEqual([1, 2, 3, 4].map((n) => at(n * HOUR_MS)))
  })

  it('back while the agent is away: what is due after that is on time', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '0 * * * *', missed: 'skip' })
    await fleet.move('a', 'hold')
    await fleet.advance(HOUR_MS)
    fleet.clock.stepWall(-30 * MINUTE_MS)
    await fleet.move('a', 'deliver')
    await fleet.advance(30 * MINUTE_MS)
    expect(fleet.due()).toEqual([at(HOUR_MS)])
  })

  it('by less than a second now and then, as a time server does, is not told', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '0 * * * *' })
    for (let i = 0; i < 60; i++) {
      fleet.clock.stepWall(i % 2 === 0 ? 400 : -400)
      await fleet.advance(MINUTE_MS)
    }
    expect(steps(fleet)).toEqual([])
    expect(fleet.due()).toEqual([at(HOUR_MS)])
  })
})

describe('C145 long waits', () => {
  it('a yearly and a monthly schedule run at their time, a due time in 30 days too', async () => {
    const fleet = new PlayedFleet({ wallMs: START_MS + 1 })
    await fleet.add({ id: 'yearly', cron: '0 0 1 1 *' })
    await fleet.add({ id: 'monthly', cron: '@monthly' })
    await fleet.add({ id: 'in-30-days', at: START_MS + 30 * DAY_MS })
    await fleet.add({ id: 'far', everyMs: 2 ** 31 })
    await fleet.advance(59 * DAY_MS, DAY_MS)
    expect(['yearly', 'monthly', 'in-30-days', 'far'].map((id) => fleet.due(id))).toEqual([
      ...[[], [at(31 * DAY_MS), at(59 * DAY_MS)], [at(30 * DAY_MS)], [at(2 ** 31 + 1), at(2 ** 32 + 1)]],
    ])
    await fleet.advance(306 * DAY_MS, DAY_MS)
    expect(fleet.sent.filter(({ schedule }) => schedule === 'yearly').map(({ dueAt }) => dueAt)).toEqual([
      utc('2027-01-01T00:00:00'),
    ])
  })

  it('the clock is looked at once a minute at most while nothing is due, and never without a schedule', async () => {
    const fleet = new PlayedFleet()
    let looks = 0
    const { after } = fleet.clock
    fleet.clock.after = (ms, call) => {
      looks++
      return after.call(fleet.clock, ms, call)
    }
    await fleet.advance(DAY_MS)
    expect([looks, fleet.clock.timers]).toEqual([0, 0])
    await fleet.add({ cron: '0 0 1 1 *' })
    await fleet.advance(DAY_MS)
    expect(looks).toBe(24 * 60 + 1)
    await fleet.scheduler.close()
    expect(fleet.clock.timers).toBe(0)
  })
})

describe('C139 C140 through a change of the clocks', () => {
  it.each([
    ['Europe/Vienna', '2026-03-28T23:00:00', ['03-29T01:00:00', '03-30T00:30:00']],
    ['Europe/Vienna', '2026-10-24T22:00:00', ['10-25T00:30:00', '10-26T01:30:00']],
    ['America/New_York', '2026-03-08T05:00:00', ['03-08T07:00:00', '03-09T06:30:00']],
    ['Australia/Lord_Howe', '2026-10-03T13:00:00', ['10-03T15:30:00', '10-04T15:30:00']],
  ] as const)('%s from %s: half past two runs at %j', async (timezone, from, due) => {
    const fleet = new PlayedFleet({ wallMs: utc(from) })
    await fleet.add({ cron: '30 2 * * *', timezone })
    await fleet.advance(28 * HOUR_MS, MINUTE_MS)
    expect(fleet.due()).toEqual(due)
  })

  it('every 30 seconds keep coming from an hour before to an hour after', async () => {
    const fleet = new PlayedFleet({ wallMs: utc('2026-10-25T00:00:00') })
    await fleet.add({ cron: '*/30 * * * * *', timezone: 'Europe/Vienna' })
    await fleet.advance(2 * HOUR_MS, 30 * SECOND_MS)
    expect(fleet.sent).toHaveLength(240)
  })
})

describe('ten thousand schedules', () => {
  it('have one timer, and all run at their time', async () => {
    const fleet = new PlayedFleet()
    const added: Promise<unknown>[] = []
    for (let i = 0; i < 10_000; i++) {
      const cron = i % 2 === 0 ? '*/10 * * * *' : `${i % 60} * * * *`
      added.push(fleet.scheduler.add(`agent-${i % 100}`, { id: `s${i}`, event: 'e', cron }, 'runtime'))
    }
    await Promise.all(added)
    expect(fleet.clock.timers).toBe(1)
    await fleet.advance(HOUR_MS, MINUTE_MS)
    expect(fleet.clock.timers).toBe(1)
    expect(fleet.sent).toHaveLength(5000 * 6 + 5000)
  })

  it('do not hold the loop: what is due goes by slices', async () => {
    const fleet = new PlayedFleet()
    for (let i = 0; i < 50; i++) await fleet.add({ id: `s${i}`, cron: '* * * * *' })
    // Each decision takes a millisecond.
    const { get } = fleet.modes
    fleet.modes.get = (agent) => {
      fleet.clock.stall(1)
      return get.call(fleet.modes, agent)
    }
    fleet.store.held = true
    await fleet.advance(MINUTE_MS)
    const rows = fleet.scheduler.list('a').filter(({ running }) => running)
    expect(rows.length).toBeGreaterThan(5)
    expect(rows.length).toBeLessThan(20)
    fleet.store.goOn()
    await fleet.advance(10, 1)
    expect(fleet.sent).toHaveLength(50)
  })

  it('that all passed a day of minutes are caught up with once each', async () => {
    const fleet = new PlayedFleet()
    for (let i = 0; i < 10_000; i++) {
      await fleet.scheduler.add(`agent-${i % 100}`, { id: `s${i}`, event: 'e', cron: '*/5 * * * *' }, 'runtime')
    }
    fleet.clock.stepWall(DAY_MS)
    await fleet.advance(MINUTE_MS)
    expect(fleet.sent).toHaveLength(10_000)
  })
})
