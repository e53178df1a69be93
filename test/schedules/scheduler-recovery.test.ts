/** What a host finds when it starts: times that passed while it was down, and runs that one which died left open. */
import { describe, expect, it } from 'vitest'
import { MISSED_POLICIES } from '../../src/model/schedule.ts'
import { messageIdOf } from '../../src/schedules/ports.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, PlayedFleet, START_MS, short, utc } from './played-fleet.ts'

const at = (ms: number): string => short(START_MS + ms)
const three = (day: number): string => at(day * DAY_MS + 3 * HOUR_MS)

/** A host with one daily schedule, which ran at three, and its successor after so long. */
async function downFor(ms: number, missed: (typeof MISSED_POLICIES)[number]): Promise<PlayedFleet> {
  const first = new PlayedFleet()
  await first.add({ cron: '0 3 * * *', missed })
  await first.advance(3 * HOUR_MS)
  expect(first.due()).toEqual([three(0)])
  const next = first.afterCrash(ms)
  await next.scheduler.load()
  return next
}

describe('C143 a host that was down', () => {
  it.each([
    ['once', [three(3)], 2],
    ['skip', [], 3],
    ['all', [three(1), three(2), three(3)], 0],
  ] as const)('for three days, missed: %s', async (missed, due, count) => {
    const fleet = await downFor(3 * DAY_MS + HOUR_MS, missed)
    await fleet.advance(MINUTE_MS)
    expect(fleet.sent).toEqual([])
    await fleet.move('a', 'deliver')
    expect(fleet.due()).toEqual(due)
    expect(fleet.scheduler.list('a')).toMatchObject([
      { missedCount: count, nextAt: START_MS + 4 * DAY_MS + 3 * HOUR_MS },
    ])
    const reasons = (await fleet.scheduler.history('a', 's', 9)).filter(({ outcome }) => outcome === 'missed')
    expect(reasons.map(({ detail }) => detail?.replace(/^.*: /, ''))).toEqual(count === 0 ? [] : ['the host was down'])
    await fleet.advance(DAY_MS, HOUR_MS)
    expect(fleet.due()).toEqual([...due, three(4)])
  })

  it.each(['once', 'skip'] as const)('at the scheduled minute, missed: %s', async (missed) => {
    const fleet = await downFor(DAY_MS + 1000, missed)
    await fleet.move('a', 'deliver')
    expect(fleet.due()).toEqual(missed === 'once' ? [three(1)] : [])
  })

  it('between two due times has missed nothing, also where its agents are there at once', async () => {
    const first = new PlayedFleet()
    await first.add({ cron: '0 3 * * *', missed: 'skip' })
    const fleet = first.afterCrash(2 * HOUR_MS)
    fleet.modes.clear()
    await fleet.scheduler.load()
    await fleet.advance(HOUR_MS)
    expect(fleet.due()).toEqual([three(0)])
  })

  it('knows what ran last', async () => {
    const fleet = await downFor(HOUR_MS, 'once')
    expect(fleet.scheduler.list('a')).toMatchObject([
      {
        lastOutcome: 'handled',
        lastFiredAt: START_MS + 3 * HOUR_MS,
        origin: 'runtime',
        running: false,
        missedCount: 0,
      },
    ])
  })

  it('and whose clock had been wrong by years goes on from the right time', async () => {
    const first = new PlayedFleet({ wallMs: utc('2099-01-01T00:00:00') })
    await first.add({ cron: '0 3 * * *' })
    await first.advance(3 * HOUR_MS)
    const fleet = first.afterCrash(START_MS - first.clock.wall())
    await fleet.scheduler.load()
    await fleet.move('a', 'deliver')
    await fleet.advance(3 * HOUR_MS)
    expect(fleet.due()).toEqual([three(0)])
  })

  it('and whose agents stay away decides nothing', async () => {
    const fleet = await downFor(3 * DAY_MS, 'once')
    await fleet.advance(2 * DAY_MS, DAY_MS)
    expect([fleet.sent, await fleet.history()]).toEqual([[], [`${three(0)} handled`]])
    await fleet.move('a', 'deliver')
    expect(fleet.due()).toEqual([three(5)])
  })

  it('keeps what the manifest says again, drops what it no longer has', async () => {
    const daily = { id: 'm', event: 'e', cron: '0 3 * * *' } as const
    const first = new PlayedFleet()
    await first.scheduler.replaceManifest('a', [daily, { ...daily, id: 'n' }])
    const fleet = first.afterCrash(DAY_MS)
    await fleet.scheduler.load()
    await fleet.scheduler.replaceManifest('a', [{ ...daily, event: 'other' }])
    await fleet.move('a', 'deliver')
    expect(fleet.due('m')).toEqual([three(0)])
    expect([...fleet.store.rows.keys()]).toEqual(['a/m'])
  })

  it('does not run what a manifest with other times would have had', async () => {
    const first = new PlayedFleet()
    await first.scheduler.replaceManifest('a', [{ id: 'm', event: 'e', cron: '0 3 * * *' }])
    const fleet = first.afterCrash(3 * DAY_MS)
    await fleet.scheduler.load()
    await fleet.scheduler.replaceManifest('a', [{ id: 'm', event: 'e', cron: '0 4 * * *', missed: 'skip' }])
    await fleet.move('a', 'deliver')
    expect(fleet.sent).toEqual([])
    await fleet.advance(4 * HOUR_MS)
    expect(fleet.due('m')).toEqual([at(3 * DAY_MS + 4 * HOUR_MS)])
  })

  it('a row that does not pass the check is told and harms no other', async () => {
    const first = new PlayedFleet()
    await first.add({ cron: '0 3 * * *' })
    await first.add({ id: 't', cron: '0 3 * * *' })
    const row = first.store.rows.get('a/t')
    if (row !== undefined) first.store.rows.set('a/t', { ...row, spec: { ...row.spec, cron: 'never' } })
    const fleet = first.afterCrash(DAY_MS)
    await fleet.scheduler.load()
    await fleet.move('a', 'deliver')
    expect(fleet.reports.filter(({ kind }) => kind === 'unreadable')).toMatchObject([{ schedule: 't' }])
    expect(fleet.sent.map(({ schedule }) => schedule)).toEqual(['s'])
    expect(fleet.store.rows.has('a/t')).toBe(true)
  })
})

describe('a run that a dead host left open', () => {
  const dueAt = START_MS + HOUR_MS

  /** Dies with the run of one o'clock committed; sent or not. */
  async function died(missed: (typeof MISSED_POLICIES)[number], sent: boolean): Promise<PlayedFleet> {
    const fleet = new PlayedFleet({ outcome: null })
    await fleet.add({ cron: '0 * * * *', missed })
    if (sent) await fleet.advance(HOUR_MS)
    // The commit has happened, its answer has not been heard.
    else fleet.clock.advance(HOUR_MS)
    expect([fleet.sent.length, await fleet.history()]).toEqual([sent ? 1 : 0, [`${at(HOUR_MS)} pending`]])
    return fleet
  }

  const cells = MISSED_POLICIES.flatMap((missed) => [true, false].map((sent) => [missed, sent] as const))

  it.each(cells)('and was not accepted, missed: %s, sent: %s', async (missed, sent) => {
    const fleet = (await died(missed, sent)).afterCrash(MINUTE_MS)
    fleet.outcome = { outcome: 'handled' }
    await fleet.scheduler.load()
    await fleet.move('a', 'deliver')
    expect(fleet.due()).toEqual(missed === 'skip' ? [] : [at(HOUR_MS)])
    expect(await fleet.history()).toEqual([`${at(HOUR_MS)} ${missed === 'skip' ? 'missed' : 'handled'}`])
    await fleet.advance(HOUR_MS)
    expect(fleet.due().at(-1)).toBe(at(2 * HOUR_MS))
  })

  it.each(MISSED_POLICIES)('and was accepted is never sent again, missed: %s', async (missed) => {
    const fleet = (await died(missed, true)).afterCrash(MINUTE_MS, (id) => id === messageIdOf('a', 's', dueAt))
    await fleet.scheduler.load()
    await fleet.move('a', 'deliver')
    expect([fleet.sent, await fleet.history()]).toEqual([[], [`${at(HOUR_MS)} queued`]])
  })

  it('gives way to the newest that was missed, with `once`', async () => {
    const fleet = (await died('once', true)).afterCrash(3 * HOUR_MS)
    await fleet.scheduler.load()
    await fleet.move('a', 'deliver')
    expect(fleet.due()).toEqual([at(4 * HOUR_MS)])
    expect(await fleet.history()).toEqual([
      ...[`${at(HOUR_MS)} missed`, `${at(2 * HOUR_MS)} missed`, `${at(4 * HOUR_MS)} pending`],
    ])
    expect(fleet.scheduler.list('a')).toMatchObject([{ missedCount: 3 }])
  })

  it('is the first of all, with `all`', async () => {
    const fleet = (await died('all', true)).afterCrash(2 * HOUR_MS)
    fleet.outcome = { outcome: 'handled' }
    await fleet.scheduler.load()
    await fleet.move('a', 'deliver')
    expect(fleet.due()).toEqual([1, 2, 3].map((n) => at(n * HOUR_MS)))
  })

  it('also where it waited for another', async () => {
    const first = new PlayedFleet({ outcome: null })
    await first.add({ cron: '0 * * * *', overlap: 'queue', missed: 'all' })
    await first.advance(3 * HOUR_MS, HOUR_MS)
    const fleet = first.afterCrash(MINUTE_MS, (id) => id === messageIdOf('a', 's', dueAt))
    fleet.outcome = { outcome: 'handled' }
    await fleet.scheduler.load()
    await fleet.move('a', 'deliver')
    expect(fleet.due()).toEqual([2, 3].map((n) => at(n * HOUR_MS)))
  })

  it('of a schedule that is gone is missed', async () => {
    const first = await died('once', true)
    first.store.rows.clear()
    const fleet = first.afterCrash(MINUTE_MS)
    await fleet.scheduler.load()
    expect(await fleet.history()).toEqual([`${at(HOUR_MS)} missed`])
  })

  it('whose commit had not happened is a due time that passed', async () => {
    const first = new PlayedFleet()
    await first.add({ cron: '0 * * * *' })
    first.store.held = true
    await first.advance(HOUR_MS)
    const fleet = first.afterCrash(MINUTE_MS)
    await fleet.scheduler.load()
    await fleet.move('a', 'deliver')
    expect([first.sent.length, fleet.due()]).toEqual([0, [at(HOUR_MS)]])
  })

  it('of a single instant that had ended is forgotten', async () => {
    const first = new PlayedFleet()
    await first.add({ at: dueAt })
    await first.advance(HOUR_MS - 1)
    const row = first.store.rows.get('a/s')
    await first.advance(1)
    if (row !== undefined) first.store.rows.set('a/s', { ...row, lastDueAt: dueAt, nextDueAt: null })
    const fleet = first.afterCrash(MINUTE_MS)
    await fleet.scheduler.load()
    await fleet.rest()
    expect([fleet.scheduler.list('a'), fleet.store.rows.size]).toEqual([[], 0])
  })
})

describe('the end of a host', () => {
  it('sends nothing more, and still writes what became of what was sent', async () => {
    const fleet = new PlayedFleet({ outcome: null })
    await fleet.add({ cron: '* * * * *', overlap: 'queue' })
    await fleet.advance(2 * MINUTE_MS, MINUTE_MS)
    await fleet.scheduler.close()
    fleet.settleAll('aborted')
    await fleet.scheduler.close()
    await fleet.advance(HOUR_MS, MINUTE_MS)
    fleet.scheduler.wake('a')
    await fleet.rest()
    expect([fleet.due(), fleet.clock.timers]).toEqual([[at(MINUTE_MS)], 0])
    expect(await fleet.history()).toEqual([`${at(MINUTE_MS)} aborted`, `${at(2 * MINUTE_MS)} pending`])
    expect(await fleet.scheduler.history('a', 's', 1)).toMatchObject([{ firedAt: null }])
  })

  it('waits for the writes under way', async () => {
    const fleet = new PlayedFleet()
    await fleet.add({ cron: '* * * * *' })
    fleet.store.held = true
    await fleet.advance(MINUTE_MS)
    let closed = false
    const closing = fleet.scheduler.close().then(() => {
      closed = true
    })
    await fleet.rest()
    expect(closed).toBe(false)
    fleet.store.goOn()
    await closing
    await fleet.rest()
    expect([fleet.sent, await fleet.history()]).toEqual([[], [`${at(MINUTE_MS)} pending`]])
  })
})
