/** Uninstalling: when it is refused, and that nothing of the agent is left when it is not. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { HoltError } from '../../src/model/error.ts'
import { Store } from '../../src/store/store.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import type { TestHost, TestHostOptions } from '../../src/testkit/test-host.ts'
import {
  agentFiles,
  catalogHost,
  contentsOf,
  foldersOf,
  packageFolder,
  stateFolder,
  tempFolder,
  writeFiles,
} from './packages.ts'
import { fillState, rowsOf } from './rows-of-agent.ts'

/** A host with `greeter` installed. */
async function withGreeter(options: Partial<TestHostOptions> = {}): Promise<TestHost> {
  const kit = await catalogHost(options)
  await kit.finish(kit.host.catalog.install(packageFolder(agentFiles('greeter'))))
  return kit
}

const uninstall = (kit: TestHost, name = 'greeter', options = {}) =>
  kit.finish(kit.host.catalog.uninstall(name, options))
const command = (kit: TestHost, verb: 'suspend' | 'stop' | 'start' | 'pause') =>
  kit.finish(kit.host.command('greeter', verb))

/** Takes over the commit that takes an agent out of the store. */
function onRemoval(call: (work: () => Promise<unknown>) => Promise<unknown>) {
  const { write } = Store.prototype
  const taken = function (this: Store, work: Parameters<typeof write>[0]) {
    const commit = (): Promise<unknown> => write.call(this, work)
    return String(work).includes('tx.catalog.remove') ? call(commit) : commit()
  }
  return vi.spyOn(Store.prototype, 'write').mockImplementation(taken as typeof write)
}

describe('it is refused', () => {
  it.each([
    ['ACTIVE', {}, async () => {}],
    ['PAUSED', {}, (kit: TestHost) => command(kit, 'pause')],
    ['BOOTING', { boot: 'never' }, async () => {}],
  ] as const)('while the agent is %s, naming the command to use', async (phase, behaviour, arrange) => {
    const kit = await catalogHost({ behaviours: { greeter: behaviour } })
    const installed = kit.host.catalog.install(packageFolder(agentFiles('greeter')))
    if (phase === 'BOOTING') await kit.settle()
    else await kit.finish(installed)
    await arrange(kit)
    expect(kit.host.agent('greeter').phase).toBe(phase)
    await expect(kit.host.catalog.uninstall('greeter')).rejects.toMatchObject({
      code: 'InvalidCommand',
      message: `Cannot uninstall agent 'greeter' in ${phase}. Suspend it first: holt suspend greeter`,
    })
    expect(kit.host.agent('greeter').phase).toBe(phase)
    expect(kit.host.catalog.list()).toHaveLength(1)
    installed.catch(() => {})
  })

  it('while a start is scheduled', async () => {
    const crash = { role: { events: { die: () => Promise.reject(new Error('bang')) } } }
    const kit = await withGreeter({ behaviours: { greeter: crash } })
    for (let death = 1; death <= 2; death++) {
      kit.host.agent('greeter').tell('die')
      await kit.advance(10)
    }
    expect(kit.host.agent('greeter').snapshot()).toMatchObject({ phase: 'STOPPED', nextRestartAt: expect.any(Number) })
    await expect(uninstall(kit)).rejects.toMatchObject({
      code: 'InvalidCommand',
      message:
        "Cannot uninstall agent 'greeter' in STOPPED with a start scheduled. Suspend it first: holt suspend greeter",
    })
  })

  it('while it is on its way down: then there is nothing to do but wait', async () => {
    const kit = await withGreeter({ behaviours: { greeter: { stubborn: true } } })
    const stopped = kit.host.command('greeter', 'stop')
    await kit.settle()
    expect(kit.host.agent('greeter').phase).toBe('STOPPING')
    await expect(kit.host.catalog.uninstall('greeter')).rejects.toMatchObject({ code: 'AgentBusy' })
    await kit.finish(stopped)
    expect(await uninstall(kit)).toMatchObject({ name: 'greeter' })
  })

  it('for an agent of holt.yml', async () => {
    const kit = await catalogHost({
      fleet: { children: [{ agent: { id: 'walker', name: 'Walker', autostart: false } }] },
    })
    await expect(uninstall(kit, 'walker')).rejects.toMatchObject({
      code: 'InvalidCommand',
      message: expect.stringContaining("'walker' is part of the fleet's holt.yml, not of the catalog"),
    })
    expect(kit.host.agents()).toHaveLength(1)
  })

  it('for one that was added at run time, and for a supervisor', async () => {
    const baseDir = tempFolder()
    writeFiles(join(baseDir, 'walker'), agentFiles('walker'))
    const fleet = { children: [{ supervisor: { id: 'pool', strategy: 'dynamic' as const } }] }
    const kit = await catalogHost({ fleet, baseDir })
    await kit.finish(kit.host.spawn('pool', { agent: 'walker' }))
    await expect(uninstall(kit, 'walker')).rejects.toMatchObject({
      code: 'InvalidCommand',
      message: "'walker' was added to supervisor 'pool' at run time, not by the catalog. It goes when it has ended",
    })
    await expect(uninstall(kit, 'pool')).rejects.toMatchObject({ code: 'InvalidCommand' })
  })

  it.each(['greter', '__proto__', 'constructor', '..', '', '../catalog'])(
    'for %j, which is not there',
    async (name) => {
      const stateDir = stateFolder()
      const kit = await withGreeter({ stateDir })
      await command(kit, 'suspend')
      const before = contentsOf(join(stateDir, 'catalog'))
      await expect(uninstall(kit, name)).rejects.toMatchObject({
        code: 'NoSuchAgent',
        message: expect.stringContaining(name === 'greter' ? "Did you mean 'greeter'?" : 'Installed: greeter'),
      })
      expect(contentsOf(join(stateDir, 'catalog'))).toEqual(before)
    },
  )
})

describe('it is done', () => {
  it.each([
    ['suspended', {}, (kit: TestHost) => command(kit, 'suspend')],
    ['stopped', {}, (kit: TestHost) => command(kit, 'stop')],
    ['FAILED for good', { boot: { step: 'needs', error: new Error() } }, async () => {}],
  ] as const)('to one that is %s', async (_what, behaviour, arrange) => {
    const stateDir = stateFolder()
    const kit = await withGreeter({ stateDir, behaviours: { greeter: behaviour } })
    await arrange(kit)
    expect(await uninstall(kit)).toMatchObject({ name: 'greeter', version: '1.0.0', agent: true, dryRun: false })
    expect(kit.host.agents()).toEqual([])
    expect(kit.host.tree().children).toEqual([])
    expect(kit.host.catalog.list()).toEqual([])
    expect(() => kit.host.agent('greeter')).toThrow("there is no agent 'greeter'")
    expect(readdirSync(join(stateDir, 'catalog'))).toEqual([])
    expect(kit.host.deaths()).toEqual([])
  })

  it('to one that was never started', async () => {
    const kit = await catalogHost()
    await kit.finish(kit.host.catalog.install(packageFolder(agentFiles('greeter', '1.0.0', { autostart: false }))))
    expect(await uninstall(kit)).toMatchObject({ agent: true })
  })

  it('leaves no row in any table, then or after the end of the host, and none of another is touched', async () => {
    const stateDir = stateFolder()
    const first = await catalogHost({ stateDir })
    const more = { channels: ['news'], schedules: [{ id: 'tick', everyMs: 3_600_000, event: 'tick' }] }
    await first.finish(first.host.catalog.install(packageFolder(agentFiles('greeter', '1.0.0', more))))
    await command(first, 'suspend')
    await first.close()
    await fillState(stateDir, ['greeter', 'other'])
    const kit = await catalogHost({ stateDir })
    kit.host.agent('greeter').tell('more')
    await kit.advance(2000)
    const before = rowsOf(stateDir, 'greeter')
    // The instance that was made up has its death by now.
    expect(Object.entries(before).filter(([, count]) => count === 0)).toEqual([['instances', 0]])
    const other = rowsOf(stateDir, 'other')
    const answer = await uninstall(kit)
    expect(answer.removed).toMatchObject({ files: 2, memoryKeys: 2, sessions: 1, bytes: expect.any(Number) })
    expect(answer.removed.messages).toBeGreaterThan(0)
    const gone = Object.fromEntries(Object.keys(before).map((table) => [table, 0]))
    expect(rowsOf(stateDir, 'greeter')).toEqual(gone)
    await kit.advance(5000)
    await kit.close()
    expect(rowsOf(stateDir, 'greeter')).toEqual(gone)
    expect(rowsOf(stateDir, 'other')).toEqual(other)
    const next = await catalogHost({ stateDir })
    expect(next.host.agents()).toEqual([])
  })

  it('lets an agent of that name be installed again, as new: no intent, no memory, but a higher epoch', async () => {
    const kit = await withGreeter({ stateDir: stateFolder() })
    const before = kit.host.agent('greeter').snapshot()
    await command(kit, 'suspend')
    await uninstall(kit)
    await kit.finish(kit.host.catalog.install(packageFolder(agentFiles('greeter', '2.0.0'))))
    const after = kit.host.agent('greeter').snapshot()
    expect(after).toMatchObject({ status: 'Running', generation: 1, lastDeath: null, tasks: { received: 0 } })
    expect(after.instance!.epoch).toBeGreaterThan(before.instance!.epoch)
  })

  it('closes the streams of the agent, and whoever still holds it can start nothing', async () => {
    const kit = await withGreeter()
    const held = kit.host.agent('greeter')
    let closed = false
    held.snapshot$.subscribe({ complete: () => (closed = true) })
    await command(kit, 'suspend')
    await uninstall(kit)
    await eventually(() => closed, 'the end of its snapshots')
    await expect(kit.finish(held.start())).rejects.toMatchObject({ code: 'NoSuchAgent' })
  })

  it('a dry run says what would go, and lets it be', async () => {
    const stateDir = stateFolder()
    const kit = await withGreeter({ stateDir })
    await command(kit, 'suspend')
    kit.host.agent('greeter').tell('waits')
    const before = { rows: rowsOf(stateDir, 'greeter'), files: contentsOf(join(stateDir, 'catalog')) }
    const answer = await uninstall(kit, 'greeter', { dryRun: true })
    expect(answer).toMatchObject({ agent: true, dryRun: true, removed: { files: 2, messages: 1 } })
    expect({ rows: rowsOf(stateDir, 'greeter'), files: contentsOf(join(stateDir, 'catalog')) }).toEqual(before)
    expect(kit.host.agent('greeter').snapshot()).toMatchObject({ intent: 'suspended', mailbox: { depth: 1 } })
  })

  it('a dry run is refused where it would be', async () => {
    const kit = await withGreeter()
    await expect(uninstall(kit, 'greeter', { dryRun: true })).rejects.toMatchObject({ code: 'InvalidCommand' })
  })
})

describe('while it is done', () => {
  it('nobody starts the agent: neither by its name nor with its supervisor', async () => {
    const kit = await withGreeter({ behaviours: { greeter: { boot: { step: 'needs', error: new Error('no') } } } })
    // FAILED for good and wanted running: a command starts it, or the start of its supervisor.
    let asked: Promise<unknown>[] = []
    const spy = onRemoval((work) => {
      asked = ['greeter', 'root', 'catalog'].map((id) =>
        kit.host.command(id, 'start').catch((error: HoltError) => error.code),
      )
      return work()
    })
    const begun = kit.threads.all('greeter').length
    await uninstall(kit)
    spy.mockRestore()
    expect((await kit.finish(Promise.all(asked)))[0]).toBe('AgentBusy')
    expect(kit.threads.all('greeter').length).toBe(begun)
    expect(kit.host.agents()).toEqual([])
  })

  it('a fault of the state leaves all as it was: wanted as before, with its messages, and it can be started', async () => {
    const stateDir = stateFolder()
    const kit = await withGreeter({ stateDir })
    await command(kit, 'suspend')
    kit.host.agent('greeter').tell('waits')
    await kit.advance(2000)
    const before = { rows: rowsOf(stateDir, 'greeter'), folders: foldersOf(stateDir) }
    const full = onRemoval(() => Promise.reject(new HoltError('StateFull', 'the disk is full')))
    await expect(uninstall(kit)).rejects.toMatchObject({ code: 'StateFull' })
    full.mockRestore()
    expect({ rows: rowsOf(stateDir, 'greeter'), folders: foldersOf(stateDir) }).toEqual(before)
    expect(kit.host.agent('greeter').snapshot()).toMatchObject({ intent: 'suspended', mailbox: { depth: 1 } })
    kit.host.agent('greeter').tell('waits too')
    expect(kit.host.agent('greeter').snapshot().mailbox.depth).toBe(2)
    await command(kit, 'start')
    expect(kit.host.agent('greeter').snapshot().status).toBe('Running')
  })
})

describe('an installed agent that holt.yml has taken the name of', () => {
  const FLEET: TestHostOptions['fleet'] = { children: [{ agent: { id: 'greeter', name: 'Another' } }] }

  it('is not loaded, which the list says; its files can go, and the other keeps all it has', async () => {
    const stateDir = stateFolder()
    const first = await withGreeter({ stateDir })
    const dir = first.host.catalog.list()[0]!.dir
    await first.close()
    const kit = await catalogHost({ stateDir, fleet: FLEET })
    expect(kit.host.agent('greeter').snapshot()).toMatchObject({
      name: 'Another',
      supervisor: 'root',
      status: 'Running',
    })
    expect(kit.host.catalog.list()).toMatchObject([
      { status: null, fault: expect.stringContaining("the fleet has 'greeter' already") },
    ])
    await expect(
      kit.finish(kit.host.catalog.install(packageFolder(agentFiles('greeter', '2.0.0')))),
    ).rejects.toMatchObject({ code: 'IdTaken' })
    expect(existsSync(dir)).toBe(true)
    const before = rowsOf(stateDir, 'greeter')
    expect(await uninstall(kit)).toMatchObject({ agent: false, removed: { files: 2, messages: 0 } })
    expect(existsSync(dir)).toBe(false)
    expect(rowsOf(stateDir, 'greeter')['agents']).toBe(before['agents'])
    expect(kit.host.agent('greeter').snapshot()).toMatchObject({ name: 'Another', status: 'Running' })
    expect(kit.host.catalog.list()).toEqual([])
  })
})
