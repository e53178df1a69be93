/** Supervisors over real agents: who comes back, how often, who gives up, and what an operator revives. */
import { describe, expect, it } from 'vitest'
import type { AgentRef } from '../../src/actors/ref.ts'
import type { Host } from '../../src/host/host.ts'
import type { AgentObject } from '../../src/manifest/agent-manifest.ts'
import type { Fact } from '../../src/model/fact.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, at, type FleetText, hostFleet } from '../fleet-on-disk.ts'
import { HAND } from './hand.ts'

const hands = (...ids: string[]): FleetText['agents'] =>
  Object.fromEntries(ids.map((id) => [id, { role: HAND, manifest: AT_ONCE }]))

function factsOf(host: Host, kind: Fact['kind']): Fact[] {
  const facts: Fact[] = []
  host.facts$.subscribe((fact) => fact.kind === kind && facts.push(fact))
  return facts
}

/** Crashes it and waits for what comes of it. */
async function crash(ref: AgentRef, then: 'ACTIVE' | 'STOPPED' = 'ACTIVE'): Promise<void> {
  const before = ref.deaths().length
  ref.tell('throw', 'by request')
  await eventually(
    () => ref.deaths().length > before && ref.phase === then,
    () => `${then}, it is ${ref.phase}`,
  )
}

const decision = (ref: AgentRef) => ref.deaths().at(-1)!.decision

describe('restart types', () => {
  const ways: [string, NonNullable<AgentObject['restart']>['type'], string, boolean][] = [
    ['a crash', 'permanent', 'throw', true],
    ['a crash', 'transient', 'throw', true],
    ['a crash', 'temporary', 'throw', false],
    ['an exit', 'permanent', 'exit', true],
    ['an exit', 'transient', 'exit', true],
    ['an exit', 'temporary', 'exit', false],
    ['a normal end', 'permanent', 'end', true],
    ['a normal end', 'transient', 'end', false],
    ['a normal end', 'temporary', 'end', false],
  ]

  it.each(ways)('after %s, %s (by %s) comes back: %s', async (_, type, event, back) => {
    const manifest = { restart: { type: type!, backoff: 'none' as const } }
    const host = await hostFleet({ agents: { hand: { role: HAND, manifest } } })
    const hand = host.agent('hand')
    hand.tell(event, 0)
    await eventually(
      () => hand.deaths().length === 1 && hand.phase === (back ? 'ACTIVE' : 'STOPPED'),
      () => hand.phase,
    )
    expect(decision(hand)).toMatchObject({
      rule: 'restart_type',
      action: back ? 'restart' : 'none',
      supervisor: 'root',
    })
    expect(hand.snapshot()).toMatchObject({ intent: 'running', restarts: back ? 1 : 0, nextRestartAt: null })
    if (!back) expect(await hand.start()).toMatchObject({ phase: 'ACTIVE' })
  })

  it('holt.yml overrides the agent', async () => {
    const host = await hostFleet({
      agents: { hand: { role: HAND, manifest: AT_ONCE, child: { restart: 'temporary' } } },
    })
    await crash(host.agent('hand'), 'STOPPED')
    expect(decision(host.agent('hand'))).toMatchObject({ rule: 'restart_type', action: 'none' })
  })

  it('maxRestarts stops the one agent alone', async () => {
    const manifest = { restart: { backoff: 'none' as const, maxRestarts: 2 } }
    const host = await hostFleet({ agents: { hand: { role: HAND, manifest }, other: { role: HAND } } })
    const hand = host.agent('hand')
    await crash(hand)
    await crash(hand)
    await crash(hand, 'STOPPED')
    expect(decision(hand)).toMatchObject({ rule: 'restart_limit', action: 'none' })
    expect(hand.snapshot()).toMatchObject({ status: 'Stopped', intent: 'running' })
    expect(await host.agent('other').ask('ping')).toBe('pong')
    expect(await hand.start()).toMatchObject({ phase: 'ACTIVE' })
    await crash(hand)
    expect(decision(hand)).toMatchObject({ action: 'restart', attempt: 1 })
  })

  it('with backoff the first restart is at once, and the second waits, Unhealthy', async () => {
    const manifest = { restart: { backoff: { minMs: 60_000, maxMs: 60_000, jitter: 0 } } }
    const host = await hostFleet({ agents: { hand: { role: HAND, manifest } } })
    const hand = host.agent('hand')
    await crash(hand)
    expect(decision(hand)).toMatchObject({ rule: 'restart_type', delayMs: 0, attempt: 1 })
    await crash(hand, 'STOPPED')
    expect(decision(hand)).toMatchObject({ rule: 'backoff', action: 'restart', delayMs: 60_000, attempt: 2 })
    expect(hand.snapshot()).toMatchObject({ status: 'Unhealthy', nextRestartAt: expect.any(Number) })
  })
})

describe('a budget with backoff: none', () => {
  it('three restarts in five seconds are allowed, the fourth gives up and stops the siblings', async () => {
    const host = await hostFleet({ agents: hands('first', 'looping', 'last') })
    const gaveUp = factsOf(host, 'supervisor.gave_up')
    const looping = host.agent('looping')
    for (let n = 1; n <= 3; n++) {
      await crash(looping)
      expect(looping.snapshot().restarts).toBe(n)
    }
    expect(gaveUp).toEqual([])
    await crash(looping, 'STOPPED')
    await eventually(() => gaveUp.length === 1 && host.agents().every(({ phase }) => phase === 'STOPPED'), 'all ended')
    expect(decision(looping)).toMatchObject({ rule: 'restart_intensity', action: 'give_up', supervisor: 'root' })
    expect(gaveUp[0]).toMatchObject({
      level: 'error',
      data: { supervisor: 'root', restarts: 4, intensity: 3, periodMs: 5000, filledBy: Array(4).fill('looping') },
      message: expect.stringMatching(
        /^supervisor 'root' gave up: 4 restarts in \d+ ms \((?:looping(?:, )?){4}\), more than 3 in 5000 ms allowed$/,
      ),
    })
    for (const id of ['first', 'last']) {
      expect(host.agent(id).deaths()).toMatchObject([
        { cause: 'shutdown', decision: { rule: 'supervisor', action: 'none', by: 'root' } },
      ])
      expect(host.agent(id).snapshot()).toMatchObject({ intent: 'running', status: 'Stopped', nextRestartAt: null })
    }
  })

  it("C043 the count is the supervisor's, over all its children", async () => {
    const ids = ['a', 'b', 'c', 'd', 'e']
    const host = await hostFleet({ agents: hands(...ids), supervisor: { id: 'root', intensity: 2, periodMs: 10_000 } })
    const gaveUp = factsOf(host, 'supervisor.gave_up')
    await crash(host.agent('a'))
    await crash(host.agent('b'))
    await crash(host.agent('c'), 'STOPPED')
    await eventually(() => gaveUp.length === 1 && host.agents().every(({ phase }) => phase === 'STOPPED'), 'all ended')
    expect(
      ids.map((id) =>
        host
          .agent(id)
          .deaths()
          .map(({ cause }) => cause),
      ),
    ).toEqual([['crash', 'shutdown'], ['crash', 'shutdown'], ['crash'], ['shutdown'], ['shutdown']])
  })

  it('an intensity of 0 gives up at the first', async () => {
    const host = await hostFleet({ agents: hands('a'), supervisor: { id: 'root', intensity: 0 } })
    await crash(host.agent('a'), 'STOPPED')
    expect(decision(host.agent('a'))).toMatchObject({ action: 'give_up' })
  })

  it('C074 start revives what had given up, with a fresh budget', async () => {
    const host = await hostFleet({
      agents: hands('a', 'b'),
      supervisor: { id: 'root', intensity: 1, periodMs: 10_000 },
    })
    const a = host.agent('a')
    await crash(a)
    await crash(a, 'STOPPED')
    await eventually(() => host.agent('b').phase === 'STOPPED', 'the sibling')
    expect(await a.start()).toMatchObject({ phase: 'ACTIVE' })
    expect(host.agent('b').phase).toBe('STOPPED')
    await crash(a)
    expect(decision(a)).toMatchObject({ action: 'restart', attempt: 1 })
    expect(await host.agent('b').start()).toMatchObject({ phase: 'ACTIVE' })
    await crash(a, 'STOPPED')
    expect(decision(a)).toMatchObject({ action: 'give_up' })
  })

  it('restarts by command and stops do not count', async () => {
    const host = await hostFleet({ agents: hands('a'), supervisor: { id: 'root', intensity: 1, periodMs: 60_000 } })
    const a = host.agent('a')
    for (let n = 0; n < 5; n++) await a.restart()
    await a.stop()
    await a.start()
    await crash(a)
    expect(decision(a)).toMatchObject({ action: 'restart' })
  })
})

describe('C062 a tree', () => {
  const nested = (outer: FleetText['supervisor'] = { id: 'root' }): Promise<Host> =>
    hostFleet({
      agents: hands('outside', 'inside', 'sibling'),
      supervisor: outer,
      children: [
        { agent: at('outside') },
        {
          supervisor: { id: 'inner', intensity: 1, periodMs: 60_000 },
          children: [{ agent: at('inside') }, { agent: at('sibling') }],
        },
      ],
    })

  it('an inner supervisor that gives up is a death to the outer one, which starts it anew', async () => {
    const host = await nested()
    const gaveUp = factsOf(host, 'supervisor.gave_up')
    const [outside, inside, sibling] = host.agents() as [AgentRef, AgentRef, AgentRef]
    await crash(inside)
    inside.tell('throw', 'once more')
    await eventually(() => gaveUp.length === 1 && sibling.deaths().length === 1, 'the end of the inner one')
    await eventually(() => inside.phase === 'ACTIVE' && sibling.phase === 'ACTIVE', 'its restart by the outer one')
    expect(gaveUp.map(({ data }) => data)).toMatchObject([{ supervisor: 'inner' }])
    expect(inside.deaths().map(({ decision: { action } }) => action)).toEqual(['restart', 'give_up'])
    expect(outside.deaths()).toEqual([])
    expect(await inside.ask('ping')).toBe('pong')
    expect(inside.snapshot().supervisor).toBe('inner')
    expect(outside.snapshot().supervisor).toBe('root')
    await crash(inside)
    expect(decision(inside)).toMatchObject({ action: 'restart', supervisor: 'inner' })
  })

  it('the outer one has a budget for that too, and gives up in its turn', async () => {
    const host = await nested({ id: 'root', intensity: 0, periodMs: 60_000 })
    const gaveUp = factsOf(host, 'supervisor.gave_up')
    const [outside, inside, sibling] = host.agents() as [AgentRef, AgentRef, AgentRef]
    await crash(inside)
    inside.tell('throw', 'once more')
    await eventually(() => gaveUp.length === 2, 'two that gave up')
    await eventually(() => host.agents().every(({ phase }) => phase === 'STOPPED'), 'all ended')
    expect(gaveUp.map(({ data }) => (data as { supervisor: string }).supervisor)).toEqual(['inner', 'root'])
    expect(outside.deaths()).toMatchObject([{ cause: 'shutdown' }])
    expect(await sibling.start()).toMatchObject({ phase: 'ACTIVE' })
    await crash(sibling)
    expect(decision(sibling)).toMatchObject({ action: 'restart', supervisor: 'inner' })
    expect(outside.phase).toBe('STOPPED')
  })

  it('what an operator had stopped stays stopped when the inner one is started anew', async () => {
    const host = await nested()
    const [, inside, sibling] = host.agents() as [AgentRef, AgentRef, AgentRef]
    await sibling.stop()
    await crash(inside)
    inside.tell('throw', 'once more')
    await eventually(() => inside.deaths().length === 2 && inside.phase === 'ACTIVE', 'the restart')
    expect(sibling.snapshot()).toMatchObject({ phase: 'STOPPED', intent: 'stopped' })
  })
})

describe('what supervision leaves alone', () => {
  it('C047 each of thirty kills has its own record of its own incarnation', async () => {
    const host = await hostFleet({ agents: hands('a'), supervisor: { id: 'root', intensity: 10_000 } })
    const a = host.agent('a')
    const told: string[] = []
    host.deaths$.subscribe(({ instance }) => told.push(instance))
    const instances: string[] = []
    for (let n = 0; n < 30; n++) {
      instances.push((await eventually(() => a.phase === 'ACTIVE' && a.snapshot().instance, 'an instance')).id)
      await a.kill()
    }
    await eventually(() => told.length === 30 && a.phase === 'ACTIVE', '30 deaths')
    expect(told).toEqual(instances)
    expect(a.deaths().map(({ instance }) => instance)).toEqual(instances)
    const epochs = a.deaths().map(({ epoch }) => epoch)
    expect(epochs).toEqual([...new Set(epochs)].sort((x, y) => x - y))
    expect(a.snapshot()).toMatchObject({ restarts: 30, phase: 'ACTIVE' })
  })

  it('one bad agent does not keep the others from starting', async () => {
    const host = await hostFleet({ agents: { ...hands('a', 'b'), bad: { role: HAND, manifest: 'nonsense: true\n' } } })
    expect(host.agents().map(({ phase }) => phase)).toEqual(['ACTIVE', 'ACTIVE', 'FAILED'])
  })
})
