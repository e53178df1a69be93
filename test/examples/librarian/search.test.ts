import { expect, test, vi } from 'vitest'
import search from '../../../examples/librarian/agents/librarian/roles/search.ts'
import { bag } from '../../../examples/librarian/capabilities/text.ts'
import { fakeContext } from './fleet-by-hand.ts'

const add = (path: string, text: string): void =>
  void search.events['document.added'](
    { path, title: path, excerpt: text, bytes: text.length, ...bag(text) },
    fakeContext(),
  )

test('finds by other forms of the words, best first, and counts what it holds', async () => {
  for (let round = 0; round < 2; round++) {
    add('threads.md', 'Worker threads run in parallel')
    add('work.md', 'A worker works')
    add('otter.md', 'Otters swim')
  }
  const hits = await search.commands.find.handle({ q: 'threaded WORKERS' }, fakeContext())
  expect(hits.map(({ path }) => path)).toEqual(['threads.md', 'work.md'])
  expect(await search.commands.find.handle({ q: 'worker', limit: 1 }, fakeContext())).toHaveLength(1)
  expect(await search.commands.find.handle({ q: '...' }, fakeContext())).toEqual([])
  const bytes = 'Worker threads run in parallelA worker worksOtters swim'.length
  expect(search.commands.stats.handle(undefined, fakeContext())).toEqual({ documents: 3, terms: 8, postings: 9, bytes })
})

test('queries are checked at the door', async () => {
  const check = async (query: unknown): Promise<boolean> =>
    (await search.commands.find.input?.['~standard'].validate(query))?.issues === undefined
  expect(await check({ q: 'otter' })).toBe(true)
  expect(await check({ q: 'otter', limit: 100 })).toBe(true)
  for (const wrong of [
    null,
    {},
    { q: '' },
    { q: 7 },
    { q: 'x', limit: 0 },
    { q: 'x', limit: 101 },
    { q: 'x', limit: 1.5 },
  ]) {
    expect(await check(wrong)).toBe(false)
  }
})

test('a new instance asks for a walk that began after it did', () => {
  const from = Date.now()
  const ctx = fakeContext()
  search.events.boot(undefined, ctx)
  expect(ctx.after).toHaveBeenCalledWith(1000, 'refill', { emptySince: expect.any(Number) })
  const request = vi.mocked(ctx.after).mock.calls[0]?.[2] as { emptySince: number }
  expect(request.emptySince).toBeGreaterThanOrEqual(from)
  search.events.refill(request, ctx)
  expect(ctx.tell).toHaveBeenCalledWith('walker', 'walk', request)
})
