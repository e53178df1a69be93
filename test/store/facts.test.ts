/** The log of facts: in order, bounded, its numbers for ever rising. */
import { describe, expect, it } from 'vitest'
import { type Fact, makeFact } from '../../src/model/fact.ts'
import { tempState, tempStore } from './temp-store.ts'

const fact = (seq: number, agent?: string): Fact =>
  makeFact(
    ...([seq, 1000 + seq, 'agent.phase', { from: 'IDLE', to: 'BOOTING', status: 'Starting' }] as const),
    agent === undefined ? {} : { agent, instance: 'inst_1', epoch: 4 },
  )
const seqs = (facts: readonly Fact[]): number[] => facts.map(({ seq }) => seq)

describe('facts', () => {
  it('come back whole and in order, from a cursor on', async () => {
    const store = await tempStore()
    expect([store.facts.lastSeq(), store.facts.firstSeq(), store.facts.after(0, 10)]).toEqual([0, null, []])
    const facts = [fact(1), fact(2, 'a'), fact(3)]
    await store.write((tx) => tx.facts.append(facts))
    await store.write((tx) => tx.facts.append([]))
    expect(store.facts.after(0, 10)).toEqual(facts)
    expect(seqs(store.facts.after(1, 1))).toEqual([2])
    expect([store.facts.lastSeq(), store.facts.firstSeq()]).toEqual([3, 1])
  })

  it('go on in their numbers over a restart, also where the newest were removed with their agent', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    await store.write((tx) => tx.facts.append([fact(1), fact(2, 'a')]))
    await store.removeAgent('a')
    expect(seqs(store.facts.after(0, 10))).toEqual([1])
    await store.close()
    const again = await tempStore({ dir })
    expect(again.facts.lastSeq()).toBe(2)
  })

  it('are bounded by count, to within a batch', async () => {
    const store = await tempStore({ limits: { facts: 100 } })
    let most = 0
    for (let seq = 1; seq <= 300; seq++) {
      await store.write((tx) => tx.facts.append([fact(seq)]))
      most = Math.max(most, seqs(store.facts.after(0, 1000)).length)
    }
    expect(most).toBeLessThanOrEqual(110)
    expect(store.facts.firstSeq()).toBeGreaterThan(190)
    expect(seqs(store.facts.after(0, 1000)).at(-1)).toBe(300)
  })

  it('are trimmed at the first addition after a restart with a smaller bound', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    await store.write((tx) => tx.facts.append(Array.from({ length: 500 }, (_, n) => fact(n + 1))))
    await store.close()
    const again = await tempStore({ dir, limits: { facts: 50 } })
    await again.write((tx) => tx.facts.append([fact(501)]))
    expect(seqs(again.facts.after(0, 1000))).toHaveLength(50)
  })
})
