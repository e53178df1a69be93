/**
 * Busy, hung and slow told apart, with real threads: what the platform can end is ended and restarted, what it cannot
 * is fenced and shown, and nobody is ended for being busy, slow, or the victim of a host that did not run.
 */
import { describe, expect, it } from 'vitest'
import type { AgentRef } from '../../src/actors/ref.ts'
import type { Host } from '../../src/host/host.ts'
import type { AgentObject } from '../../src/manifest/agent-manifest.ts'
import type { AgentSnapshot } from '../../src/model/snapshot.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { hostFleet, NO_BUDGET, role, writeFleet } from '../fleet-on-disk.ts'
import { AT_GATE, Gate } from '../gate.ts'
import { runProgram } from '../program.ts'
import { HAND } from './hand.ts'
import { expectComplete } from './thrown.ts'

const SHORT = { unresponsiveAfterMs: 400, killAfterMs: 800 }
const WATCHED: Partial<AgentObject> = { restart: { backoff: 'none' }, limits: SHORT }

/** Does to its thread what the payload names. */
const STUCK = role(
  `events: {
    hang(how) { return HANGS[how]() },
    many(ms) { const until = performance.now() + ms; while (performance.now() < until); handled++ },
    wait(cells) { return wait(cells) },
  },
  commands: { ping: { handle: () => 'pong' }, handled: { handle: () => handled } }`,
  `${AT_GATE}
let handled = 0
const HANGS: Record<string, () => unknown> = {
  loop: () => { for (;;); },
  microtasks: () => { const again = (): Promise<void> => Promise.resolve().then(() => { let n = 0; while (n < 1000) n++ }).then(again); return again() },
  ticks: () => { const again = (): void => process.nextTick(again); again(); return new Promise(() => {}) },
  regexp: () => /^(a+)+$/.test('a'.repeat(60) + '!'),
  atomics: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
}`,
)

interface Seen {
  readonly host: Host
  readonly ref: AgentRef
  /** Statuses of the agent, as they changed. */
  readonly statuses: string[]
}

async function watched(manifest: Partial<AgentObject> = WATCHED): Promise<Seen> {
  const host = await hostFleet({
    agents: { stuck: { role: STUCK, manifest }, good: { role: HAND } },
    supervisor: NO_BUDGET,
  })
  const ref = host.agent('stuck')
  const statuses: string[] = []
  ref.snapshot$.subscribe(({ status, unkillable }: AgentSnapshot) => {
    const seen = unkillable ? 'unkillable' : status
    if (statuses.at(-1) !== seen) statuses.push(seen)
  })
  return { host, ref, statuses }
}

const up = (ref: AgentRef, deaths: number): Promise<boolean> =>
  eventually(
    () => ref.deaths().length === deaths && ref.phase === 'ACTIVE',
    () => `ACTIVE after ${deaths} deaths, it is ${ref.phase} after ${ref.deaths().length}`,
  )

const code = (work: Promise<unknown>): Promise<unknown> => work.catch((error: { code: string }) => error.code)

describe('hung', () => {
  it('in whatever way: Unhealthy, then ended and restarted; what waited is handled, and nobody else notices', async () => {
    const hows = ['loop', 'microtasks', 'ticks', 'regexp', 'atomics']
    const agents = Object.fromEntries(hows.map((how) => [how, { role: STUCK, manifest: WATCHED }]))
    const host = await hostFleet({ agents: { ...agents, good: { role: HAND } }, supervisor: NO_BUDGET })
    const unhealthy = new Set<string>()
    host.facts$.subscribe(({ kind, agent = '' }) => kind === 'agent.health' && unhealthy.add(agent))
    for (const how of hows) {
      host.agent(how).tell('hang', how)
      host.agent(how).tell('many', 0)
    }
    for (const how of hows) {
      const ref = host.agent(how)
      await up(ref, 1)
      const record = ref.deaths()[0]!
      expectComplete(record)
      expect(record).toMatchObject({
        cause: 'unresponsive',
        class: 'crash',
        inFlight: [{ name: 'hang' }],
        decision: { rule: 'restart_type', action: 'restart' },
        error: { message: expect.stringMatching(/^no sign of life for \d+ ms \(limits\.killAfterMs\)$/) },
      })
      expect(await ref.ask('handled')).toBe(1)
    }
    expect([...unhealthy].sort()).toEqual(hows.sort())
    expect(host.agent('good').deaths()).toEqual([])
    expect(await host.agent('good').ask('ping')).toBe('pong')
  })
})

describe('busy and slow are neither', () => {
  it('a handler that awaits for longer than both limits', async () => {
    const { ref, statuses } = await watched()
    const gate = new Gate()
    ref.tell('wait', gate.cells)
    await eventually(() => gate.reached === 1, 'the gate')
    // Another agent that is hung in earnest is the clock: it is ended while this one waits.
    const clock = await watched()
    clock.ref.tell('hang', 'loop')
    await up(clock.ref, 1)
    gate.open()
    expect(await ref.ask('ping')).toBe('pong')
    expect(ref.deaths()).toEqual([])
    expect(statuses).not.toContain('Unhealthy')
  })

  it('handlers that compute for a while each, many in a row, at once and after a stretch of quick ones', async () => {
    const { ref, statuses } = await watched()
    for (let n = 0; n < 15; n++) ref.tell('many', 80)
    expect(await ref.ask('handled', undefined, { timeoutMs: 20_000 })).toBe(15)
    // The loop looks at its clock once in 16: only what is done says that it is well.
    for (let n = 0; n < 17; n++) ref.tell('many', 0)
    for (let n = 0; n < 15; n++) ref.tell('many', 80)
    expect(await ref.ask('handled', undefined, { timeoutMs: 20_000 })).toBe(47)
    expect(ref.deaths()).toEqual([])
    expect(statuses).not.toContain('Unhealthy')
  })

  it('the shortest limits that a manifest may have', async () => {
    const { ref } = await watched({ ...WATCHED, limits: { unresponsiveAfterMs: 100, killAfterMs: 101 } })
    const clock = await watched()
    clock.ref.tell('hang', 'loop')
    await up(clock.ref, 1)
    expect(ref.deaths()).toEqual([])
    expect(await ref.ask('ping')).toBe('pong')
  })
})

describe('handlerTimeoutMs', () => {
  it('ends a handler that takes longer, whatever it waits for, and not an idle agent', async () => {
    const { ref, statuses } = await watched({ ...WATCHED, limits: { handlerTimeoutMs: 500 } })
    const gate = new Gate()
    ref.tell('wait', gate.cells)
    await up(ref, 1)
    expect(ref.deaths()[0]).toMatchObject({
      cause: 'handler_timeout',
      inFlight: [{ name: 'wait' }],
      error: { message: 'a handler ran for more than 500 ms (limits.handlerTimeoutMs)' },
    })
    expect(statuses).not.toContain('unkillable')
    for (let n = 0; n < 4; n++) await ref.emit('many', 150)
    expect(ref.deaths()).toHaveLength(1)
  })
})

describe('a host that did not run', () => {
  /** Holds the loop of this thread, on which the host lives. */
  const block = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

  it('ends nobody who is well, however long it was blocked, and still finds who is hung', async () => {
    const { ref } = await watched()
    const other = await watched()
    const gate = new Gate()
    other.ref.tell('wait', gate.cells)
    await eventually(() => gate.reached === 1, 'a slow handler')
    block(SHORT.killAfterMs + 300)
    expect(await ref.ask('ping')).toBe('pong')
    ref.tell('hang', 'loop')
    block(SHORT.killAfterMs + 300)
    await up(ref, 1)
    expect(ref.deaths()[0]).toMatchObject({ cause: 'unresponsive' })
    gate.open()
    expect(await other.ref.ask('ping')).toBe('pong')
    expect(other.ref.deaths()).toEqual([])
  })

  it('nor after the whole process was suspended, threads and all', async () => {
    const ids = ['a', 'b', 'c']
    const agents = Object.fromEntries(ids.map((id) => [id, { role: HAND, manifest: WATCHED }]))
    const dir = await writeFleet({ agents })
    const stopped = 'kill -STOP $0; sleep 1.5; kill -CONT $0'
    const text = `
      import { spawn } from 'node:child_process'
      const host = await createHost({ fleet: ${JSON.stringify(dir)}, log: 'silent' })
      const ended = []
      host.deaths$.subscribe(({ cause }) => ended.push(cause))
      const before = performance.now()
      const shell = spawn('sh', ['-c', ${JSON.stringify(stopped)}, String(process.pid)])
      await new Promise((resolve) => shell.once('exit', resolve))
      if (performance.now() - before < 1400) console.log('was not suspended')
      // The watchdog looks again, and once more.
      for (let look = 0; look < 2; look++) {
        await new Promise((resolve) => setTimeout(resolve, 300))
        console.log(...(await Promise.all(host.agents().map((agent) => agent.ask('ping')))))
      }
      console.log(ended.length)
      await host.shutdown()
    `
    const pongs = ids.map(() => 'pong').join(' ')
    expect(await runProgram(text)).toMatchObject({ code: 0, stdout: `${pongs}\n${pongs}\n0\n` })
  })
})

describe('C025 an agent that is blocked', () => {
  it.each(['loop', 'atomics'])(
    '%s: asks time out at the host, commands are answered, nobody else waits',
    async (how) => {
      const limits = { pauseTimeoutMs: 100, stopTimeoutMs: 300 }
      const { host, ref } = await watched({ limits })
      ref.tell('hang', how)
      await eventually(() => ref.snapshot().mailbox.inFlight === 1, 'the handler')
      const asked = code(ref.ask('ping', undefined, { timeoutMs: 200 }))
      expect(await host.agent('good').ask('ping', undefined, { timeoutMs: 1000 })).toBe('pong')
      expect(await asked).toBe('Timeout')
      expect(await ref.pause()).toMatchObject({ phase: 'PAUSING', inFlight: [{ name: 'hang' }] })
      expect(await ref.resume()).toMatchObject({ phase: 'ACTIVE' })
      expect(await ref.stop()).toMatchObject({ phase: 'STOPPED', intent: 'stopped' })
      expect(ref.deaths()).toMatchObject([{ cause: 'shutdown_timeout', inFlight: [{ name: 'hang' }] }])
      expect(await ref.start()).toMatchObject({ phase: 'ACTIVE' })
      expect(await ref.ask('ping')).toBe('pong')
    },
  )
})
