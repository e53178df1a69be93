/** The scheduler at its daily work: what is sent when, overlap, missed times by where the agent is, and changes. */
import { describe, expect, it } from 'vitest'
import type { AgentMode } from '../../src/schedules/ports.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, PlayedFleet, SECOND_MS, START_MS, short } from './played-fleet.ts'

const minute = (n: number): string => short(START_MS + n * MINUTE_MS)

describe('a schedule', () => {
  it('sends its event at each due time, neither early nor twice', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '*/15 * * * *', payload: { n: 1 } })
    await fleet.advance(HOUR_MS, 7 * SECOND_MS)
    expect(fleet.due()).toEqual([minute(15), minute(30), minute(45), minute(60)])
    for (const { firedAt, dueAt } of await fleet.scheduler.history('a', 's', 9)) expect(firedAt).toBe(dueAt)
    expect(await fleet.history()).toEqual([15, 30, 45, 60].map((n) => `${minute(n)} handled`))
  })

  it('by distance is first due after one distance, and does not drift', async () => {
    const fleet = new PlayedFleet({ wallMs: START_MS + 123 })
    await fleet.add({ everyMs: 10 * SECOND_MS })
    await fleet.advance(40 * SECOND_MS, 3 * SECOND_MS)
    expect(fleet.sent.map(({ dueAt }) => dueAt - START_MS)).toEqual([10_123, 20_123, 30_123, 40_123])
  })

  it('of one instant sends once, and is forgotten with its run where it was made at run time', async () => {
    const fleet = new PlayedFleet({ outcome: null })
    await fleet.add({ at: START_MS + HOUR_MS })
    await fleet.scheduler.replaceManifest('b', [{ id: 'm', event: 'e', at: START_MS + HOUR_MS }])
    await fleet.advance(HOUR_MS)
    expect(fleet.scheduler.list('a')).toMatchObject([{ id: 's', nextAt: null, running: true }])
    fleet.settleAll()
    await fleet.advance(3 * DAY_MS, DAY_MS)
    expect([fleet.due(), fleet.due('m')]).toEqual([[minute(60)], [minute(60)]])
    expect(fleet.scheduler.list('a')).toEqual([])
    expect([...fleet.store.rows.keys()]).toEqual(['b/m'])
    expect(await fleet.history()).toEqual([`${minute(60)} handled`])
    expect(fleet.scheduler.list('b')).toMatchObject([
      { nextAt: null, lastOutcome: 'handled', lastFiredAt: START_MS + HOUR_MS },
    ])
  })

  it('of an instant that has passed when it is made never runs, and says so', async () => {
    const fleet = new PlayedFleet()
    const view = await fleet.scheduler.add('a', { id: 's', event: 'e', at: START_MS - 1 }, 'runtime')
    expect(view).toMatchObject({
      nextAt: null,
      lastOutcome: 'missed',
      lastDetail: 'its time had passed when it was made',
    })
    await fleet.scheduler.replaceManifest('b', [{ id: 'm', event: 'e', at: START_MS }])
    await fleet.advance(DAY_MS)
    expect(fleet.sent).toEqual([])
    expect([fleet.scheduler.list('a').length, fleet.store.rows.size]).toEqual([0, 1])
    expect(fleet.scheduler.list('b')).toMatchObject([{ id: 'm', lastOutcome: 'missed' }])
  })

  it('is shown as it is', async () => {
    const fleet = new PlayedFleet({ outcome: null })
    await fleet.scheduler.replaceManifest('a', [
      { id: 'm', event: 'compact', cron: '0 3 * * *', timezone: 'Europe/Vienna', overlap: 'queue', missed: 'all' },
    ])
    const shown = {
      ...{ id: 'm', event: 'compact', cron: '0 3 * * *', everyMs: null, at: null, timezone: 'Europe/Vienna' },
      ...{ overlap: 'queue', missed: 'all', origin: 'manifest', nextAt: START_MS + 2 * HOUR_MS, lastFiredAt: null },
      ...{ lastOutcome: null, lastDetail: null, running: false, waiting: 0, missedCount: 0 },
    }
    expect(fleet.scheduler.list('a')).toEqual([shown])
    await fleet.advance(2 * HOUR_MS)
    const running = { ...shown, nextAt: START_MS + 26 * HOUR_MS, running: true }
    expect(fleet.scheduler.list('a')).toEqual([running])
    fleet.sent[0]?.settle({ outcome: 'failed', detail: 'no disk' })
    await fleet.rest()
    expect(fleet.scheduler.list('a')).toEqual([
      { ...running, running: false, lastFiredAt: START_MS + 2 * HOUR_MS, lastOutcome: 'failed', lastDetail: 'no disk' },
    ])
  })

  it('whose delivery is refused has failed, and goes on', async () => {
    const fleet = new PlayedFleet({ outcome: null })
    await fleet.add({ cron: '* * * * *' })
    await fleet.advance(MINUTE_MS)
    fleet.sent[0]?.settle(Promise.reject(new Error('no such agent')) as never)
    await fleet.rest()
    await fleet.advance(MINUTE_MS)
    expect(fleet.due()).toEqual([minute(1), minute(2)])
    expect((await fleet.scheduler.history('a', 's', 9))[1]).toMatchObject({
      outcome: 'failed',
      detail: 'no such agent',
    })
  })
})

describe('C143 overlap while a run is not settled', () => {
  it.each([
    ['skip', [1], ['1 pending', '2 skipped', '3 skipped'], 0],
    ['queue', [1], ['1 pending', '2 pending', '3 pending'], 2],
    ['parallel', [1, 2, 3], ['1 pending', '2 pending', '3 pending'], 0],
  ] as const)('%s', async (overlap, sent, history, waiting) => {
    const fleet = new PlayedFleet({ outcome: null })
    await fleet.add({ cron: '* * * * *', overlap })
    await fleet.advance(3 * MINUTE_MS, MINUTE_MS)
    expect(fleet.due()).toEqual(sent.map(minute))
    expect(await fleet.history()).toEqual(history.map((line) => line.replace(/^\d/, (n) => minute(Number(n)))))
    expect(fleet.scheduler.list('a')).toMatchObject([{ running: true, waiting }])
  })

  it.each(['skip', 'queue', 'parallel'] as const)('%s sends at each due time where none is open', async (overlap) => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '* * * * *', overlap })
    await fleet.advance(3 * MINUTE_MS, MINUTE_MS)
    expect(fleet.due()).toEqual([1, 2, 3].map(minute))
  })

  it('a job of 15 minutes on a pattern of 5 still runs again, and says what was skipped and why', async () => {
    const fleet = new PlayedFleet({ outcome: null })
    await fleet.add({ cron: '*/5 * * * *' })
    for (let quarter = 0; quarter < 4; quarter++) {
      await fleet.advance(16 * MINUTE_MS, MINUTE_MS)
      fleet.settleAll()
      await fleet.rest()
    }
    expect(fleet.due()).toEqual([5, 20, 35, 50].map(minute))
    expect(fleet.reports.filter(({ kind }) => kind === 'skipped')[0]).toEqual({
      ...{ kind: 'skipped', agent: 'a', schedule: 's', dueAt: START_MS + 10 * MINUTE_MS },
      detail: 'a run has not ended since 2026-01-01T00:05:00.000Z',
    })
  })

  it('queue runs what waits one after the other, in order', async () => {
    const fleet = new PlayedFleet({ outcome: null })
    await fleet.add({ cron: '* * * * *', overlap: 'queue' })
    await fleet.advance(3 * MINUTE_MS, MINUTE_MS)
    for (const n of [1, 2, 3]) {
      expect(fleet.due()).toHaveLength(n)
      fleet.sent[n - 1]?.settle({ outcome: 'handled' })
      await fleet.rest()
    }
    expect(fleet.due()).toEqual([1, 2, 3].map(minute))
    expect(await fleet.history()).toEqual([1, 2, 3].map((n) => `${minute(n)} handled`))
  })

  it('queue holds 16, and skips what comes on top', async () => {
    const fleet = new PlayedFleet({ outcome: null })
    await fleet.add({ cron: '* * * * *', overlap: 'queue' })
    await fleet.advance(19 * MINUTE_MS, MINUTE_MS)
    expect(fleet.scheduler.list('a')).toMatchObject([{ waiting: 16, lastOutcome: 'skipped' }])
    const skipped = (await fleet.scheduler.history('a', 's', 99)).filter(({ outcome }) => outcome === 'skipped')
    expect(skipped.map(({ dueAt }) => short(dueAt))).toEqual([minute(19), minute(18)])
    expect(skipped[0]?.detail).toBe('a run has not ended since 2026-01-01T00:01:00.000Z, and 16 wait')
  })
})

describe('missed by where the agent is', () => {
  const policies = ['once', 'skip', 'all'] as const
  /** Three minutes pass while the agent is there; then it is ACTIVE, and one more passes. */
  const expected: Record<AgentMode, Record<(typeof policies)[number], number[]>> = {
    deliver: { once: [1, 2, 3, 4], skip: [1, 2, 3, 4], all: [1, 2, 3, 4] },
    queue: { once: [1, 2, 3, 4], skip: [1, 2, 3, 4], all: [1, 2, 3, 4] },
    hold: { once: [3, 4], skip: [4], all: [1, 2, 3, 4] },
    gone: { once: [3, 4], skip: [4], all: [1, 2, 3, 4] },
  }
  const cells = (Object.keys(expected) as AgentMode[]).flatMap((mode) =>
    policies.map((missed) => [mode, missed] as const),
  )

  it.each(cells)('%s, missed: %s', async (mode, missed) => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '* * * * *', missed })
    await fleet.move('a', mode)
    await fleet.advance(3 * MINUTE_MS, MINUTE_MS)
    if (mode === 'hold' || mode === 'gone') expect(fleet.sent).toEqual([])
    await fleet.advance(30 * SECOND_MS)
    await fleet.move('a', 'deliver')
    expect(fleet.due()).toEqual(expected[mode][missed].filter((n) => n < 4).map(minute))
    await fleet.advance(30 * SECOND_MS)
    expect(fleet.due()).toEqual(expected[mode][missed].map(minute))
    const count = 4 - expected[mode][missed].length
    expect(fleet.scheduler.list('a')).toMatchObject([{ missedCount: count }])
    const reports = fleet.reports.filter(({ kind }) => kind === 'missed')
    expect(reports).toMatchObject(count === 0 ? [] : [{ count, more: false }])
  })

  it('what passed while the agent was suspended is missed however short that was, and says so', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '* * * * *', missed: 'skip' })
    await fleet.advance(59 * SECOND_MS)
    await fleet.move('a', 'hold')
    await fleet.advance(2 * SECOND_MS)
    await fleet.move('a', 'deliver')
    expect(fleet.sent).toEqual([])
    expect(await fleet.scheduler.history('a', 's', 1)).toMatchObject([
      { outcome: 'missed', firedAt: null, detail: 'the agent was suspended, stopped or not started' },
    ])
  })

  it('an agent that was suspended and back before anything was due missed nothing', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '* * * * *', missed: 'skip' })
    await fleet.move('a', 'hold')
    await fleet.advance(30 * SECOND_MS)
    await fleet.move('a', 'deliver')
    await fleet.advance(30 * SECOND_MS)
    expect(fleet.due()).toEqual([minute(1)])
  })

  it('a suspended agent shows when its schedule would be due', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '* * * * *' })
    await fleet.move('a', 'hold')
    await fleet.advance(90 * SECOND_MS)
    expect(fleet.scheduler.list('a')).toMatchObject([{ nextAt: START_MS + 2 * MINUTE_MS }])
  })

  it('`all` runs what was missed one after the other, also where overlap would skip', async () => {
    const fleet = new PlayedFleet({ outcome: null })
    await fleet.add({ cron: '* * * * *', missed: 'all' })
    await fleet.move('a', 'hold')
    await fleet.advance(3 * MINUTE_MS + 1)
    await fleet.move('a', 'deliver')
    for (const n of [1, 2, 3]) {
      expect(fleet.due()).toEqual([1, 2, 3].slice(0, n).map(minute))
      fleet.settleAll()
      await fleet.rest()
    }
    expect(fleet.scheduler.list('a')).toMatchObject([{ running: false, waiting: 0, missedCount: 0 }])
  })

  it('`all` runs 100 and records the rest as missed', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '* * * * *', missed: 'all' })
    await fleet.move('a', 'hold')
    await fleet.advance(150 * MINUTE_MS)
    await fleet.move('a', 'deliver')
    for (let i = 0; i < 100; i++) await fleet.rest()
    expect(fleet.due()).toEqual(Array.from({ length: 100 }, (_, i) => minute(51 + i)))
    const [oldest] = (await fleet.scheduler.history('a', 's', 999)).toReversed()
    expect(oldest).toMatchObject({ outcome: 'missed', dueAt: START_MS + MINUTE_MS })
    expect(oldest?.detail).toMatch(/^more than 1 due times from 2026-01-01T00:01:00.000Z to 2026-01-01T00:50:00.000Z: /)
  })
})

describe('a paused agent', () => {
  it('has at most one run in its mailbox with `skip`, and the next once it is ACTIVE', async () => {
    const fleet = new PlayedFleet({ outcome: { outcome: 'queued' } })
    await fleet.add({ cron: '* * * * *' })
    await fleet.move('a', 'queue')
    await fleet.advance(3 * MINUTE_MS, MINUTE_MS)
    expect(fleet.due()).toEqual([minute(1)])
    expect(await fleet.history()).toEqual([`${minute(1)} queued`, `${minute(2)} skipped`, `${minute(3)} skipped`])
    // Restarting, and not there yet.
    await fleet.move('a', 'queue')
    await fleet.advance(MINUTE_MS)
    expect(fleet.due()).toEqual([minute(1)])
    await fleet.move('a', 'deliver')
    await fleet.advance(2 * MINUTE_MS, MINUTE_MS)
    // While ACTIVE `queued` is an end like any other.
    expect(fleet.due()).toEqual([1, 5, 6].map(minute))
  })

  it('has one in its mailbox with `queue`, and what waits follows', async () => {
    const fleet = new PlayedFleet({ outcome: { outcome: 'queued' } })
    await fleet.add({ cron: '* * * * *', overlap: 'queue' })
    await fleet.move('a', 'queue')
    await fleet.advance(3 * MINUTE_MS, MINUTE_MS)
    expect(fleet.due()).toEqual([minute(1)])
    await fleet.move('a', 'deliver')
    expect(fleet.due()).toEqual([1, 2, 3].map(minute))
  })

  it('that ran its one instant while paused forgets it when it is ACTIVE', async () => {
    const fleet = new PlayedFleet({ outcome: { outcome: 'queued' } })
    await fleet.add({ at: START_MS + MINUTE_MS })
    await fleet.move('a', 'queue')
    await fleet.advance(MINUTE_MS)
    expect(fleet.scheduler.list('a')).toHaveLength(1)
    await fleet.move('a', 'deliver')
    expect([fleet.scheduler.list('a').length, fleet.store.rows.size]).toEqual([0, 0])
  })

  it('that is suspended for a moment: what waits is put off at once, before anything more is written', async () => {
    const fleet = new PlayedFleet({ outcome: null })
    await fleet.add({ cron: '* * * * *', overlap: 'queue' })
    await fleet.advance(3 * MINUTE_MS, MINUTE_MS)
    await fleet.move('a', 'hold')
    fleet.store.held = true
    fleet.sent[0]?.settle({ outcome: 'aborted' })
    await fleet.rest()
    await fleet.move('a', 'deliver')
    fleet.store.goOn()
    await fleet.rest()
    expect(fleet.due()).toEqual([1, 3].map(minute))
  })

  it('that is suspended then: what waits is missed when it is back', async () => {
    const fleet = new PlayedFleet({ outcome: null })
    await fleet.add({ cron: '* * * * *', overlap: 'queue' })
    await fleet.advance(3 * MINUTE_MS, MINUTE_MS)
    await fleet.move('a', 'hold')
    fleet.sent[0]?.settle({ outcome: 'aborted' })
    await fleet.advance(90 * SECOND_MS)
    expect(fleet.due()).toEqual([minute(1)])
    await fleet.move('a', 'deliver')
    expect(fleet.due()).toEqual([1, 4].map(minute))
    expect(await fleet.history()).toEqual([
      ...[`${minute(1)} aborted`, `${minute(2)} missed`, `${minute(3)} missed`, `${minute(4)} pending`],
    ])
    expect(fleet.scheduler.list('a')).toMatchObject([{ missedCount: 2, waiting: 0 }])
  })
})
