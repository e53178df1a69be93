/** The end of a host: in reverse, within one deadline, with what did not end named; and nothing comes to life after it. */
import { describe, expect, it } from 'vitest'
import type { AgentRef } from '../../src/actors/ref.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, at, hostFleet, NO_BUDGET, role, writeFleet } from '../fleet-on-disk.ts'
import { Gate } from '../gate.ts'
import { runProgram } from '../program.ts'
import { HAND, linesOf } from './hand.ts'

async function reached(hand: AgentRef, how: 'hold' | 'block'): Promise<Gate> {
  const gate = new Gate()
  hand.tell(how, gate.cells)
  await eventually(() => gate.reached === 1, `a handler at the gate (${how})`)
  return gate
}

describe('a graceful end', () => {
  it('goes in reverse start order, children of a supervisor before the ones above it, and keeps intents', async () => {
    const ids = ['a', 'b', 'c', 'd']
    const host = await hostFleet({
      agents: Object.fromEntries(ids.map((id) => [id, { role: HAND }])),
      children: [
        { agent: at('a') },
        { supervisor: { id: 'inner' }, children: [{ agent: at('b') }, { agent: at('c') }] },
        { agent: at('d') },
      ],
    })
    const ended: string[] = []
    host.deaths$.subscribe(({ agent, cause }) => ended.push(`${agent} ${cause}`))
    const report = await host.shutdown()
    expect(report).toMatchObject({ killed: [], stuck: [] })
    await eventually(() => ended.length === 4, 'four deaths')
    expect(ended).toEqual(['d shutdown', 'c shutdown', 'b shutdown', 'a shutdown'])
    expect(host.agents().map((ref) => ref.snapshot().intent)).toEqual(ids.map(() => 'running'))
    expect(host.agent('a').deaths()[0]!.decision).toMatchObject({ rule: 'host_shutdown', action: 'none' })
    expect(await host.shutdown()).toBe(report)
  })

  it('lets what is in flight finish, and tells who waits for what has not begun', async () => {
    const host = await hostFleet({ agents: { hand: { role: HAND } } })
    const hand = host.agent('hand')
    const gate = new Gate()
    const running = hand.ask('hold', gate.cells)
    await eventually(() => gate.reached === 1, 'the ask at the gate')
    const waiting = hand.ask('ping').catch((error: unknown) => error)
    const event = hand.emit('note', 1)
    const ended = host.shutdown()
    gate.open()
    expect(await running).toBe('held')
    expect(await waiting).toMatchObject({ code: 'NotAccepting', message: expect.stringContaining('shutting down') })
    expect(await event).toMatchObject({ fate: 'aborted' })
    expect(await ended).toMatchObject({ killed: [], stuck: [] })
  })

  it('ends a fleet of which one is paused, one suspended, one in back-off and one failed', async () => {
    const slow = { restart: { backoff: { minMs: 60_000, maxMs: 60_000 } } }
    const host = await hostFleet({
      agents: {
        paused: { role: HAND },
        suspended: { role: HAND },
        backoff: { role: HAND, manifest: slow },
        failed: { role: HAND, manifest: 'id: failed\n' },
      },
    })
    await host.agent('paused').pause()
    await host.agent('suspended').suspend()
    const backoff = host.agent('backoff')
    backoff.tell('exit', 1)
    await eventually(() => backoff.deaths().length === 1 && backoff.phase === 'ACTIVE', 'the first restart')
    backoff.tell('exit', 1)
    await eventually(() => backoff.snapshot().nextRestartAt !== null, 'back-off')
    const asked = backoff.ask('ping').catch((error: unknown) => error)
    expect(await host.shutdown()).toMatchObject({ killed: [], stuck: [] })
    expect(await asked).toMatchObject({ code: 'NotAccepting' })
    expect(host.agents().map((ref) => ref.phase)).toEqual(['STOPPED', 'STOPPED', 'STOPPED', 'FAILED'])
  })
})

describe('what does not end is ended, and named', () => {
  it.each([
    ['a loop', 'for (;;) {}'],
    ['Atomics.wait', 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)'],
    ['a promise that never settles', 'return new Promise(() => {})'],
    ['microtasks without end', 'const again = (): Promise<void> => Promise.resolve().then(again); return again()'],
  ])('C025 %s in a handler', async (_, code) => {
    const host = await hostFleet({
      agents: { stuck: { role: role(`events: { go() { console.log('going'); ${code} } }`) }, good: { role: HAND } },
    })
    const lines = linesOf(host, 'stuck')
    host.agent('stuck').tell('go')
    await eventually(() => lines.length === 1 || host.agent('stuck').snapshot().mailbox.inFlight === 1, 'the handler')
    expect(await host.shutdown({ timeoutMs: 200 })).toMatchObject({ killed: ['stuck'], stuck: [] })
    expect(host.agent('stuck').deaths()).toMatchObject([{ cause: 'shutdown_timeout', inFlight: [{ name: 'go' }] }])
  })

  it('a stop hook that never ends', async () => {
    const host = await hostFleet({ agents: { stuck: { role: role('stop() { return new Promise(() => {}) }') } } })
    expect(await host.shutdown({ timeoutMs: 100 })).toMatchObject({ killed: ['stuck'], stuck: [] })
  })

  it('those whose turn came when the time was up are named too', async () => {
    const host = await hostFleet({ agents: { first: { role: HAND }, second: { role: HAND } } })
    await reached(host.agent('first'), 'block')
    await reached(host.agent('second'), 'block')
    const report = await host.shutdown({ timeoutMs: 100 })
    expect(report).toMatchObject({ killed: ['second', 'first'], stuck: [] })
  })

  it('a thread inside a child process is stuck, and the host does not wait for it', async () => {
    const sleeps = role(
      `events: { go() { console.log('going'); execSync('sleep 3') } }`,
      `import { execSync } from 'node:child_process'`,
    )
    const host = await hostFleet({ agents: { stuck: { role: sleeps } } })
    const { stuck, killed } = await (async () => {
      const ref = host.agent('stuck')
      ref.tell('go')
      await eventually(() => ref.snapshot().mailbox.inFlight === 1, 'the handler')
      return host.shutdown({ timeoutMs: 100 })
    })()
    expect([...stuck, ...killed]).toEqual(['stuck'])
    // Ended before the folder goes.
    await eventually(() => host.agent('stuck').phase === 'STOPPED', 'the end of the child process')
  })
})

describe('C038 after a shutdown has begun', () => {
  it('messages, commands and restarts are refused, and nothing is started', async () => {
    const host = await hostFleet({
      agents: { hand: { role: HAND, manifest: AT_ONCE }, other: { role: HAND } },
      supervisor: NO_BUDGET,
    })
    const hand = host.agent('hand')
    const gate = await reached(host.agent('other'), 'hold')
    const ended = host.shutdown()
    for (const command of ['start', 'restart', 'pause', 'stop', 'kill'] as const)
      await expect(hand[command]()).rejects.toMatchObject({ code: 'ShuttingDown' })
    gate.open()
    await ended
    const incarnations = hand.deaths().length
    for (let n = 0; n < 20; n++) expect(hand.tell('note', n)).toBe(false)
    expect(await hand.emit('note', 0)).toMatchObject({ fate: 'ignored' })
    await expect(hand.ask('ping')).rejects.toMatchObject({
      code: 'NotAccepting',
      message: expect.stringContaining('shutting down'),
    })
    await expect(hand.start()).rejects.toMatchObject({ code: 'ShuttingDown' })
    expect(hand.deaths()).toHaveLength(incarnations)
    expect(hand.phase).toBe('STOPPED')
  })

  it('a crash on the way is not restarted', async () => {
    const dies = role(`stop() { throw new Error('on the way') }`)
    const host = await hostFleet({ agents: { hand: { role: dies, manifest: AT_ONCE } } })
    await host.shutdown()
    expect(host.agent('hand').deaths()).toMatchObject([{ cause: 'shutdown', error: { message: 'on the way' } }])
    expect(host.agent('hand').phase).toBe('STOPPED')
  })

  it('the process ends by itself, also when messages were sent to what is gone', async () => {
    const dir = await writeFleet({ agents: { hand: { role: HAND } } })
    const text = `
      const host = await createHost({ fleet: ${JSON.stringify(dir)}, log: 'silent' })
      const hand = host.agent('hand')
      await hand.ask('ping')
      await host.shutdown()
      for (let n = 0; n < 100; n++) hand.tell('note', n)
      console.log('active: ' + process.getActiveResourcesInfo().filter((kind) => /Timeout|Immediate|MessagePort|Worker/.test(kind)).join())
    `
    expect(await runProgram(text)).toMatchObject({ code: 0, stdout: 'active: \n' })
  })
})
