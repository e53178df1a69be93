/** Boots that fail or never end: each in a definite phase, with a record that names the step. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createHost } from '../../src/host/boot.ts'
import type { Host } from '../../src/host/host.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { at, type FleetText, hostFleet, openFleet, role, writeFleet } from '../fleet-on-disk.ts'

const GOOD = role(`commands: { ping: { handle: () => 'pong' } }`)
const ONCE = { restart: { type: 'temporary' } } as const

/** A fleet of the agent in question and one that is well. */
async function beside(agent: FleetText['agents'][string], more: Omit<FleetText, 'agents'> = {}): Promise<Host> {
  const host = await hostFleet({ agents: { bad: agent, good: { role: GOOD } }, ...more })
  expect(await host.agent('good').ask('ping')).toBe('pong')
  expect(host.agent('bad').phase).toBe('FAILED')
  return host
}

const record = (host: Host) => host.agent('bad').snapshot().lastDeath!

describe('a boot that fails is FAILED, and its record names the step', () => {
  it('manifest: file, line and field', async () => {
    const host = await beside({ role: GOOD, manifest: 'id: bad\nname: Bad\nrestrat: always\n' })
    expect(host.agent('bad').phase).toBe('FAILED')
    expect(record(host)).toMatchObject({
      cause: 'boot_failed',
      step: 'manifest',
      decision: { rule: 'final_boot_failure', action: 'none' },
    })
    expect(record(host).error?.message).toMatch(/agent\.yml:3.*restrat/)
  })

  it('env: the line, and never the value', async () => {
    const host = await beside({ role: GOOD, files: { '.env': 'A=1\nSECRET OF MINE\n' } })
    expect(record(host)).toMatchObject({ step: 'env', decision: { rule: 'final_boot_failure' } })
    expect(record(host).error?.message).toMatch(/\.env:2/)
    expect(JSON.stringify(record(host))).not.toContain('SECRET OF MINE')
  })

  it('gate: everything that is missing, with no thread started', async () => {
    const manifest = {
      capabilities: [
        { id: 'nothere', allow: ['x'] },
        { id: 'text', allow: ['terms', 'turms'] },
      ],
    }
    const capability = `export default { id: 'text', placement: 'host', methods: { terms: () => [] } }`
    const host = await beside({ role: GOOD, manifest }, { capabilities: { 'text.mjs': capability } })
    expect(record(host)).toMatchObject({ step: 'gate', error: { name: 'GateRefused' } })
    expect(record(host).error?.message).toMatch(/'nothere' does not exist.*no method 'turms'.*Did you mean 'terms'/s)
  })

  it('compile: the file and the line', async () => {
    const host = await beside({ role: 'export default {\n', manifest: ONCE })
    expect(record(host)).toMatchObject({ step: 'compile', decision: { rule: 'restart_type' } })
    expect(record(host).error?.message).toMatch(/role\.ts:2/)
  })

  it('roles: a module that throws while it is imported', async () => {
    const host = await beside({ role: role('', `throw new RangeError('not today')`), manifest: ONCE })
    expect(host.agent('bad').snapshot()).toMatchObject({ phase: 'FAILED', status: 'Stopped' })
    expect(record(host)).toMatchObject({
      cause: 'boot_failed',
      step: 'roles',
      error: { code: 'BootFailed', cause: { name: 'RangeError', message: 'not today' } },
    })
    expect(record(host).error?.message).toContain('role.ts threw while it was imported: not today')
  })

  it.each([
    ['null', 'throw null'],
    ['undefined', 'throw undefined'],
    ['a symbol', 'throw Symbol("s")'],
  ])('roles: a module that throws %s', async (_, top) => {
    const host = await beside({ role: role('', top), manifest: ONCE })
    expect(record(host)).toMatchObject({ cause: 'boot_failed', step: 'roles', error: { code: 'BootFailed' } })
    expect(record(host).error?.message).toContain('role.ts threw while it was imported')
  })

  it('roles: a default export that is no role', async () => {
    const host = await beside({ role: 'export default { name: "x", events: { add: 1 } }', manifest: ONCE })
    expect(record(host).error?.message).toMatch(/role\.ts: events\.add: expected a function, found number/)
  })

  it('needs: the role and the capability', async () => {
    const host = await beside({ role: role(`needs: ['text', 'mail']`) })
    expect(record(host)).toMatchObject({ step: 'needs', decision: { rule: 'final_boot_failure' } })
    expect(record(host).error?.message).toMatch(/needs capability 'text'.*needs capability 'mail'/)
  })

  it('capabilities: one of placement agent that does not boot', async () => {
    const capability = `export default { id: 'local', placement: 'agent', methods: { a: () => 1 }, boot() { throw new Error('no disk') } }`
    const manifest = { ...ONCE, capabilities: [{ id: 'local', allow: ['a'] }] }
    const host = await beside({ role: GOOD, manifest }, { capabilities: { 'local.mjs': capability } })
    expect(record(host)).toMatchObject({ step: 'capabilities' })
    expect(record(host).error?.message).toMatch(/'local'.*no disk/)
  })
})

describe('what is final waits for an operator, what is not is tried again', () => {
  it('C064 a failed manifest is not retried, and start takes the mended file', async () => {
    const dir = await writeFleet({ agents: { bad: { role: GOOD, manifest: 'id: bad\n' } } })
    const host = await hostFleet(dir)
    const bad = host.agent('bad')
    expect(bad.snapshot()).toMatchObject({ nextRestartAt: null, status: 'Stopped', intent: 'running' })
    await expect(bad.start()).rejects.toMatchObject({ code: 'BootFailed' })
    await writeFile(join(dir, at('bad'), 'agent.yml'), 'id: bad\nname: Mended\n')
    expect(await bad.start()).toMatchObject({ phase: 'ACTIVE', name: 'Mended' })
    expect(await bad.ask('ping')).toBe('pong')
  })

  it('identity: an id that was changed on disk is refused until it is changed back', async () => {
    const dir = await writeFleet({ agents: { bad: { role: GOOD } } })
    const bad = (await hostFleet(dir)).agent('bad')
    const file = join(dir, at('bad'), 'agent.yml')
    await bad.stop()
    await writeFile(file, 'id: other\nname: Bad\n')
    await expect(bad.start()).rejects.toThrow(/at step 'identity': .*agent\.yml: id: expected 'bad'.*found 'other'/)
    expect(bad.deaths().at(-1)).toMatchObject({ step: 'identity', decision: { rule: 'final_boot_failure' } })
    await writeFile(file, 'id: bad\nname: Bad\n')
    expect(await bad.start()).toMatchObject({ phase: 'ACTIVE' })
  })

  it('an agent given as an object is as wrong at the second start as at the first', async () => {
    const dir = await writeFleet({ agents: { good: { role: GOOD } } })
    const bad = { id: 'bad', name: 'Bad', roles: ['agents/good/roles/role.ts'], zebra: 1 }
    const host = await createHost({ fleet: { children: [{ agent: bad }] }, baseDir: dir, log: 'silent' })
    try {
      await expect(host.agent('bad').start()).rejects.toThrow(/zebra/)
    } finally {
      await host.shutdown()
    }
  })

  it('C046 a module that throws at the first import only is up at the second', async () => {
    const dir = await writeFleet({
      agents: { bad: { role: role(`commands: { ping: { handle: () => 'pong' } }`, FAILS_ONCE), manifest: {} } },
    })
    const host = await hostFleet(dir)
    const bad = host.agent('bad')
    expect(await eventually(() => bad.phase === 'ACTIVE' && bad.ask('ping'), 'the second boot')).toBe('pong')
    expect(bad.deaths()).toMatchObject([{ cause: 'boot_failed', step: 'roles', decision: { action: 'restart' } }])
  })

  it('C046 one that throws at the second import only counts as a failed restart and comes back', async () => {
    const host = await hostFleet({
      agents: {
        bad: {
          role: role(
            `commands: { ping: { handle: () => 'pong' } }, events: { die() { throw new Error('x') } }`,
            FAILS_SECOND,
          ),
          manifest: { restart: { backoff: { minMs: 1, maxMs: 1 } } },
        },
      },
    })
    const bad = host.agent('bad')
    bad.tell('die')
    await eventually(
      () => bad.deaths().length === 2 && bad.phase === 'ACTIVE',
      () => `two deaths, ${bad.phase}`,
    )
    expect(bad.deaths().map(({ cause }) => cause)).toEqual(['crash', 'boot_failed'])
    expect(bad.deaths()[1]!.decision).toMatchObject({ action: 'restart', attempt: 2 })
    expect(await bad.ask('ping')).toBe('pong')
  })
})

const COUNT_IMPORTS = `
import { appendFileSync, readFileSync } from 'node:fs'
const file = import.meta.dirname + '/imports'
appendFileSync(file, '.')
const nth = readFileSync(file, 'utf8').length`
const FAILS_ONCE = `${COUNT_IMPORTS}\nif (nth === 1) throw new Error('the first time')`
const FAILS_SECOND = `${COUNT_IMPORTS}\nif (nth === 2) throw new Error('the second time')`

describe('a boot that never ends', () => {
  const SHORT = { restart: { type: 'temporary' }, limits: { bootTimeoutMs: 1000 } } as const
  const tops = [
    ['C005 a top-level await that never settles', 'await new Promise(() => {})'],
    ['C005 the same with a timer beside it', 'setInterval(() => {}, 1000); await new Promise(() => {})'],
    ['C004 an import that never returns', 'while (true) {}'],
  ] as const

  it.each(tops)('%s is a start time-out and no normal end', async (_, top) => {
    const host = await beside({ role: role('', top), manifest: SHORT })
    expect(host.agent('bad').phase).toBe('FAILED')
    expect(record(host)).toMatchObject({ cause: 'start_timeout', class: 'crash', step: expect.any(String) })
    expect(record(host).error?.message).toMatch(/not ready within 1000 ms/)
  })

  const BUSY = { agents: { bad: { role: role('', 'while (true) {}') } } } satisfies FleetText

  it('C004 C058 stop while it boots ends it, and it never appears', async () => {
    const host = await openFleet(BUSY)
    const bad = host.agent('bad')
    const phases: string[] = []
    bad.phase$.subscribe((phase) => phases.push(phase))
    const started = host.start()
    await eventually(() => bad.snapshot().axes.alive, 'its thread')
    expect(await bad.stop()).toMatchObject({ phase: 'STOPPED', status: 'Stopped', intent: 'stopped' })
    await started
    expect(bad.deaths()).toMatchObject([{ cause: 'shutdown', decision: { action: 'none' } }])
    await eventually(() => phases.at(-1) === 'STOPPED', 'the last phase')
    expect(phases).toEqual(['STOPPED', 'BOOTING', 'STOPPING', 'STOPPED'])
  })

  it('C004 restart while it boots begins a new instance', async () => {
    const host = await openFleet(BUSY)
    const bad = host.agent('bad')
    const started = host.start()
    const first = await eventually(() => bad.snapshot().instance?.id, 'its thread')
    const restarted = bad.restart().catch((error: unknown) => error)
    await eventually(() => bad.snapshot().instance && bad.snapshot().instance?.id !== first, 'another instance')
    await started
    await bad.stop()
    expect(await restarted).toMatchObject({ code: 'Preempted' })
    expect(bad.phase).toBe('STOPPED')
  })

  it('C004 a shutdown does not wait for it', async () => {
    const host = await openFleet(BUSY)
    const started = host.start()
    await eventually(() => host.agent('bad').snapshot().axes.alive, 'its thread')
    expect(await host.shutdown()).toMatchObject({ killed: [], stuck: [] })
    await started
    expect(host.agent('bad').phase).toBe('STOPPED')
  })

  it('kill while it boots leaves the rest to the supervisor', async () => {
    const host = await openFleet(BUSY)
    const bad = host.agent('bad')
    const started = host.start()
    await eventually(() => bad.snapshot().axes.alive, 'its thread')
    await bad.kill()
    await started
    expect(bad.deaths()[0]).toMatchObject({ cause: 'killed', decision: { action: 'restart' } })
    await eventually(() => bad.phase === 'BOOTING' && bad.snapshot().axes.alive, 'the next boot')
    await bad.stop()
  })
})
