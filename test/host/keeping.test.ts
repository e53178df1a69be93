/** What an agent keeps: memory and sessions, over instances and hosts. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Host } from '../../src/host/host.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { hostFleet, NO_BUDGET, role, writeFleet } from '../fleet-on-disk.ts'

const KEEPER = role(`
  events: {
    remember(n, ctx) { for (let i = 0; i < n; i++) void ctx.memory.set('k' + i, i); void ctx.session('log').append(n) },
    async die(key, ctx) { await ctx.memory.set(key, 'before'); throw new Error('died') },
  },
  commands: {
    run: { async handle([on, name, ...args], ctx) {
      const target = on === 'memory' ? ctx.memory : ctx.session(on)
      return target[name](...args)
    } },
    types: { async handle(_, ctx) {
      await ctx.memory.set('rich', { at: new Date(5), ids: new Set([1]), big: 7n })
      const { at, ids, big } = await ctx.memory.get('rich')
      return [at instanceof Date && at.getTime(), ids instanceof Set && [...ids], big]
    } },
  },
  async stop(ctx) { void ctx.memory.set('stopped', true) }`)

async function fleet() {
  const dir = await writeFleet({
    agents: { keeper: { role: KEEPER, manifest: { restart: { backoff: 'none' } } }, other: { role: KEEPER } },
    supervisor: NO_BUDGET,
  })
  const stateDir = await mkdtemp(join(tmpdir(), 'holt-state-'))
  onTestFinished(() => rm(stateDir, { recursive: true, force: true, maxRetries: 5 }))
  return () => hostFleet(dir, { stateDir })
}

const caller =
  (host: Host, agent = 'keeper') =>
  (...call: unknown[]): Promise<unknown> =>
    host.agent(agent).ask('run', call)

describe('ctx.memory', () => {
  it('sets, gets, lists by prefix and deletes, and each agent has its own', async () => {
    const host = await (await fleet())()
    const run = caller(host)
    expect(await run('memory', 'get', 'a')).toBeUndefined()
    await run('memory', 'set', 'a', { n: 1 })
    await run('memory', 'set', 'ab', 2)
    await run('memory', 'set', 'b', 3)
    expect(await run('memory', 'get', 'a')).toEqual({ n: 1 })
    const listed = (await run('memory', 'list', 'a')) as { key: string; value: unknown }[]
    expect(listed.map(({ key, value }) => [key, value])).toEqual([
      ['a', { n: 1 }],
      ['ab', 2],
    ])
    expect(await caller(host, 'other')('memory', 'list')).toEqual([])
    expect([await run('memory', 'delete', 'a'), await run('memory', 'delete', 'a')]).toEqual([true, false])
  })

  it('keeps what only structured copies can', async () => {
    const host = await (await fleet())()
    expect(await host.agent('keeper').ask('types')).toEqual([5, [1], 7n])
  })

  it('compares before it sets: one of two that read the same version is refused', async () => {
    const run = caller(await (await fleet())())
    expect(await run('memory', 'set', 'n', 1, { ifVersion: null })).toEqual(expect.any(Number))
    const { version } = (await run('memory', 'entry', 'n')) as { version: number }
    const both = await Promise.allSettled([
      run('memory', 'set', 'n', 2, { ifVersion: version }),
      run('memory', 'set', 'n', 3, { ifVersion: version }),
    ])
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(both[1]).toMatchObject({ reason: { code: 'VersionMismatch' } })
  })

  it('carries out a transaction as a whole, or not at all', async () => {
    const run = caller(await (await fleet())())
    await run('memory', 'transaction', [
      { op: 'set', key: 'a', value: 1 },
      { op: 'set', key: 'b', value: 2 },
    ])
    const failing = run('memory', 'transaction', [
      { op: 'set', key: 'a', value: 9 },
      { op: 'delete', key: 'b', ifVersion: 12_345 },
    ])
    await expect(failing).rejects.toMatchObject({ code: 'VersionMismatch' })
    expect([await run('memory', 'get', 'a'), await run('memory', 'get', 'b')]).toEqual([1, 2])
  })

  it.each([
    ['a key that is none', ['memory', 'set', '', 1], 'InvalidInput'],
    ['a value that is too large', ['memory', 'set', 'k', 'x'.repeat(1_100_000)], 'ValueTooLarge'],
    ['a session without a name', ['', 'append', 1], 'InvalidInput'],
  ])('refuses %s, and the agent goes on', async (_, call, code) => {
    const host = await (await fleet())()
    await expect(caller(host)(...call)).rejects.toMatchObject({ code })
    await eventually(() => host.agent('keeper').phase === 'ACTIVE', 'the agent')
  })
})

describe('what was written', () => {
  it('before a crash, awaited, is there for the next instance', async () => {
    const host = await (await fleet())()
    await host.agent('keeper').emit('die', 'crumb')
    await eventually(() => host.agent('keeper').phase === 'ACTIVE', 'the restart')
    expect(await caller(host)('memory', 'get', 'crumb')).toBe('before')
  })

  it('and not awaited, and in the stop hook, is on disk when the host has ended', async () => {
    const open = await fleet()
    const first = await open()
    await first.agent('keeper').emit('remember', 50)
    await first.shutdown()
    const run = caller(await open())
    expect((await run('memory', 'list', 'k')) as unknown[]).toHaveLength(50)
    expect(await run('memory', 'get', 'stopped')).toBe(true)
    expect(await run('log', 'length')).toBe(1)
  })
})

describe('ctx.session', () => {
  it('only grows, and is read by page in either direction', async () => {
    const open = await fleet()
    const first = await open()
    for (let n = 0; n < 5; n++) expect(await caller(first)('talk', 'append', { n })).toBe(n)
    await first.shutdown()
    const run = caller(await open())
    const values = async (page: object) =>
      ((await run('talk', 'page', page)) as { value: { n: number } }[]).map(({ value }) => value.n)
    expect(await values({})).toEqual([0, 1, 2, 3, 4])
    expect(await values({ from: 1, limit: 2 })).toEqual([1, 2])
    expect(await values({ reverse: true, limit: 2 })).toEqual([4, 3])
    expect([await run('talk', 'length'), await run('else', 'length')]).toEqual([5, 0])
    expect([await run('talk', 'remove'), await run('talk', 'length')]).toEqual([true, 0])
  })
})
