/** Cases from public reports that are about what a supervisor does when ends, orders and clocks meet. On the testkit. */
import { describe, expect, it } from 'vitest'
import type { FakeBehaviour } from '../../src/testkit/index.ts'
import { agent, fleetOf, under, WIDE } from './fleet.ts'

const REFUSED: FakeBehaviour = { boot: { step: 'roles', error: new Error('no such file') } }
const HOUR = 3_600_000
const waits = (minMs: number) => ({ restart: { backoff: { minMs, maxMs: minMs, jitter: 0 } } })

describe('C046 what throws at a start or at a stop ends in a definite state, and is told', () => {
  it('the first boot: tried again, by its own count', async () => {
    const fleet = await fleetOf(WIDE, [agent('a')], { behaviours: { a: (n) => (n === 1 ? REFUSED : {}) } })
    await fleet.kit.advance(0)
    expect(fleet.host.deaths('a')).toMatchObject([{ cause: 'boot_failed', step: 'roles', decision: { attempt: 1 } }])
    expect(fleet.up()).toBe('a')
  })

  it('the second boot only', async () => {
    const fleet = await fleetOf(WIDE, [agent('a')], { behaviours: { a: (n) => (n === 2 ? REFUSED : {}) } })
    await fleet.have('a', 'crash')
    expect(fleet.causes('a')).toEqual(['crash', 'boot_failed'])
    expect(fleet.up()).toBe('a')
    expect(fleet.snapshot('a').restarts).toBe(2)
  })

  it('every boot: Stopped in the end, and the name can be used again', async () => {
    const limited = { restart: { backoff: 'none', maxRestarts: 2 } } as const
    const fleet = await fleetOf(WIDE, [agent('a', {}, limited)], { behaviours: { a: REFUSED } })
    await fleet.kit.advance(0)
    expect(fleet.snapshot('a')).toMatchObject({ phase: 'FAILED', status: 'Stopped', nextRestartAt: null })
    await expect(fleet.command('a', 'start')).rejects.toMatchObject({ code: 'BootFailed' })
    fleet.kit.threads.behave('a', {})
    // The start that failed was a first failure again, and is followed by the restarts it may have.
    await fleet.kit.advance(0)
    expect(fleet.up()).toBe('a')
  })

  it('the stop hook: it has stopped, with that error', async () => {
    const fleet = await fleetOf(WIDE, [agent('a')], { behaviours: { a: { stopMs: 100 } } })
    const stopping = fleet.host.command('a', 'stop')
    await fleet.kit.advance(50)
    fleet.kit.threads.of('a').crash(new Error('in the stop hook'))
    await fleet.kit.finish(stopping)
    expect(fleet.host.deaths('a')).toMatchObject([{ cause: 'shutdown', error: { message: 'in the stop hook' } }])
    expect(fleet.snapshot('a')).toMatchObject({ phase: 'STOPPED', intent: 'stopped' })
  })
})

describe('C058 a stop while it is not up', () => {
  it('in the middle of its boot', async () => {
    const fleet = await fleetOf(WIDE, [agent('a')])
    fleet.kit.threads.behave('a', { boot: 'never' })
    await fleet.have('a', 'crash')
    expect(fleet.phases()).toEqual({ a: 'BOOTING' })
    await fleet.command('a', 'stop')
    await fleet.kit.advance(HOUR)
    expect(fleet.phases()).toEqual({ a: 'STOPPED' })
    expect(fleet.threads()).toEqual({})
    expect(fleet.causes('a')).toEqual(['crash', 'shutdown'])
  })

  it('in back-off: the start that was scheduled does not come', async () => {
    const fleet = await fleetOf({}, [agent('a', {}, waits(1000))])
    await fleet.have('a', 'crash')
    await fleet.have('a', 'crash')
    await fleet.command('a', 'stop')
    expect(fleet.snapshot('a').nextRestartAt).toBeNull()
    await fleet.kit.advance(HOUR)
    expect(fleet.kit.threads.all('a')).toHaveLength(2)
  })

  it('while it waits for a sibling it depends on, and while that one boots', async () => {
    const fleet = await fleetOf({ strategy: 'rest_for_one' }, [agent('a', {}, waits(5000)), agent('b'), agent('c')])
    await fleet.have('a', 'crash')
    await fleet.have('a', 'crash')
    await fleet.command('b', 'stop')
    fleet.kit.threads.behave('a', { boot: 'never' })
    await fleet.kit.advance(5000)
    expect(fleet.phases()).toEqual({ a: 'BOOTING', b: 'STOPPED', c: 'STOPPED' })
    await fleet.command('c', 'suspend')
    fleet.kit.threads.behave('a', {})
    await fleet.kit.advance(HOUR)
    expect(fleet.up()).toBe('a')
  })

  it('of the one that its group waits for: the others are started at once', async () => {
    const fleet = await fleetOf({ strategy: 'one_for_all' }, [agent('a', {}, waits(60_000)), agent('b')])
    await fleet.have('a', 'crash')
    await fleet.have('a', 'crash', 10)
    expect(fleet.up()).toBe('')
    await fleet.command('a', 'stop')
    await fleet.kit.advance(0)
    expect(fleet.up()).toBe('b')
  })
})

describe('C064 C065 C071 a boot that fails', () => {
  it('C064 at a restart counts, and the supervisor and the siblings live', async () => {
    const limited = { restart: { backoff: 'none', maxRestarts: 3 } } as const
    const fleet = await fleetOf(WIDE, [agent('a', {}, limited), agent('b')])
    fleet.kit.threads.behave('a', REFUSED)
    await fleet.have('a', 'crash')
    expect(fleet.causes('a')).toEqual(['crash', 'boot_failed', 'boot_failed', 'boot_failed'])
    expect(fleet.decision('a')).toMatchObject({ rule: 'restart_limit', attempt: 3 })
    expect(fleet.up()).toBe('b')
    fleet.kit.threads.behave('a', {})
    await fleet.command('a', 'start')
    expect(fleet.up()).toBe('a b')
  })

  it('C065 without any limit is tried ever more slowly', async () => {
    const fleet = await fleetOf({}, [agent('a', {}, { restart: {} })], { behaviours: { a: REFUSED } })
    await fleet.kit.advance(30_000)
    // At 0, at once, and after 1, 2, 4, 8 s; the next one comes after 16 more.
    expect(fleet.kit.threads.all('a')).toHaveLength(6)
    expect(fleet.snapshot('a')).toMatchObject({ phase: 'FAILED', status: 'Starting', restarts: 5 })
    await fleet.kit.advance(2 * HOUR)
    // Every five minutes at the most, for ever.
    expect(fleet.kit.threads.all('a').length).toBeLessThan(12 + 120 / 5)
    expect(fleet.snapshot('a').status).toBe('Starting')
  })

  it('C071 for a minute is over a minute later, by itself', async () => {
    const fleet = await fleetOf({}, [agent('a', {}, { restart: {} })], { behaviours: { a: REFUSED } })
    await fleet.kit.advance(60_000)
    fleet.kit.threads.behave('a', {})
    await fleet.kit.advance(4000)
    expect(fleet.up()).toBe('a')
    expect(fleet.snapshot('a')).toMatchObject({ status: 'Running', restarts: 7 })
  })

  it('C071 for longer than its limit is shown, with the reason and the command to try again', async () => {
    const limited = { restart: { maxRestarts: 3 } } as const
    const fleet = await fleetOf({}, [agent('a', {}, limited)], { behaviours: { a: REFUSED } })
    await fleet.kit.advance(60_000)
    const { status, sentences, wouldChangeIt } = fleet.host.why('a')
    expect(status).toBe('Stopped')
    expect(sentences.join('\n')).toContain('no such file')
    expect(wouldChangeIt[0]).toMatch(/^`holt start a`/)
  })
})

describe('C070 C073 quick ends', () => {
  it('C070 a stableMs of 0 is refused, with the field', async () => {
    const fleet = await fleetOf(WIDE, [agent('a', {}, { restart: { backoff: 'none', stableMs: 0 } })])
    expect(fleet.host.deaths('a')).toMatchObject([
      { cause: 'boot_failed', step: 'manifest', error: { message: expect.stringContaining('restart.stableMs') } },
    ])
  })

  it('C070 with the least stableMs use up its restarts, and end in a state that is seen', async () => {
    const fleet = await fleetOf(WIDE, [agent('a', {}, { restart: { backoff: 'none', stableMs: 1, maxRestarts: 3 } })])
    for (let n = 0; n < 4; n++) {
      fleet.kit.threads.of('a').exit(1)
      await fleet.kit.advance(0)
    }
    expect(fleet.causes('a')).toEqual(['exit', 'exit', 'exit', 'exit'])
    expect(fleet.snapshot('a')).toMatchObject({ status: 'Stopped', phase: 'STOPPED', restarts: 3 })
  })

  it('C073 a delay before a life does not make it longer', async () => {
    const restart = { backoff: { minMs: 5000, maxMs: 5000, jitter: 0 }, stableMs: 3000, maxRestarts: 3 } as const
    const fleet = await fleetOf({}, [agent('a', {}, { restart })])
    for (let n = 0; n < 4; n++) {
      await fleet.have('a', 'crash', 5000)
    }
    expect(fleet.decision('a')).toMatchObject({ rule: 'restart_limit', attempt: 3 })
    expect(fleet.host.deaths('a').map(({ uptimeMs }) => uptimeMs)).toEqual([0, 5000, 0, 0])
  })

  it('C073 one that works for half a minute and then fails is a first failure each time, and its count is seen', async () => {
    const fleet = await fleetOf({}, [agent('a', {}, { restart: { stableMs: 3000, maxRestarts: 3 } })])
    for (let n = 0; n < 10; n++) {
      fleet.host.agent('a').tell('work')
      await fleet.kit.advance(30_000)
      await fleet.have('a', 'crash')
    }
    expect(fleet.host.deaths('a').map(({ decision }) => decision.attempt)).toEqual(Array(10).fill(1))
    expect(fleet.snapshot('a')).toMatchObject({ status: 'Running', restarts: 10 })
  })
})

describe('C068 its own end and the order to end, in the same moment', () => {
  it('one record of one end, the rule applied once, and nobody runs on', async () => {
    const fleet = await fleetOf(WIDE, [
      agent('a', {}, { restart: { backoff: 'none' }, limits: { stopTimeoutMs: 100 } }),
    ])
    const told = new Set<string>()
    for (let n = 0; n < 60; n++) {
      const thread = fleet.kit.threads.of('a')
      // Before it, with it, right after it, and while its stop hooks run.
      if (n % 4 === 0) thread.exit(5)
      if (n % 4 === 3) thread.behaviour = { stopMs: 50 }
      const stopping = fleet.host.command('a', 'stop', { by: 'ops' })
      if (n % 4 === 1) thread.exit(5)
      if (n % 4 === 2) queueMicrotask(() => thread.exit(5))
      if (n % 4 === 3) {
        await fleet.kit.advance(n % 50)
        thread.exit(5)
      }
      await fleet.kit.finish(stopping)
      await fleet.kit.advance(500)
      expect(fleet.host.deaths('a')).toHaveLength(n + 1)
      const { cause, decision } = fleet.host.deaths('a').at(-1)!
      told.add(`${cause} by ${decision.rule}`)
      expect(decision).toMatchObject({ action: 'none' })
      expect(fleet.phases()).toEqual({ a: 'STOPPED' })
      expect(fleet.threads()).toEqual({})
      await fleet.command('a', 'start')
    }
    // By its own hand before anyone told it, or as it was told: nothing else.
    expect([...told].sort()).toEqual(['exit by intent', 'shutdown by command'])
    expect(fleet.supervisor('root').restarts).toBe(0)
  })
})

describe('C076 the wall clock is set, by two hours either way', () => {
  const steps = [2 * HOUR, -2 * HOUR]

  it.each(steps)('by %i ms in back-off: the start comes when it was due', async (stepMs) => {
    const fleet = await fleetOf({}, [agent('a', {}, waits(10_000))])
    await fleet.have('a', 'crash')
    await fleet.have('a', 'crash', 4000)
    fleet.kit.clock.stepWall(stepMs)
    await fleet.kit.advance(5999)
    expect(fleet.up()).toBe('')
    await fleet.kit.advance(1)
    expect(fleet.up()).toBe('a')
  })

  it.each(steps)('by %i ms within the window of a budget: the restarts before it still count', async (stepMs) => {
    const fleet = await fleetOf({ intensity: 2, periodMs: 5000 }, [agent('a')])
    await fleet.have('a', 'crash', 1000)
    await fleet.have('a', 'crash', 1000)
    fleet.kit.clock.stepWall(stepMs)
    await fleet.have('a', 'crash', 1000)
    expect(fleet.facts('supervisor.gave_up')).toMatchObject([{ data: { restarts: 3, withinMs: 2000 } }])
  })

  it.each(steps)('by %i ms while it stops: it has the time it was given', async (stepMs) => {
    const fleet = await fleetOf(WIDE, [agent('a', { shutdown: 3000 })], { behaviours: { a: { stopMs: 2999 } } })
    const stopping = fleet.host.command('root', 'stop')
    await fleet.kit.advance(1000)
    fleet.kit.clock.stepWall(stepMs)
    await fleet.kit.advance(1998)
    expect(fleet.phases()).toEqual({ a: 'STOPPING' })
    await fleet.kit.advance(1)
    await stopping
    expect(fleet.causes('a')).toEqual(['shutdown'])
  })

  it.each(steps)('by %i ms while an ask waits and a boot hangs: both time out when they were due', async (stepMs) => {
    const behaviours = {
      a: { boot: 'never' },
      b: { role: { commands: { slow: () => new Promise(() => {}) } } },
    } as const
    const fleet = await fleetOf({}, [agent('b'), agent('c')], { behaviours: { b: behaviours.b } })
    const failed: unknown[] = []
    fleet.host
      .agent('b')
      .ask('slow', null, { timeoutMs: 2000 })
      .catch((error: unknown) => failed.push(error))
    fleet.kit.threads.behave('c', behaviours.a)
    await fleet.have('c', 'crash', 500)
    fleet.kit.clock.stepWall(stepMs)
    await fleet.kit.advance(1499)
    expect(failed).toEqual([])
    await fleet.kit.advance(1)
    expect(failed).toMatchObject([{ code: 'Timeout' }])
    await fleet.kit.advance(7999)
    expect(fleet.causes('c')).toEqual(['crash'])
    await fleet.kit.advance(1)
    expect(fleet.causes('c')).toEqual(['crash', 'start_timeout'])
  })

  it.each(steps)('by %i ms kills nobody, and finds the silent one all the same', async (stepMs) => {
    const fleet = await fleetOf(WIDE, [agent('a'), agent('b')])
    await fleet.have('a', 'hang', 1000)
    fleet.kit.clock.stepWall(stepMs)
    await fleet.kit.advance(20_000)
    expect(fleet.causes('a')).toEqual(['unresponsive'])
    expect(fleet.causes('b')).toEqual([])
  })
})

describe('C014 eight ends', () => {
  it('are told apart, each with who, what and when; and whoever waited is told the same', async () => {
    const role = { commands: { wait: () => new Promise(() => {}) } }
    const limits = { stopTimeoutMs: 500 }
    const ends: Record<string, { cause: string; rule: string; by: string | undefined }> = {}
    const told: Record<string, unknown> = {}

    /** One host an end, with an ask that waits; what it was is noted. */
    const end = async (name: string, how: (fleet: Awaited<ReturnType<typeof fleetOf>>) => Promise<unknown>) => {
      const fleet = await fleetOf(
        WIDE,
        [
          under({ id: 'group', strategy: 'one_for_all', ...WIDE }, [agent('sibling'), agent('a', {}, { limits })], {
            shutdown: 300,
          }),
        ],
        { behaviours: { a: { role } } },
      )
      fleet.host
        .agent('a')
        .ask('wait', null, { timeoutMs: HOUR })
        .catch((error: unknown) => {
          told[name] = error
        })
      await fleet.kit.advance(100)
      await how(fleet)
      await fleet.kit.advance(0)
      const [record] = fleet.host.deaths('a')
      const { cause, decision, at } = record!
      ends[name] = { cause, rule: decision.rule, by: decision.by }
      expect(at).toBeGreaterThan(Date.UTC(2026, 0, 1))
      expect(told[name]).toMatchObject({ code: 'AgentDied', details: { deathId: record!.id } })
    }

    await end('operator', (fleet) => fleet.command('a', 'stop', { now: true }))
    await end('supervisor', async (fleet) => {
      fleet.kit.threads.of('a').behaviour = {}
      await fleet.command('group', 'stop', { now: true })
    })
    await end('sibling', (fleet) => fleet.have('sibling', 'crash', 1000))
    await end('memory', (fleet) => fleet.have('a', 'outOfMemory'))
    await end('time to stop', (fleet) => fleet.command('root', 'stop'))
    await end('daemon', (fleet) => fleet.kit.finish(fleet.host.shutdown({ by: 'SIGTERM', timeoutMs: 200 })))
    await end('exit', async (fleet) => fleet.kit.threads.of('a').exit(3))
    const late = await fleetOf(WIDE, [agent('a')], { behaviours: { a: { boot: 'never' } } })
    const { cause, decision } = late.host.deaths('a')[0]!
    ends['time to start'] = { cause, rule: decision.rule, by: decision.by }

    expect(ends).toEqual({
      operator: { cause: 'shutdown', rule: 'command', by: 'ops' },
      supervisor: { cause: 'shutdown_timeout', rule: 'supervisor', by: 'ops' },
      sibling: { cause: 'shutdown_timeout', rule: 'strategy', by: 'sibling' },
      memory: { cause: 'out_of_memory', rule: 'restart_type', by: undefined },
      'time to stop': { cause: 'shutdown_timeout', rule: 'supervisor', by: 'root' },
      daemon: { cause: 'shutdown_timeout', rule: 'host_shutdown', by: 'SIGTERM' },
      exit: { cause: 'exit', rule: 'restart_type', by: undefined },
      'time to start': { cause: 'start_timeout', rule: 'restart_type', by: undefined },
    })
    expect(new Set(Object.values(ends).map((one) => JSON.stringify(one))).size).toBe(8)
  })
})
