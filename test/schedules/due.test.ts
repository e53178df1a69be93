/** Decisions: what is run and what is missed, and what overlap makes of it. Whole matrices. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MISSED_POLICIES, OVERLAPS, SCHEDULE_LIMITS, type ScheduleInput } from '../../src/model/schedule.ts'
import { completeSchedule } from '../../src/schedules/check.ts'
import { afterStepBack, judge, place, type Standing } from '../../src/schedules/due.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, START_MS } from './played-fleet.ts'

/** Due each minute; the next one is minute 1. */
const minutely = (missed: ScheduleInput['missed'] = 'once', rest: Partial<Standing> = {}): Standing => ({
  spec: completeSchedule({ id: 's', event: 'e', everyMs: MINUTE_MS, missed: missed ?? 'once' }),
  lastDueAt: START_MS,
  nextDueAt: minute(1),
  held: false,
  owed: [],
  ...rest,
})

const minute = (n: number): number => START_MS + n * MINUTE_MS
const minutes = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => minute(from + i))

describe('what is run of what has passed', () => {
  const late = SCHEDULE_LIMITS.lateMs
  it.each([
    // [policy, held, wall after minute 1, run, missed]
    ['once', false, 0, [1], null],
    ['skip', false, 0, [1], null],
    ['all', false, 0, [1], null],
    ['once', false, late, [1], null],
    ['skip', false, late, [1], null],
    ['all', false, late, [1], null],
    ['once', false, late + 1, [1], null],
    ['skip', false, late + 1, [], [1, 1]],
    ['all', false, late + 1, [1], null],
    ['once', true, 0, [1], null],
    ['skip', true, 0, [], [1, 1]],
    ['all', true, 0, [1], null],
    ['once', false, 3 * MINUTE_MS, [4], [1, 3]],
    ['skip', false, 3 * MINUTE_MS, [4], [1, 3]],
    ['all', false, 3 * MINUTE_MS, [1, 2, 3, 4], null],
    ['once', true, 3 * MINUTE_MS, [4], [1, 3]],
    ['skip', true, 3 * MINUTE_MS, [], [1, 4]],
    ['all', true, 3 * MINUTE_MS, [1, 2, 3, 4], null],
    ['once', false, 3 * MINUTE_MS + 30_000, [4], [1, 3]],
    ['skip', false, 3 * MINUTE_MS + 30_000, [], [1, 4]],
    ['all', false, 3 * MINUTE_MS + 30_000, [1, 2, 3, 4], null],
  ] as const)('missed: %s, held: %s, %i ms after the first', (missed, held, afterMs, run, gap) => {
    const wall = minute(1) + afterMs
    const verdict = judge(minutely(missed, { held }), wall)
    expect(verdict.run).toEqual(run.map(minute))
    const expected = gap && { from: minute(gap[0]), to: minute(gap[1]), count: gap[1] - gap[0] + 1, more: false }
    expect(verdict.missed).toEqual(expected)
    const passed = 1 + Math.floor(afterMs / MINUTE_MS)
    expect([verdict.lastDueAt, verdict.nextDueAt]).toEqual([minute(passed), minute(passed + 1)])
  })

  it('is nothing before it is due, and nothing changes', () => {
    expect(judge(minutely(), minute(1) - 1)).toMatchObject({
      run: [],
      missed: null,
      lastDueAt: START_MS,
      nextDueAt: minute(1),
    })
  })

  it('C142 is at most 100 for `all`, the newest; more are counted to one past it', () => {
    const exact = judge(minutely('all'), minute(100))
    expect([exact.run, exact.missed, exact.catchUp]).toEqual([minutes(1, 100), null, true])
    const one = judge(minutely('all'), minute(101))
    expect([one.run, one.missed]).toEqual([minutes(2, 101), { from: minute(1), to: minute(1), count: 1, more: false }])
    const many = judge(minutely('all'), minute(5000))
    expect(many.run).toEqual(minutes(4901, 5000))
    expect(many.missed).toEqual({ from: minute(1), to: minute(4900), count: 1, more: true })
  })

  it('C142 is one at most for `once`, and none for `skip`, after a day of seconds', () => {
    for (const missed of ['once', 'skip'] as const) {
      const spec = completeSchedule({ id: 's', event: 'e', cron: '* * * * * *', missed })
      const standing = { ...minutely(), spec, nextDueAt: START_MS + SECOND_MS, held: true }
      const { run, missed: gap } = judge(standing, START_MS + DAY_MS)
      expect(run).toEqual(missed === 'once' ? [START_MS + DAY_MS] : [])
      expect(gap).toMatchObject({ from: START_MS + SECOND_MS, more: true, count: missed === 'once' ? 100 : 101 })
    }
  })

  it.each([
    ['once', [], [-2, -1], [4], [-2, -1], [1, 3]],
    ['once', [0], [-2, -1], [-1], [-2], null],
    ['skip', [], [-2, -1], [], [-2, -1], [1, 4]],
    ['all', [], [-2, -1], [-2, -1, 1, 2, 3, 4], [], null],
    ['all', [0], [-2, -1], [-2, -1], [], null],
  ] as const)('missed: %s, %j not due yet, with %j owed', (missed, notDue, owed, run, dropped, gap) => {
    const wall = notDue.length > 0 ? START_MS : minute(4)
    const verdict = judge(minutely(missed, { held: true, owed: owed.map(minute) }), wall)
    expect(verdict.run).toEqual(run.map(minute))
    expect(verdict.dropped).toEqual(dropped.map(minute))
    expect(verdict.missed).toEqual(
      gap && { from: minute(gap[0]), to: minute(gap[1]), count: gap[1] - gap[0] + 1, more: false },
    )
  })

  it.each([
    ['all', false, 0, false],
    ['all', true, 0, true],
    ['all', false, 2 * MINUTE_MS, true],
    ['once', true, 2 * MINUTE_MS, false],
  ] as const)(
    'missed: %s, held: %s, %i ms after the first: caught up with in a line: %s',
    (missed, held, afterMs, line) => {
      expect(judge(minutely(missed, { held }), minute(1) + afterMs).catchUp).toBe(line)
    },
  )

  it('never is a due time twice, and each that passed is run, missed or counted, for any of them', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...MISSED_POLICIES),
        fc.boolean(),
        fc.array(fc.integer({ min: -50, max: 0 }), { maxLength: 5 }),
        fc.array(fc.integer({ min: 0, max: 90 * MINUTE_MS }), { minLength: 1, maxLength: 5 }),
        (missed, held, owed, steps) => {
          let standing = minutely(missed, { held, owed: [...new Set(owed)].sort((a, b) => a - b).map(minute) })
          let wall = START_MS
          const run: number[] = []
          for (const step of steps) {
            wall += step
            const before = standing.nextDueAt as number
            const verdict = judge(standing, wall)
            run.push(...verdict.run)
            expect(verdict.nextDueAt).toBeGreaterThan(wall)
            expect(verdict.run.length).toBeLessThanOrEqual(missed === 'all' ? SCHEDULE_LIMITS.catchUp : 1)
            const passed = Math.max(0, Math.floor((wall - before) / MINUTE_MS) + 1)
            const ran = verdict.run.filter((time) => time >= before).length
            expect(ran + (verdict.missed?.count ?? 0)).toBe(passed)
            expect(verdict.dropped.length + verdict.run.length - ran).toBe(standing.owed.length)
            standing = { ...standing, ...verdict, owed: [] }
          }
          expect(new Set(run).size).toBe(run.length)
        },
      ),
    )
  })
})

describe('what overlap makes of runs', () => {
  const one = { run: [1], catchUp: false }
  const line = { run: [1, 2, 3], catchUp: true }
  const idle = { open: 0, waiting: 0 }
  const busy = { open: 1, waiting: 0 }
  it.each([
    ['skip', idle, one, [1], [], []],
    ['skip', busy, one, [], [], [1]],
    ['skip', { open: 0, waiting: 2 }, one, [], [], [1]],
    ['skip', idle, line, [1], [2, 3], []],
    ['skip', busy, line, [], [1, 2, 3], []],
    ['queue', idle, one, [1], [], []],
    ['queue', busy, one, [], [1], []],
    ['queue', { open: 0, waiting: 2 }, one, [], [1], []],
    ['queue', { open: 1, waiting: 15 }, one, [], [1], []],
    ['queue', { open: 1, waiting: 16 }, one, [], [], [1]],
    ['queue', idle, line, [1], [2, 3], []],
    ['queue', busy, line, [], [1, 2, 3], []],
    ['queue', { open: 1, waiting: 98 }, line, [], [1, 2], [3]],
    ['parallel', idle, one, [1], [], []],
    ['parallel', busy, one, [1], [], []],
    ['parallel', idle, line, [1, 2, 3], [], []],
    ['parallel', { open: 7, waiting: 0 }, line, [1, 2, 3], [], []],
    ['parallel', { open: 998, waiting: 0 }, line, [1, 2], [], [3]],
    ['parallel', { open: 1000, waiting: 0 }, one, [], [], [1]],
  ] as const)('overlap: %s, %j, %j', (overlap, state, verdict, send, wait, skip) => {
    expect(place(verdict, overlap, state)).toEqual({ send, wait, skip })
  })

  it.each(OVERLAPS)('%s loses none and keeps the order', (overlap) => {
    fc.assert(
      fc.property(fc.nat(120), fc.boolean(), fc.nat(3), fc.nat(120), (count, catchUp, open, waiting) => {
        const run = Array.from({ length: count }, (_, i) => i)
        const { send, wait, skip } = place({ run, catchUp }, overlap, { open, waiting })
        expect([...send, ...wait, ...skip]).toEqual(run)
        if (overlap !== 'parallel') expect(send.length).toBeLessThanOrEqual(open + waiting === 0 ? 1 : 0)
      }),
    )
  })
})

describe('a clock that was set back', () => {
  const daily = completeSchedule({ id: 's', event: 'e', cron: '0 3 * * *' })
  const at = (day: number): number => START_MS + day * DAY_MS + 3 * HOUR_MS

  it.each([
    ['within a day of what ran last: it is waited for', at(2), at(3), at(2) - DAY_MS, null],
    ['by more: the schedule begins anew', at(400), at(401), at(2) + 1, { lastDueAt: null, nextDueAt: at(3) }],
    ['before anything ran: planned again', null, at(400), at(2) + 1, { lastDueAt: null, nextDueAt: at(3) }],
    ['before anything ran, and the next is the same', null, at(3), at(2) + 1, null],
    ['what is due already stays', null, at(1), at(2), null],
  ] as const)('%s', (_name, lastDueAt, nextDueAt, wall, expected) => {
    expect(afterStepBack({ spec: daily, lastDueAt, nextDueAt }, wall)).toEqual(expected)
  })

  it('does not bring back a single instant', () => {
    const spec = completeSchedule({ id: 's', event: 'e', at: at(400) })
    expect(afterStepBack({ spec, lastDueAt: at(400), nextDueAt: null }, START_MS)).toBeNull()
    expect(afterStepBack({ spec, lastDueAt: null, nextDueAt: at(400) }, START_MS)).toBeNull()
  })
})
