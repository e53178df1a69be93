/** Schedules joined to a host: the clock of a test moves them, and they outlive suspend and the host. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createTestHost } from '../../src/testkit/test-host.ts'
import { hostFleet, role } from '../fleet-on-disk.ts'

async function ticking(schedule: object = {}, stateDir = ':memory:') {
  const agent = { id: 'a', name: 'A', schedules: [{ id: 'tick', event: 'tick', everyMs: 60_000, ...schedule }] }
  const fleet = { supervisor: { id: 'root', strategy: 'one_for_one' }, children: [{ agent }] } as never
  const kit = await createTestHost({ fleet, stateDir })
  onTestFinished(() => kit.close())
  return kit
}

it('the clock of a test moves them, and their history is kept', async () => {
  const kit = await ticking()
  await kit.advance(180_500)
  const runs = await kit.host.scheduleRuns('a', 'tick')
  expect(runs.map(({ outcome }) => outcome)).toEqual(['handled', 'handled', 'handled'])
  expect(new Set(runs.map(({ dueAt }) => dueAt)).size).toBe(3)
})

it.each([
  ['once', 1],
  ['skip', 0],
  ['all', 3],
] as const)('C143 a suspended agent is not sent to; when it is activated, missed: %s', async (missed, sent) => {
  const kit = await ticking({ missed })
  await kit.finish(kit.host.agent('a').suspend())
  await kit.advance(200_000)
  expect(kit.host.agent('a').snapshot().mailbox.depth).toBe(0)
  await kit.finish(kit.host.agent('a').activate())
  await kit.advance(1000)
  const runs = await kit.host.scheduleRuns('a', 'tick')
  expect(runs.filter(({ outcome }) => outcome === 'handled')).toHaveLength(sent)
})

it('a paused agent is sent to as ever, and its mailbox holds the event', async () => {
  const kit = await ticking({ overlap: 'parallel' })
  await kit.finish(kit.host.agent('a').pause())
  await kit.advance(120_500)
  expect(kit.host.agent('a').snapshot().mailbox.depth).toBe(2)
})

it('ctx.schedule and ctx.unschedule make and take back one of its own, and a restart of the host keeps it', async () => {
  const stateDir = await mkdtemp(join(tmpdir(), 'holt-state-'))
  onTestFinished(() => rm(stateDir, { recursive: true, force: true, maxRetries: 5 }))
  const own = role(`events: { x() {} }, commands: {
    add: { async handle(_, ctx) { await ctx.schedule({ id: 'own', event: 'x', everyMs: 3600000 }) } },
    drop: { async handle(_, ctx) { return ctx.unschedule('own') } } }`)
  const agents = { a: { role: own } }
  const first = await hostFleet({ agents }, { stateDir })
  await first.agent('a').ask('add')
  await first.agent('a').ask('add')
  expect(first.schedules('a')).toMatchObject([{ id: 'own', origin: 'runtime' }])
  await first.shutdown()
  const second = await hostFleet({ agents }, { stateDir })
  expect(second.schedules('a')).toMatchObject([{ id: 'own', origin: 'runtime' }])
  await second.agent('a').ask('drop')
  expect(second.schedules('a')).toEqual([])
})
