/** Deaths: whole records, the newest kept. */
import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../src/testkit/fake-clock.ts'
import { death } from './samples.ts'
import { tempState, tempStore } from './temp-store.ts'

describe('deaths', () => {
  it('come back whole: of one agent, of all, by id; the newest at the end', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    await store.write((tx) => {
      for (const n of [1, 2, 3]) for (const agent of ['a', 'b']) tx.deaths.add(death(n, agent))
    })
    await store.close()
    const again = await tempStore({ dir })
    expect(again.deaths.of('a', 2)).toEqual([death(2), death(3)])
    expect(again.deaths.of('nobody', 2)).toEqual([])
    expect(again.deaths.all(3)).toEqual([death(2, 'b'), death(3, 'a'), death(3, 'b')])
    expect(again.deaths.get('death_b_2')).toEqual(death(2, 'b'))
    expect(again.deaths.get('none')).toBeUndefined()
  })

  it('have one record each: a second one takes its place', async () => {
    const store = await tempStore()
    const changed = { ...death(1), mailboxDepth: 9 }
    await store.write((tx) => [death(1), death(2), changed].map((one) => tx.deaths.add(one)))
    expect(store.deaths.all(10)).toEqual([changed, death(2)])
  })

  it('are bounded for each agent', async () => {
    const store = await tempStore({ limits: { deathsPerAgent: 10 } })
    await store.write((tx) => tx.deaths.add(death(1, 'quiet')))
    for (let n = 1; n <= 35; n++) await store.write((tx) => tx.deaths.add(death(n)))
    expect(store.deaths.of('a', 100).map(({ epoch }) => epoch)).toEqual([26, 27, 28, 29, 30, 31, 32, 33, 34, 35])
    expect(store.deaths.of('quiet', 100)).toHaveLength(1)
  })

  it('are bounded in age', async () => {
    const clock = new FakeClock()
    const store = await tempStore({ clock, limits: { deathsForMs: 1000 } })
    const now = clock.wall()
    void store.write((tx) => [death(1, 'a', now - 1000), death(2, 'a', now)].map((one) => tx.deaths.add(one)))
    clock.drainSoon()
    clock.advance(60_000)
    clock.drainSoon()
    expect(store.deaths.all(10)).toEqual([])
    void store.write((tx) => tx.deaths.add(death(3, 'a', clock.wall() + 59_500)))
    clock.drainSoon()
    clock.advance(60_000)
    clock.drainSoon()
    expect(store.deaths.all(10).map(({ epoch }) => epoch)).toEqual([3])
    const closed = store.close()
    clock.drainSoon()
    await closed
  })

  it('are added in the transaction that ends their instance', async () => {
    const store = await tempStore()
    const instance = { agent: 'a', instance: 'inst_1', epoch: 1, startedAt: 5 }
    await store.write((tx) => tx.instances.began(instance))
    const units = Promise.allSettled([
      store.write((tx) => {
        tx.instances.ended('a', 'inst_1')
        tx.deaths.add(death(1))
        throw new Error('no')
      }),
    ])
    await units
    expect([store.instances.open(), store.deaths.all(1)]).toEqual([[instance], []])
    await store.write((tx) => {
      tx.instances.ended('a', 'inst_1')
      tx.deaths.add(death(1))
    })
    expect([store.instances.open(), store.deaths.all(1)]).toEqual([[], [death(1)]])
  })
})
