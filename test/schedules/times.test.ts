/** Due times of schedules of every kind. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ScheduleInput } from '../../src/model/schedule.ts'
import { completeSchedule } from '../../src/schedules/check.ts'
import { nextTime, passedTimes } from '../../src/schedules/times.ts'
import { DAY_MS, HOUR_MS, START_MS, utc } from './played-fleet.ts'

const specOf = (time: Pick<ScheduleInput, 'cron' | 'everyMs' | 'at' | 'timezone'>) =>
  completeSchedule({ id: 's', event: 'e', ...time })

describe('a distance', () => {
  const spec = specOf({ everyMs: 1000 })

  it('is first due after one distance', () => {
    expect(nextTime(spec, 500)).toBe(1500)
  })

  it.each([
    [1499, 1500],
    [1500, 2500],
    [1501, 2500],
    [9999, 10_500],
    [499, 500],
    [500, 1500],
    [-1, 500],
  ])('counted from 1500 is due after %i at %i', (after, due) => {
    expect(nextTime(spec, after, 1500)).toBe(due)
  })

  it('has passed so often, and of that the newest are known', () => {
    expect(passedTimes(spec, 1500, 1499, 3)).toEqual({ times: [], count: 0, more: false, next: 1500 })
    expect(passedTimes(spec, 1500, 1500, 3)).toEqual({ times: [1500], count: 1, more: false, next: 2500 })
    expect(passedTimes(spec, 1500, 3999, 3)).toEqual({ times: [1500, 2500, 3500], count: 3, more: false, next: 4500 })
    expect(passedTimes(spec, 1500, 4500, 3)).toEqual({ times: [2500, 3500, 4500], count: 3, more: true, next: 5500 })
  })

  it('costs no more for a year of it', () => {
    const { times, more } = passedTimes(specOf({ everyMs: 10 }), START_MS, START_MS + 366 * DAY_MS, 101)
    expect([times.length, times.at(-1), more]).toEqual([101, START_MS + 366 * DAY_MS, true])
  })
})

describe('a single instant', () => {
  const spec = specOf({ at: 5000 })

  it('is due once', () => {
    expect(nextTime(spec, 4999)).toBe(5000)
    expect(nextTime(spec, 5000)).toBeNull()
    expect(passedTimes(spec, 5000, 4999, 9)).toEqual({ times: [], count: 0, more: false, next: 5000 })
    expect(passedTimes(spec, 5000, 9999, 9)).toEqual({ times: [5000], count: 1, more: false, next: null })
    expect(passedTimes(spec, null, 9999, 9)).toEqual({ times: [], count: 0, more: false, next: null })
  })
})

describe('a pattern', () => {
  it('is due in its zone', () => {
    const spec = specOf({ cron: '0 3 * * *', timezone: 'America/New_York' })
    expect(nextTime(spec, START_MS)).toBe(START_MS + 8 * HOUR_MS)
    expect(passedTimes(spec, START_MS + 8 * HOUR_MS, START_MS + 2 * DAY_MS, 9).count).toBe(2)
  })

  it('C145 of once a year is due in a year, and of a day in February in up to eight', () => {
    expect(nextTime(specOf({ cron: '0 0 1 1 *' }), START_MS)).toBe(utc('2027-01-01T00:00:00'))
    expect(nextTime(specOf({ cron: '0 0 29 2 *' }), utc('2096-03-01T00:00:00'))).toBe(utc('2104-02-29T00:00:00'))
  })
})

describe('any schedule', () => {
  const times = fc.oneof(
    fc.record({ everyMs: fc.integer({ min: 5000, max: DAY_MS }) }),
    fc.record({ at: fc.integer({ min: START_MS, max: START_MS + DAY_MS }) }),
    fc.record({
      cron: fc.constantFrom('*/7 * * * * *', '*/5 * * * *', '30 2 * * *', '0 */5 * * *'),
      timezone: fc.constantFrom('UTC', 'Europe/Vienna', 'Australia/Lord_Howe'),
    }),
  )

  it('has next times that are strictly later, and what passed agrees with them', () => {
    const limit = 50
    fc.assert(
      fc.property(times, fc.nat({ max: DAY_MS }), fc.nat({ max: HOUR_MS / 3 }), (time, afterMs, lengthMs) => {
        const spec = specOf(time)
        const first = nextTime(spec, START_MS + afterMs)
        if (first === null) return
        expect(first).toBeGreaterThan(START_MS + afterMs)
        const upto = first + lengthMs
        const walked: number[] = []
        let next: number | null = first
        for (; next !== null && next <= upto; next = nextTime(spec, next, first)) {
          expect(next).toBeGreaterThan(walked.at(-1) ?? 0)
          walked.push(next)
        }
        const passed = passedTimes(spec, first, upto, limit)
        expect(passed.times).toEqual(walked.slice(-limit))
        expect([passed.next, passed.more]).toEqual([next, walked.length > limit])
      }),
      { numRuns: 200 },
    )
  })
})
