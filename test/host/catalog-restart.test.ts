/** Installed agents over the ends of hosts: they are there again, and as they were wanted. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { AgentObject } from '../../src/manifest/agent-manifest.ts'
import type { TestHost } from '../../src/testkit/test-host.ts'
import { agentFiles, catalogHost, foldersOf, packageFolder, stateFolder, writeFiles } from './packages.ts'

const install = (kit: TestHost, id = 'greeter', version = '1.0.0', more: Partial<AgentObject> = {}) =>
  kit.finish(kit.host.catalog.install(packageFolder(agentFiles(id, version, more))))
const snapshot = (kit: TestHost, id = 'greeter') => kit.host.agent(id).snapshot()

/** Ends the host and starts another on the same state. */
async function again(kit: TestHost, stateDir: string): Promise<TestHost> {
  await kit.close()
  return catalogHost({ stateDir })
}

describe('the next host', () => {
  it.each([
    ['running', null, { status: 'Running', intent: 'running' }],
    ['suspended', 'suspend', { phase: 'STOPPED', intent: 'suspended' }],
    ['stopped', 'stop', { phase: 'STOPPED', intent: 'stopped' }],
    ['paused', 'pause', { phase: 'PAUSED', intent: 'running', admission: 'cordoned' }],
  ] as const)('has one that was %s so again', async (_what, verb, expected) => {
    const stateDir = stateFolder()
    const first = await catalogHost({ stateDir })
    await install(first)
    if (verb !== null) await first.finish(first.host.command('greeter', verb))
    const before = snapshot(first)
    const kit = await again(first, stateDir)
    expect(snapshot(kit)).toMatchObject({ ...expected, supervisor: 'catalog', generation: before.generation })
    const third = await again(kit, stateDir)
    expect(snapshot(third)).toMatchObject(expected)
  })

  it('starts what says autostart and was never wanted otherwise, and leaves the rest', async () => {
    const stateDir = stateFolder()
    const first = await catalogHost({ stateDir })
    await install(first, 'sleeper', '1.0.0', { autostart: false })
    const kit = await again(first, stateDir)
    expect(snapshot(kit, 'sleeper')).toMatchObject({ phase: 'IDLE', generation: 0 })
  })

  it('takes the version that is installed, also where the one before was still running', async () => {
    const stateDir = stateFolder()
    const first = await catalogHost({ stateDir })
    await install(first)
    await install(first, 'greeter', '1.1.0')
    expect(snapshot(first).version).toBe('1.0.0')
    const kit = await again(first, stateDir)
    expect(snapshot(kit)).toMatchObject({ version: '1.1.0', status: 'Running' })
  })

  it('does not need what it was installed from', async () => {
    const stateDir = stateFolder()
    const first = await catalogHost({ stateDir })
    const source = packageFolder(agentFiles('greeter'))
    await first.finish(first.host.catalog.install(source))
    rmSync(source, { recursive: true })
    expect(snapshot(await again(first, stateDir)).status).toBe('Running')
  })

  it('keeps channels and schedules of one that does not run', async () => {
    const stateDir = stateFolder()
    const first = await catalogHost({ stateDir })
    const more = { channels: ['news'], schedules: [{ id: 'tick', everyMs: 3_600_000, event: 'tick' }] }
    await install(first, 'greeter', '1.0.0', more)
    await first.finish(first.host.command('greeter', 'suspend'))
    const kit = await again(first, stateDir)
    expect(kit.host.detail('greeter').channels).toEqual(['news'])
    expect(kit.host.schedules('greeter')).toMatchObject([{ id: 'tick' }])
  })

  it('has them after the agents of holt.yml, and shows no supervisor of theirs where there is none', async () => {
    const stateDir = stateFolder()
    const fleet = { children: [{ agent: { id: 'walker', name: 'Walker' } }] }
    const first = await catalogHost({ stateDir, fleet })
    expect(first.host.tree().children).toMatchObject([{ id: 'walker' }])
    for (const id of ['zebra', 'ant']) await install(first, id)
    await first.close()
    const kit = await catalogHost({ stateDir, fleet })
    expect(kit.host.agents().map(({ id }) => id)).toEqual(['walker', 'ant', 'zebra'])
    expect(kit.host.tree().children).toMatchObject([
      { id: 'walker' },
      { id: 'catalog', children: [{ id: 'ant' }, { id: 'zebra' }] },
    ])
  })
})

describe('a stop of what is above', () => {
  it.each(['catalog', 'root'])(
    'of %s ends the installed agents, and takes none out; a start brings them back',
    async (above) => {
      const stateDir = stateFolder()
      const kit = await catalogHost({ stateDir })
      await install(kit)
      await install(kit, 'other')
      await kit.finish(kit.host.command('other', 'suspend'))
      await kit.finish(kit.host.command(above, 'stop'))
      expect(snapshot(kit)).toMatchObject({ phase: 'STOPPED', intent: 'running' })
      expect(kit.host.agents()).toHaveLength(2)
      await kit.finish(kit.host.command(above, 'start'))
      expect(snapshot(kit)).toMatchObject({ status: 'Running' })
      expect(snapshot(kit, 'other')).toMatchObject({ phase: 'STOPPED', intent: 'suspended' })
      expect(snapshot(await again(kit, stateDir)).status).toBe('Running')
    },
  )

  it('an install starts the supervisor again with the agent', async () => {
    const kit = await catalogHost()
    await install(kit)
    await kit.finish(kit.host.command('catalog', 'stop'))
    await install(kit, 'other')
    expect(snapshot(kit, 'other').status).toBe('Running')
    expect(snapshot(kit).phase).toBe('STOPPED')
  })

  it('the end of a temporary one takes it out of nothing', async () => {
    const behaviours = { greeter: { role: { events: { die: () => Promise.reject(new Error('bang')) } } } }
    const kit = await catalogHost({ behaviours })
    await install(kit, 'greeter', '1.0.0', { restart: { type: 'temporary' } })
    kit.host.agent('greeter').tell('die')
    await kit.advance(60_000)
    expect(snapshot(kit)).toMatchObject({ phase: 'STOPPED', status: 'Stopped' })
    expect(kit.host.catalog.list()).toMatchObject([{ status: 'Stopped' }])
  })
})

describe('what a host finds damaged', () => {
  it.each([
    ['files that are gone', (dir: string) => rmSync(dir, { recursive: true })],
    ['a manifest that is wrong', (dir: string) => writeFileSync(join(dir, 'agent.yml'), 'id: 1')],
    ['another id in the manifest', (dir: string) => writeFiles(dir, agentFiles('other'))],
  ])('%s: a member that does not boot and says why; an install mends it', async (_what, damage) => {
    const stateDir = stateFolder()
    const first = await catalogHost({ stateDir })
    const { dir } = await install(first)
    await install(first, 'fine')
    await first.close()
    damage(dir)
    const kit = await catalogHost({ stateDir })
    expect(snapshot(kit)).toMatchObject({ phase: 'FAILED', lastDeath: { cause: 'boot_failed', step: 'manifest' } })
    expect(snapshot(kit, 'fine').status).toBe('Running')
    await expect(kit.finish(kit.host.command('greeter', 'start'))).rejects.toMatchObject({ code: 'BootFailed' })
    expect(await install(kit)).toMatchObject({ change: 'replaced', dir })
    await kit.finish(kit.host.command('greeter', 'start'))
    expect(snapshot(kit).status).toBe('Running')
  })

  it('what a crash left is swept away: drafts, what was put aside, folders and versions without a word in the store', async () => {
    const stateDir = stateFolder()
    const first = await catalogHost({ stateDir })
    const { dir } = await install(first)
    await first.close()
    const root = join(stateDir, 'catalog')
    for (const left of [
      '.new-abc/package/x',
      '.old-abc/1.0.0/x',
      'nobody/1.0.0-123/x',
      'greeter/0.9.0-123/x',
      'greeter/.x',
    ])
      writeFiles(root, { [left]: 'left' })
    writeFileSync(join(root, 'stray'), '')
    const kit = await catalogHost({ stateDir })
    expect(readdirSync(root)).toEqual(['greeter'])
    expect(foldersOf(stateDir)).toEqual([dir.slice(root.length + 1)])
    expect(readFileSync(join(dir, 'agent.yml'), 'utf8')).toContain('greeter')
    expect(snapshot(kit).status).toBe('Running')
  })
})
