/** Dead letters: kept whole with ids of their own, paged from the newest, bounded in all and for each agent. */
import { describe, expect, it } from 'vitest'
import { letter } from './samples.ts'
import { tempState, tempStore } from './temp-store.ts'

describe('dead letters', () => {
  it('come back whole, payload as it was handed over', async () => {
    const store = await tempStore({ dir: tempState() })
    const full = letter('a', {
      payload: { encoding: 'v8', body: Buffer.from([0, 1, 255]) },
      from: 'b',
      deathId: 'death_1',
      messageId: 'm1',
    })
    const id = await store.write((tx) => tx.deadLetters.add(full))
    expect(store.deadLetters.get(id)).toEqual({ ...full, id, replayedAt: null })
    expect(await store.write((tx) => tx.deadLetters.markReplayed(id, 99))).toBe(true)
    expect(store.deadLetters.get(id)).toEqual({ ...full, id, replayedAt: 99 })
    expect(await store.write((tx) => tx.deadLetters.remove(id))).toBe(true)
    expect(await store.write((tx) => tx.deadLetters.remove(id))).toBe(false)
    expect(await store.write((tx) => tx.deadLetters.markReplayed(id, 99))).toBe(false)
    expect(store.deadLetters.get(id)).toBeUndefined()
  })

  it('have ids that are never given again, also after the newest was removed and a restart', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    const ids = await store.write((tx) => [1, 2, 3].map(() => tx.deadLetters.add(letter('a'))))
    await store.write((tx) => ids.map((id) => tx.deadLetters.remove(id)))
    await store.close()
    const again = await tempStore({ dir })
    expect(await again.write((tx) => tx.deadLetters.add(letter('a')))).toBe(4)
  })

  it('are paged from the newest, of one agent or of all', async () => {
    const store = await tempStore()
    await store.write((tx) => ['a', 'b', 'a', 'b', 'a'].map((agent) => tx.deadLetters.add(letter(agent))))
    const ids = (...page: Parameters<typeof store.deadLetters.list>): number[] =>
      store.deadLetters.list(...page).map(({ id }) => id)
    expect(ids()).toEqual([1, 2, 3, 4, 5])
    expect(ids(undefined, { limit: 2 })).toEqual([4, 5])
    expect(ids(undefined, { limit: 2, before: 4 })).toEqual([2, 3])
    expect(ids('a')).toEqual([1, 3, 5])
    expect(ids('a', { limit: 1, before: 5 })).toEqual([3])
    expect(ids('nobody')).toEqual([])
  })

  it('are bounded for each agent and in all', async () => {
    const store = await tempStore({ limits: { deadLetters: 15, deadLettersPerAgent: 10 } })
    await store.write((tx) => tx.deadLetters.add(letter('first')))
    for (let n = 0; n < 30; n++) await store.write((tx) => tx.deadLetters.add(letter('a')))
    expect(store.deadLetters.list('a')).toHaveLength(10)
    expect(store.deadLetters.list('first')).toHaveLength(1)
    for (let n = 0; n < 10; n++) await store.write((tx) => tx.deadLetters.add(letter('b')))
    expect(store.deadLetters.list().map(({ agent }) => agent)).toEqual([
      ...Array.from({ length: 5 }, () => 'a'),
      ...Array.from({ length: 10 }, () => 'b'),
    ])
  })
})
