/** What is not installed: the reason is told, and nothing has changed. And names, which are no way out of the catalog. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { TestHost } from '../../src/testkit/test-host.ts'
import {
  agentFiles,
  catalogHost,
  type Files,
  foldersOf,
  packageFolder,
  stateFolder,
  tempFolder,
  writeFiles,
} from './packages.ts'

const install = (kit: TestHost, files: Files) => kit.finish(kit.host.catalog.install(packageFolder(files)))

describe('refused, with everything as it was', () => {
  const refusal = async (kit: TestHost, source: string) => {
    const error = await kit.finish(kit.host.catalog.install(source)).catch((thrown: unknown) => thrown)
    expect(kit.host.catalog.list()).toEqual([])
    return error as { code: string; message: string }
  }

  it('nothing at all, and what is no folder and no tarball', async () => {
    const kit = await catalogHost()
    const dir = tempFolder()
    expect(await refusal(kit, join(dir, 'nowhere'))).toMatchObject({
      code: 'InvalidInput',
      message: `${join(dir, 'nowhere')}: expected a folder or a tarball, found nothing (ENOENT)`,
    })
    writeFiles(dir, { 'text.tgz': 'this is no tarball', 'empty.tgz': '', 'empty/x': '' })
    for (const name of ['text.tgz', 'empty.tgz'])
      expect(await refusal(kit, join(dir, name))).toMatchObject({
        code: 'InvalidInput',
        message: expect.stringContaining('expected a tarball'),
      })
    expect(await refusal(kit, '/dev/null')).toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining('found neither'),
    })
    expect(await refusal(kit, join(dir, 'empty'))).toMatchObject({
      code: 'InvalidInput',
      message: `${join(dir, 'empty')}: expected an agent.yml at the top, or in the one folder there, found x`,
    })
  })

  it('a manifest with faults, named by the file of whoever asked', async () => {
    const kit = await catalogHost()
    const source = packageFolder({ 'agent.yml': 'id: greeter\nname: Greeter\nrestrat: always\n', 'roles/a.ts': '' })
    const error = await refusal(kit, source)
    expect(error.code).toBe('InvalidManifest')
    expect(error.message).toContain(`${source}/agent.yml:3:1: restrat: expected`)
    expect(JSON.stringify(error)).not.toContain('.new-')
  })

  it('a schedule that never comes (impossible dates)', async () => {
    const kit = await catalogHost()
    const source = packageFolder(
      agentFiles('greeter', '1.0.0', { schedules: [{ id: 'x', cron: '0 0 30 2 *', event: 'x' }] }),
    )
    expect(await refusal(kit, source)).toMatchObject({ code: 'InvalidManifest' })
  })

  it('a capability that the host does not lend', async () => {
    const kit = await catalogHost()
    const source = packageFolder(agentFiles('greeter', '1.0.0', { capabilities: [{ id: 'text', allow: ['tokens'] }] }))
    expect(await refusal(kit, source)).toMatchObject({ code: 'GateRefused', message: expect.stringContaining('text') })
  })

  it('the id of an agent or a supervisor of holt.yml', async () => {
    const kit = await catalogHost({
      fleet: { children: [{ agent: { id: 'greeter', name: 'G' } }, { supervisor: { id: 'inner' }, children: [] }] },
    })
    for (const id of ['greeter', 'inner', 'root', 'catalog'])
      expect(await refusal(kit, packageFolder(agentFiles(id)))).toMatchObject({
        code: 'IdTaken',
        message: expect.stringContaining(`the fleet has '${id}' already`),
      })
  })

  it('anything where the root is dynamic: what is added to it does not stay', async () => {
    const kit = await catalogHost({ fleet: { supervisor: { id: 'pool', strategy: 'dynamic' } } })
    expect(await refusal(kit, packageFolder(agentFiles('greeter')))).toMatchObject({
      code: 'NoSuchSupervisor',
      message: expect.stringContaining("supervisor 'pool' is dynamic"),
    })
    expect(kit.host.tree()).toMatchObject({ id: 'pool', children: [] })
  })

  it('more agents than the host may have', async () => {
    const kit = await catalogHost({ fleet: { children: [{ agent: { id: 'first', name: 'F' } }] }, maxAgents: 1 })
    expect(await refusal(kit, packageFolder(agentFiles('greeter')))).toMatchObject({ code: 'TooManyChildren' })
  })

  it('a folder with the catalog in it, which would be copied into itself', async () => {
    const stateDir = stateFolder()
    const kit = await catalogHost({ stateDir })
    const source = join(stateDir, '..')
    writeFiles(source, agentFiles('greeter'))
    expect(await refusal(kit, source)).toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining('the catalog itself in it'),
    })
  })

  it('anything once the host is on its way out', async () => {
    const kit = await catalogHost()
    await kit.close()
    await expect(install(kit, agentFiles('greeter'))).rejects.toMatchObject({ code: 'ShuttingDown' })
  })
})

describe('names (C154, C155)', () => {
  it.each([
    '../../x',
    '..',
    '.',
    '/etc',
    'a/../../b',
    '.hidden',
    '\u{1f984}',
    'x'.repeat(64),
    '1.0.0-rc.1+build.5',
    '  ',
  ])('of a version %j are no way out of the catalog', async (version) => {
    const stateDir = stateFolder()
    const kit = await catalogHost({ stateDir })
    const outside = readdirSync(join(stateDir, '..'))
    const answer = await install(kit, agentFiles('greeter', version)).catch(
      (error: unknown) => error as { code: string },
    )
    if ('code' in answer) expect(answer.code).toBe('InvalidManifest')
    else {
      expect(foldersOf(stateDir)).toEqual([answer.dir.slice(join(stateDir, 'catalog/').length)])
      expect(kit.host.agent('greeter').snapshot()).toMatchObject({ status: 'Running', version })
    }
    expect(readdirSync(join(stateDir, '..'))).toEqual(outside)
  })

  it.each(['../x', 'a/b', 'A', '__proto__', 'constructor', '.new-x', 'x'.repeat(64), ''])(
    'of an agent %j: one rule for all doors',
    async (id) => {
      const kit = await catalogHost()
      const outcome = await install(kit, agentFiles(id)).catch((error: unknown) => error as { code: string })
      if (id === 'constructor') expect(outcome).toMatchObject({ name: 'constructor' })
      else expect(outcome).toMatchObject({ code: 'InvalidManifest' })
    },
  )
})
