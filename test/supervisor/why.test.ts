/** What `why` says of a supervised agent: what happened, by which rule and whose, what comes next, and what would change it. */
import { describe, expect, it } from 'vitest'
import { agent, fleetOf, type TestedFleet, under, WIDE } from './fleet.ts'

const waits = (minMs: number) => ({ restart: { backoff: { minMs, maxMs: minMs, jitter: 0 } } })

/** Its sentences, without what differs from run to run. */
const sentences = ({ host }: TestedFleet, id: string): string[] =>
  host
    .why(id)
    .sentences.map((text) => text.replaceAll(/ \(instance '[^']+', at [^)]+\)/g, '').replaceAll(/'i_\w+'/g, 'I'))

const headline = (fleet: TestedFleet, id: string): string => sentences(fleet, id)[0]!

async function crashes(fleet: TestedFleet, id: string, times: number, everyMs: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    fleet.kit.threads.of(id).crash(new Error('no more room'))
    await fleet.kit.advance(n === times - 1 ? 0 : everyMs)
  }
}

const START = 'reads its files again and starts it'

describe('a crash loop', () => {
  it("at the supervisor's budget", async () => {
    const fleet = await fleetOf({ intensity: 3 }, [agent('a'), agent('b')])
    await crashes(fleet, 'a', 4, 1067)
    expect(sentences(fleet, 'a')).toEqual([
      "STOPPED: crashed 4 times in 3.2 s, more than 3 in 5 s allowed by supervisor 'root'; not restarted",
      'crashed: no more room',
      "no restart, by supervisor 'root' (restart_intensity): that was one restart more than the supervisor allows",
      'before that: crashed: no more room',
      'before that: crashed: no more room',
      "supervisor 'root' gave up: 4 restarts (a) in 3.2 s, more than 3 in 5 s allowed",
    ])
    const { records, wouldChangeIt } = fleet.host.why('a')
    expect(records).toEqual(
      fleet.host
        .deaths('a')
        .slice(-3)
        .reverse()
        .map(({ id }) => id),
    )
    expect(wouldChangeIt.slice(0, 2)).toEqual([
      "`holt start root` starts all that supervisor 'root' keeps",
      `\`holt start a\` ${START}`,
    ])
  })

  it("at the supervisor's budget, along with its siblings", async () => {
    const fleet = await fleetOf({ intensity: 2, periodMs: 180_000 }, [agent('a'), agent('b')])
    await crashes(fleet, 'b', 1, 0)
    await fleet.kit.advance(100_000)
    await crashes(fleet, 'a', 2, 30_000)
    expect(headline(fleet, 'a')).toBe(
      "STOPPED: crashed 2 times (and its siblings once) in 2.2 min, more than 2 in 3 min allowed by supervisor 'root'; not restarted",
    )
    expect(sentences(fleet, 'b').at(-1)).toBe(
      "supervisor 'root' gave up: 3 restarts (b, a) in 2.2 min, more than 2 in 3 min allowed",
    )
  })

  it('where the supervisor allows no restart at all', async () => {
    const fleet = await fleetOf({ intensity: 0 }, [agent('a')])
    await crashes(fleet, 'a', 1, 0)
    expect(headline(fleet, 'a')).toBe(
      "STOPPED: crashed, and supervisor 'root' allows no restart (intensity 0); not restarted",
    )
    expect(sentences(fleet, 'a').at(-1)).toBe(
      "supervisor 'root' gave up: it allows no restart (intensity 0), and 'a' would have needed one",
    )
  })

  it.each([
    ['ends', 'ended 4 times'],
    ['boots that fail', 'failed to boot 4 times'],
    ['ends and crashes', 'died 4 times'],
  ])('of %s', async (what, told) => {
    const fleet = await fleetOf({ intensity: 3 }, [agent('a')])
    if (what === 'boots that fail') {
      fleet.kit.threads.behave('a', { boot: { step: 'roles', error: new Error('no') } })
      await fleet.command('a', 'restart').catch(() => {})
    } else {
      await fleet.have('a', 'stop')
      for (let n = 0; n < 3; n++) await fleet.have('a', what === 'ends' ? 'stop' : 'crash')
    }
    await fleet.kit.advance(0)
    expect(headline(fleet, 'a')).toContain(
      `: ${told} in 0 ms, more than 3 in 5 s allowed by supervisor 'root'; not restarted`,
    )
  })

  it('at its own maxRestarts', async () => {
    const fleet = await fleetOf(WIDE, [agent('a', {}, { restart: { backoff: 'none', maxRestarts: 2 } })])
    await crashes(fleet, 'a', 3, 100)
    expect(sentences(fleet, 'a').slice(0, 3)).toEqual([
      'STOPPED: was restarted 2 times without progress, as often as its restart.maxRestarts allows; not restarted, its siblings go on',
      'crashed: no more room',
      "no restart, by supervisor 'root' (restart_limit): it has had as many restarts without progress as it may",
    ])
    expect(fleet.host.why('a').wouldChangeIt[0]).toBe(`\`holt start a\` ${START}`)
  })

  it('at its budget of memory', async () => {
    const fleet = await fleetOf(WIDE, [agent('a')])
    for (let n = 0; n < 4; n++) await fleet.have('a', 'outOfMemory', 60_000)
    expect(sentences(fleet, 'a').slice(0, 3)).toEqual([
      'STOPPED: died by memory 4 times in 3 min, more than 3 in 10 min allowed; not restarted, its siblings go on',
      'ran out of memory (last seen at 4 MB)',
      "no restart, by supervisor 'root' (restart_limit): it has died by memory as often as it may",
    ])
  })

  it('in its delay, and when that is over', async () => {
    const fleet = await fleetOf({}, [agent('a', {}, waits(300_000))])
    await crashes(fleet, 'a', 2, 0)
    await fleet.kit.advance(30_000)
    expect(sentences(fleet, 'a').slice(0, 3)).toEqual([
      "STOPPED (Unhealthy): restart 2 in 4.5 min, by supervisor 'root' (backoff)",
      'crashed: no more room',
      "restart 2 after 5 min, by supervisor 'root' (backoff)",
    ])
    await fleet.kit.advance(270_000)
    expect(sentences(fleet, 'a').slice(0, 3)).toEqual([
      'ACTIVE: it runs and is idle, instance I for 0 ms',
      'before that: crashed: no more room',
      "restart 2 after 5 min, by supervisor 'root' (backoff)",
    ])
  })
})

describe('an agent that hangs', () => {
  it('is told as Unhealthy, with what it was at, and then as ended for it', async () => {
    const fleet = await fleetOf(WIDE, [agent('a')], {
      behaviours: { a: (n) => (n === 1 ? { role: { events: { index: (_, thread) => thread.hang() } } } : {}) },
    })
    fleet.host.agent('a').tell('index')
    await fleet.kit.advance(7000)
    expect(sentences(fleet, 'a')).toEqual([
      "ACTIVE (Unhealthy): no sign of life for too long, at 'index' (message 1), instance I for 7 s; new messages wait",
    ])
    await fleet.kit.advance(10_000)
    expect(sentences(fleet, 'a').slice(1)).toEqual([
      "before that: was ended: no sign of life for 15250 ms (limits.killAfterMs), while it handled 'index' (message 1)",
      "restart 1 at once, by supervisor 'root' (restart_type)",
    ])
  })

  it('in a handler that ran too long', async () => {
    const fleet = await fleetOf(WIDE, [agent('a', {}, { limits: { handlerTimeoutMs: 1000 } })], {
      behaviours: { a: { role: { events: { index: () => new Promise(() => {}) } } } },
    })
    fleet.host.agent('a').tell('index')
    await fleet.kit.advance(2000)
    expect(sentences(fleet, 'a')[1]).toBe(
      "before that: was ended: a handler ran for more than 1000 ms (limits.handlerTimeoutMs), while it handled 'index' (message 1)",
    )
  })
})

describe('a boot that fails', () => {
  it('for good', async () => {
    const fleet = await fleetOf({}, [agent('a', {}, { capabilities: [{ id: 'text', allow: [] }] })])
    expect(sentences(fleet, 'a')).toEqual([
      'FAILED: its boot failed, and nothing is scheduled',
      expect.stringMatching(/^did not boot: step 'gate' failed: agent 'a': capability 'text' does not exist/),
      "no restart, by supervisor 'root' (final_boot_failure): that will not change by itself",
    ])
  })

  it('for now', async () => {
    const fleet = await fleetOf({}, [agent('a', {}, { restart: {} })], {
      behaviours: { a: { boot: { step: 'roles', error: new Error('no such file') } } },
    })
    await fleet.kit.advance(4000)
    expect(sentences(fleet, 'a').slice(0, 3)).toEqual([
      "FAILED: restart 4 in 3 s, by supervisor 'root' (backoff)",
      "did not boot: step 'roles' failed: no such file",
      "restart 4 after 4 s, by supervisor 'root' (backoff)",
    ])
  })

  it('in time', async () => {
    const fleet = await fleetOf({}, [agent('a', { restart: 'temporary' }, { limits: { bootTimeoutMs: 500 } })], {
      behaviours: { a: { boot: 'never' } },
    })
    expect(sentences(fleet, 'a')[1]).toBe(
      "did not boot in time, at step 'roles': not ready within 500 ms (limits.bootTimeoutMs): an import that blocks, or a top-level await that has not settled",
    )
  })
})

describe('by the word of an operator', () => {
  it('stopped', async () => {
    const fleet = await fleetOf({}, [agent('a')])
    await fleet.command('a', 'stop', { reason: 'too dear' })
    expect(sentences(fleet, 'a')).toEqual([
      "STOPPED (stopped): stopped by 'ops' at 2026-01-01T00:00:00.000Z, reason: too dear",
      'ended, as it was told to',
      "no restart, by supervisor 'root' (command), by the word of 'ops': a command ended it",
    ])
    expect(fleet.host.why('a').wouldChangeIt).toEqual([`\`holt start a\` ${START}`])
  })

  it('with its supervisor', async () => {
    const fleet = await fleetOf({}, [under({ id: 'inner' }, [agent('a')])])
    await fleet.command('inner', 'stop', { reason: 'a new disk' })
    expect(sentences(fleet, 'a')).toEqual([
      "STOPPED: it was ended with supervisor 'inner', which 'ops' stopped; not restarted",
      'ended, as it was told to',
      "no restart, by supervisor 'inner' (supervisor), by the word of 'ops': its supervisor ended",
      "supervisor 'inner' was stopped by 'ops' at 2026-01-01T00:00:00.000Z, reason: a new disk, and this agent with it",
    ])
    expect(fleet.host.why('a').wouldChangeIt[0]).toBe("`holt start inner` starts all that supervisor 'inner' keeps")
  })
})

describe('a supervisor above that ended', () => {
  it('by its budget, and its parent by its own', async () => {
    const fleet = await fleetOf({ intensity: 0 }, [
      agent('a'),
      under({ id: 'inner', intensity: 1 }, [agent('x'), agent('y')]),
    ])
    await crashes(fleet, 'x', 2, 100)
    expect(sentences(fleet, 'y').slice(0, 3)).toEqual([
      "STOPPED: it was ended with supervisor 'inner', which gave up; not restarted",
      'ended, as it was told to',
      "no restart, by supervisor 'inner' (supervisor): its supervisor ended",
    ])
    expect(sentences(fleet, 'y').slice(3)).toEqual([
      "supervisor 'inner' gave up: 2 restarts (x) in 100 ms, more than 1 in 5 s allowed",
      "supervisor 'inner': no restart, by supervisor 'root' (restart_intensity): that was one restart more than the supervisor allows",
      "supervisor 'root' gave up: it allows no restart (intensity 0), and 'inner' would have needed one",
    ])
    expect(headline(fleet, 'a')).toBe("STOPPED: it was ended with supervisor 'root', which gave up; not restarted")
    expect(fleet.host.why('y').wouldChangeIt.slice(0, 3)).toEqual([
      "`holt start inner` starts all that supervisor 'inner' keeps",
      "`holt start root` starts all that supervisor 'root' keeps",
      `\`holt start y\` ${START}`,
    ])
  })

  it('by its budget, and waits to be restarted', async () => {
    const backoff = { minMs: 60_000, maxMs: 60_000, jitter: 0 }
    const inner = { supervisor: { id: 'inner', intensity: 0, backoff }, children: [agent('x'), agent('y')] }
    const fleet = await fleetOf({}, [inner])
    await crashes(fleet, 'x', 2, 10)
    await fleet.kit.advance(20_000)
    expect(headline(fleet, 'y')).toBe("STOPPED (Unhealthy): it starts in 40 s, with its supervisor 'inner'")
    expect(sentences(fleet, 'y').at(-1)).toBe(
      "supervisor 'inner': restart 2 after 60 s, by supervisor 'root' (backoff)",
    )
  })

  it('with its significant child', async () => {
    const fleet = await fleetOf({ auto_shutdown: 'any_significant' }, [
      agent('a'),
      agent('m', { restart: 'transient', significant: true }),
    ])
    await fleet.have('m', 'stop')
    expect(headline(fleet, 'a')).toBe(
      "STOPPED: it was ended with supervisor 'root', which ended with a significant child; not restarted",
    )
    expect(sentences(fleet, 'a').at(-1)).toBe("supervisor 'root' ended with its significant child 'm' (auto_shutdown)")
    expect(sentences(fleet, 'm').slice(0, 3)).toEqual([
      "STOPPED: it has ended, and supervisor 'root' with it, as it is significant",
      'ended itself',
      "no restart, by supervisor 'root' (auto_shutdown): it is significant, and its supervisor ends with it",
    ])
  })
})

describe('along with a sibling', () => {
  const group = () =>
    fleetOf({ strategy: 'one_for_all' }, [
      agent('a', {}, waits(4000)),
      agent('once', { restart: 'temporary' }),
      agent('c'),
    ])

  it('that waits, and when it is back', async () => {
    const fleet = await group()
    await crashes(fleet, 'a', 2, 0)
    expect(sentences(fleet, 'c').slice(0, 3)).toEqual([
      "STOPPED (Unhealthy): restart along with sibling 'a' in 4 s, by supervisor 'root' (strategy)",
      'ended, as it was told to',
      "restart after 4 s along with sibling 'a', by supervisor 'root' (strategy)",
    ])
    await fleet.kit.advance(4000)
    expect(sentences(fleet, 'c').slice(0, 2)).toEqual([
      'ACTIVE: it runs and is idle, instance I for 0 ms',
      'before that: ended, as it was told to',
    ])
  })

  it('and not back, as it is temporary', async () => {
    const fleet = await group()
    await crashes(fleet, 'a', 1, 0)
    expect(headline(fleet, 'once')).toBe(
      "STOPPED: it was ended along with sibling 'a', and a temporary child does not come back",
    )
  })

  it('that has come to an end by its restart type', async () => {
    const fleet = await fleetOf({}, [agent('a', { restart: 'transient' })])
    await fleet.have('a', 'stop')
    expect(sentences(fleet, 'a')).toEqual([
      'STOPPED: it has ended, and its restart type does not bring it back from that',
      'ended itself',
      "no restart, by supervisor 'root' (restart_type): its restart type does not bring it back from that",
    ])
  })
})

describe('a thread that cannot be ended', () => {
  it('is told as what it is, and so are those that wait for it', async () => {
    const fleet = await fleetOf({ strategy: 'one_for_all', ...WIDE }, [agent('a'), agent('b')], {
      behaviours: { b: { unkillable: true, stubborn: true } },
    })
    await crashes(fleet, 'a', 1, 0)
    await fleet.kit.advance(8000)
    expect(fleet.host.why('b')).toMatchObject({
      status: 'Unhealthy',
      sentences: [
        'STOPPING (Unhealthy): its thread is inside a native call and cannot be ended: it is fenced; no other is started before it ends',
      ],
      wouldChangeIt: [
        '`holt stop b` has nothing started once its thread ends',
        '`holt down` ends the whole process, and the thread with it',
      ],
    })
    expect(headline(fleet, 'a')).toBe(
      "STOPPED (Unhealthy): restart 1 is due, and waits for those that end or start before it, by supervisor 'root' (restart_type)",
    )
  })
})
