/** How children are ended: each by its own time and what is left of those above it, and whose time it was is said. */
import { describe, expect, it } from 'vitest'
import { agent, fleetOf, type TestedFleet, under, WIDE } from './fleet.ts'

const slow = (stopMs: number) => ({ stopMs })

/** How long a command takes by the host's clock. */
async function took(fleet: TestedFleet, work: Promise<unknown>): Promise<number> {
  const { clock } = fleet.kit
  const began = clock.now()
  await fleet.kit.finish(work)
  return clock.now() - began
}

describe('the time of a child', () => {
  it('that is enough lets its stop hooks end', async () => {
    const fleet = await fleetOf(WIDE, [agent('a', { shutdown: 4000 })], { behaviours: { a: slow(3999) } })
    expect(await took(fleet, fleet.host.command('root', 'stop'))).toBe(3999)
    expect(fleet.causes('a')).toEqual(['shutdown'])
  })

  it('that is too short ends it, and the record says whose time that was', async () => {
    const fleet = await fleetOf(WIDE, [agent('a', { shutdown: 4000 })], { behaviours: { a: slow(4001) } })
    const stopped = fleet.command('root', 'stop')
    expect(await stopped).toMatchObject({ killed: ['a'], stillRunning: [] })
    expect(fleet.causes('a')).toEqual(['shutdown_timeout'])
    expect(fleet.decision('a')).toEqual({
      rule: 'supervisor',
      action: 'none',
      supervisor: 'root',
      attempt: 0,
      by: 'root',
    })
  })

  it('is its own limits.stopTimeoutMs where the fleet says nothing', async () => {
    const fleet = await fleetOf(WIDE, [agent('a', {}, { limits: { stopTimeoutMs: 700 } })], {
      behaviours: { a: slow(10_000) },
    })
    expect(await took(fleet, fleet.host.command('root', 'stop'))).toBe(700)
  })

  it('brutal_kill is none: no stop hook runs, and it was not late', async () => {
    const fleet = await fleetOf(WIDE, [agent('a', { shutdown: 'brutal_kill' }), agent('b')], {
      behaviours: { a: { stubborn: true } },
    })
    expect(await took(fleet, fleet.host.command('root', 'stop'))).toBe(0)
    expect(fleet.causes('a')).toEqual(['shutdown'])
    expect(await fleet.command('root', 'start')).toMatchObject({ status: 'Running' })
    expect(await fleet.command('root', 'stop')).toMatchObject({ killed: [] })
  })

  it('infinity is as long as it takes', async () => {
    const fleet = await fleetOf(WIDE, [agent('a', { shutdown: 'infinity' })], { behaviours: { a: slow(3_000_000) } })
    expect(await took(fleet, fleet.host.command('root', 'stop'))).toBe(3_000_000)
    expect(fleet.causes('a')).toEqual(['shutdown'])
  })

  it('holds when a strategy ends it, too', async () => {
    const fleet = await fleetOf(
      { strategy: 'one_for_all', ...WIDE },
      [agent('a'), agent('b', { shutdown: 1500 }), agent('c', { shutdown: 'brutal_kill' })],
      { behaviours: { b: slow(9000), c: slow(9000) } },
    )
    await fleet.have('a', 'crash', 1499)
    expect(fleet.phases()).toEqual({ a: 'STOPPED', b: 'STOPPING', c: 'STOPPED' })
    await fleet.kit.advance(1)
    expect(fleet.up()).toBe('a b c')
    expect(fleet.causes('b')).toEqual(['shutdown_timeout'])
    // It did not end in time, and comes back with the group all the same.
    for (const id of ['b', 'c'])
      expect(fleet.decision(id)).toMatchObject({ rule: 'strategy', action: 'restart', by: 'a' })
  })

  it('of each is its own: one after the other', async () => {
    const fleet = await fleetOf(WIDE, [agent('a'), agent('b'), agent('c')], {
      behaviours: { a: slow(1000), b: slow(1000), c: slow(1000) },
    })
    expect(await took(fleet, fleet.host.command('root', 'stop'))).toBe(3000)
  })
})

describe('C067 deadlines of several levels', () => {
  const tower = (outer: number | 'infinity', inner: number | 'infinity', own: number | 'infinity') =>
    fleetOf(
      WIDE,
      [
        under(
          { id: 'outer', ...WIDE },
          [under({ id: 'inner', ...WIDE }, [agent('a', { shutdown: own })], { shutdown: inner })],
          { shutdown: outer },
        ),
      ],
      { behaviours: { a: slow(20_000) } },
    )

  it.each([
    ['the outermost', 2000, 8000, 10_000, 2000, 'root'],
    ['the middle one', 8000, 2000, 10_000, 2000, 'outer'],
    ['its own', 8000, 6000, 1000, 1000, 'inner'],
    ['the only one', 'infinity', 3000, 'infinity', 3000, 'outer'],
    ['of two that are equal the outer', 3000, 3000, 3000, 3000, 'root'],
  ] as const)('%s is the one that counts, and is named', async (_, outer, inner, own, after, by) => {
    const fleet = await tower(outer, inner, own)
    expect(await took(fleet, fleet.host.command('root', 'stop'))).toBe(after)
    expect(fleet.causes('a')).toEqual(['shutdown_timeout'])
    expect(fleet.decision('a')).toMatchObject({ rule: 'supervisor', action: 'none', by })
    expect(fleet.threads()).toEqual({})
  })

  it('one that is told to end itself has no time from above', async () => {
    const fleet = await tower(2000, 8000, 10_000)
    expect(await took(fleet, fleet.host.command('outer', 'stop'))).toBe(8000)
    expect(fleet.decision('a')).toMatchObject({ by: 'outer' })
  })

  it('one that ends in time names who had it ended, not whose deadline that would have been', async () => {
    const fleet = await fleetOf(WIDE, [under({ id: 'outer' }, [agent('a')], { shutdown: 2000 })])
    await fleet.command('root', 'stop')
    expect(fleet.causes('a')).toEqual(['shutdown'])
    expect(fleet.decision('a')).toMatchObject({ rule: 'supervisor', by: 'ops' })
  })

  it('the earliest of two orders holds, and is the one that is named', async () => {
    const fleet = await tower(9000, 6000, 'infinity')
    const inner = fleet.host.command('inner', 'stop')
    await fleet.kit.advance(1000)
    const root = fleet.host.command('root', 'stop', { now: true })
    await fleet.kit.finish(Promise.all([inner, root]))
    expect(fleet.decision('a')).toMatchObject({ by: 'program' })
  })

  it('leaves no thread behind, whatever it was doing at whichever moment', async () => {
    for (let n = 0; n < 50; n++) {
      const fleet = await tower(2000, 8000, 10_000)
      // At its boot, at work, at its death, in the restart after it, in the middle of another stop.
      await fleet.have('a', n % 2 === 0 ? 'crash' : 'hang', (n * 37) % 400)
      const stops = [fleet.host.command('outer', 'stop').catch(() => {})]
      if (n % 3 === 0) await fleet.kit.advance((n * 211) % 3000)
      stops.push(fleet.host.command('root', 'stop').catch(() => {}))
      await fleet.kit.finish(Promise.all(stops))
      await fleet.kit.advance(60_000)
      expect(fleet.threads()).toEqual({})
      expect(fleet.phases()).toEqual({ a: 'STOPPED' })
      const deaths = fleet.host.deaths('a')
      expect(deaths).toHaveLength(fleet.kit.threads.all('a').length)
      await fleet.kit.close()
    }
  })
})

describe('the end of the host', () => {
  it('has one deadline over all: who has time left takes no more than that, and the rest have none', async () => {
    const fleet = await fleetOf(WIDE, [agent('a'), agent('b', { shutdown: 'infinity' }), agent('c')], {
      behaviours: { a: slow(100), b: slow(60_000), c: slow(3000) },
    })
    const report = await fleet.kit.finish(fleet.host.shutdown({ timeoutMs: 10_000, by: 'SIGTERM' }))
    expect(report).toMatchObject({ tookMs: 10_000, killed: ['b', 'a'], stuck: [] })
    expect(['a', 'b', 'c'].map((id) => fleet.causes(id))).toEqual([
      ['shutdown_timeout'],
      ['shutdown_timeout'],
      ['shutdown'],
    ])
    for (const id of ['a', 'b', 'c'])
      expect(fleet.decision(id)).toMatchObject({ rule: 'host_shutdown', action: 'none' })
    expect(fleet.decision('b').by).toBe('SIGTERM')
  })

  it('names what even that did not end, and does not wait for it', async () => {
    const fleet = await fleetOf(WIDE, [agent('a'), agent('b')], {
      behaviours: { b: { unkillable: true, stubborn: true } },
    })
    const report = await fleet.kit.finish(fleet.host.shutdown({ timeoutMs: 1000 }))
    // The turn of a came when the time was up.
    expect(report).toMatchObject({ stuck: ['b'], killed: ['a'] })
    expect(fleet.threads()).toEqual({ b: 1 })
  })

  it('C038 starts nothing from then on: no restart, no command', async () => {
    const waits = { restart: { backoff: { minMs: 500, maxMs: 500, jitter: 0 } } } as const
    const fleet = await fleetOf({}, [agent('a'), agent('b', {}, waits)], { behaviours: { a: slow(3000) } })
    await fleet.have('b', 'crash')
    await fleet.have('b', 'crash', 100)
    const ending = fleet.host.shutdown()
    await fleet.kit.advance(1000)
    await expect(fleet.host.command('b', 'start')).rejects.toMatchObject({ code: 'ShuttingDown' })
    await fleet.kit.finish(ending)
    expect(fleet.kit.threads.all('b')).toHaveLength(2)
    expect(fleet.threads()).toEqual({})
  })
})

describe('a thread that cannot be ended', () => {
  const stuck = { behaviours: { b: { unkillable: true, stubborn: true } } }

  it('holds its group, is shown, and lets the group go on when it ends after all', async () => {
    const fleet = await fleetOf({ strategy: 'one_for_all', ...WIDE }, [agent('a'), agent('b'), agent('c')], stuck)
    fleet.kit.threads.behave('b', {})
    await fleet.have('a', 'crash', 6000)
    expect(fleet.up()).toBe('')
    expect(fleet.snapshot('b')).toMatchObject({ phase: 'STOPPING', unkillable: true, status: 'Unhealthy' })
    expect(fleet.facts('agent.unkillable')).toMatchObject([{ agent: 'b', data: { replaced: false } }])
    await fleet.kit.advance(60_000)
    expect(fleet.threads()).toEqual({ b: 1 })
    fleet.kit.threads.of('b').release()
    await fleet.kit.advance(0)
    expect(fleet.up()).toBe('a b c')
  })

  it('does not hold an operator: the supervisor stops, and says what still runs', async () => {
    const fleet = await fleetOf({ strategy: 'one_for_all', ...WIDE }, [agent('a'), agent('b')], stuck)
    await fleet.have('a', 'crash', 6000)
    expect(await fleet.command('root', 'stop')).toMatchObject({ status: 'Stopped', stillRunning: ['b'] })
    fleet.kit.threads.of('b').release()
    await fleet.kit.advance(60_000)
    expect(fleet.phases()).toEqual({ a: 'STOPPED', b: 'STOPPED' })
    expect(fleet.decision('b')).toMatchObject({ rule: 'supervisor', action: 'none' })
  })

  it('has a successor at once where its manifest says so', async () => {
    const replaces = { restart: { backoff: 'none', unkillable: 'replace' } } as const
    const fleet = await fleetOf({ strategy: 'one_for_all', ...WIDE }, [agent('a'), agent('b', {}, replaces)], stuck)
    fleet.kit.threads.behave('b', {})
    await fleet.have('a', 'crash', 7000)
    expect(fleet.up()).toBe('a b')
    expect(fleet.threads()).toEqual({ a: 1, b: 2 })
    fleet.kit.threads.all('b')[0]!.release()
    await fleet.kit.advance(0)
    expect(fleet.threads()).toEqual({ a: 1, b: 1 })
    expect(fleet.host.deaths('b')).toHaveLength(1)
  })
})
