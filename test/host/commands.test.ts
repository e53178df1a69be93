/** Every command of an operator on a real agent: what it does, what it leaves alone, and how it is refused. */
import { describe, expect, it } from 'vitest'
import type { AgentRef } from '../../src/actors/ref.ts'
import type { Host } from '../../src/host/host.ts'
import type { AgentObject } from '../../src/manifest/agent-manifest.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, hostFleet, NO_BUDGET } from '../fleet-on-disk.ts'
import { Gate } from '../gate.ts'
import { HAND, linesOf, notes } from './hand.ts'

async function one(manifest: Partial<AgentObject> = {}): Promise<{ host: Host; hand: AgentRef; lines: string[] }> {
  const host = await hostFleet({ agents: { hand: { role: HAND, manifest } }, supervisor: NO_BUDGET })
  return { host, hand: host.agent('hand'), lines: linesOf(host, 'hand') }
}

/** Sends a message that waits at a gate, once it does. */
async function holding(hand: AgentRef, how: 'hold' | 'obey' | 'block' = 'hold'): Promise<Gate> {
  const gate = new Gate()
  hand.tell(how, gate.cells)
  await eventually(() => gate.reached === 1, `a handler at the gate (${how})`)
  return gate
}

const tellNotes = (hand: AgentRef, from: number, to: number): number => {
  let accepted = 0
  for (let n = from; n <= to; n++) if (hand.tell('note', n)) accepted++
  return accepted
}

const all = (lines: string[], count: number): Promise<boolean> =>
  eventually(
    () => lines.length === count,
    () => `${count} lines, there are ${lines.length}, the last '${lines.at(-1)}'`,
  )

describe('stop and start', () => {
  it('stop finishes what is in flight, runs the stop hook, and deletes nothing', async () => {
    const { hand, lines } = await one()
    const gate = await holding(hand)
    tellNotes(hand, 1, 20)
    const stopped = hand.stop({ by: 'operator', reason: 'to see' })
    await eventually(() => hand.phase === 'STOPPING', 'STOPPING')
    expect(hand.tell('note', 99)).toBe(false)
    gate.open()
    expect(await stopped).toMatchObject({
      phase: 'STOPPED',
      status: 'Stopped',
      intent: 'stopped',
      reason: 'to see',
      mailbox: { depth: 20, ignored: 1 },
      tasks: { completed: 1 },
    })
    await all(lines, 1)
    expect(lines).toEqual(['stop hook'])
    expect(hand.deaths()).toMatchObject([
      { cause: 'shutdown', class: 'normal', inFlight: [], decision: { action: 'none' } },
    ])
    expect(await hand.start()).toMatchObject({ phase: 'ACTIVE', status: 'Running', intent: 'running' })
    await all(lines, 21)
    expect(lines.slice(1)).toEqual(notes(1, 20))
  })

  it('stop ends what does not end in stopTimeoutMs, and says so', async () => {
    const { hand } = await one({ limits: { stopTimeoutMs: 50 } })
    await holding(hand, 'block')
    await hand.stop()
    expect(hand.deaths()).toMatchObject([{ cause: 'shutdown_timeout', class: 'crash', inFlight: [{ name: 'block' }] }])
    expect(hand.deadLetters()).toMatchObject([{ name: 'block', reason: 'aborted' }])
    expect(hand.snapshot()).toMatchObject({ status: 'Stopped', nextRestartAt: null })
  })

  it('stop --now waits for nobody', async () => {
    const { hand, lines } = await one()
    await holding(hand, 'hold')
    await hand.stop({ now: true })
    expect(hand.deaths()).toMatchObject([{ cause: 'shutdown', inFlight: [{ name: 'hold' }] }])
    expect(lines).toEqual([])
  })

  it('C046 a stop hook that throws ends in STOPPED all the same, with its error', async () => {
    const throws = HAND.replace("console.log('stop hook')", "throw new Error('no goodbye')")
    const host = await hostFleet({ agents: { hand: { role: throws } } })
    await host.agent('hand').stop()
    expect(host.agent('hand').deaths()).toMatchObject([{ cause: 'shutdown', error: { message: 'no goodbye' } }])
    expect(await host.agent('hand').start()).toMatchObject({ phase: 'ACTIVE' })
  })

  it('ctx.stop with a stop hook that never ends is ended after stopTimeoutMs', async () => {
    const hangs = HAND.replace("console.log('stop hook')", 'return new Promise(() => {})')
    const host = await hostFleet({
      agents: { hand: { role: hangs, manifest: { limits: { stopTimeoutMs: 50 }, restart: { type: 'temporary' } } } },
    })
    const hand = host.agent('hand')
    hand.tell('end')
    await eventually(() => hand.phase === 'STOPPED', 'STOPPED')
    expect(hand.deaths()).toMatchObject([{ cause: 'shutdown_timeout', class: 'crash' }])
  })

  it('ctx.stop with a stop hook that throws is a crash', async () => {
    const throws = HAND.replace("console.log('stop hook')", "throw new Error('no goodbye')")
    const host = await hostFleet({ agents: { hand: { role: throws, manifest: { restart: { type: 'temporary' } } } } })
    host.agent('hand').tell('end')
    await eventually(() => host.agent('hand').phase === 'STOPPED', 'STOPPED')
    expect(host.agent('hand').deaths()).toMatchObject([{ cause: 'crash', error: { message: 'no goodbye' } }])
  })

  it('ctx.stop ends with cause normal, after the handler', async () => {
    const { hand, lines } = await one({ restart: { type: 'transient' } })
    expect(await hand.emit('end')).toEqual({ fate: 'handled' })
    await eventually(() => hand.phase === 'STOPPED', 'STOPPED')
    expect(hand.deaths()).toMatchObject([
      { cause: 'normal', class: 'normal', decision: { rule: 'restart_type', action: 'none' } },
    ])
    await eventually(() => lines.length > 0, 'its last line')
    expect(lines).toEqual(['stop hook'])
    expect(hand.snapshot()).toMatchObject({ status: 'Stopped', intent: 'running' })
  })
})

describe('restart', () => {
  it('keeps the mailbox, in order, and what arrives on the way', async () => {
    const { hand, lines } = await one()
    const before = (await hand.ask('who')) as { instance: string; epoch: number }
    const gate = await holding(hand)
    tellNotes(hand, 1, 400)
    const restarted = hand.restart()
    await eventually(() => hand.phase === 'STOPPING', 'STOPPING')
    expect(tellNotes(hand, 401, 800)).toBe(400)
    gate.open()
    expect(await restarted).toMatchObject({ phase: 'ACTIVE', intent: 'running', restarts: 1, mailbox: { dropped: 0 } })
    await all(lines, 801)
    expect(lines.slice(1)).toEqual(notes(1, 800))
    const after = (await hand.ask('who')) as { instance: string; epoch: number }
    expect(after.instance).not.toBe(before.instance)
    expect(after.epoch).toBeGreaterThan(before.epoch)
    expect(hand.deaths()).toMatchObject([{ cause: 'shutdown', decision: { rule: 'command', action: 'none' } }])
  })

  it('keeps asks that wait, and answers them', async () => {
    const { hand } = await one()
    const gate = await holding(hand)
    const asked = [hand.ask('ping'), hand.ask('ping')]
    const restarted = hand.restart()
    gate.open()
    await restarted
    expect(await Promise.all(asked)).toEqual(['pong', 'pong'])
  })

  it('is refused while suspended or stopped', async () => {
    const { hand } = await one()
    await hand.suspend()
    await expect(hand.restart()).rejects.toMatchObject({
      code: 'InvalidCommand',
      message: expect.stringContaining('STOPPED (suspended)'),
    })
    await hand.stop()
    await expect(hand.restart()).rejects.toThrow(
      "Cannot apply 'restart' to agent 'hand' in STOPPED (stopped). Valid commands: start, activate",
    )
  })
})

describe('suspend and activate', () => {
  it('aborts what is in flight, frees the thread, queues events, and drains them in order', async () => {
    const { hand, lines } = await one()
    await holding(hand, 'obey')
    tellNotes(hand, 1, 10)
    expect(await hand.suspend({ by: 'operator' })).toMatchObject({
      phase: 'STOPPED',
      status: 'Stopped',
      intent: 'suspended',
      instance: null,
      axes: { alive: false },
      mailbox: { depth: 10 },
    })
    await all(lines, 2)
    expect(lines).toEqual([expect.stringMatching(/^aborted: .*suspended/), 'stop hook'])
    expect(hand.deadLetters()).toMatchObject([{ name: 'obey', reason: 'aborted' }])
    expect(hand.deaths()).toMatchObject([{ cause: 'suspended', class: 'normal', inFlight: [] }])
    expect(await hand.emit('note', 11)).toMatchObject({ fate: 'queued' })
    tellNotes(hand, 12, 20)
    expect(await hand.activate()).toMatchObject({ phase: 'ACTIVE', intent: 'running' })
    await all(lines, 22)
    expect(lines.slice(2)).toEqual(notes(1, 20))
  })

  it('ends a handler that ignores the signal after abortGraceMs', async () => {
    const { hand } = await one({ limits: { abortGraceMs: 50 } })
    for (const [how, deaths] of [
      ['hold', 1],
      ['block', 2],
    ] as const) {
      await holding(hand, how)
      await hand.suspend()
      expect(hand.deaths()).toHaveLength(deaths)
      expect(hand.deaths().at(-1)).toMatchObject({ cause: 'suspended', inFlight: [{ name: how }] })
      expect(hand.deadLetters().at(-1)).toMatchObject({ name: how, reason: 'aborted' })
      await hand.activate()
    }
  })

  it('rejects asks that wait, and refuses later ones', async () => {
    const { hand } = await one()
    await holding(hand, 'obey')
    const waiting = hand.ask('ping').catch((error: unknown) => error)
    await hand.suspend()
    expect(await waiting).toMatchObject({ code: 'NotAccepting' })
  })

  it('is possible in back-off, and cancels the start', async () => {
    const { hand } = await one({ restart: { backoff: { minMs: 60_000, maxMs: 60_000 } } })
    hand.tell('throw', 'one')
    await eventually(() => hand.deaths().length === 1 && hand.phase === 'ACTIVE', 'the first restart')
    hand.tell('throw', 'two')
    await eventually(() => hand.snapshot().nextRestartAt !== null, 'back-off')
    expect(hand.snapshot()).toMatchObject({ phase: 'STOPPED', status: 'Unhealthy' })
    expect(await hand.suspend()).toMatchObject({
      phase: 'STOPPED',
      status: 'Stopped',
      intent: 'suspended',
      nextRestartAt: null,
    })
    expect(await hand.activate()).toMatchObject({ phase: 'ACTIVE' })
  })
})

describe('kill', () => {
  it('ends the thread now, and the supervisor restarts', async () => {
    const { hand } = await one(AT_ONCE)
    await holding(hand, 'block')
    const asked = hand.ask('ping')
    await hand.kill()
    expect(hand.deaths()).toMatchObject([
      { cause: 'killed', class: 'crash', inFlight: [{ name: 'block' }], decision: { action: 'restart' } },
    ])
    expect(await asked).toBe('pong')
    expect(hand.snapshot()).toMatchObject({ intent: 'running', restarts: 1 })
    expect(hand.deadLetters()).toMatchObject([{ name: 'block', reason: 'crashed' }])
  })

  it('is refused where no thread is', async () => {
    const { hand } = await one()
    await hand.stop()
    await expect(hand.kill()).rejects.toThrow("Cannot apply 'kill' to agent 'hand' in STOPPED (stopped)")
  })
})

describe('start', () => {
  it('is refused while it is live, and while a start is scheduled', async () => {
    const { hand } = await one({ restart: { backoff: { minMs: 60_000, maxMs: 60_000 } } })
    await expect(hand.start()).rejects.toThrow(
      "Cannot apply 'start' to agent 'hand' in ACTIVE. Valid commands: pause, suspend, stop, restart, kill",
    )
    hand.tell('throw', 'one')
    await eventually(() => hand.deaths().length === 1 && hand.phase === 'ACTIVE', 'the first restart')
    hand.tell('throw', 'two')
    await eventually(() => hand.snapshot().nextRestartAt !== null, 'back-off')
    await expect(hand.start()).rejects.toThrow(
      "Cannot apply 'start' to agent 'hand' in STOPPED with a start scheduled. Valid commands: pause, suspend, stop, restart",
    )
    expect(await hand.restart()).toMatchObject({ phase: 'ACTIVE' })
  })

  it('autostart: false is IDLE until it is started', async () => {
    const { hand } = await one({ autostart: false })
    expect(hand.snapshot()).toMatchObject({ phase: 'IDLE', status: 'Stopped', instance: null, lastDeath: null })
    expect(hand.tell('note', 1)).toBe(false)
    await expect(hand.ask('ping')).rejects.toMatchObject({ code: 'NotAccepting' })
    expect(await hand.start()).toMatchObject({ phase: 'ACTIVE', mailbox: { ignored: 1, depth: 0 } })
    expect(await hand.ask('ping')).toBe('pong')
  })
})
