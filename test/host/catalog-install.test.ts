/** Installing: what becomes of the files, of the agent, and of the version before. */
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { TestHost } from '../../src/testkit/test-host.ts'
import {
  agentFiles,
  catalogHost,
  contentsOf,
  entriesOf,
  type Files,
  foldersOf,
  packageFolder,
  stateFolder,
  tarOf,
  tempFolder,
  writeTarball,
} from './packages.ts'

const install = (kit: TestHost, files: Files, options = {}) =>
  kit.finish(kit.host.catalog.install(packageFolder(files), options))
const snapshot = (kit: TestHost, id = 'greeter') => kit.host.agent(id).snapshot()

describe('a fresh install', () => {
  it('copies the files for their owner alone, makes the agent a member and starts it', async () => {
    const stateDir = stateFolder()
    const kit = await catalogHost({ stateDir })
    const source = packageFolder(agentFiles('greeter', '1.2.0', {}, { 'data/words.txt': 'hello' }))
    const answer = await kit.finish(kit.host.catalog.install(source, { by: 'ann' }))
    expect(answer).toEqual({
      name: 'greeter',
      version: '1.2.0',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      dir: join(stateDir, 'catalog', 'greeter', `1.2.0-${answer.digest.slice(0, 12)}`),
      change: 'installed',
      replaced: null,
      runsOn: null,
      files: 3,
      bytes: expect.any(Number),
      leftOut: [],
      starts: true,
      notStarted: null,
      dryRun: false,
    })
    expect(contentsOf(answer.dir)).toMatchObject({ data: '700 /', 'data/words.txt': '600 hello', roles: '700 /' })
    expect(statSync(join(stateDir, 'catalog')).mode & 0o777).toBe(0o700)
    expect(foldersOf(stateDir)).toEqual([`greeter/1.2.0-${answer.digest.slice(0, 12)}`])
    expect(snapshot(kit)).toMatchObject({ status: 'Running', version: '1.2.0', supervisor: 'catalog', generation: 1 })
    expect(kit.host.tree().children).toMatchObject([{ id: 'catalog', children: [{ id: 'greeter' }] }])
    expect(kit.host.catalog.list()).toEqual([
      {
        name: 'greeter',
        version: '1.2.0',
        source,
        installedAt: expect.any(Number),
        digest: answer.digest,
        dir: answer.dir,
        status: 'Running',
        runningVersion: '1.2.0',
        fault: null,
      },
    ])
  })

  it('keeps a file that may be run so', async () => {
    const kit = await catalogHost()
    const source = packageFolder(agentFiles('greeter', '1.0.0', {}, { 'bin/run': '#!' }))
    chmodSync(join(source, 'bin/run'), 0o755)
    const answer = await kit.finish(kit.host.catalog.install(source))
    expect(contentsOf(answer.dir)['bin/run']).toBe('700 #!')
    // That it may be run is a part of what it is.
    chmodSync(join(source, 'bin/run'), 0o644)
    expect(await kit.finish(kit.host.catalog.install(source))).toMatchObject({ change: 'replaced' })
  })

  it.each([
    ['npm, with package/', 'agent.tgz', 'package/'],
    ['tar, with the folder it was in', 'agent.tar.gz', 'greeter-main/'],
    ['tar, of what is in the folder', 'agent.tar', './'],
    ['tar, without any prefix', 'agent.tar', ''],
  ])('from a tarball as of %s', async (_of, name, prefix) => {
    const kit = await catalogHost()
    const files = agentFiles('greeter', '1.0.0', {}, { [`data/${'long-'.repeat(30)}name.txt`]: 'hello' })
    const answer = await kit.finish(kit.host.catalog.install(writeTarball(tarOf(entriesOf(files, prefix)), name)))
    expect(answer).toMatchObject({ name: 'greeter', files: 3, change: 'installed' })
    expect(snapshot(kit).status).toBe('Running')
    // The same files have the same digest, whatever they came in.
    const again = await install(kit, files)
    expect(again).toMatchObject({ digest: answer.digest, change: 'none' })
  })

  it('does not start one that says autostart: false', async () => {
    const kit = await catalogHost()
    expect(await install(kit, agentFiles('greeter', '1.0.0', { autostart: false }))).toMatchObject({ starts: false })
    expect(snapshot(kit)).toMatchObject({ phase: 'IDLE', generation: 0 })
    await kit.finish(kit.host.command('greeter', 'start'))
    expect(snapshot(kit).status).toBe('Running')
  })

  it('stands when the first boot fails, and says why it does not run', async () => {
    const kit = await catalogHost({ behaviours: { greeter: { boot: { step: 'needs', error: new Error('no way') } } } })
    const answer = await install(kit, agentFiles('greeter'))
    expect(answer).toMatchObject({ change: 'installed', starts: true, notStarted: expect.stringContaining('no way') })
    expect(snapshot(kit)).toMatchObject({ phase: 'FAILED', intent: 'running' })
    expect(kit.host.catalog.list()).toMatchObject([{ name: 'greeter', status: 'Stopped', runningVersion: null }])
  })

  it('is supervised: what dies comes back', async () => {
    const kit = await catalogHost({
      behaviours: { greeter: { role: { events: { die: () => Promise.reject(new Error()) } } } },
    })
    await install(kit, agentFiles('greeter'))
    const before = snapshot(kit).instance?.id
    kit.host.agent('greeter').tell('die')
    await kit.settle()
    await kit.advance(10)
    expect(snapshot(kit)).toMatchObject({ status: 'Running', restarts: 1 })
    expect(snapshot(kit).instance?.id).not.toBe(before)
  })

  it('takes over channels and schedules, also of one that does not run', async () => {
    const kit = await catalogHost()
    const more = { autostart: false, channels: ['news'], schedules: [{ id: 'tick', everyMs: 60_000, event: 'tick' }] }
    await install(kit, agentFiles('greeter', '1.0.0', more))
    await kit.settle()
    expect(kit.host.schedules('greeter')).toMatchObject([{ id: 'tick', event: 'tick' }])
    expect(kit.host.detail('greeter').channels).toEqual(['news'])
  })

  it('keeps what was wanted of an agent of that id before', async () => {
    const stateDir = stateFolder()
    const first = await catalogHost({ stateDir, fleet: { children: [{ agent: { id: 'greeter', name: 'Greeter' } }] } })
    await first.finish(first.host.command('greeter', 'suspend'))
    await first.close()
    const kit = await catalogHost({ stateDir })
    expect(await install(kit, agentFiles('greeter'))).toMatchObject({ starts: false })
    expect(snapshot(kit)).toMatchObject({ phase: 'STOPPED', intent: 'suspended' })
  })

  it('waits its turn where two are asked for at once', async () => {
    const kit = await catalogHost()
    const both = Promise.all(['one', 'two'].map((id) => kit.host.catalog.install(packageFolder(agentFiles(id)))))
    expect(await kit.finish(both)).toMatchObject([{ change: 'installed' }, { change: 'installed' }])
    expect(kit.host.agents().map(({ id }) => id)).toEqual(['one', 'two'])
  })

  it('of the same agent twice at once is one, and one that changes nothing', async () => {
    const kit = await catalogHost()
    const source = packageFolder(agentFiles('greeter'))
    const both = Promise.all([kit.host.catalog.install(source), kit.host.catalog.install(source)])
    expect(await kit.finish(both)).toMatchObject([{ change: 'installed' }, { change: 'none', starts: false }])
  })

  it('of a host in memory is in a folder that goes with it', async () => {
    const kit = await catalogHost({ stateDir: ':memory:' })
    const { dir } = await install(kit, agentFiles('greeter'))
    expect(existsSync(join(dir, 'agent.yml'))).toBe(true)
    await kit.close()
    expect(existsSync(dir)).toBe(false)
  })
})

describe('another version', () => {
  it('takes the place of the files, and leaves the instance that runs alone (until stop and start)', async () => {
    const stateDir = stateFolder()
    const kit = await catalogHost({ stateDir })
    await install(kit, agentFiles('greeter', '1.0.0'))
    const { instance } = snapshot(kit)
    const answer = await install(kit, agentFiles('greeter', '1.1.0'))
    expect(answer).toMatchObject({ change: 'replaced', replaced: '1.0.0', runsOn: '1.0.0', starts: false })
    expect(snapshot(kit)).toMatchObject({ version: '1.0.0', status: 'Running', instance: { id: instance?.id } })
    expect(foldersOf(stateDir)).toEqual([`greeter/1.1.0-${answer.digest.slice(0, 12)}`])
    expect(kit.host.catalog.list()).toMatchObject([{ version: '1.1.0', runningVersion: '1.0.0' }])
    await kit.finish(kit.host.command('greeter', 'stop'))
    await kit.finish(kit.host.command('greeter', 'start'))
    expect(snapshot(kit)).toMatchObject({ version: '1.1.0', status: 'Running' })
    expect(kit.host.catalog.list()).toMatchObject([{ version: '1.1.0', runningVersion: '1.1.0' }])
  })

  it('of one that does not run is what it is at once, and changes no intent', async () => {
    const kit = await catalogHost()
    await install(kit, agentFiles('greeter', '1.0.0'))
    await kit.finish(kit.host.command('greeter', 'suspend', { by: 'ann' }))
    const { generation } = snapshot(kit)
    const answer = await install(kit, agentFiles('greeter', '2.0.0', { channels: ['news'] }))
    expect(answer).toMatchObject({ change: 'replaced', replaced: '1.0.0', runsOn: null, starts: false })
    await kit.settle()
    expect(snapshot(kit)).toMatchObject({ version: '2.0.0', phase: 'STOPPED', intent: 'suspended', generation })
    expect(kit.host.detail('greeter').channels).toEqual(['news'])
    await kit.finish(kit.host.command('greeter', 'activate'))
    expect(snapshot(kit)).toMatchObject({ version: '2.0.0', status: 'Running' })
  })

  it('keeps what waits for the agent', async () => {
    const kit = await catalogHost()
    await install(kit, agentFiles('greeter', '1.0.0'))
    await kit.finish(kit.host.command('greeter', 'suspend'))
    kit.host.agent('greeter').tell('hello')
    await install(kit, agentFiles('greeter', '1.1.0'))
    expect(snapshot(kit).mailbox.depth).toBe(1)
  })

  it('may be an older one, or the same number with other files', async () => {
    const stateDir = stateFolder()
    const kit = await catalogHost({ stateDir })
    await install(kit, agentFiles('greeter', '2.0.0'))
    expect(await install(kit, agentFiles('greeter', '1.0.0'))).toMatchObject({ change: 'replaced', replaced: '2.0.0' })
    const answer = await install(kit, agentFiles('greeter', '1.0.0', {}, { 'more.txt': '' }))
    expect(answer).toMatchObject({ change: 'replaced', replaced: '1.0.0' })
    expect(foldersOf(stateDir)).toHaveLength(1)
  })

  it('is none where it is the very same: nothing is written', async () => {
    const stateDir = stateFolder()
    const kit = await catalogHost({ stateDir })
    const { dir } = await install(kit, agentFiles('greeter'))
    const before = { list: kit.host.catalog.list(), inode: statSync(dir).ino }
    expect(await install(kit, agentFiles('greeter'))).toMatchObject({ change: 'none', replaced: null, starts: false })
    expect({ list: kit.host.catalog.list(), inode: statSync(dir).ino }).toEqual(before)
    expect(readdirSync(join(stateDir, 'catalog'))).toEqual(['greeter'])
  })

  it.each(['changed', 'gone'])('mends files that have been %s', async (what) => {
    const stateDir = stateFolder()
    const kit = await catalogHost({ stateDir })
    const { dir } = await install(kit, agentFiles('greeter', '1.0.0', {}, { 'words.txt': 'hello' }))
    if (what === 'gone') rmSync(dir, { recursive: true })
    else writeFileSync(join(dir, 'words.txt'), 'spoilt')
    const answer = await install(kit, agentFiles('greeter', '1.0.0', {}, { 'words.txt': 'hello' }))
    expect(answer).toMatchObject({ change: 'replaced', replaced: '1.0.0', dir })
    expect(readFileSync(join(dir, 'words.txt'), 'utf8')).toBe('hello')
    expect(readdirSync(join(stateDir, 'catalog'))).toEqual(['greeter'])
  })
})

describe('secrets', () => {
  const withSecrets = (version: string): Files =>
    agentFiles(
      'greeter',
      version,
      {},
      { '.env': 'KEY=theirs', '.env.local': 'A=1', 'lib/.env': 'B=2', '.git/HEAD': 'ref' },
    )

  it('are left out, and that is said', async () => {
    const kit = await catalogHost()
    const folder = await install(kit, withSecrets('1.0.0'))
    expect(folder.leftOut).toEqual(['.env', '.env.local', '.git', 'lib/.env'])
    expect(Object.keys(contentsOf(folder.dir))).not.toContain('.env')
    const tarball = await kit.finish(kit.host.catalog.install(writeTarball(tarOf(entriesOf(withSecrets('1.1.0'))))))
    expect(tarball.leftOut).toEqual(['package/.env', 'package/.env.local', 'package/.git', 'package/lib/.env'])
    expect(Object.keys(contentsOf(tarball.dir)).sort()).toEqual(['agent.yml', 'roles', 'roles/role.ts'])
  })

  it("of the operator's own, put beside what is installed, stay over versions and damage nothing", async () => {
    const kit = await catalogHost()
    const { dir } = await install(kit, withSecrets('1.0.0'))
    writeFileSync(join(dir, '.env'), 'KEY=ours', { mode: 0o600 })
    expect(await install(kit, withSecrets('1.0.0'))).toMatchObject({ change: 'none' })
    const next = await install(kit, withSecrets('1.1.0'))
    expect(contentsOf(next.dir)['.env']).toBe('600 KEY=ours')
    const secret = join(tempFolder(), 'secret')
    writeFileSync(secret, 'KEY=elsewhere')
    rmSync(join(next.dir, '.env'))
    symlinkSync(secret, join(next.dir, '.env'))
    expect(readlinkSync(join((await install(kit, withSecrets('1.2.0'))).dir, '.env'))).toBe(secret)
  })
})

describe('a dry run', () => {
  it('says what would be installed, and leaves no trace', async () => {
    const stateDir = stateFolder()
    const kit = await catalogHost({ stateDir })
    const before = contentsOf(stateDir)
    const answer = await install(kit, agentFiles('greeter'), { dryRun: true })
    expect(answer).toMatchObject({ change: 'installed', starts: true, dryRun: true, files: 2 })
    expect(Object.keys(contentsOf(stateDir))).toEqual(Object.keys(before))
    expect(existsSync(join(stateDir, 'catalog'))).toBe(false)
    expect(kit.host.catalog.list()).toEqual([])
    expect(kit.host.agents()).toEqual([])
  })

  it('of another version changes nothing either', async () => {
    const stateDir = stateFolder()
    const kit = await catalogHost({ stateDir })
    await install(kit, agentFiles('greeter', '1.0.0'))
    const before = { list: kit.host.catalog.list(), files: contentsOf(join(stateDir, 'catalog')) }
    const answer = await install(kit, agentFiles('greeter', '2.0.0'), { dryRun: true })
    expect(answer).toMatchObject({ change: 'replaced', replaced: '1.0.0', runsOn: '1.0.0', version: '2.0.0' })
    expect({ list: kit.host.catalog.list(), files: contentsOf(join(stateDir, 'catalog')) }).toEqual(before)
  })

  it('refuses what an install refuses', async () => {
    const kit = await catalogHost()
    await expect(install(kit, { 'agent.yml': 'id: 1' }, { dryRun: true })).rejects.toMatchObject({
      code: 'InvalidManifest',
    })
  })
})
