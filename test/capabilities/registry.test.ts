import { MessageChannel } from 'node:worker_threads'
import { describe, expect, test } from 'vitest'
import { missing } from '../../src/capabilities/gate.ts'
import { poolWorkerUrl } from '../../src/capabilities/pool.ts'
import { createRegistry, type RegistryOptions } from '../../src/capabilities/registry.ts'
import { mountCapabilities } from '../../src/thread/capabilities.ts'
import { silent } from './loan.ts'

const pureUrl = new URL('../fixtures/capabilities/pure.mjs', import.meta.url).href
const soon = (): AbortSignal => new AbortController().signal

/** A registry of modules given as their default exports, by file. */
const registryOf = (files: Record<string, unknown>, options: Partial<RegistryOptions> = {}) =>
  createRegistry({
    modules: Object.keys(files).map((file) => ({ file, url: file === 'pure.ts' ? pureUrl : `file:///${file}` })),
    load: async ({ file, url }) => (file === 'pure.ts' ? import(url) : { default: files[file] }),
    log: silent,
    poolWorkerUrl: poolWorkerUrl(),
    ...options,
  })

const host = (id: string, more: object = {}): object => ({ id, placement: 'host', methods: { go: () => id }, ...more })
const all = [
  { id: 'a', allow: ['go'] },
  { id: 'pure', allow: ['double'] },
  { id: 'local', allow: ['go'] },
]
const files = { 'a.ts': host('a'), 'pure.ts': null, 'local.ts': { ...host('local'), placement: 'agent' } }

const liveWorkers = (): number => (process.report.getReport() as unknown as { workers: unknown[] }).workers.length

async function borrow(registry: Awaited<ReturnType<typeof registryOf>>, grants: typeof all) {
  const { port1, port2 } = new MessageChannel()
  const loan = registry.lend(port1, { agent: 'librarian', grants, isCurrent: () => true })
  const mounted = await mountCapabilities(
    port2,
    registry.mounts(grants).filter(({ module }) => module === null),
    () => Promise.reject(new Error('nothing to import')),
    silent,
  )
  return { loan, mounted }
}

describe('a registry', () => {
  test('lists what there is, and says what an agent mounts', async () => {
    const registry = await registryOf(files)
    expect(registry.list().map(({ id, placement }) => [id, placement])).toEqual([
      ['a', 'host'],
      ['pure', 'pool'],
      ['local', 'agent'],
    ])
    expect(registry.list()[0]?.methods).toEqual(['go'])
    expect(registry.mounts(all)).toEqual([
      { id: 'a', allow: ['go'], module: null },
      { id: 'pure', allow: ['double'], module: null },
      { id: 'local', allow: ['go'], module: { file: 'local.ts', url: 'file:///local.ts' } },
    ])
    expect(registry.needsPort(all)).toBe(true)
    expect(
      registry.needsPort([
        { id: 'local', allow: ['go'] },
        { id: 'a', allow: [] },
      ]),
    ).toBe(false)
    await registry.shutdown(soon())
  })

  test('lends host and pool capabilities over one port', async () => {
    const registry = await registryOf(files)
    const { loan, mounted } = await borrow(registry, all)
    expect(await mounted.get('a')['go']?.()).toBe('a')
    expect(await mounted.get('pure')['double']?.(4)).toBe(8)
    loan.close()
    await registry.shutdown(soon())
  })

  test('keeps what is right when other modules are wrong, and names each fault', async () => {
    const registry = await registryOf(
      { 'a.ts': host('a'), 'twin.ts': host('a'), 'bad.ts': host('Bad'), 'gone.ts': host('gone') },
      {
        load: async ({ file }) => {
          if (file === 'gone.ts') throw new Error('no such file')
          return { default: host(file === 'bad.ts' ? 'Bad' : 'a') }
        },
      },
    )
    expect(registry.list().map(({ id }) => id)).toEqual(['a'])
    expect(registry.faults.map(({ code, details }) => [code, details['file'], details['field']])).toEqual([
      ['InvalidManifest', 'twin.ts', 'id'],
      ['InvalidManifest', 'bad.ts', 'id'],
      ['InvalidManifest', 'gone.ts', 'module'],
    ])
    expect(registry.faults[0]?.message).toContain('a.ts')
  })

  test('boots a host capability once, whoever borrows it', async () => {
    let boots = 0
    const registry = await registryOf({ 'a.ts': host('a', { boot: () => void boots++ }) })
    const grants = [{ id: 'a', allow: ['go'] }]
    const loans = [await borrow(registry, grants), await borrow(registry, grants)]
    for (const { mounted } of loans) expect(await mounted.get('a')['go']?.()).toBe('a')
    expect(boots).toBe(1)
    for (const { loan } of loans) loan.close()
    await registry.shutdown(soon())
  })

  test('boots neither pool nor agent capabilities in the host', async () => {
    const refuse = (): never => {
      throw new Error('booted in the host')
    }
    const registry = await registryOf({
      'local.ts': { ...host('local', { boot: refuse, shutdown: refuse }), placement: 'agent' },
    })
    expect(registry.offers()).toEqual([{ id: 'local', methods: ['go'] }])
    expect(await registry.shutdown(soon())).toEqual({ stuck: [] })
  })

  test('isolates a capability whose boot fails: it alone is unavailable, with the reason', async () => {
    const boot = async (): Promise<never> => {
      throw new Error('disk full')
    }
    const shutdown = (): never => {
      throw new Error('shut down without having booted')
    }
    const registry = await registryOf({ 'a.ts': host('a'), 'b.ts': host('b', { boot, shutdown }) })
    expect(
      missing(
        [
          { id: 'a', allow: ['go'] },
          { id: 'b', allow: ['go'] },
        ],
        registry.offers(),
      ),
    ).toMatchObject([{ capability: 'b', sentence: "capability 'b' is unavailable: its boot failed: disk full" }])
    const { loan, mounted } = await borrow(registry, [
      { id: 'a', allow: ['go'] },
      { id: 'b', allow: ['go'] },
    ])
    expect(await mounted.get('a')['go']?.()).toBe('a')
    await expect(mounted.get('b')['go']?.()).rejects.toMatchObject({ code: 'NoSuchCapability' })
    loan.close()
    expect(await registry.shutdown(soon())).toEqual({ stuck: [] })
  })

  test('gives up a boot that does not end by the deadline', async () => {
    const deadline = AbortSignal.abort()
    const registry = await registryOf(
      { 'b.ts': host('b', { boot: () => new Promise(() => {}) }) },
      { bootDeadline: deadline },
    )
    expect(registry.offers()).toEqual([{ id: 'b', methods: ['go'], unavailable: 'its boot did not end in time' }])
  })
})

describe('a registry that shuts down', () => {
  test('ends every capability, whatever one of them throws', async () => {
    const ended: string[] = []
    const registry = await registryOf({
      'a.ts': host('a', {
        shutdown: () => {
          throw new Error('will not')
        },
      }),
      'b.ts': host('b', { shutdown: async () => void ended.push('b') }),
    })
    expect(await registry.shutdown(soon())).toEqual({ stuck: [] })
    expect(ended).toEqual(['b'])
  })

  test('names what had not ended at the deadline', async () => {
    const registry = await registryOf({
      'a.ts': host('a'),
      'b.ts': host('b', { shutdown: () => new Promise(() => {}) }),
    })
    const deadline = new AbortController()
    const report = registry.shutdown(deadline.signal)
    deadline.abort()
    expect((await report).stuck).toContain('b')
  })

  test('leaves no thread behind', async () => {
    const before = liveWorkers()
    const registry = await registryOf(files)
    const { loan, mounted } = await borrow(registry, all)
    await mounted.get('pure')['double']?.(1)
    expect(liveWorkers()).toBe(before + 1)
    await registry.shutdown(soon())
    expect(liveWorkers()).toBe(before)
    loan.close()
  })

  test('refuses calls from then on, over loans that are still open', async () => {
    const registry = await registryOf(files)
    const { loan, mounted } = await borrow(registry, all)
    await registry.shutdown(soon())
    await expect(mounted.get('a')['go']?.()).rejects.toMatchObject({ code: 'ShuttingDown' })
    await expect(mounted.get('pure')['double']?.(1)).rejects.toMatchObject({ code: 'ShuttingDown' })
    loan.close()
  })
})
