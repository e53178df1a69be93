/** Two commands at once: the stronger pre-empts, the equal and the weaker are refused, and a stop beats what is scheduled. */
import { describe, expect, it } from 'vitest'
import type { AgentRef } from '../../src/actors/ref.ts'
import type { AgentObject } from '../../src/manifest/agent-manifest.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, hostFleet, NO_BUDGET, role } from '../fleet-on-disk.ts'
import { Gate } from '../gate.ts'
import { HAND } from './hand.ts'

async function one(manifest: Partial<AgentObject> = {}): Promise<AgentRef> {
  const host = await hostFleet({ agents: { hand: { role: HAND, manifest } }, supervisor: NO_BUDGET })
  return host.agent('hand')
}

/** An agent whose handler holds its thread until the gate opens. */
async function busy(manifest: Partial<AgentObject> = {}): Promise<{ hand: AgentRef; gate: Gate }> {
  const hand = await one(manifest)
  const gate = new Gate()
  hand.tell('block', gate.cells)
  await eventually(() => gate.reached === 1, 'a handler at the gate')
  return { hand, gate }
}

const outcome = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error)

const VERBS = ['restart', 'suspend', 'stop', 'kill'] as const
const PATIENT = { limits: { abortGraceMs: 60_000, stopTimeoutMs: 60_000, pauseTimeoutMs: 60_000 } }

describe('ranks', () => {
  const weaker = VERBS.slice(0, 3).flatMap((holder, rank) =>
    VERBS.slice(0, rank + 1).map((newcomer): [string, string] => [newcomer, holder]),
  ) as [(typeof VERBS)[number], (typeof VERBS)[number]][]

  it.each(weaker)('%s waits while %s holds the agent', async (newcomer, holder) => {
    const { hand, gate } = await busy(PATIENT)
    const first = hand[holder]({ by: 'first' })
    await eventually(() => hand.phase === 'STOPPING', 'STOPPING')
    await expect(hand[newcomer]()).rejects.toMatchObject({
      code: 'AgentBusy',
      message: expect.stringMatching(new RegExp(`held by '${holder}' of first since .*'${newcomer}' has to wait`)),
      details: { command: holder, by: 'first' },
    })
    expect(hand.snapshot().command).toMatchObject({ name: holder, by: 'first' })
    gate.open()
    await first
    expect(hand.snapshot().command).toBeNull()
  })

  const stronger = VERBS.slice(0, 3).flatMap((holder, rank) =>
    VERBS.slice(rank + 1).map((newcomer) => [newcomer, holder] as const),
  )

  it.each(stronger)('%s pre-empts %s, and the agent is where the stronger one leaves it', async (newcomer, holder) => {
    const { hand, gate } = await busy({ ...PATIENT, ...AT_ONCE })
    const first = outcome(hand[holder]())
    await eventually(() => hand.phase === 'STOPPING', 'STOPPING')
    const second = outcome(hand[newcomer]())
    expect(await first).toMatchObject({ code: 'Preempted', details: { by: newcomer } })
    gate.open()
    expect(await second).not.toBeInstanceOf(Error)
    const intent =
      { restart: 'running', suspend: 'suspended', stop: 'stopped', kill: undefined }[newcomer] ??
      { restart: 'running', suspend: 'suspended', stop: 'stopped', kill: 'running' }[holder]
    const phase = intent === 'running' ? 'ACTIVE' : 'STOPPED'
    await eventually(
      () => hand.phase === phase,
      () => `${phase}, it is ${hand.phase}`,
    )
    expect(hand.snapshot()).toMatchObject({ phase, intent, command: null })
    if (phase === 'ACTIVE') expect(await hand.ask('ping')).toBe('pong')
  })

  it('a pause that waits gives way to a stop', async () => {
    const { hand, gate } = await busy(PATIENT)
    const paused = outcome(hand.pause())
    await eventually(() => hand.phase === 'PAUSING', 'PAUSING')
    await expect(hand.resume()).rejects.toMatchObject({ code: 'AgentBusy' })
    const stopped = hand.stop()
    expect(await paused).toMatchObject({ code: 'Preempted' })
    gate.open()
    expect(await stopped).toMatchObject({ phase: 'STOPPED', intent: 'stopped', admission: 'cordoned' })
  })

  it('a command that does not apply pre-empts nobody', async () => {
    const hand = await one({ autostart: false })
    const started = hand.start()
    // Nothing runs yet that could be killed.
    await expect(hand.kill()).rejects.toMatchObject({ code: 'InvalidCommand' })
    expect(await started).toMatchObject({ phase: 'ACTIVE' })
  })

  it('a stop right after a start wins', async () => {
    const hand = await one({ autostart: false })
    const started = outcome(hand.start())
    const stopped = hand.stop()
    expect(await started).toMatchObject({ code: 'Preempted' })
    expect(await stopped).toMatchObject({ phase: 'STOPPED', intent: 'stopped', instance: null })
    expect(await hand.start()).toMatchObject({ phase: 'ACTIVE' })
  })
})

describe('a stop beats a restart that is scheduled', () => {
  it('C058 in back-off', async () => {
    const hand = await one({ restart: { backoff: { minMs: 60_000, maxMs: 60_000 } } })
    hand.tell('throw', 'one')
    await eventually(() => hand.deaths().length === 1 && hand.phase === 'ACTIVE', 'the first restart')
    hand.tell('throw', 'two')
    await eventually(() => hand.snapshot().nextRestartAt !== null, 'back-off')
    expect(await hand.stop()).toMatchObject({
      phase: 'STOPPED',
      status: 'Stopped',
      nextRestartAt: null,
      intent: 'stopped',
    })
    expect(hand.tell('note', 1)).toBe(false)
  })

  it('in the very turn of the death, thirty times', async () => {
    const hand = await one(AT_ONCE)
    for (let round = 0; round < 30; round++) {
      const before = hand.deaths().at(-1)
      hand.tell('exit', 1)
      await new Promise<void>((resolve) => {
        const seen = hand.phase$.subscribe((phase) => {
          if (phase !== 'STOPPING' && phase !== 'STOPPED') return
          resolve()
          queueMicrotask(() => seen.unsubscribe())
        })
      })
      const answer = await hand.stop()
      expect(answer).toMatchObject({ phase: 'STOPPED', status: 'Stopped', instance: null, nextRestartAt: null })
      expect(hand.deaths().at(-1)).not.toBe(before)
      await hand.start()
    }
  })

  it('C068 an agent that ends by itself as it is told to stop has one record, and is not restarted', async () => {
    const exits = role(`events: { soon(ms) { setTimeout(() => process.exit(5), ms) } }`)
    const host = await hostFleet({ agents: { hand: { role: exits, manifest: AT_ONCE } }, supervisor: NO_BUDGET })
    const hand = host.agent('hand')
    for (let round = 1; round <= 30; round++) {
      await hand.emit('soon', round % 4)
      await hand.stop()
      expect(hand.deaths()).toHaveLength(new Set(hand.deaths().map(({ instance }) => instance)).size)
      expect(['shutdown', 'exit']).toContain(hand.deaths().at(-1)!.cause)
      expect(hand.snapshot()).toMatchObject({ phase: 'STOPPED', axes: { alive: false } })
      await hand.start()
    }
  })
})
