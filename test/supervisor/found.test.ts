/** What random runs have found, each as small as it came down to: ends, orders and commands that meet in one moment. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Command } from '../../src/model/intent.ts'
import { createTestHost } from '../../src/testkit/index.ts'
import { agent, fleetOf, TestedFleet, under, WIDE } from './fleet.ts'

const GROUP = { strategy: 'one_for_all', ...WIDE } as const

/** What comes of it, as a code; not waited for. */
const fire = (fleet: TestedFleet, id: string, command: Command): Promise<string> =>
  fleet.host.command(id, command, { by: 'ops' }).then(
    () => 'done',
    (error: { code?: string; stack: string }) => error.code ?? error.stack,
  )

describe('a group restart and the end of a supervisor in the group, in one moment', () => {
  it('with a significant child: the host goes on, and all is back', async () => {
    const inner = under(
      { id: 'inner', auto_shutdown: 'any_significant', ...WIDE },
      [agent('m', { restart: 'temporary', significant: true })],
      { restart: 'transient' },
    )
    const fleet = await fleetOf(GROUP, [inner, agent('a')])
    await fleet.have(['a', 'm'], 'crash')
    expect(fleet.up()).toBe('m a')
  })

  it('that gives up: the host goes on, and all is back', async () => {
    const fleet = await fleetOf(GROUP, [under({ id: 'inner', intensity: 0 }, [agent('x')]), agent('a')])
    await fleet.have(['a', 'x'], 'crash')
    expect(fleet.up()).toBe('x a')
  })
})

describe('a start of the supervisor', () => {
  it('while a child is still being ended along with a sibling: that one starts when it has ended', async () => {
    const fleet = await fleetOf(GROUP, [agent('a'), agent('b'), under({ id: 'inner', ...WIDE }, [agent('x')])])
    await fleet.have('a', 'hang')
    await fleet.have('b', 'crash', 1)
    expect(fleet.phases()).toEqual({ a: 'STOPPING', b: 'STOPPED', x: 'STOPPED' })
    await fleet.command('root', 'start')
    await fleet.kit.advance(10_000)
    expect(fleet.up()).toBe('a b x')
  })

  it('schedules nothing for what is not wanted', async () => {
    const waits = { restart: { backoff: { minMs: 300, maxMs: 300, jitter: 0 } } }
    const bad = { boot: { step: 'roles', error: new Error('no') } } as const
    const fleet = await fleetOf({ strategy: 'rest_for_one' }, [agent('a', {}, waits), agent('b'), agent('c')])
    await fleet.command('b', 'stop')
    await fleet.command('c', 'suspend')
    fleet.kit.threads.behave('a', bad)
    await fleet.have('a', 'crash')
    await fleet.command('b', 'start').catch(() => {})
    await fleet.command('a', 'stop')
    await fleet.command('a', 'start').catch(() => {})
    expect(fleet.snapshot('c')).toMatchObject({ intent: 'suspended', nextRestartAt: null })
    await fleet.command('c', 'activate')
    expect(fleet.snapshot('c').phase).toBe('ACTIVE')
  })
})

describe('a restart by an operator', () => {
  it('of an agent whose supervisor is ended along meanwhile: it is up, and so is the supervisor', async () => {
    const fleet = await fleetOf({ strategy: 'rest_for_one', ...WIDE }, [
      agent('a'),
      under({ id: 'inner', ...WIDE }, [agent('x'), agent('y')]),
    ])
    const restart = fire(fleet, 'x', 'restart')
    await fleet.have('a', 'crash', 1000)
    // Its new instance may have been ended along as well, and then it is the group's restart that brings it back.
    expect(['done', 'BootFailed']).toContain(await fleet.kit.finish(restart))
    expect(fleet.snapshot('x')).toMatchObject({ phase: 'ACTIVE', nextRestartAt: null })
    expect(fleet.supervisor('inner').status).toBe('Running')
  })

  it('that a stop of its supervisor takes over from is not waited for', async () => {
    const fleet = await fleetOf(WIDE, [agent('a')])
    await fleet.have('a', 'hang')
    const [restart, stop] = [fire(fleet, 'a', 'restart'), fire(fleet, 'root', 'stop')]
    expect(await fleet.kit.finish(Promise.all([restart, stop]))).toEqual(['Preempted', 'done'])
    expect(fleet.snapshot('a')).toMatchObject({ phase: 'STOPPED', status: 'Stopped', nextRestartAt: null })
    expect(fleet.host.agent('a').tell('hello')).toBe(false)
  })

  it('does not start what a stop that was pre-empted had still suspended', async () => {
    const fleet = await fleetOf(WIDE, [agent('a')])
    const all = [
      fire(fleet, 'a', 'suspend'),
      fire(fleet, 'root', 'stop'),
      fire(fleet, 'a', 'start'),
      fire(fleet, 'a', 'restart'),
    ]
    await fleet.kit.finish(Promise.all(all))
    await fleet.kit.advance(60_000)
    const { phase, intent, nextRestartAt } = fleet.snapshot('a')
    expect([phase === 'ACTIVE', nextRestartAt]).toEqual([intent === 'running', null])
  })

  it('of a suspended one whose start it takes over from leaves nothing scheduled', async () => {
    const fleet = await fleetOf(WIDE, [agent('a')])
    await fleet.command('a', 'suspend')
    const all = [fire(fleet, 'a', 'start'), fire(fleet, 'a', 'restart')]
    await fleet.kit.finish(Promise.all(all))
    await fleet.kit.advance(60_000)
    const { phase, intent, nextRestartAt } = fleet.snapshot('a')
    expect([phase === 'ACTIVE', nextRestartAt]).toEqual([intent === 'running', null])
  })
})

describe('a start of an agent', () => {
  it('beside a restart of its supervisor: one instance, whoever started it', async () => {
    const fleet = await fleetOf(WIDE, [agent('a')])
    await fleet.have('a', 'crash')
    const all = [fire(fleet, 'root', 'restart'), fire(fleet, 'a', 'start')]
    const outcomes = await fleet.kit.finish(Promise.all(all))
    expect(outcomes).not.toContain('InvalidTransition')
    expect(fleet.threads()).toEqual({ a: 1 })
  })

  it('that a stop of its supervisor takes over from does not have that supervise again', async () => {
    const fleet = await fleetOf(WIDE, [agent('a')])
    fleet.kit.threads.of('a').crash()
    const all = [fire(fleet, 'a', 'restart'), fire(fleet, 'root', 'stop')]
    expect(await fleet.kit.finish(Promise.all(all))).toEqual(['Preempted', 'done'])
    await fleet.kit.advance(60_000)
    expect([fleet.phases(), fleet.supervisor('root').status]).toEqual([{ a: 'STOPPED' }, 'Stopped'])
  })
})

describe('a child of a dynamic supervisor', () => {
  const poolOf = async (): Promise<TestedFleet> => {
    const dir = await mkdtemp(join(tmpdir(), 'holt-found-'))
    onTestFinished(() => rm(dir, { recursive: true, force: true }))
    await mkdir(join(dir, 'worker'))
    await writeFile(join(dir, 'worker/agent.yml'), JSON.stringify({ id: 'w', name: 'w', roles: ['role.js'] }))
    await writeFile(join(dir, 'worker/role.js'), '')
    const kit = await createTestHost({ fleet: { supervisor: { id: 'pool', strategy: 'dynamic' } }, baseDir: dir })
    onTestFinished(() => kit.close())
    const fleet = new TestedFleet(kit)
    await kit.finish(fleet.host.spawn('pool', { agent: 'worker' }))
    return fleet
  }

  it.each([
    ['the supervisor', 'pool'],
    ['the child', 'w'],
  ])('that is removed while %s is started leaves no thread behind', async (_, id) => {
    const fleet = await poolOf()
    const removed = fleet.host.remove('w')
    const started = fire(fleet, id, 'start')
    await fleet.kit.finish(Promise.all([removed, started]))
    await fleet.kit.advance(60_000)
    expect(fleet.host.agents()).toEqual([])
    expect(fleet.threads()).toEqual({})
  })

  it('that is started while its supervisor is restarted, and so taken out, is told as gone', async () => {
    const fleet = await poolOf()
    await fleet.command('w', 'stop')
    const all = [fire(fleet, 'pool', 'restart'), fire(fleet, 'w', 'start')]
    const [restart, start] = await fleet.kit.finish(Promise.all(all))
    expect(restart).toBe('done')
    expect(['NoSuchAgent', 'BootFailed']).toContain(start)
    expect(fleet.threads()).toEqual({})
  })
})
