/** Cron patterns around every kind of change of the clock, what is no pattern, and dates as text. */
import { Cron } from 'croner'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CronTimes, cronFault, cronTimes, instantOf, isTimezone } from '../../src/schedules/cron.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, utc } from './played-fleet.ts'

const VIENNA = 'Europe/Vienna'
const NEW_YORK = 'America/New_York'
const LORD_HOWE = 'Australia/Lord_Howe'

/** When the clocks change in 2026, in UTC. Lord Howe moves by half an hour. */
const CHANGES = {
  [VIENNA]: { forward: utc('2026-03-29T01:00:00'), back: utc('2026-10-25T01:00:00') },
  [NEW_YORK]: { forward: utc('2026-03-08T07:00:00'), back: utc('2026-11-01T06:00:00') },
  [LORD_HOWE]: { forward: utc('2026-10-03T15:30:00'), back: utc('2026-04-04T15:00:00') },
} as const

type Zone = keyof typeof CHANGES

/** The due times from `from` on and before `to`. */
function timesIn(pattern: string, zone: string, from: number, to: number): number[] {
  const times: number[] = []
  const cron = new CronTimes(pattern, zone)
  for (let next = cron.next(from - 1); next !== null && next < to; next = cron.next(next)) times.push(next)
  return times
}

/** Around a change, as `hh:mm` in UTC: two hours before to three hours after. */
const around = (pattern: string, zone: Zone, change: 'forward' | 'back'): string[] => {
  const at = CHANGES[zone][change]
  return timesIn(pattern, zone, at - 2 * HOUR_MS, at + 3 * HOUR_MS).map((ms) =>
    new Date(ms).toISOString().slice(11, 16),
  )
}

const distances = (times: readonly number[]): Set<number> =>
  new Set(times.slice(1).map((time, i) => time - (times[i] as number)))

describe('C140 a time of day around a change of the clock', () => {
  it.each([
    // In the hour that is skipped (02:00 to 03:00): directly after it. Two that meet there are one.
    [VIENNA, 'forward', '30 2 * * *', ['01:00']],
    [VIENNA, 'forward', '0 2 * * *', ['01:00']],
    [VIENNA, 'forward', '0 30 2 * * *', ['01:00']],
    [VIENNA, 'forward', '0,30 2 * * *', ['01:00']],
    [VIENNA, 'forward', '30 2,14 * * *', ['01:00']],
    [VIENNA, 'forward', '0 2,3 * * *', ['01:00']],
    [VIENNA, 'forward', '30 1,2,3 * * *', ['00:30', '01:00', '01:30']],
    [VIENNA, 'forward', '30 1 * * *', ['00:30']],
    // In the hour that is repeated (02:00 to 03:00): at its first.
    [VIENNA, 'back', '30 2 * * *', ['00:30']],
    [VIENNA, 'back', '0 2 * * *', ['00:00']],
    [VIENNA, 'back', '0,30 2 * * *', ['00:00', '00:30']],
    [VIENNA, 'back', '30 2,14 * * *', ['00:30']],
    [VIENNA, 'back', '0 3 * * *', ['02:00']],
    [NEW_YORK, 'forward', '30 2 * * *', ['07:00']],
    [NEW_YORK, 'forward', '0 2 * * *', ['07:00']],
    [NEW_YORK, 'forward', '0 3 * * *', ['07:00']],
    // There the repeated hour is 01:00 to 02:00.
    [NEW_YORK, 'back', '30 1 * * *', ['05:30']],
    [NEW_YORK, 'back', '0 2 * * *', ['07:00']],
    [NEW_YORK, 'back', '30 2 * * *', ['07:30']],
    // Skipped: 02:00 to 02:30. Repeated: 01:30 to 02:00.
    [LORD_HOWE, 'forward', '0 2 * * *', ['15:30']],
    [LORD_HOWE, 'forward', '15 2 * * *', ['15:30']],
    [LORD_HOWE, 'forward', '30 2 * * *', ['15:30']],
    [LORD_HOWE, 'back', '45 1 * * *', ['14:45']],
    [LORD_HOWE, 'back', '30 1 * * *', ['14:30']],
    [LORD_HOWE, 'back', '0 2 * * *', ['15:30']],
  ] as const)('%s %s: %s runs at %j UTC', (zone, change, pattern, expected) => {
    expect(around(pattern, zone, change)).toEqual(expected)
  })

  it.each([
    // Midnight itself is skipped there, and the day before its last hour is repeated.
    ['America/Santiago', '0 0 * * *', '2026-09-05T12:00:00', ['2026-09-06T04:00']],
    ['America/Santiago', '0 */12 * * *', '2026-09-05T17:00:00', ['2026-09-06T04:00']],
    ['America/Santiago', '30 23 * * *', '2026-04-04T12:00:00', ['2026-04-05T02:30']],
    ['Africa/Cairo', '30 0 * * *', '2026-04-23T12:00:00', ['2026-04-23T22:00']],
  ] as const)('%s: %s from %s on runs at %j', (zone, pattern, from, expected) => {
    const times = timesIn(pattern, zone, utc(from), utc(from) + 20 * HOUR_MS)
    expect(times.map((ms) => new Date(ms).toISOString().slice(0, 16))).toEqual(expected)
  })

  it('knows no change in UTC', () => {
    for (const { forward, back } of Object.values(CHANGES)) {
      for (const at of [forward, back]) {
        const day = Math.floor(at / DAY_MS) * DAY_MS
        expect(timesIn('30 2 * * *', 'UTC', day, day + DAY_MS)).toEqual([day + 2.5 * HOUR_MS])
      }
    }
  })

  it.each(Object.keys(CHANGES) as Zone[])('%s: each day of three years has each time once', (zone) => {
    for (const pattern of ['30 2 * * *', '45 1 * * *', '0 2 * * *']) {
      const times = timesIn(pattern, zone, utc('2026-01-01T00:00:00'), utc('2029-01-01T00:00:00'))
      const day = (ms: number): string => new Date(ms).toLocaleDateString('sv', { timeZone: zone })
      expect(new Set(times.map(day)).size).toBe(times.length)
      expect(times.length).toBeGreaterThanOrEqual(1095)
    }
  })

  it.each(Object.keys(CHANGES) as Zone[])('%s: every second hour is twelve times a day, on every day', (zone) => {
    for (const pattern of ['0 */2 * * *', '0 0-22/2 * * *', '0 0,2,4,6,8,10,12,14,16,18,20,22 * * *']) {
      for (const at of Object.values(CHANGES[zone])) {
        const times = timesIn(pattern, zone, at - 3 * DAY_MS, at + 3 * DAY_MS)
        const days = new Map<string, number>()
        for (const ms of times) {
          const day = new Date(ms).toLocaleDateString('sv', { timeZone: zone })
          days.set(day, (days.get(day) ?? 0) + 1)
        }
        expect([...days.values()].slice(1, -1)).toEqual([12, 12, 12, 12, 12])
      }
    }
  })
})

describe('C139 C140 a pattern that runs through', () => {
  const zones = [...(Object.keys(CHANGES) as Zone[]), 'UTC']
  const span = (zone: string): number[] => Object.values(CHANGES[zone as Zone] ?? CHANGES[VIENNA])

  it.each(zones)('%s: seconds and minutes have no gap and nothing twice', (zone) => {
    for (const at of span(zone)) {
      for (const [pattern, everyMs] of [
        ['*/30 * * * * *', 30 * SECOND_MS],
        ['* * * * *', MINUTE_MS],
        ['*/5 * * * *', 5 * MINUTE_MS],
        ['*/15 0-23 * * *', 15 * MINUTE_MS],
        ['0,30 * * * *', 30 * MINUTE_MS],
      ] as const) {
        const times = timesIn(pattern, zone, at - 2 * HOUR_MS, at + 2 * HOUR_MS)
        expect([pattern, times.length]).toEqual([pattern, (4 * HOUR_MS) / everyMs])
        expect(distances(times)).toEqual(new Set([everyMs]))
      }
    }
  })

  it.each([VIENNA, NEW_YORK, 'UTC'])('%s: so has every hour, however it is written', (zone) => {
    for (const at of span(zone)) {
      for (const pattern of ['0 * * * *', '30 * * * *', '@hourly', '0 0-23 * * *', '0 */1 * * *']) {
        expect(distances(timesIn(pattern, zone, at - DAY_MS, at + DAY_MS))).toEqual(new Set([HOUR_MS]))
      }
    }
  })

  it('where the clock moves by half an hour, every hour keeps to its minute of the wall clock', () => {
    expect(around('0 * * * *', LORD_HOWE, 'forward')).toEqual(['13:30', '14:30', '16:00', '17:00', '18:00'])
    expect(around('0 * * * *', LORD_HOWE, 'back')).toEqual(['13:00', '14:00', '15:30', '16:30', '17:30'])
  })

  it('minutes of a named hour follow real time: none in the hour that is skipped, both of the one that is repeated', () => {
    expect(around('*/30 2 * * *', VIENNA, 'forward')).toEqual([])
    expect(around('*/30 2 * * *', VIENNA, 'back')).toEqual(['00:00', '00:30', '01:00', '01:30'])
  })
})

const patterns = fc.constantFrom(
  ...['*/30 * * * * *', '0 2 * * *', '30 2 * * *', '* * * * *', '7 */3 * * *', '0,30 1,2,3 * * *', '59 59 23 * * *'],
  ...['0 0 29 2 *', '0 0 L * *', '0 9 * * MON#1', '0 0 15W * *', '@yearly', '0 0 0 1 1 * 2030', '0 12 1 * +MON'],
)
const places = fc.constantFrom(
  ...['UTC', VIENNA, NEW_YORK, LORD_HOWE, 'America/Santiago', 'Africa/Cairo', 'Asia/Kathmandu', 'Pacific/Apia'],
)
/** Any instant of twelve years, and more often one near a change. */
const instants = fc.oneof(
  fc.integer({ min: utc('2024-01-01T00:00:00'), max: utc('2036-01-01T00:00:00') }),
  fc
    .tuple(
      fc.constantFrom(...Object.values(CHANGES).flatMap((change) => Object.values(change))),
      fc.integer({ min: -3 * HOUR_MS, max: 3 * HOUR_MS }),
    )
    .map(([at, by]) => at + by),
)

describe('the next time', () => {
  it('C139 is always strictly later, and none lies before it', () => {
    fc.assert(
      fc.property(patterns, places, instants, fc.nat(), (pattern, zone, after, nat) => {
        const next = new CronTimes(pattern, zone).next(after)
        if (next === null) return
        expect(next).toBeGreaterThan(after)
        const between = after + (nat % (next - after))
        expect(new CronTimes(pattern, zone).next(between)).toBe(next)
      }),
      { numRuns: 1000 },
    )
  })

  it('is the same from what was kept as asked afresh', () => {
    fc.assert(
      fc.property(patterns, places, fc.array(instants, { minLength: 2, maxLength: 12 }), (pattern, zone, asked) => {
        const kept = new CronTimes(pattern, zone)
        for (const after of asked) expect(kept.next(after)).toBe(new CronTimes(pattern, zone).next(after))
      }),
      { numRuns: 300 },
    )
  })

  it('in UTC is what croner says by name', () => {
    fc.assert(
      fc.property(patterns, instants, (pattern, after) => {
        const byName = new Cron(pattern, { timezone: 'Etc/UTC', paused: true, fixedTimeRule: 'no-wildcard' })
        expect(new CronTimes(pattern, 'UTC').next(after)).toBe(byName.nextRun(new Date(after))?.getTime() ?? null)
      }),
      { numRuns: 300 },
    )
  })

  it('costs little for many: a pattern is kept, and no more than 256 are', () => {
    const first = cronTimes('1 1 * * *', 'UTC')
    expect(cronTimes('1 1 * * *', 'UTC')).toBe(first)
    expect(cronTimes('1 1 * * *', VIENNA)).not.toBe(first)
    for (let i = 0; i < 256; i++) cronTimes(`${i % 60} ${2 + Math.floor(i / 60)} * * *`, 'UTC')
    expect(cronTimes('1 1 * * *', 'UTC')).not.toBe(first)
  })
})

describe('what has passed', () => {
  it('is the newest of it, ascending, with the number and the first time after it', () => {
    const cron = new CronTimes('*/10 * * * *', 'UTC')
    const first = utc('2026-05-01T00:00:00')
    expect(cron.passed(first, first + 25 * MINUTE_MS, 5)).toEqual({
      times: [first, first + 10 * MINUTE_MS, first + 20 * MINUTE_MS],
      count: 3,
      more: false,
      next: first + 30 * MINUTE_MS,
    })
    expect(cron.passed(first, first + HOUR_MS, 2)).toEqual({
      times: [first + 50 * MINUTE_MS, first + HOUR_MS],
      count: 2,
      more: true,
      next: first + 70 * MINUTE_MS,
    })
  })

  it('is what a walk from the first to the last finds', () => {
    fc.assert(
      fc.property(
        patterns.filter((pattern) => !pattern.includes('2030')),
        places,
        instants,
        fc.integer({ min: 0, max: 4 * HOUR_MS }),
        fc.integer({ min: 1, max: 8 }),
        (pattern, zone, from, lengthMs, limit) => {
          const cron = new CronTimes(pattern, zone)
          const first = cron.next(from) as number
          const upto = first + lengthMs
          const all = timesIn(pattern, zone, first, upto + 1)
          for (const passed of [cron.passed(first, upto, limit), cron.passed(first, upto, limit)]) {
            expect(passed.times).toEqual(all.slice(-limit))
            expect([passed.count, passed.more]).toEqual([Math.min(limit, all.length), all.length > limit])
            expect(passed.next).toBe(cron.next(upto))
          }
        },
      ),
      { numRuns: 500 },
    )
  })

  it('is asked afresh for another span', () => {
    const cron = new CronTimes('* * * * *', 'UTC')
    const first = utc('2026-05-01T00:00:00')
    expect(cron.passed(first, first, 3).times).toHaveLength(1)
    expect(cron.passed(first, first + MINUTE_MS, 3).times).toHaveLength(2)
    expect(cron.passed(first + MINUTE_MS, first + MINUTE_MS, 3).times).toEqual([first + MINUTE_MS])
    expect(cron.passed(first, first + 9 * MINUTE_MS, 2).times).toHaveLength(2)
  })
})

describe('a fault of a pattern', () => {
  it.each([
    ['', /five fields .* found ''/],
    ['* * * *', /five fields/],
    ['* * * * * * * *', /five fields/],
    ['every day', /five fields/],
    ['2030-01-01T00:00:00', /five fields/],
    [`${'1,'.repeat(200)}1 * * * *`, /five fields/],
    ['61 * * * *', /minute: 61/],
    ['0 25 * * *', /hour: 25/],
    ['*/0 * * * *', /stepping/],
    ['5/5 * * * *', /stepping/],
    ['@reboot', /not supported/],
    ['@noon', /cron pattern/],
    ['0 0 30 2 *', /which no date fits/],
    ['0 0 31 4,6,9,11 *', /which no date fits/],
    ['0 0 0 1 1 * 1999', /which no date fits/],
  ])('%j is told', (pattern, told) => {
    expect(cronFault(pattern, 'UTC')).toMatch(told)
    expect(cronFault(pattern, VIENNA)).toMatch(told)
  })

  it.each(['0 3 * * *', '*/5 * * * * *', '0 0 29 2 *', '0 0 29 2 +MON', '@daily', ' 0 3 * * * ', '0 0 0 1 1 * 2020'])(
    '%j has none',
    (pattern) => {
      expect(cronFault(pattern, 'UTC')).toBeNull()
    },
  )

  it('is told for any text, never thrown', () => {
    const piece = fc.constantFrom(...'0123456789*/,-?LW#+@ \tabcMON'.split(''))
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: piece, maxLength: 20 })), (text) => {
        const fault = cronFault(text, 'UTC')
        if (fault === null) expect(new CronTimes(text, 'UTC').next(utc('2000-01-01T00:00:00'))).not.toBeNull()
        else expect(fault).toMatch(/^expected a cron pattern/)
      }),
      { numRuns: 500 },
    )
  })
})

describe('zones', () => {
  it.each(['UTC', 'utc', VIENNA, NEW_YORK, 'Asia/Kathmandu'])('%s is one', (name) => {
    expect(isTimezone(name)).toBe(true)
  })

  it.each(['', 'Mars/Base', 'Vienna', 'GMT+5'])('%j is none', (name) => {
    expect(isTimezone(name)).toBe(false)
  })
})

describe('an instant as text', () => {
  it.each([
    ['2030-01-31T09:00:00Z', VIENNA, '2030-01-31T09:00:00.000Z'],
    ['2030-01-31T09:00:00+02:00', VIENNA, '2030-01-31T07:00:00.000Z'],
    ['2030-01-31T09:00:00-05:30', 'UTC', '2030-01-31T14:30:00.000Z'],
    ['2030-01-31T09:00:00.25Z', 'UTC', '2030-01-31T09:00:00.250Z'],
    ['2030-01-31T09:00', VIENNA, '2030-01-31T08:00:00.000Z'],
    ['2030-07-31T09:00', VIENNA, '2030-07-31T07:00:00.000Z'],
    ['2028-02-29T00:00', 'UTC', '2028-02-29T00:00:00.000Z'],
    ['2030-01-01T00:00', 'Pacific/Kiritimati', '2029-12-31T10:00:00.000Z'],
    ['2029-12-31T23:59:59', 'America/Los_Angeles', '2030-01-01T07:59:59.000Z'],
    // Skipped: directly after. Repeated: the first.
    ['2026-03-29T02:30', VIENNA, '2026-03-29T01:00:00.000Z'],
    ['2026-10-25T02:30', VIENNA, '2026-10-25T00:30:00.000Z'],
  ])('%s in %s is %s', (text, zone, expected) => {
    expect(new Date(instantOf(text, zone) as number).toISOString()).toBe(expected)
  })

  it.each([
    '2030-02-30T00:00:00Z',
    '2029-02-29T00:00',
    '2030-13-01T00:00',
    '2030-01-01T24:00',
    '2030-01-01',
    'tomorrow',
  ])('%s is none', (text) => {
    expect(instantOf(text, 'UTC')).toBeNull()
  })

  it('is what the platform reads where both read it', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: utc('2099-01-01T00:00:00') }), (ms) => {
        expect(instantOf(new Date(ms).toISOString(), VIENNA)).toBe(ms)
      }),
      { numRuns: 200 },
    )
  })
})
