/** Facts from a cursor on: what the log has, what is on its way to the disk, and what comes, each once. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FactLog } from '../../src/host/fact-log.ts'
import { type Fact, makeFact } from '../../src/model/fact.ts'
import { createBus } from '../../src/streams/bus.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { FakeClock } from '../../src/testkit/fake-clock.ts'
import { hostFleet } from '../fleet-on-disk.ts'
import { HAND } from './hand.ts'

const fact = (seq: number): Fact =>
  makeFact(seq, 0, 'agent.removed', { supervisor: 's' }, { agent: `a${seq % 2}` }) as Fact
const upTo = (last: number, after = 0): number[] => Array.from({ length: last - after }, (_, i) => after + i + 1)

/** A log that keeps the newest `bound` facts, and a bus with a buffer of `limit`. */
function logOf(bound: number, limit: number) {
  const kept: Fact[] = []
  let newest = 0
  const gap = (missed: number): Fact => makeFact(newest, 0, 'stream.gap', { stream: 'facts$', missed }) as Fact
  const bus = createBus<Fact>({ onObserverError: () => {}, gap, limit })
  const log = new FactLog({
    clock: new FakeClock(),
    live$: bus.stream$,
    onObserverError: () => {},
    newest: () => newest,
    after: (seq, most) => kept.filter((one) => one.seq > seq).slice(0, most),
  })
  const publish = (count: number): void => {
    for (let n = 0; n < count; n++) {
      kept.push(fact(++newest))
      if (kept.length > bound) kept.shift()
      bus.publish(kept.at(-1)!)
    }
  }
  const collect = (query: Parameters<FactLog['open']>[0]): Fact[] => {
    const seen: Fact[] = []
    log.open(query).subscribe((one) => seen.push(one))
    return seen
  }
  return { publish, collect, bus }
}

const seqs = (facts: readonly Fact[]): number[] => facts.map(({ seq }) => seq)

describe('the log of facts', () => {
  it('gives what is after the cursor, then what comes', async () => {
    const { publish, collect } = logOf(1000, 100)
    publish(300)
    const seen = collect({ since: 5 })
    publish(20)
    await eventually(() => seen.at(-1)?.seq === 320, 'the newest fact')
    expect(seqs(seen)).toEqual(upTo(320, 5))
  })

  it('reads what a slow subscriber missed from the log', async () => {
    const { publish, collect } = logOf(1000, 10)
    const seen = collect({})
    publish(400)
    await eventually(() => seen.at(-1)?.seq === 400, 'the newest fact')
    expect(seqs(seen)).toEqual(upTo(400))
    publish(1)
    await eventually(() => seen.at(-1)?.seq === 401, 'the newest fact')
    expect(seqs(seen)).toEqual(upTo(401))
  })

  it('C119 tells first what the log does not have any more, with the cursor to go on from', async () => {
    const { publish, collect } = logOf(10, 100)
    publish(50)
    const [gap, ...rest] = collect({ since: 30, kinds: ['agent.removed'], id: 'a1' })
    expect(gap).toMatchObject({ seq: 40, kind: 'stream.gap', data: { missed: 10, since: 30 } })
    expect(seqs(rest)).toEqual([41, 43, 45, 47, 49])
    expect(seqs(collect({ since: 40 }))).toEqual(upTo(50, 40))
  })

  it('C119 begins again for a cursor that is not of this log', () => {
    const { publish, collect } = logOf(100, 100)
    publish(3)
    const [gap, ...rest] = collect({ since: 1_000_000 })
    expect(gap).toMatchObject({ seq: 0, kind: 'stream.gap', data: { missed: 0, since: 1_000_000 } })
    expect(gap?.message).toBe('cursor 1000000 is not of this log: what follows is all the log has')
    expect(seqs(rest)).toEqual([1, 2, 3])
  })

  it('leaves nothing out and tells nothing twice, whenever a watcher goes and comes back', async () => {
    const step = fc.record({ publish: fc.nat({ max: 40 }), turns: fc.nat({ max: 3 }), cut: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const { publish, collect, bus } = logOf(100_000, 8)
        let seen = collect({ since: 0 })
        const all: number[] = []
        let published = 0
        for (const { publish: count, turns, cut } of steps) {
          publish(count)
          published += count
          for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
          if (!cut) continue
          all.push(...seqs(seen))
          seen = collect({ since: all.at(-1) ?? 0 })
        }
        await eventually(() => ([...all, ...seqs(seen)].at(-1) ?? 0) === published, 'the newest fact')
        expect([...all, ...seqs(seen)]).toEqual(upTo(published))
        bus.close()
      }),
      { numRuns: 50 },
    )
  })
})

describe('a host', () => {
  it('gives facts that are not on disk yet as well', async () => {
    const host = await hostFleet({ agents: { hand: { role: HAND } } })
    const seen: number[] = []
    host.facts({ since: 0 }).subscribe(({ seq }) => seen.push(seq))
    await host.agent('hand').pause()
    await host.agent('hand').resume()
    const last: Fact[] = []
    host.facts({ since: 0 }).subscribe((one) => last.push(one))
    await eventually(() => seen.length > 0 && seen.length === last.length, 'the same facts')
    expect(seen).toEqual(upTo(seen.length))
    expect(seqs(last)).toEqual(upTo(last.length))
    expect(() => host.facts({ id: 'hnad' })).toThrow("'hand'")
  })
})
