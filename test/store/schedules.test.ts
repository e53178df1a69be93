/** Schedules and their runs, by the contract of the scheduler. */
import { describe, expect, it } from 'vitest'
import type { RunOutcome, ScheduleRun } from '../../src/model/schedule.ts'
import type { ScheduleRow, ScheduleStore } from '../../src/schedules/store-contract.ts'
import { tempState, tempStore } from './temp-store.ts'

const row = (id: string, over: Partial<ScheduleRow> = {}): ScheduleRow => ({
  agent: 'a',
  id,
  origin: 'manifest',
  spec: { id, event: 'tick', cron: '0 3 * * *', timezone: 'UTC', overlap: 'skip', missed: 'once', payload: { n: [1] } },
  lastDueAt: null,
  nextDueAt: 100,
  lastFiredAt: null,
  lastOutcome: null,
  lastDetail: null,
  missedCount: 0,
  ...over,
})
const run = (dueAt: number, outcome: RunOutcome = 'handled', schedule = 's'): ScheduleRun => ({
  agent: 'a',
  schedule,
  dueAt,
  firedAt: outcome === 'missed' ? null : dueAt + 1,
  outcome,
  detail: outcome === 'failed' ? 'bang' : null,
})

describe('schedules', () => {
  it('keep the contract of the scheduler: rows and pending runs come back, a row takes the place of the one before', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    const schedules: ScheduleStore = store.schedules
    await schedules.save(row('s'), [run(1, 'pending'), run(2)])
    const later = row('s', {
      origin: 'runtime',
      lastDueAt: 2,
      nextDueAt: null,
      lastFiredAt: 3,
      lastOutcome: 'failed',
      lastDetail: 'bang',
      missedCount: 4,
    })
    await Promise.all([
      schedules.save(later, []),
      schedules.save(row('r'), []),
      schedules.save(null, [run(3, 'pending')]),
    ])
    await store.close()
    const again: ScheduleStore = (await tempStore({ dir })).schedules
    expect(await again.load()).toEqual({ rows: [row('r'), later], pending: [run(1, 'pending'), run(3, 'pending')] })
  })

  it('have one run for each due time, the newest first; a later one takes its place', async () => {
    const { schedules } = await tempStore()
    await schedules.save(null, [run(5, 'pending'), run(9), run(7, 'missed')])
    await schedules.save(null, [run(5, 'failed')])
    expect(await schedules.history('a', 's', 10)).toEqual([run(9), run(7, 'missed'), run(5, 'failed')])
    expect(await schedules.history('a', 's', 1)).toEqual([run(9)])
    expect((await schedules.load()).pending).toEqual([])
  })

  it('leave their history when they go; their agent takes it along', async () => {
    const { schedules } = await tempStore()
    await schedules.save(row('s'), [run(1)])
    await schedules.remove('a', 's')
    expect([(await schedules.load()).rows, await schedules.history('a', 's', 9)]).toEqual([[], [run(1)]])
    await schedules.save(row('s'), [])
    await schedules.removeAgent('a')
    expect([(await schedules.load()).rows, await schedules.history('a', 's', 9)]).toEqual([[], []])
  })

  it('keep the newest runs of each, and every pending one', async () => {
    const { schedules } = await tempStore({ limits: { runsPerSchedule: 10 } })
    await schedules.save(null, [run(1, 'pending'), run(1, 'handled', 'quiet')])
    for (let dueAt = 2; dueAt <= 40; dueAt++) await schedules.save(null, [run(dueAt)])
    const kept = (await schedules.history('a', 's', 100)).map(({ dueAt }) => dueAt)
    expect(kept).toEqual([40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 1])
    expect(await schedules.history('a', 'quiet', 100)).toHaveLength(1)
  })

  it('keep no more than so many runs in all, also of schedules that were made for once', async () => {
    const { schedules } = await tempStore({ limits: { runs: 20 } })
    for (let n = 1; n <= 100; n++) await schedules.save(null, [run(n, n === 1 ? 'pending' : 'handled', `once-${n}`)])
    const counts = await Promise.all(
      Array.from({ length: 100 }, async (_, n) => (await schedules.history('a', `once-${n + 1}`, 9)).length),
    )
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(23)
    expect([counts[0], counts[99]]).toEqual([1, 1])
  })
})
