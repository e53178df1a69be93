import { join } from 'node:path'
import type { Context } from 'holt/role'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Progress } from '../../../examples/librarian/agents/walker/roles/walk.ts'
import { fakeContext, incarnate } from './fleet-by-hand.ts'

const lines: string[] = []

beforeEach(() => {
  lines.length = 0
  vi.spyOn(console, 'log').mockImplementation((line: string) => void lines.push(line))
})

afterEach(() => vi.restoreAllMocks())

const progress = (over: Partial<Progress> = {}): Progress => ({
  found: 1500,
  read: 0,
  bytes: 0,
  failures: [],
  elapsedMs: 0,
  ...over,
})

const FAILED = [{ path: join(process.cwd(), 'documents/otters.md'), reason: 'ERR_X: bad bytes' }]

/** A librarian that has one document. */
const answering = (async (_agent: string, name: string, payload?: { q: string }) => {
  if (name === 'stats') return { documents: 1499, terms: 30_000, postings: 400_000, bytes: 1 }
  return [{ path: join(process.cwd(), 'a.md'), title: `On ${payload?.q}`, score: 7.125, excerpt: '' }]
}) as Context['ask']

test('prints at most one line for all that comes within a second', async () => {
  const { events } = await incarnate('clerk')
  const ctx = fakeContext()
  for (let read = 0; read <= 1200; read += 100) events['progress']?.(progress({ read, elapsedMs: 2000 }), ctx)
  expect(lines).toEqual([])
  expect(vi.mocked(ctx.after).mock.calls).toEqual([[1000, 'tick']])
  events['tick']?.(undefined, ctx)
  expect(lines).toEqual(['read 1,200 of 1,500, 0 failed, 600 a second'])
  events['progress']?.(progress(), ctx)
  expect(ctx.after).toHaveBeenCalledTimes(2)
})

test('at the end prints what failed and why, the index, three searches, and how to ask', async () => {
  const { events } = await incarnate('clerk')
  const ctx = fakeContext({ ask: answering })
  events['progress']?.(progress(), ctx)
  await events['walked']?.(progress({ read: 1499, bytes: 5_000_000, failures: FAILED, elapsedMs: 3000 }), ctx)
  events['tick']?.(undefined, ctx)
  expect(lines).toEqual([
    '1,500 documents found: 1,499 read (5.0 MB), 1 failed, in 3.0 s (500 a second)',
    '  failed  documents/otters.md  ERR_X: bad bytes',
    'the index holds 1,499 documents, 30,000 terms, 400,000 postings',
    'find "backpressure"',
    '    7.13  On backpressure  (a.md)',
    'find "worker thread"',
    '    7.13  On worker thread  (a.md)',
    'find "parse yaml"',
    '    7.13  On parse yaml  (a.md)',
    "ready: ask with host.agent('librarian').ask('find', { q: 'worker thread' })",
  ])
})

test('a librarian that does not answer is said, and is no death', async () => {
  const { events } = await incarnate('clerk')
  await events['walked']?.(progress({ found: 0 }), fakeContext())
  expect(lines).toEqual([
    '0 documents found: 0 read (0.0 MB), 0 failed, in 0.0 s (0 a second)',
    'the librarian does not answer: nobody to ask',
  ])
})
