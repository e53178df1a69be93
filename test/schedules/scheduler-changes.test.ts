/** The scheduler where things change under it: between commit and sending, by a call, by a new manifest, by a failing store. */
import { describe, expect, it, vi } from 'vitest'
import type { ScheduleInput } from '../../src/model/schedule.ts'
import { CronTimes } from '../../src/schedules/cron.ts'
import { HOUR_MS, MINUTE_MS, PlayedFleet, SECOND_MS, START_MS, short } from './played-fleet.ts'

const at = (ms: number): string => short(START_MS + ms)
const minute = (n: number): string => at(n * MINUTE_MS)

describe('between the commit and the sending', () => {
  it('nothing is sent before it is committed', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '* * * * *' })
    fleet.store.held = true
    await fleet.advance(MINUTE_MS)
    expect(fleet.sent).toEqual([])
    fleet.store.goOn()
    await fleet.rest()
    expect(fleet.due()).toEqual([minute(1)])
  })

  it.each(['hold', 'gone'] as const)(
    'an agent that is %s by then is sent nothing; the run is caught up with',
    async (mode) => {
      const fleet = new PlayedFleet()
      await fleet.add({ cron: '0 * * * *' })
      // Others that are due sooner than its next time do not stand before what it owes.
      for (const id of ['t', 'u', 'v']) await fleet.add({ id, cron: '30 * * * *' }, 'b')
      await fleet.advance(31 * MINUTE_MS)
      fleet.store.held = true
      await fleet.advance(29 * MINUTE_MS)
      await fleet.move('a', mode)
      fleet.store.goOn()
      await fleet.rest()
      expect(fleet.due()).toEqual([])
      await fleet.move('a', 'deliver')
      expect(fleet.due()).toEqual([minute(60)])
      expect(await fleet.history()).toEqual([`${minute(60)} handled`])
      await fleet.advance(HOUR_MS)
      expect(fleet.due()).toEqual([minute(60), minute(120)])
    },
  )

  it('with `queue` what waited behind it is not left behind', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '* * * * *', overlap: 'queue', missed: 'all' })
    fleet.store.held = true
    await fleet.advance(2 * MINUTE_MS, MINUTE_MS)
    await fleet.move('a', 'hold')
    fleet.store.goOn()
    await fleet.rest()
    await fleet.move('a', 'deliver')
    await fleet.advance(MINUTE_MS)
    expect(fleet.due()).toEqual([1, 2, 3].map(minute))
  })

  it('what cannot be committed is not sent, has failed and is reported; the schedule goes on', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '* * * * *', overlap: 'queue' })
    fleet.store.broken = new Error('disk full')
    await fleet.advance(2 * MINUTE_MS, MINUTE_MS)
    expect(fleet.sent).toEqual([])
    expect(fleet.scheduler.list('a')).toMatchObject([{ running: false, lastOutcome: 'failed', lastFiredAt: null }])
    expect(fleet.reports.find(({ kind }) => kind === 'not_recorded')).toMatchObject({
      schedule: 's',
      error: fleet.store.broken,
    })
    fleet.store.broken = null
    await fleet.advance(MINUTE_MS)
    expect(fleet.due()).toEqual([minute(3)])
  })

  it('a decision that throws ends that schedule alone, and is told', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '* * * * *' })
    await fleet.add({ id: 't', everyMs: MINUTE_MS })
    const passed = vi.spyOn(CronTimes.prototype, 'passed').mockImplementation(() => {
      throw new Error('no such zone any more')
    })
    await fleet.advance(MINUTE_MS)
    passed.mockRestore()
    await fleet.advance(MINUTE_MS)
    expect([fleet.due(), fleet.due('t')]).toEqual([[], [1, 2].map(minute)])
    expect(fleet.reports.filter(({ kind }) => kind === 'unreadable')).toEqual([
      { kind: 'unreadable', agent: 'a', schedule: 's', detail: 'no such zone any more' },
    ])
  })

  it('a schedule that is removed by then sends nothing', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '* * * * *' })
    fleet.store.held = true
    await fleet.advance(MINUTE_MS)
    const removed = fleet.scheduler.remove('a', 's')
    fleet.store.goOn()
    expect(await removed).toBe(true)
    await fleet.rest()
    expect(fleet.sent).toEqual([])
    expect(await fleet.history()).toEqual([`${minute(1)} missed`])
    expect(fleet.store.rows.size).toBe(0)
  })
})

describe('changes', () => {
  const m = (rest: Partial<ScheduleInput>): ScheduleInput => ({ id: 'm', event: 'e', ...rest })

  it('adding one again changes nothing, in the same turn too', async () => {
    const fleet = new PlayedFleet()
    await Promise.all([fleet.add({ everyMs: MINUTE_MS }), fleet.add({ everyMs: MINUTE_MS })])
    await fleet.advance(30 * SECOND_MS)
    await fleet.add({ everyMs: MINUTE_MS })
    await fleet.advance(MINUTE_MS)
    expect(fleet.due()).toEqual([minute(1)])
    expect(fleet.scheduler.list('a')).toHaveLength(1)
  })

  it('with other times it begins anew from now; with another event it keeps its place', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ everyMs: MINUTE_MS })
    await fleet.advance(30 * SECOND_MS)
    await fleet.add({ everyMs: MINUTE_MS, event: 'other' })
    expect(fleet.scheduler.list('a')).toMatchObject([{ event: 'other', nextAt: START_MS + MINUTE_MS }])
    await fleet.add({ everyMs: 2 * MINUTE_MS })
    expect(fleet.scheduler.list('a')).toMatchObject([{ nextAt: START_MS + 150 * SECOND_MS }])
    await fleet.advance(2 * MINUTE_MS)
    expect(fleet.due()).toEqual([at(150 * SECOND_MS)])
  })

  it('a manifest adds, changes and drops its own, and leaves those made at run time', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '* * * * *' })
    await fleet.scheduler.replaceManifest('a', [m({ cron: '* * * * *' }), m({ id: 'n', cron: '* * * * *' })])
    await fleet.advance(MINUTE_MS)
    await fleet.scheduler.replaceManifest('a', [m({ cron: '*/2 * * * *' }), m({ id: 'o', cron: '* * * * *' })])
    expect(fleet.scheduler.list('a').map(({ id }) => id)).toEqual(['s', 'm', 'o'])
    expect(fleet.store.rows.get('a/m')?.lastDueAt).toBe(START_MS + MINUTE_MS)
    await fleet.advance(2 * MINUTE_MS, MINUTE_MS)
    expect([fleet.due('s'), fleet.due('m'), fleet.due('n'), fleet.due('o')]).toEqual([
      ...[[1, 2, 3].map(minute), [1, 2].map(minute), [minute(1)], [2, 3].map(minute)],
    ])
    expect([...fleet.store.rows.keys()].sort()).toEqual(['a/m', 'a/o', 'a/s'])
  })

  it('other times do not run at once what they would have had before', async () => {
    const fleet = new PlayedFleet()
    await fleet.scheduler.replaceManifest('a', [m({ cron: '0 3 * * *' })])
    await fleet.advance(2 * HOUR_MS + 30 * MINUTE_MS)
    await fleet.scheduler.replaceManifest('a', [m({ cron: '0 * * * *' })])
    await fleet.rest()
    expect(fleet.sent).toEqual([])
    expect(fleet.scheduler.list('a')).toMatchObject([{ nextAt: START_MS + 3 * HOUR_MS }])
  })

  it('a manifest with a fault is refused as a whole', async () => {
    const fleet = new PlayedFleet()
    await fleet.scheduler.replaceManifest('a', [m({ cron: '* * * * *' })])
    const bad = [m({ id: 'n', cron: '* * * * *' }), m({ id: 'o', cron: '0 0 30 2 *' })]
    await expect(fleet.scheduler.replaceManifest('a', bad)).rejects.toMatchObject({
      code: 'InvalidManifest',
      message: expect.stringMatching(/^agent 'a': schedule 'o': cron: .* which no date fits$/),
    })
    const twice = [m({ cron: '* * * * *' }), m({ cron: '* * * * *' })]
    await expect(fleet.scheduler.replaceManifest('a', twice)).rejects.toThrow(/'m': expected each id once/)
    expect(fleet.scheduler.list('a').map(({ id }) => id)).toEqual(['m'])
  })

  it('an id belongs to the manifest or to run time, and the manifest comes first', async () => {
    const fleet = new PlayedFleet()
    await fleet.scheduler.add('a', m({ cron: '* * * * *' }), 'runtime')
    await fleet.scheduler.replaceManifest('a', [m({ cron: '* * * * *' })])
    expect(fleet.scheduler.list('a')).toMatchObject([{ origin: 'manifest' }])
    await expect(fleet.scheduler.add('a', m({ cron: '* * * * *' }), 'runtime')).rejects.toThrow(
      /this id is the manifest's/,
    )
    await expect(fleet.scheduler.remove('a', 'm')).rejects.toMatchObject({ code: 'InvalidOption' })
  })

  it('a schedule with a fault is refused', async () => {
    const fleet = new PlayedFleet()
    await expect(fleet.add({ cron: 'never' })).rejects.toMatchObject({ code: 'InvalidOption' })
    expect(fleet.scheduler.list('a')).toEqual([])
  })

  it('an agent may make 1000 while it runs', async () => {
    const fleet = new PlayedFleet()
    for (let i = 0; i < 1000; i++)
      await fleet.scheduler.add('a', { id: `s${i}`, event: 'e', everyMs: HOUR_MS }, 'runtime')
    await expect(fleet.add({ everyMs: HOUR_MS })).rejects.toThrow(/has 1000 made at run time, as many as it may/)
    await fleet.scheduler.add('a', { id: 's7', event: 'other', everyMs: HOUR_MS }, 'runtime')
    await fleet.scheduler.add('b', { id: 's', event: 'e', everyMs: HOUR_MS }, 'runtime')
    await fleet.scheduler.remove('a', 's0')
    await fleet.add({ everyMs: HOUR_MS })
  })

  it('what the store refuses is not in force', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ everyMs: HOUR_MS })
    fleet.store.broken = new Error('disk full')
    await expect(fleet.add({ everyMs: MINUTE_MS, event: 'other' })).rejects.toThrow('disk full')
    await expect(fleet.add({ id: 't', everyMs: MINUTE_MS })).rejects.toThrow('disk full')
    fleet.store.broken = null
    expect(fleet.scheduler.list('a')).toMatchObject([{ id: 's', everyMs: HOUR_MS, nextAt: START_MS + HOUR_MS }])
    await fleet.advance(HOUR_MS)
    expect(fleet.sent.map(({ schedule }) => schedule)).toEqual(['s'])
  })

  it('one that is removed is not sent any more; what of it runs ends, and its history stays', async () => {
    const fleet = new PlayedFleet({ outcome: null })
    await fleet.add({ cron: '* * * * *', overlap: 'queue' })
    await fleet.advance(2 * MINUTE_MS, MINUTE_MS)
    expect(await fleet.scheduler.remove('a', 's')).toBe(true)
    expect(await fleet.scheduler.remove('a', 's')).toBe(false)
    fleet.settleAll()
    await fleet.advance(5 * MINUTE_MS, MINUTE_MS)
    expect(fleet.due()).toEqual([minute(1)])
    expect(await fleet.history()).toEqual([`${minute(1)} handled`, `${minute(2)} missed`])
    expect(fleet.store.rows.size).toBe(0)
    expect(fleet.clock.timers).toBe(0)
  })

  it('an agent that is removed leaves nothing, also when its run ends later', async () => {
    const fleet = new PlayedFleet({ outcome: null })
    await fleet.add({ cron: '* * * * *' })
    await fleet.add({ cron: '* * * * *' }, 'b')
    await fleet.advance(MINUTE_MS)
    await fleet.scheduler.removeAgent('a')
    fleet.settleAll()
    await fleet.advance(MINUTE_MS)
    expect([...fleet.store.rows.keys()]).toEqual(['b/s'])
    expect([...fleet.store.runs.values()].every(({ agent }) => agent === 'b')).toBe(true)
    expect([fleet.scheduler.list('a'), fleet.scheduler.list('b').length]).toEqual([[], 1])
  })
})
