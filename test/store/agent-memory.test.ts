/** What agents remember: by key, compared by versions that are never given again, within bounds. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { afterPrefix } from '../../src/store/memory-keys.ts'
import { body, errorOf, tempState, tempStore } from './temp-store.ts'

describe('memory', () => {
  it('keeps the last value of each key, by agent, over a restart', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    const bytes = { encoding: 'v8', body: Buffer.from([1, 0, 255]) } as const
    await store.write((tx) => {
      tx.memory.set('a', 'k', body(1), 5)
      tx.memory.set('a', 'k', bytes, 6)
      tx.memory.set('b', 'k', body({ deep: ['ä', null] }), 7)
    })
    await store.close()
    const again = await tempStore({ dir })
    expect(again.memory.get('a', 'k')).toEqual({ key: 'k', value: bytes, version: 2, at: 6 })
    expect(again.memory.get('b', 'k')).toEqual({ key: 'k', value: body({ deep: ['ä', null] }), version: 3, at: 7 })
    expect(again.memory.get('a', 'none')).toBeUndefined()
    expect(await again.write((tx) => tx.memory.delete('a', 'k'))).toBe(true)
    expect(await again.write((tx) => tx.memory.delete('a', 'k'))).toBe(false)
    expect([again.memory.list('a'), again.memory.list('b').length]).toEqual([[], 1])
  })

  it('compares versions where asked, and names the present one', async () => {
    const store = await tempStore()
    const set = (ifVersion?: number | null): Promise<number> =>
      store.write((tx) => tx.memory.set('a', 'k', body(1), 5, { ifVersion }))
    const missing = await errorOf(() => set(1))
    expect(missing).toMatchObject({ code: 'VersionMismatch', details: { expected: 1, found: null } })
    const first = await set(null)
    expect(await errorOf(() => set(null))).toMatchObject({ details: { expected: null, found: first } })
    const second = await set(first)
    expect(await errorOf(() => set(first))).toMatchObject({ details: { expected: first, found: second } })
    const removal = (ifVersion: number) => store.write((tx) => tx.memory.delete('a', 'k', { ifVersion }))
    expect(await errorOf(() => removal(first))).toMatchObject({ code: 'VersionMismatch' })
    expect(await removal(second)).toBe(true)
    // A key that came back is another one.
    expect(await set(null)).toBeGreaterThan(second)
    expect(await errorOf(() => set(second))).toMatchObject({ code: 'VersionMismatch' })
  })

  it('applies several operations together or none of them', async () => {
    const store = await tempStore()
    const apply = (...operations: Parameters<Parameters<Parameters<typeof store.write>[0]>[0]['memory']['apply']>[1]) =>
      store.write((tx) => tx.memory.apply('a', operations, 5))
    await apply({ op: 'set', key: 'x', value: body(1) }, { op: 'set', key: 'y', value: body(1) })
    const failed = apply(
      { op: 'set', key: 'x', value: body(2) },
      { op: 'delete', key: 'y' },
      { op: 'set', key: 'z', value: body(2), ifVersion: 77 },
    )
    const beside = store.write((tx) => tx.memory.set('a', 'beside', body(3), 5))
    expect((await errorOf(() => failed)).code).toBe('VersionMismatch')
    await beside
    expect(store.memory.list('a').map(({ key, value }) => [key, value.body])).toEqual([
      ['beside', '3'],
      ['x', '1'],
      ['y', '1'],
    ])
    const [version, none] = await apply({ op: 'set', key: 'x', value: body(2) }, { op: 'delete', key: 'y' })
    expect([store.memory.get('a', 'x')?.version, none]).toEqual([version, null])
  })

  it('lists by prefix, in pages', async () => {
    const store = await tempStore()
    const keys = ['a', 'a%', 'a_', 'aa', 'ab', 'b', 'ä', '😀', '\u{10ffff}', '\ud7ff']
    await store.write((tx) => keys.map((key) => tx.memory.set('me', key, body(1), 5)))
    const list = (...more: [prefix?: string, page?: object]) => store.memory.list('me', ...more).map(({ key }) => key)
    expect(list()).toEqual(['a', 'a%', 'a_', 'aa', 'ab', 'b', 'ä', '\ud7ff', '😀', '\u{10ffff}'])
    expect(list('a')).toEqual(['a', 'a%', 'a_', 'aa', 'ab'])
    expect(list('a_')).toEqual(['a_'])
    expect(list('\ud7ff')).toEqual(['\ud7ff'])
    expect(list('\u{10ffff}')).toEqual(['\u{10ffff}'])
    expect(list('a', { limit: 2 })).toEqual(['a', 'a%'])
    expect(list('a', { limit: 2, after: 'a%' })).toEqual(['a_', 'aa'])
    expect(list('a', { limit: 9, after: 'ab' })).toEqual([])
  })

  it('finds by any prefix exactly the keys that begin with it', async () => {
    const store = await tempStore()
    const point = fc.constantFrom('a', 'b', 'z', '\u007f', 'é', '\ud7ff', '\ue000', '\uffff', '😀', '\u{10ffff}')
    const key = fc.array(point, { minLength: 1, maxLength: 4 }).map((points) => points.join(''))
    const keys = fc.sample(key, { numRuns: 200, seed: 7 })
    await store.write((tx) => keys.map((one) => tx.memory.set('me', one, body(1), 5)))
    fc.assert(
      fc.property(fc.array(point, { maxLength: 3 }), (points) => {
        const prefix = points.join('')
        const found = new Set(store.memory.list('me', prefix).map((entry) => entry.key))
        expect(found).toEqual(new Set(keys.filter((one) => one.startsWith(prefix))))
      }),
    )
  })

  it.each([
    ['an empty key', ''],
    ['a key that is too long', 'k'.repeat(513)],
    ['half of a surrogate pair', 'a\ud800'],
    ['NUL, where a shell would cut it', 'a\u0000b'],
    ['no text', 5],
  ])('refuses %s', async (_what, key) => {
    const store = await tempStore()
    const error = await errorOf(() => store.write((tx) => tx.memory.set('a', key as string, body(1), 5)))
    expect(error.code).toBe('InvalidInput')
  })

  it('refuses a value that is too large, to the byte, in either encoding', async () => {
    const store = await tempStore({ limits: { valueBytes: 10 } })
    const set = (value: Parameters<typeof body>[0] | Uint8Array): Promise<number> =>
      store.write((tx) =>
        tx.memory.set('a', 'k', value instanceof Uint8Array ? { encoding: 'v8', body: value } : body(value), 5),
      )
    await set('ääää')
    await set(new Uint8Array(10))
    expect(await errorOf(() => set('ääää1'))).toMatchObject({
      code: 'ValueTooLarge',
      details: { key: 'k', bytes: 11, maxBytes: 10 },
    })
    expect((await errorOf(() => set(new Uint8Array(11)))).code).toBe('ValueTooLarge')
    const entry = await errorOf(() => store.write((tx) => tx.sessions.append('a', 's', body('ääää1'), 5)))
    expect(entry.code).toBe('ValueTooLarge')
  })
})

describe('the first key after a prefix', () => {
  it.each([
    ['a', 'b'],
    ['ab', 'ac'],
    ['\ud7ff', '\ue000'],
    ['a\u{10ffff}', 'b'],
    ['\u{10ffff}', null],
    ['', null],
  ])('%j: %j', (prefix, next) => {
    expect(afterPrefix(prefix)).toBe(next)
  })
})
