/** Start, stop and restart of a supervisor: of all it keeps, in order, without touching what is wanted of the agents. */
import { describe, expect, it } from 'vitest'
import type { Host } from '../../src/host/host.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, type FleetText, hostFleet } from '../fleet-on-disk.ts'
import { Gate } from '../gate.ts'
import { HAND } from './hand.ts'

const agent = (id: string): { agent: string } => ({ agent: `agents/${id}` })

const FLEET: FleetText = {
  agents: {
    a: { role: HAND, manifest: AT_ONCE },
    b: { role: HAND, manifest: AT_ONCE },
    c: { role: HAND, manifest: AT_ONCE },
    idle: { role: HAND, manifest: { autostart: false } },
  },
  supervisor: { id: 'root', intensity: 10_000 },
  children: [
    agent('a'),
    { supervisor: { id: 'inner', intensity: 10_000 }, children: [agent('b'), agent('c'), agent('idle')] },
  ],
}

const phases = (host: Host): Record<string, string> =>
  Object.fromEntries(host.agents().map(({ id, phase }) => [id, phase]))

const moves = (host: Host, to: string): string[] => {
  const seen: string[] = []
  host.facts$.subscribe(({ kind, agent: id, data }) => {
    if (kind === 'agent.phase' && (data as { to: string }).to === to) seen.push(id!)
  })
  return seen
}

describe('stop', () => {
  it('ends its children in reverse, and no others; what is wanted of them stays', async () => {
    const host = await hostFleet(FLEET)
    const ended = moves(host, 'STOPPED')
    expect(await host.command('inner', 'stop', { by: 'ops' })).toMatchObject({
      id: 'inner',
      kind: 'supervisor',
      status: 'Stopped',
      children: [
        { id: 'b', phase: 'STOPPED', status: 'Stopped' },
        { id: 'c', status: 'Stopped' },
        { id: 'idle', status: 'Stopped' },
      ],
      killed: [],
      stillRunning: [],
    })
    expect(host.agent('a').phase).toBe('ACTIVE')
    expect(host.agent('b').snapshot()).toMatchObject({ intent: 'running', nextRestartAt: null })
    await eventually(() => ended.length === 3, 'the facts')
    expect(ended).toEqual(['idle', 'c', 'b'])
    expect(host.tree()).toMatchObject({ status: 'Running', children: [{}, { id: 'inner', status: 'Stopped' }] })
  })

  it('of the root ends everything; a crash meanwhile brings nothing back', async () => {
    const host = await hostFleet(FLEET)
    host.agent('b').tell('throw', 'now of all times')
    await host.command('root', 'stop')
    expect(phases(host)).toEqual({ a: 'STOPPED', b: 'STOPPED', c: 'STOPPED', idle: 'STOPPED' })
    expect(host.tree()).toMatchObject({ status: 'Stopped', children: [{}, { status: 'Stopped' }] })
  })

  it('waits for what runs, unless told not to, and names whom it ended', async () => {
    const host = await hostFleet(FLEET)
    const gate = new Gate()
    host.agent('b').tell('hold', gate.cells)
    await eventually(() => gate.reached === 1, 'a handler at the gate')
    const graceful = host.command('inner', 'stop')
    await eventually(() => host.agent('b').phase === 'STOPPING', 'STOPPING')
    gate.open()
    expect(await graceful).toMatchObject({ killed: [] })
    expect(host.deaths('b')).toMatchObject([{ cause: 'shutdown', inFlight: [] }])

    await host.command('inner', 'start')
    const again = new Gate()
    host.agent('b').tell('hold', again.cells)
    await eventually(() => again.reached === 1, 'a handler at the gate')
    expect(await host.command('inner', 'stop', { now: true })).toMatchObject({ killed: expect.arrayContaining(['b']) })
    expect(host.deaths('b').at(-1)).toMatchObject({ inFlight: [{ name: 'hold' }] })
  })

  it('takes over from commands that hold an agent below', async () => {
    const host = await hostFleet(FLEET)
    const gate = new Gate()
    host.agent('b').tell('hold', gate.cells)
    await eventually(() => gate.reached === 1, 'a handler at the gate')
    const restart = host
      .agent('b')
      .restart()
      .catch((error: unknown) => error)
    await eventually(() => host.agent('b').phase === 'STOPPING', 'STOPPING')
    const stopped = host.command('inner', 'stop')
    expect(await restart).toMatchObject({ code: 'Preempted' })
    gate.open()
    await stopped
    expect(phases(host)).toMatchObject({ b: 'STOPPED', c: 'STOPPED' })
  })

  it('is refused where it is stopped already', async () => {
    const host = await hostFleet(FLEET)
    await host.command('inner', 'stop')
    for (const command of ['stop', 'restart'] as const)
      await expect(host.command('inner', command)).rejects.toMatchObject({
        code: 'InvalidCommand',
        message: `Cannot apply '${command}' to supervisor 'inner', which is Stopped. Valid commands: start`,
      })
  })
})

describe('start', () => {
  it('starts its children in order, those that are wanted running', async () => {
    const host = await hostFleet(FLEET)
    await host.agent('c').stop()
    await host.command('root', 'stop')
    const booted = moves(host, 'ACTIVE')
    expect(await host.command('root', 'start')).toMatchObject({ status: 'Running' })
    expect(phases(host)).toEqual({ a: 'ACTIVE', b: 'ACTIVE', c: 'STOPPED', idle: 'STOPPED' })
    await eventually(() => booted.length === 2, 'the facts')
    expect(booted).toEqual(['a', 'b'])
    expect(host.agent('c').snapshot()).toMatchObject({ intent: 'stopped' })
  })

  it('is refused where all that is wanted runs', async () => {
    const host = await hostFleet(FLEET)
    await expect(host.command('root', 'start')).rejects.toMatchObject({
      code: 'InvalidCommand',
      message: "Cannot apply 'start' to supervisor 'root', which is Running. Valid commands: stop, restart",
    })
  })

  it('starts the rest where one was started by itself, and has the ones above supervise again', async () => {
    const host = await hostFleet(FLEET)
    await host.command('root', 'stop')
    await host.agent('b').start()
    expect(host.tree()).toMatchObject({ status: 'Running', children: [{ status: 'Stopped' }, { status: 'Running' }] })
    host.agent('b').tell('throw', 'again')
    await eventually(() => host.deaths('b').length === 2 && host.agent('b').phase === 'ACTIVE', 'it to be brought back')
    await host.command('root', 'start')
    expect(phases(host)).toMatchObject({ a: 'ACTIVE', b: 'ACTIVE', c: 'ACTIVE' })
  })

  it('of one below has the one above supervise again', async () => {
    const host = await hostFleet(FLEET)
    await host.command('root', 'stop')
    await host.command('inner', 'start')
    expect(host.tree()).toMatchObject({ status: 'Running', children: [{ status: 'Stopped' }, { status: 'Running' }] })
  })

  it('brings back one that gave up, with a fresh budget and fresh delays', async () => {
    const host = await hostFleet({ ...FLEET, supervisor: { id: 'root', intensity: 0 } })
    host.agent('a').tell('throw', 'once too often')
    // It waits for what giving up still ends.
    await eventually(() => host.tree().gaveUp !== undefined, 'giving up')
    const answer = await host.command('root', 'start')
    expect(answer).toMatchObject({ status: 'Running' })
    expect(answer).not.toHaveProperty('gaveUp')
    expect(phases(host)).toMatchObject({ a: 'ACTIVE', b: 'ACTIVE', c: 'ACTIVE' })
  })

  it('of an agent waits as well, for a supervisor above that is giving up', async () => {
    const host = await hostFleet({ ...FLEET, supervisor: { id: 'root', intensity: 0 } })
    host.agent('a').tell('throw', 'once too often')
    await eventually(() => host.tree().gaveUp !== undefined, 'giving up')
    await host.agent('a').start()
    expect(phases(host)).toMatchObject({ a: 'ACTIVE', b: 'STOPPED', c: 'STOPPED' })
    expect(host.tree()).toMatchObject({ status: 'Running' })
  })

  it('cuts a back-off short', async () => {
    const host = await hostFleet({
      agents: { hand: { role: HAND, manifest: { restart: { backoff: { minMs: 60_000, maxMs: 60_000 } } } } },
    })
    host.agent('hand').tell('throw', 'one')
    await eventually(() => host.deaths('hand').length === 1 && host.agent('hand').phase === 'ACTIVE', 'a restart')
    host.agent('hand').tell('throw', 'two')
    await eventually(() => host.agent('hand').snapshot().nextRestartAt !== null, 'back-off')
    await host.command('root', 'restart')
    expect(host.agent('hand').snapshot()).toMatchObject({ phase: 'ACTIVE', nextRestartAt: null })
  })
})

describe('restart', () => {
  it('ends and starts all it keeps', async () => {
    const host = await hostFleet(FLEET)
    expect(await host.command('inner', 'restart')).toMatchObject({ status: 'Running', killed: [], stillRunning: [] })
    expect(phases(host)).toEqual({ a: 'ACTIVE', b: 'ACTIVE', c: 'ACTIVE', idle: 'STOPPED' })
    expect(host.agents().map((one) => one.snapshot().restarts)).toEqual([0, 1, 1, 0])
  })

  it('is held until it has ended; a stop takes over', async () => {
    const host = await hostFleet(FLEET)
    const gate = new Gate()
    host.agent('b').tell('hold', gate.cells)
    await eventually(() => gate.reached === 1, 'a handler at the gate')
    const restart = host.command('inner', 'restart', { by: 'ops' }).catch((error: unknown) => error)
    await eventually(() => host.agent('b').phase === 'STOPPING', 'STOPPING')
    await expect(host.command('inner', 'start')).rejects.toMatchObject({
      code: 'AgentBusy',
      message: expect.stringMatching(/^supervisor 'inner' is held by 'restart' of ops since /),
    })
    const stop = host.command('inner', 'stop')
    gate.open()
    expect(await restart).toMatchObject({ code: 'Preempted' })
    expect(await stop).toMatchObject({ status: 'Stopped' })
    expect(phases(host)).toMatchObject({ b: 'STOPPED', c: 'STOPPED' })
  })
})

describe('any', () => {
  it('is told as a fact, and refused once the host shuts down', async () => {
    const host = await hostFleet(FLEET)
    const told: string[] = []
    host.facts$.subscribe(({ kind, message }) => {
      if (kind === 'supervisor.command') told.push(message)
    })
    await host.command('inner', 'stop', { by: 'ops' })
    await eventually(() => told.length === 1, 'the fact')
    expect(told).toEqual(["'stop' of supervisor 'inner' by ops: Stopped"])
    await host.shutdown()
    await expect(host.command('inner', 'start')).rejects.toMatchObject({ code: 'ShuttingDown' })
  })
})
