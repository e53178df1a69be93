import { describe, expect, it } from 'vitest'
import { dayAndTime, duration, fullTime, timeOfDay } from '../../../src/cli/format/time.ts'
import { NOW } from '../agents.ts'

describe('a duration', () => {
  it.each([
    [-5, '0ms'],
    [0, '0ms'],
    [340.4, '340ms'],
    [1000, '1s'],
    [59_999, '59s'],
    [60_000, '1m'],
    [125_000, '2m 5s'],
    [7_380_000, '2h 3m'],
    [356_400_000, '4d 3h'],
  ])('of %d ms is %s', (ms, text) => {
    expect(duration(ms)).toBe(text)
  })
})

describe('a time', () => {
  it('is UTC, like those of the log', () => {
    expect(timeOfDay(NOW)).toBe('12:03:04.567')
    expect(dayAndTime(NOW)).toBe('07-30 12:03:04')
    expect(fullTime(NOW)).toBe('2026-07-30 12:03:04 UTC')
  })

  it('that is none does not end the command', () => {
    expect(timeOfDay(Number.NaN)).toBe('??:??:??.???')
  })
})
