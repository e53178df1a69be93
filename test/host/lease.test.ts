/** Leases over a whole host with a clock that stands still: lost by silence, held, proved again or not, and ended. */
import { describe, expect, it, onTestFinished } from 'vitest'
import type { AgentRef } from '../../src/actors/ref.ts'
import type { HostOptions } from '../../src/host/options.ts'
import type { Fact } from '../../src/model/fact.ts'
import { encodePayload } from '../../src/model/payload.ts'
import { BodyColumnBuilder } from '../../src/model/payload-column.ts'
import type { FakeBehaviours, FakeThread } from '../../src/testkit/fake-thread.ts'
import { createTestHost, type TestHost } from '../../src/testkit/test-host.ts'

interface Fleet {
  readonly test: TestHost
  readonly ref: AgentRef
  readonly facts: Fact[]
  /** What the other agent was sent. */
  readonly got: string[]
  thread(): FakeThread
}

async function fleet(behaviour: FakeBehaviours = {}, options: Partial<HostOptions> = {}): Promise<Fleet> {
  const limits = { unresponsiveAfterMs: 5000, killAfterMs: 3_600_000 }
  const agent = (id: string) => ({
    agent: { id, name: id, limits, restart: { backoff: 'none' as const } },
  })
  const got: string[] = []
  const note = (text: string): unknown => got.push(text)
  const test = await createTestHost({
    fleet: { supervisor: { id: 'root', intensity: 1000 }, children: [agent('a'), agent('b')] },
    behaviours: { a: behaviour, b: { role: { events: { note } } } },
    ...options,
  })
  onTestFinished(() => test.close())
  const facts: Fact[] = []
  test.host.facts$.subscribe((fact) => fact.agent === 'a' && facts.push(fact))
  return { test, ref: test.host.agent('a'), facts, got, thread: () => test.threads.of('a') }
}

const note = (text: string) => {
  const column = new BodyColumnBuilder()
  column.add(encodePayload(text))
  return { type: 'flush', sends: { count: 1, to: 'b', names: 'note', ...column.build() } } as const
}
const kinds = (facts: readonly Fact[]): string[] =>
  facts.map(({ kind }) => kind).filter((kind) => kind.includes('lease'))

describe('a lease', () => {
  it('is lost by silence of more than its time, and what is said then is held back', async () => {
    const { test, ref, facts, got, thread } = await fleet()
    await test.advance(60_000)
    expect(ref.snapshot()).toMatchObject({ status: 'Running' })
    thread().stopBeating()
    await test.advance(14_500)
    expect(kinds(facts)).toEqual([])
    await test.advance(1500)
    expect(kinds(facts)).toEqual(['agent.lease_lost'])
    expect(ref.snapshot()).toMatchObject({ status: 'Unhealthy', healthCause: 'unobservable' })
    thread().say(note('one'))
    thread().say(note('two'))
    await test.advance(1000)
    expect(got).toEqual([])
    expect(test.host.detail('a').fenced).toEqual({})
  })

  it('is had again inside the window by a proof; then what was held is taken in order, and health calms down', async () => {
    const { test, ref, facts, got, thread } = await fleet()
    const { instance } = ref.snapshot()
    thread().stopBeating()
    await test.advance(16_000)
    for (const text of ['one', 'two', 'three']) thread().say(note(text))
    await test.advance(28_000)
    expect(got).toEqual([])
    thread().beatAgain()
    await test.advance(750)
    expect(got).toEqual(['one', 'two', 'three'])
    expect(kinds(facts)).toEqual(['agent.lease_lost', 'agent.lease_regained'])
    expect(ref.snapshot().status).toBe('Unhealthy')
    await test.advance(1000)
    expect(ref.snapshot()).toMatchObject({ status: 'Running', healthCause: null, instance: { epoch: instance!.epoch } })
    expect(ref.deaths()).toEqual([])
    await test.advance(60_000)
    expect(kinds(facts)).toHaveLength(2)
  })

  it.each(['none', 'wrong'] as const)(
    'with proof %s ends it, and what was held is refused and counted',
    async (proof) => {
      const { test, ref, facts, got, thread } = await fleet((n) => (n === 1 ? { proof } : {}))
      const old = thread()
      old.stopBeating()
      await test.advance(16_000)
      old.say(note('one'))
      old.beatAgain()
      await test.advance(1000)
      if (proof === 'none') {
        expect(ref.deaths()).toEqual([])
        await test.advance(31_000)
      }
      expect(ref.deaths()).toMatchObject([{ cause: 'lease_lost', class: 'crash', decision: { action: 'restart' } }])
      expect(got).toEqual([])
      expect(test.host.detail('a').fenced).toEqual({ tell: 1 })
      expect(kinds(facts)).toEqual(['agent.lease_lost'])
      await test.advance(2000)
      expect(ref.snapshot()).toMatchObject({ status: 'Running' })
    },
  )

  it('that is not proved in time ends it; a handler that ended meanwhile is not believed to have', async () => {
    let end = (_: unknown): void => {}
    const wait = (): unknown => new Promise((resolve) => (end = resolve))
    const { test, ref, thread } = await fleet((n) => (n === 1 ? { proof: 'none', role: { events: { wait } } } : {}))
    const fate = ref.emit('wait')
    await test.settle()
    thread().stopBeating()
    await test.advance(16_000)
    end(undefined)
    await test.advance(31_000)
    expect(await fate).toMatchObject({ fate: 'crashed' })
    expect(ref.deaths()).toMatchObject([{ cause: 'lease_lost', inFlight: [{ name: 'wait' }] }])
    expect(test.host.detail('a').fenced).toEqual({ fate: 1 })
  })

  it('is lost by nobody where there are none', async () => {
    const without = await fleet({}, { lease: { ttlMs: 0 } })
    without.thread().stopBeating()
    await without.test.advance(120_000)
    expect(without.ref.deaths()).toEqual([])
    expect(kinds(without.facts)).toEqual([])
  })

  it('has terms that are checked', async () => {
    for (const lease of [{ ttlMs: -1 }, { ttlMs: 100, renewEveryMs: 100 }, { typo: 1 } as object])
      await expect(createTestHost({ fleet: { children: [] }, lease })).rejects.toMatchObject({ code: 'InvalidOption' })
  })
})
