/** C136: what grows by itself is bounded, and so is the file. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeFact } from '../../src/model/fact.ts'
import { DEFAULT_RETENTION, TrimTally } from '../../src/store/retention.ts'
import { FakeClock, nextTurn } from '../../src/testkit/fake-clock.ts'
import { databaseOf } from './states.ts'
import { body, tempState, tempStore } from './temp-store.ts'

const MIB = 1024 * 1024

describe('C136: the file', () => {
  it('levels off: the third hundred thousand facts take no more room than the second', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    const size = (): number => statSync(databaseOf(dir)).size
    const append = async (from: number, to: number): Promise<void> => {
      for (let seq = from; seq < to; seq += 1000) {
        const facts = Array.from({ length: 1000 }, (_, n) =>
          makeFact(seq + n, 1, 'agent.phase', { from: 'IDLE', to: 'BOOTING', status: 'Starting' }, { agent: 'a' }),
        )
        await store.write((tx) => tx.facts.append(facts))
      }
    }
    await append(1, 200_001)
    const second = size()
    await append(200_001, 300_001)
    expect(store.facts.lastSeq()).toBe(300_000)
    expect(store.facts.lastSeq() - store.facts.firstSeq()!).toBeLessThanOrEqual(DEFAULT_RETENTION.facts + 1000)
    expect(size()).toBeLessThanOrEqual(second + MIB)
    expect(size()).toBeLessThan(20 * MIB)
    expect(statSync(join(dir, 'holt.db-wal')).size).toBeLessThanOrEqual(16 * MIB)
  }, 60_000)

  it('gives back what is not needed any more, a little at a time', async () => {
    const dir = tempState()
    const clock = new FakeClock()
    const store = await tempStore({ dir, clock })
    const settled = async <T>(result: Promise<T>): Promise<T> => {
      for (let turn = 0; turn < 50; turn++) {
        clock.drainSoon()
        await nextTurn()
      }
      return result
    }
    const large = { text: 'x'.repeat(100_000) }
    await settled(
      store.write((tx) => Array.from({ length: 200 }, (_, n) => tx.memory.set('a', `${n}`, body(large), 1))),
    )
    await settled(store.removeAgent('a'))
    clock.advance(60_000)
    await settled(Promise.resolve())
    expect(store.commits).toBeGreaterThan(5)
    await settled(store.close())
    expect(statSync(databaseOf(dir)).size).toBeLessThan(6 * MIB)
  })
})

describe('a bounded table', () => {
  it.each([
    [1, 1],
    [10, 1],
    [100, 10],
    [100_000, 1000],
    [1_000_000, 1000],
  ])('of %i is trimmed at the first addition and then at every %i-th', (bound, batch) => {
    const tally = new TrimTally(bound)
    expect(tally.isDue('a')).toBe(true)
    for (let n = 1; n < batch; n++) expect(tally.isDue('a')).toBe(false)
    expect(tally.isDue('a')).toBe(true)
    expect(tally.isDue('b')).toBe(true)
  })

  it('forgets owners that are too many, all of which are due again', () => {
    const tally = new TrimTally(1000)
    tally.isDue('first')
    expect(tally.isDue('first')).toBe(false)
    for (let n = 0; n < 10_001; n++) tally.isDue(`${n}`)
    expect(tally.isDue('first')).toBe(true)
  })
})
