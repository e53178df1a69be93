/** A drain: what was accepted is worked off, nothing more comes from outside, and what is not done in time is named. */
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../src/testkit/eventually.ts'
import { createTestHost } from '../../src/testkit/test-host.ts'
import { at, hostFleet, role } from '../fleet-on-disk.ts'
import { Gate } from '../gate.ts'
import { HAND, linesOf, notes } from './hand.ts'

const FORWARD = role(`events: { async pass(n, ctx) {
  await new Promise((resolve) => setTimeout(resolve, 5))
  ctx.tell('hand', 'note', n)
} }`)

it.each([
  ['the sender starts first', ['forward', 'hand']],
  ['the sender starts last', ['hand', 'forward']],
])('works off what waits, also what agents send to one another: %s', async (_, order) => {
  const host = await hostFleet({
    agents: { forward: { role: FORWARD }, hand: { role: HAND } },
    children: order.map((id) => ({ agent: at(id) })),
  })
  const lines = linesOf(host, 'hand')
  for (let n = 1; n <= 20; n++) expect(host.agent('forward').tell('pass', n)).toBe(true)
  const report = await host.drain({ by: 'test' })
  expect(report).toMatchObject({ killed: [], stuck: [], left: [] })
  const handled = Object.fromEntries(report.drained.map((one) => [one.agent, one.handled]))
  expect(handled).toEqual({ forward: 20, hand: 20 })
  expect(lines).toEqual([...notes(1, 20), 'stop hook'])
  expect(host.agents().map((ref) => ref.deaths()[0])).toMatchObject([
    { cause: 'shutdown', class: 'normal', decision: { rule: 'host_shutdown' } },
    { cause: 'shutdown', class: 'normal' },
  ])
})

it('refuses what comes from outside and says why, shows agents as Paused, and keeps intents', async () => {
  const host = await hostFleet({ agents: { hand: { role: HAND } } })
  const hand = host.agent('hand')
  const gate = new Gate()
  const running = hand.ask('hold', gate.cells)
  await eventually(() => gate.reached === 1, 'the ask at the gate')
  const waiting = hand.emit('note', 1)
  const drained = host.drain()
  await eventually(() => hand.snapshot().status === 'Paused', 'the drain')
  expect(hand.tell('note', 2)).toBe(false)
  expect(await hand.emit('note', 3)).toEqual({ fate: 'ignored', reason: 'draining' })
  await expect(hand.ask('ping')).rejects.toMatchObject({
    code: 'NotAccepting',
    message: expect.stringContaining('the host is draining'),
  })
  gate.open()
  expect(await running).toBe('held')
  expect(await waiting).toEqual({ fate: 'handled' })
  expect(await drained).toMatchObject({ drained: [{ agent: 'hand', handled: 2 }], left: [], killed: [] })
  expect(await host.drain()).toBe(await drained)
  expect(hand.snapshot().intent).toBe('running')
})

it('past the deadline what is left is aborted and named, with a class of its own', async () => {
  const host = await hostFleet({
    agents: { idle: { role: HAND }, stuck: { role: HAND, manifest: { limits: { abortGraceMs: 50 } } } },
  })
  const gate = new Gate()
  const held = host.agent('stuck').emit('hold', gate.cells)
  await eventually(() => gate.reached === 1, 'the handler at the gate')
  host.agent('stuck').tell('note', 1)
  const report = await host.drain({ deadlineMs: 100 })
  expect(report).toMatchObject({ killed: ['stuck'], stuck: [], left: [{ agent: 'stuck', waiting: 2 }] })
  expect(await held).toMatchObject({ fate: 'aborted' })
  expect(host.agent('stuck').deaths()).toMatchObject([
    { cause: 'reclaimed', class: 'reclaimed', decision: { rule: 'host_shutdown', action: 'none' } },
  ])
  expect(host.agent('idle').deaths()).toMatchObject([{ cause: 'shutdown' }])
})

it('does not wait for what begins nothing: paused, suspended, never started', async () => {
  const fleet = {
    agents: [
      { id: 'paused', name: 'Paused' },
      { id: 'suspended', name: 'Suspended' },
      { id: 'never', name: 'Never', autostart: false },
    ],
  }
  const kit = await createTestHost({
    fleet: {
      supervisor: { id: 'root', strategy: 'one_for_one' },
      children: fleet.agents.map((agent) => ({ agent })),
    } as never,
  })
  onTestFinished(() => kit.close())
  await kit.finish(kit.host.agent('paused').pause())
  await kit.finish(kit.host.agent('suspended').suspend())
  for (const id of ['paused', 'suspended']) kit.host.agent(id).tell('note', 1)
  const report = await kit.finish(kit.host.drain({ deadlineMs: 60_000 }))
  expect(report).toMatchObject({
    killed: [],
    left: [
      { agent: 'paused', waiting: 1 },
      { agent: 'suspended', waiting: 1 },
    ],
  })
  expect(report.tookMs).toBeLessThan(60_000)
})

it.each([-1, Number.NaN, 1e12])('refuses a deadline of %s', async (deadlineMs) => {
  const host = await hostFleet({ agents: { hand: { role: HAND } } })
  await expect(host.drain({ deadlineMs })).rejects.toMatchObject({ code: 'InvalidOption' })
  expect(host.stage).toBe('running')
})
