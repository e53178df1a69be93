/** Sessions: append-only, each entry at its position. */
import { describe, expect, it } from 'vitest'
import { body, tempState, tempStore } from './temp-store.ts'

describe('sessions', () => {
  it('number their entries from 0, each session by itself, on over a restart', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    const append = (session: string, at: number) => store.write((tx) => tx.sessions.append('a', session, body(at), at))
    expect(await Promise.all([append('s', 1), append('s', 2), append('t', 3), append('s', 4)])).toEqual([0, 1, 0, 2])
    await store.close()
    const again = await tempStore({ dir })
    expect(await again.write((tx) => tx.sessions.append('a', 's', body(5), 5))).toBe(3)
    expect(again.sessions.list('a')).toEqual([
      { session: 's', length: 4, startedAt: 1, lastAt: 5 },
      { session: 't', length: 1, startedAt: 3, lastAt: 3 },
    ])
    expect(again.sessions.get('a', 't')).toEqual({ session: 't', length: 1, startedAt: 3, lastAt: 3 })
    expect([again.sessions.get('a', 'none'), again.sessions.list('b')]).toEqual([undefined, []])
    expect(again.sessions.page('a', 's')).toEqual(
      [1, 2, 4, 5].map((at, position) => ({ position, at, value: body(at) })),
    )
  })

  it('are read in pages, up or down', async () => {
    const store = await tempStore()
    await store.write((tx) => Array.from({ length: 10 }, (_, n) => tx.sessions.append('a', 's', body(n), n)))
    const page = (options: object) => store.sessions.page('a', 's', options).map(({ position }) => position)
    expect(page({ limit: 3 })).toEqual([0, 1, 2])
    expect(page({ from: 8, limit: 3 })).toEqual([8, 9])
    expect(page({ from: 10 })).toEqual([])
    expect(page({ reverse: true, limit: 3 })).toEqual([9, 8, 7])
    expect(page({ reverse: true, from: 1, limit: 3 })).toEqual([1, 0])
  })

  it('begin anew after they were removed', async () => {
    const store = await tempStore()
    const append = () => store.write((tx) => tx.sessions.append('a', 's', body(1), 1))
    await append()
    await append()
    const remove = () => store.write((tx) => tx.sessions.remove('a', 's'))
    expect([await remove(), await remove()]).toEqual([true, false])
    expect(store.sessions.page('a', 's')).toEqual([])
    expect(await append()).toBe(0)
  })
})
