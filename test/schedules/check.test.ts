/** What is refused at the door, in which words, and what is filled in. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ScheduleInput } from '../../src/model/schedule.ts'
import { checkSchedule, completeSchedule } from '../../src/schedules/check.ts'
import { utc } from './played-fleet.ts'

const daily = { id: 'nightly', event: 'compact', cron: '0 3 * * *' } as const

describe('a schedule that is asked for', () => {
  it.each([
    ['no object', null, /expected a schedule, found a value of type object/],
    ['text', '0 3 * * *', /expected a schedule, found '0 3/],
    ['no id', { event: 'e', cron: '* * * * *' }, /^id: expected a lower-case letter.* found nothing/],
    ['a bad id', { ...daily, id: 'Nightly' }, /^id: .* found 'Nightly'/],
    ['no event', { id: 'x', cron: '* * * * *' }, /^schedule 'x': event: .* found nothing/],
    ['an empty event', { ...daily, event: ' ' }, /event: /],
    ['an unknown key', { ...daily, tz: 'UTC' }, /found 'tz'/],
    ['no time', { id: 'x', event: 'e' }, /exactly one of cron, everyMs and at, found none/],
    ['two times', { ...daily, everyMs: 1000 }, /exactly one of cron, everyMs and at, found cron and everyMs/],
    ['an unknown zone', { ...daily, timezone: 'Mars/Base' }, /timezone: .* found 'Mars\/Base'/],
    ['a zone of another type', { ...daily, timezone: 1 }, /timezone: .* found 1/],
    [
      'an unknown overlap',
      { ...daily, overlap: 'never' },
      /overlap: expected one of skip, queue, parallel, found 'never'/,
    ],
    ['an unknown policy', { ...daily, missed: 'twice' }, /missed: expected one of once, skip, all, found 'twice'/],
    ['a pattern of another type', { ...daily, cron: 3 }, /cron: expected a cron pattern, found 3/],
    ['a bad pattern', { ...daily, cron: '0 25 * * *' }, /schedule 'nightly': cron: .*hour: 25/],
    ['C139 30 February', { ...daily, cron: '0 0 30 2 *' }, /which no date fits/],
    [
      'too short a distance',
      { id: 'x', event: 'e', everyMs: 9 },
      /everyMs: expected whole milliseconds from 10 to .* found 9/,
    ],
    ['C145 a distance of 1e15', { id: 'x', event: 'e', everyMs: 1e15 }, /everyMs: /],
    ['C145 a distance without end', { id: 'x', event: 'e', everyMs: Number.POSITIVE_INFINITY }, /found Infinity/],
    ['half a millisecond', { id: 'x', event: 'e', everyMs: 1000.5 }, /everyMs: /],
    [
      'an instant that no calendar has',
      { id: 'x', event: 'e', at: '2030-02-30T00:00:00Z' },
      /at: .* found '2030-02-30/,
    ],
    ['an instant past all dates', { id: 'x', event: 'e', at: 1e16 }, /at: /],
    ['a payload that is no data', { ...daily, payload: () => 1 }, /payload: expected JSON data/],
    ['a payload in a circle', { ...daily, payload: circle() }, /payload: expected JSON data: Converting circular/],
    ['a payload with a BigInt', { ...daily, payload: 1n }, /payload: expected JSON data/],
    ['a large payload', { ...daily, payload: 'x'.repeat(65_536) }, /at most 65536 characters of JSON, found 65538/],
  ])('with %s is refused', (_name, input, told) => {
    expect(checkSchedule(input)).toMatch(told)
  })

  it.each([
    daily,
    { ...daily, timezone: 'Europe/Vienna', overlap: 'queue', missed: 'all', payload: { a: [1] } },
    { id: 'x', event: 'e', everyMs: 10 },
    { id: 'x', event: 'e', everyMs: 30 * 24 * 3_600_000 },
    { id: 'x', event: 'e', at: 0 },
    { id: 'x', event: 'e', at: '2020-01-01T00:00:00Z' },
    { id: 'x', event: 'e', cron: '0 0 29 2 *', timezone: undefined },
  ])('as %j is taken', (input) => {
    expect(checkSchedule(input)).toBeNull()
  })

  it('is never a throw, whatever it is', () => {
    const key = fc.constantFrom('id', 'event', 'payload', 'cron', 'everyMs', 'at', 'timezone', 'overlap', 'missed')
    fc.assert(
      fc.property(fc.oneof(fc.anything(), fc.dictionary(key, fc.anything())), (input) => {
        const fault = checkSchedule(input)
        expect(fault === null || fault.length > 0).toBe(true)
      }),
    )
  })
})

describe('a schedule that was taken', () => {
  it('has every default, and nothing that was not given', () => {
    const spec = completeSchedule({ ...daily, everyMs: undefined } as unknown as ScheduleInput)
    expect(spec).toEqual({ ...daily, timezone: 'UTC', overlap: 'skip', missed: 'once' })
    expect(Object.keys(spec).sort()).toEqual(['cron', 'event', 'id', 'missed', 'overlap', 'timezone'])
  })

  it('has its instant in ms, read in its zone', () => {
    const spec = completeSchedule({ id: 'x', event: 'e', at: '2030-07-01T09:00', timezone: 'Europe/Vienna' })
    expect(spec.at).toBe(utc('2030-07-01T07:00:00'))
    expect(completeSchedule({ id: 'x', event: 'e', at: 5 }).at).toBe(5)
  })

  it('has a copy of its payload', () => {
    const payload = { list: [1] }
    const spec = completeSchedule({ ...daily, payload })
    payload.list.push(2)
    expect(spec.payload).toEqual({ list: [1] })
  })

  it('passes the check itself', () => {
    const spec = completeSchedule({ id: 'x', event: 'e', at: '2030-07-01T09:00', payload: null })
    expect(checkSchedule(spec)).toBeNull()
    expect(completeSchedule(spec)).toEqual(spec)
  })
})

function circle(): unknown {
  const one: Record<string, unknown> = {}
  one['self'] = one
  return one
}
