/** Durable mailboxes: what was answered as accepted is handled, by this host or the next, and has its effects once. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Host } from '../../src/host/host.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { hostFleet, NO_BUDGET, role, writeFleet } from '../fleet-on-disk.ts'
import { runProgram } from '../program.ts'

const LEDGER = role(`
  events: {
    add(n, ctx) { void ctx.session('log').append(n) },
    async checked(n, ctx) { await ctx.session('log').append(n); if (!globalThis.seen && n === 'crash') throw new Error('crash') },
    async never(n, ctx) { await ctx.session('log').append(n); return new Promise(() => {}) },
  },
  commands: { log: { async handle(_, ctx) { return (await ctx.session('log').page({ limit: 1000 })).map(({ value }) => value) } } }`)

async function place(mailbox: object = {}) {
  const manifest = { mailbox: { durable: true, ...mailbox }, restart: { backoff: 'none' } } as const
  const dir = await writeFleet({ agents: { ledger: { role: LEDGER, manifest } }, supervisor: NO_BUDGET })
  const stateDir = await mkdtemp(join(tmpdir(), 'holt-state-'))
  onTestFinished(() => rm(stateDir, { recursive: true, force: true, maxRetries: 5 }))
  const killed = (work: string) =>
    runProgram(`
      const host = await createHost({ fleet: ${JSON.stringify(dir)}, stateDir: ${JSON.stringify(stateDir)}, log: 'silent' })
      const ledger = host.agent('ledger')
      ${work}
      console.log('done')
      process.kill(process.pid, 'SIGKILL')
    `)
  return { open: () => hostFleet(dir, { stateDir }), killed }
}

const logOf = (host: Host): Promise<unknown> => host.agent('ledger').ask('log')
const drained = (host: Host) =>
  eventually(() => {
    const { mailbox, phase } = host.agent('ledger').snapshot()
    return phase === 'ACTIVE' && mailbox.depth === 0 && mailbox.inFlight === 0
  }, 'the mailbox')

describe('a durable mailbox', () => {
  it('a suspended agent: what was answered survives a kill -9 of the host, and activate drains it in order', async () => {
    const { open, killed } = await place()
    const end = await killed(`
      await ledger.suspend()
      for (let n = 0; n < 20; n++) console.log((await ledger.emit('add', n)).fate)`)
    expect(end.stdout.match(/queued/g)).toHaveLength(20)
    const host = await open()
    expect(host.agent('ledger').snapshot()).toMatchObject({
      intent: 'suspended',
      phase: 'STOPPED',
      mailbox: { depth: 20 },
    })
    await host.agent('ledger').activate()
    await drained(host)
    expect(await logOf(host)).toEqual(Array.from({ length: 20 }, (_, n) => n))
  })

  it('what was handled is not handled again by the next host', async () => {
    const { open, killed } = await place()
    await killed("for (let n = 0; n < 5; n++) await ledger.emit('add', n)")
    const host = await open()
    await drained(host)
    expect(await logOf(host)).toEqual([0, 1, 2, 3, 4])
  })

  it('what was in flight at a kill -9 is delivered again, and its effects are there once', async () => {
    const { open, killed } = await place()
    await killed(`
      ledger.tell('never', 'once')
      while ((await host.mailbox('ledger')).inFlight.length === 0) await new Promise((r) => setTimeout(r, 5))
      await new Promise((r) => setTimeout(r, 200))`)
    const host = await open()
    await eventually(() => host.agent('ledger').snapshot().mailbox.inFlight === 1, 'the redelivery')
    await host.agent('ledger').restart()
    await drained(host)
    expect(await logOf(host)).toEqual(['once'])
  })

  it('redelivered after a crash of its agent, a message has its effects once', async () => {
    const { open } = await place({ redeliver: 2 })
    const host = await open()
    const fate = await host.agent('ledger').emit('checked', 'crash')
    expect(fate.fate).toBe('quarantined')
    await drained(host)
    expect(await logOf(host)).toEqual(['crash'])
  })

  it('redelivered, a message is not sent on twice, told, emitted or published', async () => {
    const relay = role(`events: {
      async go(n, ctx) {
        ctx.tell('sink', 'told', n)
        await ctx.emit('sink', 'emitted', n)
        await ctx.publish('news', 'published', n)
        ctx.tell('other', 'told', n)
        throw Object.assign(new Error('crash'))
      },
    }`)
    const sink = role(`
      events: Object.fromEntries(['told', 'emitted', 'published'].map((name) => [name, (n, ctx) => void ctx.session('log').append(name)])),
      commands: { log: { async handle(_, ctx) { return (await ctx.session('log').page()).map(({ value }) => value) } } }`)
    const host = await hostFleet({
      agents: {
        relay: { role: relay, manifest: { mailbox: { durable: true, redeliver: 2 }, restart: { backoff: 'none' } } },
        sink: { role: sink, manifest: { mailbox: { durable: true }, channels: ['news'] } },
        other: { role: sink },
      },
      supervisor: NO_BUDGET,
    })
    expect((await host.agent('relay').emit('go', 1)).fate).toBe('quarantined')
    // A mailbox that is not durable knows no ids.
    await eventually(async () => ((await host.agent('other').ask('log')) as unknown[]).length === 3, 'three deliveries')
    expect(await host.agent('sink').ask('log')).toEqual(['told', 'emitted', 'published'])
  })

  it('deliveries are counted over the hosts', async () => {
    const { open, killed } = await place({ redeliver: 3 })
    await killed(`
      const flying = async (deaths) => {
        while (ledger.deaths().length !== deaths || host.mailbox('ledger').inFlight.length === 0)
          await new Promise((r) => setTimeout(r, 5))
      }
      ledger.tell('never', 'again')
      for (const deaths of [0, 1]) {
        await flying(deaths)
        await ledger.kill()
      }
      await flying(2)`)
    const host = await open()
    await eventually(() => host.mailbox('ledger').inFlight.length === 1, 'the fourth delivery')
    await host.agent('ledger').kill()
    const [letter] = await eventually(async () => {
      const letters = await host.deadLetters.list('ledger')
      return letters.length > 0 && letters
    }, 'its end')
    expect(letter).toMatchObject({ reason: 'quarantined', deliveryCount: 4 })
  })

  it('an id that waits or was handled is not taken twice', async () => {
    const { open } = await place()
    const host = await open()
    const ledger = host.agent('ledger')
    expect(await ledger.emit('add', 1, { messageId: 'x' })).toEqual({ fate: 'handled' })
    expect(await ledger.emit('add', 1, { messageId: 'x' })).toEqual({ fate: 'handled', reason: 'duplicate' })
    expect(ledger.tell('add', 1, { messageId: 'x' })).toBe(true)
    await drained(host)
    await host.shutdown()
    const next = await open()
    expect(await next.agent('ledger').emit('add', 1, { messageId: 'x' })).toMatchObject({ reason: 'duplicate' })
    expect(await logOf(next)).toEqual([1])
  })

  it('a dead letter is sent again under its id', async () => {
    const { open } = await place()
    const host = await open()
    const { fate } = await host.agent('ledger').emit('checked', 'crash', { messageId: 'poison' })
    expect(fate).toBe('crashed')
    await eventually(() => host.agent('ledger').phase === 'ACTIVE', 'the restart')
    const [letter] = await host.deadLetters.list('ledger')
    expect(letter).toMatchObject({ reason: 'crashed', deliveryCount: 1 })
    expect((await host.deadLetters.replay(letter!.id)).fate).toBe('crashed')
  })

  it('keeps its bound while the agent is away', async () => {
    const { open } = await place({ capacity: 3 })
    const host = await open()
    await host.agent('ledger').suspend()
    const fates = await Promise.all([1, 2, 3, 4].map((n) => host.agent('ledger').emit('add', n)))
    expect(fates.map(({ fate }) => fate)).toEqual(['queued', 'queued', 'queued', 'dropped'])
    await host.agent('ledger').activate()
    await drained(host)
    expect(await logOf(host)).toEqual([1, 2, 3])
  })
})
