/** Installed agents in real threads: compiled, bundled with what they bring along, and started anew with another version. */
import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../src/testkit/eventually.ts'
import { hostFleet, openFleet, role } from '../fleet-on-disk.ts'
import { HAND } from './hand.ts'
import { agentFiles, entriesOf, packageFolder, stateFolder, tarOf, writeFiles, writeTarball } from './packages.ts'

const FLEET = { agents: { hand: { role: HAND } } }
const pack = (...args: Parameters<typeof agentFiles>): string => writeTarball(tarOf(entriesOf(agentFiles(...args))))

describe('an installed agent', () => {
  it('answers by the version it was started with, and by the new one after stop and start', async () => {
    const host = await hostFleet(FLEET, { stateDir: stateFolder() })
    await host.catalog.install(pack('greeter', '1.0.0'))
    const greeter = host.agent('greeter')
    expect(await greeter.ask('version')).toBe('1.0.0')
    expect(await host.catalog.install(pack('greeter', '2.0.0'))).toMatchObject({ runsOn: '1.0.0' })
    expect(await greeter.ask('version')).toBe('1.0.0')
    // The files it was started from are gone; it is brought back by what it was started with.
    await greeter.kill()
    await eventually(() => greeter.phase === 'ACTIVE', 'its restart')
    expect(await greeter.ask('version')).toBe('1.0.0')
    await greeter.stop()
    await greeter.start()
    expect(await greeter.ask('version')).toBe('2.0.0')
    await greeter.suspend()
    await host.catalog.uninstall('greeter')
    expect(host.agents().map(({ id }) => id)).toEqual(['hand'])
  })

  it('brings its own packages, and reads its own files by where it is', async () => {
    const host = await hostFleet(FLEET)
    const text = role(
      `commands: { say: { handle: () => word + readFileSync(new URL('../data/end.txt', import.meta.url), 'utf8') } }`,
      [`import { readFileSync } from 'node:fs'`, `import word from 'word'`].join('\n'),
    )
    const files = agentFiles(
      'greeter',
      '1.0.0',
      {},
      {
        'roles/role.ts': text,
        'data/end.txt': '!',
        'node_modules/word/package.json': '{"name":"word","main":"index.js"}',
        'node_modules/word/index.js': `module.exports = 'hello'`,
      },
    )
    await host.catalog.install(packageFolder(files))
    expect(await host.agent('greeter').ask('say')).toBe('hello!')
  })

  it('may be installed from a folder of the fleet', async () => {
    const host = await hostFleet(FLEET)
    const source = writeFiles(`${host.fleetDir}/spare`, agentFiles('greeter'))
    await host.catalog.install(source)
    expect(await host.agent('greeter').ask('version')).toBe('1.0.0')
  })

  it('is refused where a role does not compile, by the file of whoever asked; the version before runs on', async () => {
    const host = await hostFleet(FLEET, { stateDir: stateFolder() })
    const { dir } = await host.catalog.install(pack('greeter', '1.0.0'))
    const source = packageFolder(
      agentFiles('greeter', '2.0.0', {}, { 'roles/role.ts': 'export default {\n  name: \n' }),
    )
    await expect(host.catalog.install(source)).rejects.toMatchObject({
      code: 'BootFailed',
      message: expect.stringContaining(`${source}/roles/role.ts:3:1`),
      details: { step: 'compile', errors: [{ file: `${source}/roles/role.ts` }] },
    })
    await expect(host.catalog.install(source, { dryRun: true })).rejects.toMatchObject({ code: 'BootFailed' })
    const outside = packageFolder(
      agentFiles('greeter', '2.0.0', {}, { 'roles/role.ts': `import '../../../shared.ts'\n` }),
    )
    await expect(host.catalog.install(outside)).rejects.toMatchObject({ code: 'BootFailed' })
    expect(existsSync(dir)).toBe(true)
    expect(await host.agent('greeter').ask('version')).toBe('1.0.0')
  })

  it('of which a role throws when it is loaded is installed, and says so', async () => {
    const host = await hostFleet(FLEET)
    const files = agentFiles(
      'greeter',
      '1.0.0',
      { restart: { backoff: 'none', maxRestarts: 0 } },
      { 'roles/role.ts': `throw new Error('not today')` },
    )
    const answer = await host.catalog.install(packageFolder(files))
    expect(answer).toMatchObject({ change: 'installed', notStarted: expect.stringContaining('not today') })
    expect(host.catalog.list()).toMatchObject([{ name: 'greeter', runningVersion: null }])
  })
})

it('an install waits for the host to have read its catalog', async () => {
  const host = await openFleet(FLEET)
  let done = false
  const installed = host.catalog.install(packageFolder(agentFiles('greeter'))).finally(() => {
    done = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(done).toBe(false)
  await host.start()
  expect(await installed).toMatchObject({ change: 'installed', notStarted: null })
})

it('an install that the end of the host comes before is refused', async () => {
  const host = await openFleet(FLEET)
  const refused = expect(host.catalog.install(packageFolder(agentFiles('greeter')))).rejects.toMatchObject({
    code: 'ShuttingDown',
  })
  await host.shutdown()
  await refused
})

it('an end of the host waits for an install under way, which is done or refused', async () => {
  const stateDir = stateFolder()
  const host = await hostFleet(FLEET, { stateDir })
  const installed = host.catalog.install(pack('greeter')).then(
    () => 'done',
    (error: { code: string }) => error.code,
  )
  await host.shutdown()
  expect(['done', 'ShuttingDown']).toContain(await installed)
  const next = await hostFleet(FLEET, { stateDir })
  expect(next.catalog.list()).toHaveLength((await installed) === 'done' ? 1 : 0)
})
