/** Budgets, giving up, and what the supervisors above make of it, up to the root and back by an operator's hand. */
import { describe, expect, it } from 'vitest'
import { agent, fleetOf, type TestedFleet, under, WIDE } from './fleet.ts'

const BUDGET = { intensity: 2, periodMs: 10_000 } as const

async function crashes(fleet: TestedFleet, id: string, times: number, everyMs = 10): Promise<void> {
  for (let n = 0; n < times; n++) await fleet.have(id, 'crash', everyMs)
}

describe('a budget', () => {
  it('that is reached is not passed: so many restarts, and no end', async () => {
    const fleet = await fleetOf(BUDGET, [agent('a'), agent('b')])
    await crashes(fleet, 'a', 2)
    expect(fleet.up()).toBe('a b')
    expect(fleet.supervisor('root').restarts).toBe(2)
  })

  it('passed by one ends the children in reverse, and no restart that is scheduled comes', async () => {
    const waits = { restart: { backoff: { minMs: 5000, maxMs: 5000, jitter: 0 } } } as const
    const fleet = await fleetOf(BUDGET, [agent('a'), agent('b'), agent('c'), agent('waits', {}, waits)])
    await crashes(fleet, 'waits', 2)
    fleet.moves()
    await fleet.have('b', 'crash', 60_000)
    expect(fleet.moves()).toEqual(['b ended', 'c ended', 'a ended'])
    expect(fleet.snapshot('waits')).toMatchObject({ status: 'Stopped', nextRestartAt: null })
    expect(fleet.threads()).toEqual({})
  })

  it("C043 is the supervisor's, over all its children, and says whose deaths filled it", async () => {
    const ids = ['a', 'b', 'c', 'd', 'e']
    const fleet = await fleetOf(
      BUDGET,
      ids.map((id) => agent(id)),
    )
    for (const id of ids) if (fleet.up().includes(id)) await crashes(fleet, id, 1, 200)
    expect(fleet.facts('supervisor.gave_up')).toMatchObject([
      {
        level: 'error',
        data: { supervisor: 'root', restarts: 3, withinMs: 400, filledBy: ['a', 'b', 'c'] },
        message: "supervisor 'root' gave up: 3 restarts in 400 ms (a, b, c), more than 2 in 10000 ms allowed",
      },
    ])
    const { end } = fleet.supervisor('root')
    expect(end).toMatchObject({ cause: 'restart_intensity', withinMs: 400, decision: null })
    expect(end!.restarts).toEqual(['a', 'b', 'c'].map((child) => ({ child, deathId: fleet.host.deaths(child)[0]!.id })))
    expect(ids.map((id) => fleet.causes(id))).toEqual([
      ['crash', 'shutdown'],
      ['crash', 'shutdown'],
      ['crash'],
      ['shutdown'],
      ['shutdown'],
    ])
  })

  it('forgets a restart one millisecond older than its period', async () => {
    const fleet = await fleetOf(BUDGET, [agent('a')])
    await crashes(fleet, 'a', 20, 5001)
    expect(fleet.up()).toBe('a')
    const other = await fleetOf(BUDGET, [agent('a')])
    await crashes(other, 'a', 3, 5000)
    expect(other.up()).toBe('')
  })

  it('counts a group restart once', async () => {
    const fleet = await fleetOf({ strategy: 'one_for_all', ...BUDGET }, [agent('a'), agent('b'), agent('c')])
    await crashes(fleet, 'a', 2)
    expect(fleet.up()).toBe('a b c')
    await crashes(fleet, 'c', 1)
    expect(fleet.up()).toBe('')
  })

  it('leaves the own limits of siblings alone', async () => {
    const limited = { restart: { backoff: 'none', maxRestarts: 1 } } as const
    const fleet = await fleetOf({ strategy: 'one_for_all', ...WIDE }, [agent('a'), agent('b', {}, limited)])
    await crashes(fleet, 'a', 5)
    await crashes(fleet, 'b', 1)
    expect(fleet.up()).toBe('a b')
    await crashes(fleet, 'b', 1)
    expect(fleet.up()).toBe('a')
  })

  it('is off with backoff, unless it is set', async () => {
    const quick = { restart: { backoff: { minMs: 1, maxMs: 1, jitter: 0 } } } as const
    const fleet = await fleetOf({}, [agent('a', {}, quick)])
    await crashes(fleet, 'a', 30)
    expect(fleet.up()).toBe('a')
    const set = await fleetOf({ intensity: 3 }, [agent('a', {}, quick)])
    await crashes(set, 'a', 4)
    expect(set.up()).toBe('')
  })

  it('counts a restart whose boot fails, and the next one too (C064, C065)', async () => {
    const fleet = await fleetOf({}, [agent('a'), agent('b')], {
      behaviours: { b: { boot: { step: 'roles', error: new Error('no such file') } } },
    })
    await fleet.kit.advance(0)
    expect(fleet.causes('b')).toEqual(Array(4).fill('boot_failed'))
    expect(fleet.supervisor('root')).toMatchObject({ status: 'Stopped', gaveUp: { restarts: 4 } })
    expect(fleet.phases()).toEqual({ a: 'STOPPED', b: 'FAILED' })
    fleet.kit.threads.behave('b', {})
    await fleet.command('root', 'start')
    expect(fleet.up()).toBe('a b')
  })
})

describe('C062 an inner supervisor that gives up', () => {
  const nested = (restart: 'permanent' | 'transient' | 'temporary', outer: object = WIDE) =>
    fleetOf(outer, [agent('a'), under({ id: 'inner', ...BUDGET }, [agent('x'), agent('y')], { restart }), agent('b')])

  it.each(['permanent', 'transient'] as const)('as a %s child has failed, and is started anew', async (restart) => {
    const fleet = await nested(restart)
    await crashes(fleet, 'x', 2)
    fleet.moves()
    await crashes(fleet, 'x', 1)
    expect(fleet.moves()).toEqual(['x ended', 'y ended', 'x up', 'y up'])
    expect(fleet.facts('supervisor.gave_up')).toMatchObject([
      { data: { supervisor: 'inner', filledBy: ['x', 'x', 'x'] } },
    ])
    expect(fleet.supervisor('root').restarts).toBe(1)
    // With a fresh budget.
    await crashes(fleet, 'x', 2)
    expect(fleet.up()).toBe('a x y b')
  })

  it('as a temporary child stays as it is, shown as what it is', async () => {
    const fleet = await nested('temporary')
    await crashes(fleet, 'x', 3, 60)
    await fleet.kit.advance(60_000)
    expect(fleet.up()).toBe('a b')
    expect(fleet.supervisor('inner')).toMatchObject({
      status: 'Stopped',
      gaveUp: { restarts: 3 },
      end: {
        cause: 'restart_intensity',
        decision: { rule: 'restart_type', action: 'none', supervisor: 'root', attempt: 0 },
      },
    })
  })

  it('waits for its own delay, and what is below is shown stopped meanwhile', async () => {
    const backoff = { minMs: 4000, maxMs: 4000, jitter: 0 }
    const inner = { supervisor: { id: 'inner', intensity: 0, backoff }, children: [agent('x')] }
    const fleet = await fleetOf({}, [agent('a'), inner])
    await crashes(fleet, 'x', 2)
    expect(fleet.supervisor('inner').end).toMatchObject({
      decision: { rule: 'backoff', action: 'restart', delayMs: 4000, attempt: 2 },
    })
    await fleet.kit.advance(3980)
    expect(fleet.up()).toBe('a')
    await fleet.kit.advance(10)
    expect(fleet.up()).toBe('a x')
  })

  it('what an operator had stopped below it stays so', async () => {
    const fleet = await nested('permanent')
    await fleet.command('y', 'stop')
    await crashes(fleet, 'x', 3)
    expect(fleet.up()).toBe('a x b')
  })
})

describe('giving up two levels up', () => {
  const tower = () =>
    fleetOf({ intensity: 0 }, [
      agent('a'),
      under({ id: 'middle', intensity: 0 }, [under({ id: 'inner', intensity: 0 }, [agent('x')]), agent('y')]),
    ])

  it('goes through every level, ends all in reverse, and leaves the control plane', async () => {
    const fleet = await tower()
    await crashes(fleet, 'x', 1)
    expect(fleet.moves()).toEqual(['x ended', 'y ended', 'a ended'])
    expect(fleet.facts('supervisor.gave_up').map(({ data }) => [data.supervisor, data.filledBy])).toEqual([
      ['inner', ['x']],
      ['middle', ['inner']],
      ['root', ['middle']],
    ])
    expect(fleet.supervisor('inner').end!.decision).toMatchObject({ action: 'give_up', supervisor: 'middle' })
    expect(fleet.supervisor('middle').end!.decision).toMatchObject({ action: 'give_up', supervisor: 'root' })
    expect(fleet.supervisor('root').end!.decision).toBeNull()
    // It answers, and takes commands.
    expect(fleet.host.summary().counts).toEqual({ Stopped: 3 })
    expect(fleet.host.agent('y').tell('anything')).toBe(false)
    await fleet.command('y', 'stop')
    expect(fleet.snapshot('y')).toMatchObject({ intent: 'stopped' })
  })

  it('C074 a start of the lowest revives all above it, with fresh budgets, and starts nobody else', async () => {
    const fleet = await tower()
    await crashes(fleet, 'x', 1)
    await fleet.command('x', 'start')
    expect(fleet.up()).toBe('x')
    for (const id of ['inner', 'middle', 'root']) {
      expect(fleet.supervisor(id)).toMatchObject({ status: 'Running' })
      expect(fleet.supervisor(id).end).toBeUndefined()
    }
    await crashes(fleet, 'x', 1)
    expect(fleet.supervisor('root')).toMatchObject({ gaveUp: { restarts: 1 } })
  })

  it('C074 a start of the root starts all, with fresh budgets', async () => {
    const fleet = await fleetOf(BUDGET, [agent('a'), under({ id: 'inner', ...BUDGET }, [agent('x')])])
    for (let round = 0; round < 2; round++) {
      await crashes(fleet, 'a', 2)
      expect(fleet.up()).toBe('a x')
      await crashes(fleet, 'a', 1)
      expect(fleet.up()).toBe('')
      await fleet.command('root', 'start')
      expect(fleet.up()).toBe('a x')
    }
  })

  it('C074 an operator that starts one child gives it its full budget again', async () => {
    const limited = { restart: { backoff: 'none', maxRestarts: 2 } } as const
    const fleet = await fleetOf(WIDE, [agent('a', {}, limited)])
    for (let round = 0; round < 3; round++) {
      await crashes(fleet, 'a', 2)
      expect(fleet.up()).toBe('a')
      await crashes(fleet, 'a', 1)
      expect(fleet.decision('a')).toMatchObject({ rule: 'restart_limit', attempt: 2 })
      await fleet.command('a', 'start')
    }
  })
})

describe('an operator, while a restart of a supervisor is scheduled', () => {
  const backoff = { minMs: 60_000, maxMs: 60_000, jitter: 0 }
  const waiting = async (strategy: 'one_for_one' | 'rest_for_one') => {
    const inner = { supervisor: { id: 'inner', intensity: 0, backoff }, children: [agent('x'), agent('y')] }
    const fleet = await fleetOf({ strategy, ...WIDE }, [agent('a'), inner, agent('b')])
    await crashes(fleet, 'x', 2)
    expect(fleet.up()).toBe(strategy === 'one_for_one' ? 'a b' : 'a')
    fleet.moves()
    return fleet
  }

  it.each(['one_for_one', 'rest_for_one'] as const)(
    'starts it: once, and the restart does not come (%s)',
    async (strategy) => {
      const fleet = await waiting(strategy)
      await fleet.command('inner', 'start')
      await fleet.kit.advance(0)
      expect(fleet.up()).toBe('a x y b')
      await fleet.kit.advance(120_000)
      expect(fleet.moves().filter((move) => /^[xy]/.test(move))).toEqual(['x up', 'y up'])
      expect(fleet.up()).toBe('a x y b')
      // The one of before; that of the supervisor that was scheduled did not come.
      expect(fleet.supervisor('root').restarts).toBe(1)
    },
  )

  it.each(['one_for_one', 'rest_for_one'] as const)(
    'restarts an agent below it at once: that one alone (%s)',
    async (strategy) => {
      const fleet = await waiting(strategy)
      await fleet.command('y', 'restart')
      await fleet.kit.advance(120_000)
      expect(fleet.moves().filter((move) => /^[xy]/.test(move))).toEqual(['y up'])
      expect(fleet.kit.host.agent('x').snapshot().nextRestartAt).toBeNull()
      expect(fleet.supervisor('inner').status).toBe('Running')
    },
  )

  it.each(['one_for_one', 'rest_for_one'] as const)('stops it: it does not come back (%s)', async (strategy) => {
    const fleet = await waiting(strategy)
    expect(await fleet.command('inner', 'stop')).toMatchObject({ id: 'inner', status: 'Stopped' })
    await fleet.kit.advance(120_000)
    expect(fleet.up()).toBe('a b')
    expect(fleet.snapshot('x')).toMatchObject({ status: 'Stopped', nextRestartAt: null, intent: 'running' })
    await fleet.command('inner', 'start')
    expect(fleet.up()).toBe('a x y b')
  })

  it('may not restart it, nor stop it twice', async () => {
    const fleet = await waiting('one_for_one')
    await expect(fleet.command('inner', 'restart')).rejects.toMatchObject({
      message: "Cannot apply 'restart' to supervisor 'inner', which is Stopped. Valid commands: start, stop",
    })
    await fleet.command('inner', 'stop')
    await expect(fleet.command('inner', 'stop')).rejects.toMatchObject({ code: 'InvalidCommand' })
  })

  it('stops the supervisor above it: it does not come back', async () => {
    const fleet = await waiting('one_for_one')
    await fleet.command('root', 'stop')
    await fleet.kit.advance(120_000)
    expect(fleet.up()).toBe('')
  })
})

describe('a supervisor that an operator has stopped', () => {
  const both = (strategy: 'one_for_all' | 'rest_for_one') =>
    fleetOf({ strategy, ...WIDE }, [agent('a'), under({ id: 'inner', ...WIDE }, [agent('x')]), agent('b')])

  it.each(['one_for_all', 'rest_for_one'] as const)(
    'stays so through a restart of its group by %s',
    async (strategy) => {
      const fleet = await both(strategy)
      await fleet.command('inner', 'stop')
      await fleet.have('a', 'crash', 60_000)
      expect(fleet.up()).toBe('a b')
      expect(fleet.host.tree().children![1]).toMatchObject({ id: 'inner', status: 'Stopped' })
    },
  )

  it('stays so also when it is stopped in the middle of one', async () => {
    const fleet = await both('rest_for_one')
    const b = fleet.kit.threads.of('b')
    b.behaviour = { stopMs: 3000 }
    await fleet.have('a', 'crash', 1000)
    // The last one takes its time to end; then it would be the turn of the supervisor.
    expect(fleet.phases()).toEqual({ a: 'STOPPED', x: 'ACTIVE', b: 'STOPPING' })
    const stopping = fleet.host.command('inner', 'stop')
    await fleet.kit.advance(60_000)
    await stopping
    expect(fleet.up()).toBe('a b')
  })

  it('stays so when the one above gives up and is restarted by its own parent', async () => {
    const fleet = await fleetOf(WIDE, [
      under({ id: 'middle', intensity: 0 }, [agent('a'), under({ id: 'inner', ...WIDE }, [agent('x')])]),
    ])
    await fleet.command('inner', 'stop')
    await fleet.have('a', 'crash', 60_000)
    expect(fleet.up()).toBe('a')
    await fleet.command('middle', 'restart')
    expect(fleet.up()).toBe('a x')
  })

  it('comes back with an operator that starts the one above', async () => {
    const fleet = await both('one_for_all')
    await fleet.command('inner', 'stop')
    await fleet.command('root', 'start')
    expect(fleet.up()).toBe('a x b')
  })
})
