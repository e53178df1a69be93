/** Significant children and `auto_shutdown`, as OTP documents them: which ends end the supervisor, and what comes of that. */
import { describe, expect, it } from 'vitest'
import { agent, fleetOf, under, WIDE } from './fleet.ts'

const ANY = { auto_shutdown: 'any_significant', ...WIDE } as const
const ALL = { auto_shutdown: 'all_significant', ...WIDE } as const
const main = (id: string, restart: 'transient' | 'temporary' = 'transient') => agent(id, { restart, significant: true })

describe('any_significant', () => {
  it('a transient significant child that ends normally ends the supervisor: the rest in reverse, nobody comes back', async () => {
    const fleet = await fleetOf(ANY, [agent('a'), main('m'), agent('b'), agent('c')])
    await fleet.have('m', 'stop', 60_000)
    expect(fleet.moves()).toEqual(['m ended', 'c ended', 'b ended', 'a ended'])
    expect(fleet.decision('m')).toMatchObject({ rule: 'auto_shutdown', action: 'shutdown', supervisor: 'root' })
    for (const id of ['a', 'b', 'c']) {
      expect(fleet.causes(id)).toEqual(['shutdown'])
      expect(fleet.decision(id)).toMatchObject({ rule: 'supervisor', action: 'none', by: 'root' })
      expect(fleet.snapshot(id)).toMatchObject({ intent: 'running', status: 'Stopped', nextRestartAt: null })
    }
    expect(fleet.supervisor('root')).toMatchObject({ status: 'Stopped', end: { cause: 'shutdown', child: 'm' } })
    expect(fleet.facts('supervisor.ended').map(({ message }) => message)).toEqual([
      "supervisor 'root' ended: its significant child 'm' has ended (auto_shutdown)",
    ])
    expect(fleet.facts('supervisor.gave_up')).toEqual([])
  })

  it.each(['crash', 'stop', 'outOfMemory'] as const)('a temporary one ends it however it ends: by %s', async (act) => {
    const fleet = await fleetOf(ANY, [agent('a'), main('m', 'temporary')])
    await fleet.have('m', act)
    expect(fleet.decision('m')).toMatchObject({ rule: 'auto_shutdown' })
    expect(fleet.up()).toBe('')
  })

  it('a transient one that crashes is restarted, and ends nothing', async () => {
    const fleet = await fleetOf(ANY, [agent('a'), main('m')])
    await fleet.have('m', 'crash')
    expect(fleet.moves()).toEqual(['m ended', 'm up'])
  })

  it('a child that is not significant ends nothing', async () => {
    const fleet = await fleetOf(ANY, [agent('a', { restart: 'transient' }), main('m')])
    await fleet.have('a', 'stop')
    expect(fleet.up()).toBe('m')
  })
})

describe('all_significant', () => {
  it('only the last one to end ends the supervisor', async () => {
    const fleet = await fleetOf(ALL, [agent('a'), main('m'), main('n', 'temporary'), main('o')])
    await fleet.have('m', 'stop')
    await fleet.have('n', 'crash')
    expect(fleet.up()).toBe('a o')
    expect(fleet.decision('n')).toMatchObject({ rule: 'restart_type', action: 'none' })
    await fleet.have('o', 'stop')
    expect(fleet.up()).toBe('')
    expect(fleet.supervisor('root').end).toMatchObject({ cause: 'shutdown', child: 'o' })
  })

  it('two that end in the same moment are the last together', async () => {
    const fleet = await fleetOf(ALL, [agent('a'), main('m'), main('n')])
    await fleet.have(['m', 'n'], 'stop')
    expect(fleet.up()).toBe('')
    expect(fleet.host.deaths().filter(({ decision }) => decision.rule === 'auto_shutdown')).toHaveLength(1)
  })

  it('one whose restart is scheduled is left', async () => {
    const slow = { restart: { backoff: { minMs: 60_000, maxMs: 60_000, jitter: 0 } } } as const
    const fleet = await fleetOf(ALL, [agent('m', { restart: 'transient', significant: true }, slow), main('n')])
    await fleet.have('m', 'crash')
    await fleet.have('m', 'crash')
    await fleet.have('n', 'stop')
    expect(fleet.snapshot('m').nextRestartAt).not.toBeNull()
    await fleet.kit.advance(60_000)
    expect(fleet.up()).toBe('m')
  })

  it('so is a supervisor whose restart is scheduled', async () => {
    const backoff = { minMs: 60_000, maxMs: 60_000, jitter: 0 }
    const inner = { supervisor: { id: 'inner', intensity: 0, backoff }, children: [agent('x')] }
    const fleet = await fleetOf(ALL, [{ ...inner, restart: 'transient', significant: true }, main('n')])
    await fleet.have('x', 'crash')
    await fleet.have('x', 'crash')
    expect(fleet.up()).toBe('n')
    await fleet.have('n', 'stop')
    expect(fleet.supervisor('root')).toMatchObject({ status: 'Running' })
    await fleet.kit.advance(60_000)
    expect(fleet.up()).toBe('x')
  })

  it('one that had ended and is started again with its group is left once more', async () => {
    const fleet = await fleetOf({ ...ALL, strategy: 'one_for_all' }, [agent('a'), main('m'), main('n')])
    await fleet.have('m', 'stop')
    await fleet.have('a', 'crash')
    expect(fleet.up()).toBe('a m n')
    await fleet.have('n', 'stop')
    expect(fleet.up()).toBe('a m')
  })
})

describe('an end that is not its own does not count', () => {
  it.each(['one_for_all', 'rest_for_one'] as const)("ended by a sibling's death under %s", async (strategy) => {
    const fleet = await fleetOf({ ...ANY, strategy }, [agent('a'), main('m', 'temporary'), main('n')])
    await fleet.have('a', 'crash')
    expect(fleet.up()).toBe('a n')
    expect(fleet.supervisor('root').status).toBe('Running')
  })

  it.each(['stop', 'suspend', 'restart'] as const)('ended by an operator, by %s', async (command) => {
    const fleet = await fleetOf(ANY, [agent('a'), main('m')])
    await fleet.command('m', command)
    expect(fleet.up()).toBe(command === 'restart' ? 'a m' : 'a')
    expect(fleet.supervisor('root').status).toBe('Running')
  })

  it('ended by its supervisor', async () => {
    const fleet = await fleetOf(ANY, [agent('a'), main('m')])
    await fleet.command('root', 'stop')
    expect(fleet.supervisor('root').end).toBeUndefined()
    expect(fleet.decision('m')).toMatchObject({ rule: 'supervisor', by: 'ops' })
  })

  it('its own end, while an operator stops it', async () => {
    const fleet = await fleetOf(ANY, [agent('a'), main('m')])
    const stopping = fleet.host.command('m', 'stop')
    fleet.kit.threads.of('m').stop()
    await fleet.kit.finish(stopping)
    expect(fleet.up()).toBe('a')
  })

  it('a boot that failed for good, and a limit of restarts that was reached', async () => {
    const broken = { capabilities: [{ id: 'nothing', allow: [] }] }
    const limited = { restart: { backoff: 'none', maxRestarts: 0 } } as const
    const fleet = await fleetOf(ANY, [
      agent('a'),
      agent('m', { restart: 'transient', significant: true }, broken),
      agent('n', { restart: 'transient', significant: true }, limited),
    ])
    await fleet.have('n', 'crash')
    expect(fleet.phases()).toEqual({ a: 'ACTIVE', m: 'FAILED', n: 'STOPPED' })
    expect(fleet.decision('n')).toMatchObject({ rule: 'restart_limit' })
  })
})

describe('a supervisor that is itself significant', () => {
  const nested = (restart: 'permanent' | 'transient' | 'temporary', inner: object = ANY) =>
    fleetOf({ ...ANY }, [
      agent('a'),
      under({ id: 'inner', ...inner }, [main('m'), agent('b')], {
        restart,
        significant: restart !== 'permanent',
      }),
    ])

  it.each(['transient', 'temporary'] as const)('%s: its end ends the one above', async (restart) => {
    const fleet = await nested(restart)
    await fleet.have('m', 'stop')
    expect(fleet.moves()).toEqual(['m ended', 'b ended', 'a ended'])
    expect(fleet.supervisor('inner').end).toMatchObject({
      cause: 'shutdown',
      child: 'm',
      decision: { rule: 'auto_shutdown', action: 'shutdown', supervisor: 'root' },
    })
    expect(fleet.supervisor('root').end).toMatchObject({ cause: 'shutdown', child: 'inner', decision: null })
  })

  it('permanent: its parent starts it anew, with all it keeps', async () => {
    const fleet = await nested('permanent')
    await fleet.have('m', 'stop')
    expect(fleet.moves()).toEqual(['m ended', 'b ended', 'm up', 'b up'])
    expect(fleet.supervisor('root').status).toBe('Running')
  })

  it('that gives up has not ended normally: a transient one is restarted, a temporary one ends the one above', async () => {
    const inner = { auto_shutdown: 'any_significant', intensity: 0 } as const
    const transient = await nested('transient', inner)
    await transient.have('m', 'crash')
    expect(transient.up()).toBe('a m b')
    const temporary = await nested('temporary', inner)
    await temporary.have('m', 'crash')
    expect(temporary.up()).toBe('')
    expect(temporary.supervisor('root').end).toMatchObject({ cause: 'shutdown', child: 'inner' })
  })

  it('that an operator stops ends nothing above', async () => {
    const fleet = await nested('transient')
    await fleet.command('inner', 'stop')
    expect(fleet.up()).toBe('a')
    expect(fleet.supervisor('root').status).toBe('Running')
  })
})

describe('afterwards', () => {
  it('a start of the supervisor, or of a child, has it supervise again', async () => {
    const fleet = await fleetOf(ANY, [agent('a'), main('m')])
    await fleet.have('m', 'stop')
    await fleet.command('root', 'start')
    expect(fleet.up()).toBe('a m')
    await fleet.have('m', 'stop')
    await fleet.command('a', 'start')
    expect(fleet.up()).toBe('a')
    await fleet.have('a', 'crash')
    expect(fleet.up()).toBe('a')
    expect(fleet.supervisor('root')).toMatchObject({ status: 'Running' })
    expect(fleet.supervisor('root').end).toBeUndefined()
  })
})
