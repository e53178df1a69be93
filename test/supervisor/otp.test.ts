/** Strategies as OTP documents them: who is ended with whom, in what order, and who comes back. On the testkit. */
import { describe, expect, it } from 'vitest'
import { agent, fleetOf, under, WIDE } from './fleet.ts'

const REFUSED = { boot: { step: 'roles', error: new Error('not today') } } as const
const ABCD = ['a', 'b', 'c', 'd'].map((id) => agent(id))

describe('children', () => {
  it('start in the order of the list, and stop in the reverse', async () => {
    const fleet = await fleetOf(WIDE, ABCD)
    expect(fleet.up()).toBe('a b c d')
    await fleet.command('root', 'stop')
    expect(fleet.moves()).toEqual(['d ended', 'c ended', 'b ended', 'a ended'])
    await fleet.command('root', 'start')
    expect(fleet.moves()).toEqual(['a up', 'b up', 'c up', 'd up'])
  })

  it('of a supervisor among them have its place', async () => {
    const fleet = await fleetOf(WIDE, [
      agent('a'),
      under({ id: 'inner', strategy: 'rest_for_one', ...WIDE }, [agent('b'), agent('c')]),
      agent('d'),
    ])
    await fleet.command('root', 'restart')
    expect(fleet.moves()).toEqual(['d ended', 'c ended', 'b ended', 'a ended', 'a up', 'b up', 'c up', 'd up'])
  })
})

describe('one_for_one', () => {
  it('restarts the one that died, and leaves the others alone', async () => {
    const fleet = await fleetOf({ strategy: 'one_for_one', ...WIDE }, ABCD)
    await fleet.have('b', 'crash')
    expect(fleet.moves()).toEqual(['b ended', 'b up'])
    expect(fleet.decision('b')).toEqual({
      rule: 'restart_type',
      action: 'restart',
      delayMs: 0,
      supervisor: 'root',
      attempt: 1,
    })
  })
})

describe('one_for_all', () => {
  it('ends all others in reverse, then starts all in order', async () => {
    const fleet = await fleetOf({ strategy: 'one_for_all', ...WIDE }, ABCD)
    await fleet.have('b', 'crash')
    expect(fleet.moves()).toEqual([
      'b ended',
      ...['d ended', 'c ended', 'a ended'],
      ...['a up', 'b up', 'c up', 'd up'],
    ])
  })

  it('says of each sibling by whose death it was ended, and counts one restart for all', async () => {
    const fleet = await fleetOf({ strategy: 'one_for_all', ...WIDE }, ABCD)
    await fleet.have('b', 'crash')
    for (const id of ['a', 'c', 'd']) {
      expect(fleet.host.deaths(id)).toMatchObject([{ cause: 'shutdown', class: 'normal' }])
      expect(fleet.decision(id)).toEqual({
        rule: 'strategy',
        action: 'restart',
        delayMs: 0,
        supervisor: 'root',
        attempt: 0,
        by: 'b',
      })
    }
    expect(fleet.supervisor('root').restarts).toBe(1)
  })

  it('has the group wait out the delay of the one that fails, ended meanwhile', async () => {
    const fleet = await fleetOf({ strategy: 'one_for_all', ...WIDE }, [
      agent('a'),
      agent('b', {}, { restart: { backoff: { minMs: 4000, maxMs: 4000, jitter: 0 } } }),
    ])
    await fleet.have('b', 'crash')
    fleet.moves()
    await fleet.have('b', 'crash', 3999)
    expect(fleet.moves()).toEqual(['b ended', 'a ended'])
    expect(fleet.decision('a')).toMatchObject({ rule: 'strategy', delayMs: 4000 })
    for (const id of ['a', 'b']) expect(fleet.snapshot(id).nextRestartAt).toBe(fleet.kit.clock.wall() + 1)
    await fleet.kit.advance(1)
    expect(fleet.moves()).toEqual(['a up', 'b up'])
  })

  it('a boot that fails in the middle ends those already back, and tries all again', async () => {
    const fleet = await fleetOf({ strategy: 'one_for_all', ...WIDE }, ABCD)
    fleet.kit.threads.behave('c', (incarnation) => (incarnation === 2 ? REFUSED : {}))
    await fleet.have('d', 'crash')
    expect(fleet.moves()).toEqual([
      ...['d ended', 'c ended', 'b ended', 'a ended'],
      ...['a up', 'b up', 'c failed', 'b ended', 'a ended'],
      ...['a up', 'b up', 'c up', 'd up'],
    ])
  })

  it('takes two that die in the same moment for one restart', async () => {
    const fleet = await fleetOf({ strategy: 'one_for_all', intensity: 1, periodMs: 60_000 }, ABCD)
    await fleet.have(['b', 'c'], 'crash')
    expect(fleet.up()).toBe('a b c d')
    expect(fleet.decision('b')).toMatchObject({ rule: 'restart_type', attempt: 1 })
    expect(fleet.decision('c')).toMatchObject({ rule: 'strategy', by: 'b' })
    expect(fleet.causes('c')).toEqual(['crash'])
  })
})

describe('rest_for_one', () => {
  it.each([
    ['a', ['d', 'c', 'b'], ['a', 'b', 'c', 'd']],
    ['b', ['d', 'c'], ['b', 'c', 'd']],
    ['c', ['d'], ['c', 'd']],
    ['d', [], ['d']],
  ])('after %s ends %j, then starts %j', async (failed, ended, started) => {
    const fleet = await fleetOf({ strategy: 'rest_for_one', ...WIDE }, ABCD)
    await fleet.have(failed, 'crash')
    expect(fleet.moves()).toEqual([
      `${failed} ended`,
      ...ended.map((id) => `${id} ended`),
      ...started.map((id) => `${id} up`),
    ])
  })

  it('a second death further up takes the group over; those already back are ended once more', async () => {
    const fleet = await fleetOf({ strategy: 'rest_for_one', ...WIDE }, ABCD)
    fleet.kit.threads.behave('d', { boot: 'never' })
    await fleet.have('c', 'crash')
    expect(fleet.moves()).toEqual(['c ended', 'd ended', 'c up'])
    fleet.kit.threads.behave('d', {})
    await fleet.have('b', 'crash', 10_000)
    // The boot of d was under way, and runs into its time-out first.
    expect(fleet.moves()).toEqual(['b ended', 'd failed', 'c ended', 'b up', 'c up', 'd up'])
  })

  it('a boot that fails in the middle is tried again from there: earlier ones stay up', async () => {
    const fleet = await fleetOf({ strategy: 'rest_for_one', ...WIDE }, ABCD)
    fleet.kit.threads.behave('c', (incarnation) => (incarnation === 2 ? REFUSED : {}))
    await fleet.have('b', 'crash')
    expect(fleet.moves()).toEqual(['b ended', 'd ended', 'c ended', 'b up', 'c failed', 'c up', 'd up'])
    expect(fleet.decision('c')).toMatchObject({ rule: 'restart_type', action: 'restart', attempt: 1 })
  })
})

describe('a transient child', () => {
  it.each(['one_for_all', 'rest_for_one'] as const)(
    'that had ended by itself is started again when %s restarts the group',
    async (strategy) => {
      const fleet = await fleetOf({ strategy, ...WIDE }, [agent('a'), agent('b', { restart: 'transient' }), agent('c')])
      await fleet.have('b', 'stop')
      expect(fleet.up()).toBe('a c')
      expect(fleet.decision('b')).toMatchObject({ rule: 'restart_type', action: 'none' })
      await fleet.have('a', 'crash')
      expect(fleet.up()).toBe('a b c')
    },
  )

  it('that is ended along with a sibling comes back with it, though it ended as it was told', async () => {
    const fleet = await fleetOf({ strategy: 'one_for_all', ...WIDE }, [
      agent('a'),
      agent('b', { restart: 'transient' }),
    ])
    await fleet.have('a', 'crash')
    expect(fleet.causes('b')).toEqual(['shutdown'])
    expect(fleet.up()).toBe('a b')
  })
})

describe('a temporary child', () => {
  it.each(['one_for_all', 'rest_for_one'] as const)(
    'is ended with a sibling under %s and does not come back',
    async (strategy) => {
      const fleet = await fleetOf({ strategy, ...WIDE }, [agent('a'), agent('b', { restart: 'temporary' }), agent('c')])
      await fleet.have('a', 'crash')
      expect(fleet.up()).toBe('a c')
      expect(fleet.decision('b')).toMatchObject({ rule: 'strategy', action: 'none', by: 'a' })
      await fleet.have('a', 'crash', 60_000)
      expect(fleet.causes('b')).toEqual(['shutdown'])
      expect(fleet.snapshot('b')).toMatchObject({ status: 'Stopped', nextRestartAt: null, intent: 'running' })
    },
  )

  it('that dies by itself ends nobody else', async () => {
    const fleet = await fleetOf({ strategy: 'one_for_all', ...WIDE }, [
      agent('a'),
      agent('b', { restart: 'temporary' }),
    ])
    await fleet.have('b', 'crash', 60_000)
    expect(fleet.moves()).toEqual(['b ended'])
  })

  it('is started again by an operator, and with its supervisor', async () => {
    const fleet = await fleetOf({ strategy: 'one_for_all', ...WIDE }, [
      agent('a'),
      agent('b', { restart: 'temporary' }),
    ])
    await fleet.have('b', 'crash')
    await fleet.command('b', 'start')
    await fleet.have('a', 'crash')
    await fleet.command('root', 'restart')
    expect(fleet.up()).toBe('a b')
  })
})

describe('what a group restart leaves as it is', () => {
  it.each(['stop', 'suspend'] as const)('a sibling by %s', async (command) => {
    const fleet = await fleetOf({ strategy: 'one_for_all', ...WIDE }, ABCD)
    await fleet.command('c', command)
    await fleet.have('a', 'crash', 60_000)
    expect(fleet.up()).toBe('a b d')
  })

  it('a sibling that has used up its restarts, or whose boot failed for good', async () => {
    const fleet = await fleetOf({ strategy: 'one_for_all', ...WIDE }, [
      agent('a'),
      agent('limited', {}, { restart: { backoff: 'none', maxRestarts: 0 } }),
      agent('broken', { restart: 'permanent' }, { capabilities: [{ id: 'nothing', allow: [] }] }),
    ])
    await fleet.have('limited', 'crash')
    expect(fleet.phases()).toEqual({ a: 'ACTIVE', limited: 'STOPPED', broken: 'FAILED' })
    await fleet.have('a', 'crash', 60_000)
    expect(fleet.phases()).toEqual({ a: 'ACTIVE', limited: 'STOPPED', broken: 'FAILED' })
  })
})

describe('an operator and a group restart that want the same child', () => {
  const slow = { behaviours: { b: (n: number) => ({ stopMs: n === 1 ? 1000 : 0 }) } }

  it('a restart by an operator that is under way goes on; what is sent meanwhile waits', async () => {
    const fleet = await fleetOf({ strategy: 'one_for_all', ...WIDE }, ABCD, slow)
    const restarting = fleet.host.command('b', 'restart', { by: 'ops' })
    await fleet.kit.advance(100)
    await fleet.have('a', 'crash', 100)
    expect(fleet.phases()).toMatchObject({ a: 'STOPPED', b: 'STOPPING' })
    expect(fleet.host.agent('b').tell('hello')).toBe(true)
    await fleet.kit.finish(restarting)
    await fleet.kit.advance(0)
    expect(fleet.up()).toBe('a b c d')
    expect(fleet.kit.threads.of('b').handled).toEqual(['hello'])
    expect(fleet.host.deaths('b')).toMatchObject([{ cause: 'shutdown', decision: { rule: 'command', by: 'ops' } }])
  })

  it('a stop by an operator that is under way holds: it does not come back', async () => {
    const fleet = await fleetOf({ strategy: 'one_for_all', ...WIDE }, ABCD, slow)
    const stopping = fleet.host.command('b', 'stop', { by: 'ops' })
    await fleet.kit.advance(100)
    await fleet.have('a', 'crash', 100)
    expect(fleet.host.agent('b').tell('hello')).toBe(false)
    await fleet.kit.finish(stopping)
    await fleet.kit.advance(60_000)
    expect(fleet.up()).toBe('a c d')
    expect(fleet.decision('b')).toMatchObject({ rule: 'command', by: 'ops' })
  })

  it('a stop by an operator of one that a sibling has ended comes first', async () => {
    const fleet = await fleetOf({ strategy: 'one_for_all', ...WIDE }, ABCD, slow)
    await fleet.have('a', 'crash', 100)
    expect(fleet.phases()).toMatchObject({ b: 'STOPPING' })
    await fleet.command('b', 'stop')
    await fleet.kit.advance(60_000)
    expect(fleet.up()).toBe('a c d')
    expect(fleet.decision('b')).toMatchObject({ rule: 'command', by: 'ops' })
  })
})

describe('an inner supervisor', () => {
  it('is ended and started along with its siblings, with all it keeps', async () => {
    const fleet = await fleetOf({ strategy: 'rest_for_one', ...WIDE }, [
      agent('a'),
      under({ id: 'inner', strategy: 'one_for_one', ...WIDE }, [agent('b'), agent('c')]),
      agent('d'),
    ])
    await fleet.have('a', 'crash')
    expect(fleet.moves()).toEqual(['a ended', 'd ended', 'c ended', 'b ended', 'a up', 'b up', 'c up', 'd up'])
    // Its own children were told by it, and by whose death is said.
    expect(fleet.decision('b')).toMatchObject({ rule: 'strategy', by: 'a', supervisor: 'inner' })
  })

  const WAITS = { restart: { backoff: { minMs: 4000, maxMs: 4000, jitter: 0 } } } as const
  const group = (standing: Parameters<typeof under>[2] = {}) =>
    fleetOf({ strategy: 'one_for_all', ...WIDE }, [
      agent('a', {}, WAITS),
      under({ id: 'inner', ...WIDE }, [agent('x'), agent('y')], standing),
    ])

  it('that waits with its group is shown so, down to its agents, whose messages wait for them', async () => {
    const fleet = await group()
    await fleet.have('a', 'crash')
    await fleet.have('a', 'crash')
    for (const id of ['a', 'x', 'y']) {
      expect(fleet.snapshot(id)).toMatchObject({
        status: 'Unhealthy',
        nextRestartAt: fleet.kit.clock.wall() + 4000,
      })
    }
    expect(fleet.host.agent('x').tell('hello')).toBe(true)
    await fleet.kit.advance(4000)
    expect(fleet.kit.threads.of('x').handled).toEqual(['hello'])
  })

  it('of type temporary is ended with its group and does not come back, nor do its agents', async () => {
    const fleet = await group({ restart: 'temporary' })
    await fleet.have('a', 'crash', 60_000)
    expect(fleet.up()).toBe('a')
    expect(fleet.decision('x')).toMatchObject({ rule: 'supervisor', action: 'none', by: 'a' })
    expect(fleet.snapshot('x')).toMatchObject({ status: 'Stopped', nextRestartAt: null })
    await fleet.command('x', 'start')
    expect(fleet.up()).toBe('a x')
  })

  it('one agent of which an operator restarts meanwhile: that one alone, and no restart comes after it', async () => {
    const fleet = await group()
    await fleet.have('a', 'crash')
    await fleet.have('a', 'crash')
    await expect(fleet.command('x', 'start')).rejects.toMatchObject({ code: 'InvalidCommand' })
    await fleet.command('x', 'restart')
    expect(fleet.up()).toBe('x')
    expect(fleet.snapshot('y').nextRestartAt).toBeNull()
    await fleet.kit.advance(60_000)
    expect(fleet.up()).toBe('a x')
    await fleet.command('y', 'start')
    expect(fleet.up()).toBe('a x y')
  })

  it('one agent of which an operator stops meanwhile: it is not scheduled, whatever else changes', async () => {
    const fleet = await group()
    await fleet.have('a', 'crash')
    await fleet.have('a', 'crash')
    await fleet.command('x', 'stop')
    await fleet.command('a', 'restart')
    expect(fleet.snapshot('x')).toMatchObject({ status: 'Stopped', nextRestartAt: null })
    await fleet.kit.advance(0)
    expect(fleet.up()).toBe('a y')
    await fleet.command('x', 'start')
    expect(fleet.up()).toBe('a x y')
  })

  it('of a group whose supervisor is stopped meanwhile: nothing is scheduled any more', async () => {
    const fleet = await group()
    await fleet.have('a', 'crash')
    fleet.kit.threads.of('x').behaviour = { stopMs: 1000 }
    await fleet.have('a', 'crash', 500)
    expect(fleet.phases()).toMatchObject({ x: 'STOPPING', y: 'STOPPED' })
    await fleet.command('root', 'stop')
    for (const id of ['a', 'x', 'y'])
      expect(fleet.snapshot(id)).toMatchObject({ status: 'Stopped', nextRestartAt: null })
    expect(fleet.decision('x')).toMatchObject({ rule: 'supervisor', action: 'none', by: 'ops' })
    await fleet.command('root', 'start')
    expect(fleet.up()).toBe('a x y')
  })

  it('keeps a death below it to itself', async () => {
    const fleet = await fleetOf({ strategy: 'one_for_all', ...WIDE }, [
      agent('a'),
      under({ id: 'inner', strategy: 'one_for_all', ...WIDE }, [agent('b'), agent('c')]),
    ])
    await fleet.have('b', 'crash')
    expect(fleet.moves()).toEqual(['b ended', 'c ended', 'b up', 'c up'])
  })
})
