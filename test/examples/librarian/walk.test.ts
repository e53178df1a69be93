import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Context } from 'holt/role'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Progress } from '../../../examples/librarian/agents/walker/roles/walk.ts'
import { HoltError } from '../../../src/model/error.ts'
import type { Fate } from '../../../src/model/message.ts'
import { fakeContext, incarnate } from './fleet-by-hand.ts'

const COUNT = 70
let root: string

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'librarian-walk-'))
  for (let i = 0; i < COUNT; i++) await writeFile(join(root, `${String(i).padStart(2, '0')}.md`), 'text')
})

afterAll(() => rm(root, { recursive: true, force: true }))
beforeEach(() => vi.stubEnv('LIBRARY', root))
afterEach(() => vi.unstubAllEnvs())

type Read = (path: string) => Promise<{ bytes: number; terms: number }>

/** One walker on its own: `read` answers for the reader, `steps` are the messages it has sent itself. */
async function walker(read: Read, clerk: Fate['fate'] = 'handled') {
  const role = await incarnate('walker')
  const steps: unknown[] = []
  const told: Progress[] = []
  const walked: Progress[] = []
  const ctx: Context = fakeContext({
    agent: 'walker',
    ask: vi.fn((_agent, _name, payload) => read((payload as { path: string }).path)) as Context['ask'],
    tell: vi.fn((_agent, _name, payload) => told.push(structuredClone(payload as Progress)) > 0),
    emit: vi.fn(async (_agent, _name, payload): Promise<Fate> => {
      walked.push(structuredClone(payload as Progress))
      return { fate: clerk }
    }),
    after: vi.fn((_delayMs, _name, payload) => {
      steps.push(payload)
      return () => {}
    }),
  })
  const event = async (name: string, payload?: unknown): Promise<void> => void (await role.events[name]?.(payload, ctx))
  const step = (): Promise<void> => event('step', steps.shift())
  const run = async (): Promise<void> => {
    while (steps.length > 0) await step()
  }
  return { ctx, steps, told, walked, event, step, run }
}

const fine: Read = async () => ({ bytes: 4, terms: 1 })

test('asks for every document in order, and reports the totals at the end', async () => {
  const { ctx, event, run, walked } = await walker(fine)
  await event('boot')
  await run()
  const paths = vi.mocked(ctx.ask).mock.calls.map(([, , payload]) => (payload as { path: string }).path)
  expect(paths).toHaveLength(COUNT)
  expect(paths).toEqual([...paths].sort())
  expect(walked).toEqual([{ found: COUNT, read: COUNT, bytes: 4 * COUNT, failures: [], elapsedMs: expect.any(Number) }])
})

test('has no more than 32 in flight', async () => {
  let inFlight = 0
  let most = 0
  const { event, run } = await walker(async () => {
    most = Math.max(most, ++inFlight)
    await new Promise((resolve) => setImmediate(resolve))
    inFlight -= 1
    return { bytes: 1, terms: 1 }
  })
  await event('boot')
  await run()
  expect(most).toBe(32)
})

test('a document that kills the reader fails with the reason, and all others are read', async () => {
  const { event, run, walked } = await walker(async (path) => {
    if (!path.endsWith('33.md')) return fine(path)
    throw new HoltError('AgentDied', "agent 'reader' died")
  })
  await event('boot')
  await run()
  expect(walked[0]).toMatchObject({
    read: COUNT - 1,
    failures: [{ path: join(root, '33.md'), reason: "AgentDied: agent 'reader' died" }],
  })
})

test.each<[string, unknown, string]>([
  ['an error with a code', Object.assign(new TypeError('bad bytes'), { code: 'ERR_X' }), 'ERR_X: bad bytes'],
  ['an error without', new RangeError('far'), 'RangeError: far'],
  ['no error', 'text', 'text'],
  ['nothing', null, 'null'],
])('a rejection with %s has a reason', async (_, thrown, reason) => {
  const { event, run, walked } = await walker(() => Promise.reject(thrown))
  await event('boot')
  await run()
  expect(walked[0]?.failures[0]?.reason).toBe(reason)
})

test('whatever becomes of each document, the counts add up after every step', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { minLength: COUNT, maxLength: COUNT }), async (fates) => {
      let asked = 0
      const { event, run, told, walked } = await walker(async (path) => {
        if (fates[asked++] === true) return fine(path)
        throw new HoltError('AgentDied', 'died')
      })
      await event('boot')
      await run()
      expect(told.map(({ read, failures }) => read + failures.length)).toEqual([0, 32, 64, COUNT])
      expect(walked[0]?.read).toBe(fates.filter(Boolean).length)
      expect(walked.map(({ found, read, failures }) => found - read - failures.length)).toEqual([0])
    }),
    { numRuns: 25 },
  )
})

test('an empty library is a walk too', async () => {
  vi.stubEnv('LIBRARY', join(root, 'none'))
  const { ctx, event, run, walked } = await walker(fine)
  await event('boot')
  await run()
  expect(walked).toMatchObject([{ found: 0, read: 0, failures: [] }])
  expect(ctx.log.warn).toHaveBeenCalledWith(expect.stringContaining('none'), {
    error: expect.stringMatching(/^ENOENT: /),
  })
})

test('a final report that nobody took is logged', async () => {
  const { ctx, event, run } = await walker(fine, 'ignored')
  await event('boot')
  await run()
  expect(ctx.log.warn).toHaveBeenCalledOnce()
})

describe('asked to walk again', () => {
  test('in the middle, it begins anew and the old walk ends there', async () => {
    const { ctx, event, step, run, steps, walked } = await walker(fine)
    await event('boot')
    await step()
    await event('walk')
    expect(steps).toEqual([1, 2])
    await run()
    expect(ctx.ask).toHaveBeenCalledTimes(32 + COUNT)
    expect(walked).toMatchObject([{ found: COUNT, read: COUNT }])
  })

  test('after the end, it walks again', async () => {
    const { event, run, walked } = await walker(fine)
    await event('boot')
    await run()
    await event('walk', null)
    await run()
    expect(walked).toHaveLength(2)
  })

  test('by an index that was empty before this walk began, it goes on', async () => {
    const { event, steps } = await walker(fine)
    const emptySince = Date.now()
    await event('boot')
    await event('walk', { emptySince })
    expect(steps).toEqual([1])
  })

  test('by an index that is empty since, it begins anew', async () => {
    const { event, steps } = await walker(fine)
    await event('boot')
    await event('walk', { emptySince: Date.now() + 1 })
    expect(steps).toEqual([1, 2])
  })
})

test('without LIBRARY it reads its own documents first, then the nearest node_modules', async () => {
  vi.stubEnv('LIBRARY', undefined)
  const paths: string[] = []
  const { event, step } = await walker(async (path) => {
    paths.push(path)
    return fine(path)
  })
  await event('boot')
  await step()
  const name = (path: string): string => path.slice(path.indexOf('/documents/') + 1)
  expect(paths.slice(0, 4).map(name)).toEqual([
    'documents/backpressure.md',
    'documents/holts.md',
    'documents/otters.md',
    'documents/supervisors.md',
  ])
  expect(paths[4]).toContain('node_modules')
})
