/** Capabilities in a real fleet: what is granted is there and nothing else, in each of the three places. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { AgentRef } from '../../src/actors/ref.ts'
import type { Host } from '../../src/host/host.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, at, type FleetText, hostFleet, NO_BUDGET, role, writeFleet } from '../fleet-on-disk.ts'
import { AT_GATE, Gate } from '../gate.ts'

const capability = (id: string, placement: string): string => `
import { threadId, isMainThread } from 'node:worker_threads'
let calls = 0
export default {
  id: '${id}',
  placement: '${placement}',
  methods: {
    add: (a, b) => a + b,
    where: () => ({ threadId, isMainThread, pid: process.pid }),
    count: () => ++calls,
    fail() { throw Object.assign(new RangeError('too far', { cause: new TypeError('the root') }), { code: 'E_FAR', limit: 7 }) },
    bad: () => ({ f() {} }),
    async hold(cells) { Atomics.add(cells, 1, 1); while (Atomics.load(cells, 0) === 0) await new Promise((r) => setTimeout(r, 1)); return 'held' },
    secret: () => 'not granted',
  },
}
`

const ALLOW = ['add', 'where', 'count', 'fail', 'bad', 'hold']

const CALLER = role(
  `commands: {
    call: { handle: ({ id, method, args = [] }, ctx) => (ctx.capability(id) as any)[method](...args) },
    callAnyway: { async handle({ id, method, args = [] }, ctx) {
      try { return { reply: await (ctx.capability(id) as any)[method](...args) } }
      catch (e: any) { return { name: e.name, code: e.code, message: e.message, limit: e.limit, cause: e.cause && { name: e.cause.name, message: e.cause.message } } }
    } },
    shape: { handle: (id, ctx) => { const lent = ctx.capability(id); return { methods: Object.keys(lent), frozen: Object.isFrozen(lent), proto: Object.getPrototypeOf(lent) } } },
    meddle: { handle: (id, ctx) => { try { (ctx.capability(id) as any).add = () => 0; return 'set' } catch (e: any) { return e.name } } },
    function: { async handle(id, ctx) { try { await (ctx.capability(id) as any).add(() => 1, 2) } catch (e: any) { return { code: e.code, message: e.message } } } },
    where: { handle: () => threadId },
    ping: { handle: () => 'pong' },
  }, events: { hold(cells) { return wait(cells) } }`,
  `import { threadId } from 'node:worker_threads'\n${AT_GATE}`,
)

const PLACES = ['host', 'pool', 'agent'] as const

function fleet(allow: readonly string[] = ALLOW, more: FleetText['agents'] = {}): Promise<Host> {
  const manifest = { ...AT_ONCE, capabilities: PLACES.map((id) => ({ id: `${id}-one`, allow })) }
  return hostFleet({
    agents: {
      a: { role: CALLER, manifest },
      b: { role: CALLER, manifest: { ...manifest, capabilities: [manifest.capabilities[0]!] } },
      ...more,
    },
    capabilities: Object.fromEntries(PLACES.map((place) => [`${place}.mjs`, capability(`${place}-one`, place)])),
    supervisor: NO_BUDGET,
  })
}

const call = (ref: AgentRef, id: string, method: string, ...args: unknown[]): Promise<unknown> =>
  ref.ask('callAnyway', { id, method, args })

describe.each(PLACES)('placement %s', (place) => {
  const id = `${place}-one`

  it('answers, in its place', async () => {
    const a = (await fleet()).agent('a')
    expect(await call(a, id, 'add', 2, 3)).toEqual({ reply: 5 })
    const { reply } = (await call(a, id, 'where')) as {
      reply: { threadId: number; isMainThread: boolean; pid: number }
    }
    const own = await a.ask('where')
    expect(reply.pid).toBe(process.pid)
    if (place === 'agent') expect(reply.threadId).toBe(own)
    else expect(reply.threadId).not.toBe(own)
    expect(reply.threadId === 0 || place !== 'host').toBe(true)
  })

  it('gives the granted methods only, on a frozen object', async () => {
    const a = (await fleet(['add'])).agent('a')
    expect(await a.ask('shape', id)).toEqual({ methods: ['add'], frozen: true, proto: null })
    expect(await call(a, id, 'secret')).toMatchObject({ name: 'TypeError' })
    expect(await a.ask('meddle', id)).toBe('TypeError')
    expect(await call(a, id, 'add', 1, 1)).toEqual({ reply: 2 })
  })

  it('an error keeps name, message, code, fields and cause, and is no death for him who catches it', async () => {
    const a = (await fleet()).agent('a')
    expect(await call(a, id, 'fail')).toEqual({
      name: 'RangeError',
      message: 'too far',
      code: 'E_FAR',
      limit: 7,
      cause: { name: 'TypeError', message: 'the root' },
    })
    expect(a.deaths()).toEqual([])
    await expect(a.ask('call', { id, method: 'fail' })).rejects.toMatchObject({
      name: 'RangeError',
      code: 'E_FAR',
      fatal: true,
    })
    expect(a.deaths()).toMatchObject([
      { cause: 'crash', error: { name: 'RangeError', cause: { message: 'the root' } } },
    ])
  })

  it('is there for the next instance too', async () => {
    const a = (await fleet()).agent('a')
    expect(await call(a, id, 'count')).toEqual({ reply: 1 })
    await a.restart()
    const { reply } = (await call(a, id, 'count')) as { reply: number }
    // One in the host outlives the instance; one in the agent's thread begins anew.
    if (place !== 'pool') expect(reply).toBe(place === 'host' ? 2 : 1)
  })

  it('a call that is under way when its agent dies disturbs nobody', async () => {
    const a = (await fleet()).agent('a')
    const gate = new Gate()
    const held = a.ask('call', { id, method: 'hold', args: [gate.cells] }).catch((error: unknown) => error)
    await eventually(() => gate.reached === 1, 'the call')
    await a.kill()
    expect(await held).toMatchObject({ code: 'AgentDied' })
    gate.open()
    await eventually(() => a.phase === 'ACTIVE', 'the successor')
    expect(await call(a, id, 'add', 1, 2)).toEqual({ reply: 3 })
  })
})

describe('what may not be', () => {
  it('arguments and results that cannot be copied are errors of the call', async () => {
    const a = (await fleet()).agent('a')
    for (const id of ['host-one', 'pool-one']) {
      expect(await a.ask('function', id)).toMatchObject({
        code: 'NotCloneable',
        message: expect.stringContaining('[0]'),
      })
      expect(await call(a, id, 'bad')).toMatchObject({ code: 'NotCloneable' })
    }
    expect(await call(a, 'host-one', 'add', 1, 1)).toEqual({ reply: 2 })
  })

  it('a capability that was not granted is absent, and those that are there are named', async () => {
    const b = (await fleet()).agent('b')
    expect(await call(b, 'host-one', 'add', 1, 1)).toEqual({ reply: 2 })
    expect(await call(b, 'pool-one', 'add', 1, 1)).toMatchObject({
      code: 'NoSuchCapability',
      message: "no capability 'pool-one' is mounted (mounted: host-one)",
    })
  })

  it('the gate lists all that is missing, at the boot and at each start, and the agent stays as it was', async () => {
    const capabilities = [
      { id: 'host-one', allow: ['add', 'subtract'] },
      { id: 'nothere', allow: [] },
    ]
    const host = await fleet(ALLOW, { refused: { role: CALLER, manifest: { capabilities } } })
    const refused = host.agent('refused')
    expect(refused.deaths()[0]).toMatchObject({ step: 'gate' })
    await expect(refused.start()).rejects.toMatchObject({
      code: 'GateRefused',
      details: { missing: [{ capability: 'host-one', method: 'subtract' }, { capability: 'nothere' }] },
    })
    expect(refused.snapshot()).toMatchObject({ phase: 'FAILED' })
    expect(refused.deaths()).toHaveLength(1)
  })

  it('a refused activate leaves a suspended agent suspended, and its mailbox as it was', async () => {
    const dir = await writeFleet({ agents: { a: { role: CALLER } } })
    const a = (await hostFleet(dir)).agent('a')
    await a.suspend()
    await a.emit('hold', 1)
    const manifest = { id: 'a', name: 'A', capabilities: [{ id: 'nothere', allow: [] }] }
    await writeFile(join(dir, at('a'), 'agent.yml'), JSON.stringify(manifest))
    await expect(a.activate()).rejects.toMatchObject({ code: 'GateRefused' })
    expect(a.snapshot()).toMatchObject({ phase: 'STOPPED', intent: 'suspended', mailbox: { depth: 1 } })
    expect(a.deaths()).toHaveLength(1)
  })

  it('a capability that does not boot, or is none, keeps only those out that were granted it', async () => {
    const grant = (id: string) => ({ role: CALLER, manifest: { capabilities: [{ id, allow: ['add'] }] } })
    const host = await hostFleet({
      agents: { broken: grant('broken'), none: grant('none'), syntax: grant('syntax'), good: grant('good') },
      capabilities: {
        'broken.mjs': `export default { id: 'broken', placement: 'host', methods: { add: () => 1 }, boot() { throw new Error('no network') } }`,
        'none.mjs': `export default { id: 'none', placement: 'moon' }`,
        'syntax.mjs': 'export default {',
        'good.mjs': capability('good', 'host'),
      },
    })
    expect(host.agents().map(({ id, phase }) => `${id} ${phase}`)).toEqual([
      'broken FAILED',
      'none FAILED',
      'syntax FAILED',
      'good ACTIVE',
    ])
    expect(host.agent('broken').deaths()[0]?.error?.message).toContain('no network')
    expect(await call(host.agent('good'), 'good', 'add', 1, 1)).toEqual({ reply: 2 })
  })
})

it('capabilities are shut down with the host, after the agents, and one that hangs is named', async () => {
  const order: string[] = []
  const host = await hostFleet({
    agents: { a: { role: CALLER, manifest: { capabilities: [{ id: 'slow', allow: ['a'] }] } } },
    capabilities: {
      'slow.mjs': `export default { id: 'slow', placement: 'host', methods: { a: () => 1 }, shutdown: () => new Promise(() => {}) }`,
    },
  })
  host.deaths$.subscribe(({ agent }) => order.push(agent))
  expect(await host.shutdown({ timeoutMs: 50 })).toMatchObject({ killed: [], stuck: ['slow'] })
  expect(order).toEqual(['a'])
})
