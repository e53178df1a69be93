/**
 * Installs and uninstalls that fail, or are cut off, at every single step: each call to the file system in turn fails, and
 * at each the state is copied as a crash would leave it and a host is started on the copy.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { digestOf } from '../../src/host/catalog-folder.ts'
import { HoltError } from '../../src/model/error.ts'
import { Store } from '../../src/store/store.ts'
import type { TestHost } from '../../src/testkit/test-host.ts'
import {
  agentFiles,
  catalogHost,
  contentsOf,
  entriesOf,
  foldersOf,
  packageFolder,
  stateFolder,
  tarOf,
  tempFolder,
  writeTarball,
} from './packages.ts'
import { rowsOf } from './rows-of-agent.ts'

/** Called before each call to the file system, with its name; a throw is the call's. */
const steps = vi.hoisted(() => ({ before: null as ((name: string) => void) | null }))

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>()
  const watched =
    <A extends unknown[], R>(name: string, call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      steps.before?.(name)
      return call(...args)
    }
  const names = [
    'mkdir',
    'mkdtemp',
    'rename',
    'rm',
    'symlink',
    'copyFile',
    'readdir',
    'lstat',
    'stat',
    'realpath',
    'readFile',
    'readlink',
  ] as const
  const calls = Object.fromEntries(
    names.map((name) => [name, watched(name, real[name] as (...args: unknown[]) => Promise<unknown>)]),
  )
  const open = async (...args: Parameters<typeof real.open>) => {
    steps.before?.('open')
    const handle = await real.open(...args)
    handle.sync = watched('sync', handle.sync.bind(handle))
    handle.writeFile = watched('writeFile', handle.writeFile.bind(handle))
    return handle
  }
  return { ...real, ...calls, open }
})

const full = (): Error => Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })

/** Runs the work with the n-th call to the file system failing. @returns the call's name, null where there were fewer */
async function failingAt<T>(
  n: number,
  work: () => Promise<T>,
): Promise<{ failed: string | null; outcome: T | unknown }> {
  let count = 0
  let failed: string | null = null
  steps.before = (name) => {
    if (++count !== n) return
    failed = name
    throw full()
  }
  try {
    const outcome = await work().catch((error: unknown) => error)
    return { failed, outcome }
  } finally {
    steps.before = null
  }
}

/** Copies the state directory before each call to the file system, and once after the last, as another process would. */
async function copiesWhile(stateDir: string, work: () => Promise<unknown>): Promise<string[]> {
  const root = tempFolder()
  const copies: string[] = []
  const copy = (): void => {
    const to = join(root, String(copies.length))
    spawnSync('cp', ['-a', stateDir, to])
    copies.push(to)
  }
  steps.before = copy
  try {
    await work()
  } finally {
    steps.before = null
  }
  copy()
  return copies
}

const files = (version: string) => agentFiles('greeter', version, {}, { 'data/words.txt': `words of ${version}` })
const folder = (version: string): string => packageFolder(files(version))
const tarball = (version: string): string => writeTarball(tarOf(entriesOf(files(version))))
const install = (kit: TestHost, source: string) => kit.finish(kit.host.catalog.install(source))

/** What is installed is whole, and there is nothing else. */
async function expectWhole(kit: TestHost, stateDir: string): Promise<string> {
  const [item] = kit.host.catalog.list()
  expect(kit.host.catalog.list()).toHaveLength(1)
  expect(item!.fault).toBeNull()
  expect(await digestOf(item!.dir)).toBe(item!.digest)
  expect(foldersOf(stateDir).filter((name) => name.startsWith('greeter/'))).toContain(
    `greeter/${item!.version}-${item!.digest.slice(0, 12)}`,
  )
  return item!.version
}

describe.each([
  ['a folder', folder],
  ['a tarball', tarball],
])('an install from %s that fails at a step', (_what, package_) => {
  it('leaves the version before as it was, or has put the new one in its place', async () => {
    const stateDir = stateFolder()
    const kit = await catalogHost({ stateDir })
    await install(kit, package_('1.0.0'))
    const before = contentsOf(kit.host.catalog.list()[0]!.dir)
    const { instance } = kit.host.agent('greeter').snapshot()
    const [one, two] = [package_('1.0.0'), package_('2.0.0')]
    const refused: string[] = []
    for (let n = 1; ; n++) {
      const { failed, outcome } = await failingAt(n, () => install(kit, two))
      if (failed === null) break
      const version = await expectWhole(kit, stateDir)
      expect(kit.host.agent('greeter').snapshot()).toMatchObject({
        status: 'Running',
        version: '1.0.0',
        instance: { id: instance!.id },
      })
      if (outcome instanceof HoltError) {
        refused.push(failed)
        expect({ n, failed, version }).toEqual({ n, failed, version: '1.0.0' })
        expect(contentsOf(kit.host.catalog.list()[0]!.dir)).toEqual(before)
      } else {
        // What failed was a look, or the tidying up.
        expect(outcome).toMatchObject({ change: 'replaced', version: '2.0.0' })
        await install(kit, one)
      }
    }
    expect(new Set(refused)).toEqual(
      new Set([...new Set(refused), 'mkdir', 'mkdtemp', 'open', 'writeFile', 'sync', 'rename']),
    )
    await kit.close()
    const next = await catalogHost({ stateDir })
    await expectWhole(next, stateDir)
    expect(readdirSync(join(stateDir, 'catalog'))).toEqual(['greeter'])
    expect(foldersOf(stateDir)).toHaveLength(1)
  }, 120_000)
})

it('an install for the first time that fails at a step leaves no agent, or one that is whole', async () => {
  const stateDir = stateFolder()
  const kit = await catalogHost({ stateDir })
  const source = packageFolder(agentFiles('greeter', '1.0.0', { autostart: false }))
  for (let n = 1; ; n++) {
    const { failed, outcome } = await failingAt(n, () => install(kit, source))
    if (failed === null) break
    if (outcome instanceof HoltError) {
      expect(kit.host.catalog.list()).toEqual([])
      expect(kit.host.agents()).toEqual([])
    } else {
      await expectWhole(kit, stateDir)
      const { intent } = kit.host.agent('greeter').snapshot()
      if (intent === 'running') await kit.finish(kit.host.command('greeter', 'suspend'))
      await kit.finish(kit.host.catalog.uninstall('greeter'))
    }
  }
}, 120_000)

/** The commit of what is installed fails; others do not. */
function refusingCommits() {
  const { write } = Store.prototype
  const refusing = function (this: Store, work: Parameters<typeof write>[0]) {
    if (String(work).includes('tx.catalog.set')) return Promise.reject(new HoltError('StateFull', 'the disk is full'))
    return write.call(this, work)
  }
  return vi.spyOn(Store.prototype, 'write').mockImplementation(refusing as typeof write)
}

describe('an install whose commit fails', () => {
  it.each([
    ['the first', [], []],
    ['of another version', ['1.0.0'], ['greeter/1.0.0']],
  ] as const)('(%s) leaves nothing behind', async (_what, installed, folders) => {
    const stateDir = stateFolder()
    const kit = await catalogHost({ stateDir })
    for (const version of installed) await install(kit, folder(version))
    const spy = refusingCommits()
    await expect(install(kit, folder('2.0.0'))).rejects.toMatchObject({ code: 'StateFull' })
    spy.mockRestore()
    expect(foldersOf(stateDir).map((name) => name.replace(/-.*/, ''))).toEqual(folders)
    expect(kit.host.catalog.list().map(({ version }) => version)).toEqual(installed)
  })

  it('and mended nothing: what was damaged is there as it was', async () => {
    const stateDir = stateFolder()
    const kit = await catalogHost({ stateDir })
    const { dir } = await install(kit, folder('1.0.0'))
    writeFileSync(join(dir, 'data/words.txt'), 'damaged')
    const before = contentsOf(join(stateDir, 'catalog'))
    const spy = refusingCommits()
    await expect(install(kit, folder('1.0.0'))).rejects.toMatchObject({ code: 'StateFull' })
    spy.mockRestore()
    expect(contentsOf(join(stateDir, 'catalog'))).toEqual(before)
  })
})

describe('a host that is killed', () => {
  /** A host on each copy, in order. */
  async function onEach<T>(copies: readonly string[], look: (kit: TestHost, dir: string) => Promise<T>): Promise<T[]> {
    const seen: T[] = []
    for (const dir of copies) {
      const kit = await catalogHost({ stateDir: dir })
      seen.push(await look(kit, dir))
      await kit.close()
      expect(readdirSync(join(dir, 'catalog')).filter((name) => name.startsWith('.'))).toEqual([])
    }
    return seen
  }

  it('at any step of an install has the version before or the new one, whole, and nothing besides', async () => {
    const stateDir = stateFolder()
    const kit = await catalogHost({ stateDir })
    await install(kit, folder('1.0.0'))
    const copies = await copiesWhile(stateDir, () => install(kit, tarball('2.0.0')))
    const versions = await onEach(copies, async (next, dir) => {
      expect(foldersOf(dir)).toHaveLength(1)
      expect(next.host.agent('greeter').snapshot()).toMatchObject({ status: 'Running', intent: 'running' })
      const version = await expectWhole(next, dir)
      expect(next.host.agent('greeter').snapshot().version).toBe(version)
      return version
    })
    const turned = versions.indexOf('2.0.0')
    expect(turned).toBeGreaterThan(10)
    expect(versions.length).toBeGreaterThan(turned)
    expect(versions.slice(turned).every((version) => version === '2.0.0')).toBe(true)
  }, 120_000)

  it('at any step of mending files has them as they were, damaged, or mended', async () => {
    const stateDir = stateFolder()
    const kit = await catalogHost({ stateDir })
    const { dir } = await install(kit, folder('1.0.0'))
    const words = dir.slice(stateDir.length + 1)
    writeFileSync(join(dir, 'data/words.txt'), 'damaged')
    const copies = await copiesWhile(stateDir, () => install(kit, folder('1.0.0')))
    const seen = await onEach(copies, async (next, copy) => {
      expect(foldersOf(copy)).toHaveLength(1)
      expect(next.host.agent('greeter').snapshot().status).toBe('Running')
      return contentsOf(join(copy, words))['data/words.txt']
    })
    expect(new Set(seen)).toEqual(new Set(['600 damaged', '600 words of 1.0.0']))
    expect(seen.at(-1)).toBe('600 words of 1.0.0')
  }, 120_000)

  it('at any step of an uninstall has the agent as it was wanted, or nothing of it', async () => {
    const stateDir = stateFolder()
    const kit = await catalogHost({ stateDir })
    await install(kit, folder('1.0.0'))
    await kit.finish(kit.host.command('greeter', 'suspend'))
    const copies = await copiesWhile(stateDir, () => kit.finish(kit.host.catalog.uninstall('greeter')))
    const seen = await onEach(copies, async (next, dir) => {
      if (next.host.agents().length === 0) {
        expect(next.host.catalog.list()).toEqual([])
        expect(foldersOf(dir)).toEqual([])
        expect(rowsOf(dir, 'greeter')).toMatchObject({ agents: 0, counters: 0, deaths: 0, memory: 0, mailboxes: 0 })
        return 'gone'
      }
      await expectWhole(next, dir)
      expect(next.host.agent('greeter').snapshot()).toMatchObject({ phase: 'STOPPED', intent: 'suspended' })
      return 'there'
    })
    expect(seen.at(0)).toBe('there')
    expect(seen.at(-1)).toBe('gone')
  }, 120_000)
})
