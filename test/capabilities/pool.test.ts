import { threadId } from 'node:worker_threads'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Pool, type PoolOptions, poolWorkerUrl } from '../../src/capabilities/pool.ts'
import { silent } from './loan.ts'

const url = new URL('../fixtures/capabilities/pure.mjs', import.meta.url).href
const opened: Pool[] = []

function open(options: Partial<PoolOptions> = {}): Pool {
  const module = { url, file: 'capabilities/pure.ts' }
  const pool = new Pool({ id: 'pure', module, workerUrl: poolWorkerUrl(), log: silent, maxThreads: 1, ...options })
  opened.push(pool)
  return pool
}

/** Blocks the thread that calls `hold` with it. */
function gate(): { shared: SharedArrayBuffer; isHolding(): boolean; open(): void } {
  const shared = new SharedArrayBuffer(8)
  const flag = new Int32Array(shared)
  return {
    shared,
    isHolding: () => Atomics.load(flag, 1) === 1,
    open: () => {
      Atomics.store(flag, 0, 1)
      Atomics.notify(flag, 0)
    },
  }
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((pool) => pool.destroy()))
})

describe('a pool', () => {
  test('runs methods in threads of its own, several at once', async () => {
    const pool = open({ maxThreads: 2 })
    const first = gate()
    const held = pool.call('hold', [first.shared])
    const other = await pool.call('threadId', [])
    expect(other).not.toBe(threadId)
    first.open()
    expect(await held).toBe('held')
    expect(await pool.call('double', [21])).toBe(42)
    expect(await pool.call('dates', [])).toEqual(new Map([['day', new Date(0)]]))
    expect(pool.pending).toBe(0)
  })

  test('rejects with the method’s own error: name, code, fields, cause', async () => {
    const error = await open()
      .call('fail', ['too far'])
      .catch((caught: unknown) => caught)
    expect(error).toMatchObject({ name: 'RangeError', message: 'too far', code: 'E_PURE', input: 7 })
    expect((error as Error).cause).toMatchObject({ name: 'TypeError', message: 'the root' })
  })

  test.each([
    ['field', /rows\[0\]\.read/],
    ['property of a list', /read/],
    ['proxy', /Proxy/],
    ['function', /function/],
  ])('rejects a result that is a live %s, and the thread lives on', async (kind, culprit) => {
    const pool = open()
    const thread = await pool.call('threadId', [])
    await expect(pool.call('live', [kind])).rejects.toMatchObject({
      code: 'NotCloneable',
      message: expect.stringMatching(culprit),
    })
    expect(await pool.call('threadId', [])).toBe(thread)
  })

  test('passes on cyclic and shared results', async () => {
    const cyclic = (await open().call('cyclic', [])) as { self: unknown }
    expect(cyclic.self).toBe(cyclic)
  })

  test('rejects arguments that cannot be copied', async () => {
    await expect(open().call('double', [() => 1])).rejects.toMatchObject({ code: 'NotCloneable' })
  })

  test('rejects a method that the module does not have', async () => {
    await expect(open().call('toString', [])).rejects.toMatchObject({ code: 'NoSuchCapability' })
  })

  test('rejects each call of a module that cannot be imported', async () => {
    const pool = open({ module: { url: 'file:///nowhere.mjs', file: 'nowhere.ts' } })
    await expect(pool.call('double', [1])).rejects.toThrow('nowhere.mjs')
    await expect(pool.call('double', [1])).rejects.toThrow('nowhere.mjs')
  })
})

describe('a pool whose thread dies', () => {
  test('rejects the call that did it, and recovers', async () => {
    const pool = open()
    await expect(pool.call('die', [3])).rejects.toMatchObject({
      code: 'HandlerError',
      message: expect.stringMatching(/pure\.die died: .*3/),
    })
    expect(await pool.call('double', [2])).toBe(4)
  })

  test('still does the calls that waited in the queue', async () => {
    const pool = open()
    const block = gate()
    const calls = [pool.call('hold', [block.shared]), pool.call('die', [1]), pool.call('double', [4])]
    block.open()
    const results = await Promise.allSettled(calls)
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  })

  test('still does the calls that waited behind it in the same thread', async () => {
    const pool = open()
    // Short calls, so that the pool hands out many at once.
    for (let i = 0; i < 200; i++) await pool.call('double', [i])
    const block = gate()
    const calls = [
      pool.call('hold', [block.shared]),
      pool.call('die', [1]),
      pool.call('double', [4]),
      pool.call('die', [0]),
      pool.call('double', [5]),
    ]
    block.open()
    const results = await Promise.allSettled(calls)
    expect(results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason.code))).toEqual([
      'held',
      'HandlerError',
      8,
      'HandlerError',
      10,
    ])
  })

  test('of an error that nobody awaited rejects what ran at that time, with the cause, and recovers', async () => {
    const pool = open()
    expect(await pool.call('dieLater', ['nobody awaits me'])).toBe('answered')
    const error = await pool.call('later', []).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'HandlerError', cause: { message: 'nobody awaits me' } })
    expect(await pool.call('later', [])).toBe('later')
  })

  test('before it was ever ready rejects all that wait, and tries anew at the next call', async () => {
    const pool = open({ workerUrl: new URL('file:///nowhere/pool-worker.js'), maxThreads: 2 })
    const results = await Promise.allSettled([1, 2, 3, 4].map((n) => pool.call('double', [n])))
    for (const result of results) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'BootFailed' } })
    }
    await expect(pool.call('double', [1])).rejects.toMatchObject({ code: 'BootFailed' })
    expect(pool.pending).toBe(0)
  })
})

describe('a pool with a bound', () => {
  test('refuses the call that is one too many, and takes calls again afterwards', async () => {
    const pool = open({ maxPending: 3 })
    const block = gate()
    const calls = [pool.call('hold', [block.shared]), pool.call('double', [1]), pool.call('double', [2])]
    await expect(pool.call('double', [3])).rejects.toMatchObject({ code: 'Overloaded' })
    block.open()
    expect(await Promise.all(calls)).toEqual(['held', 2, 4])
    expect(await pool.call('double', [3])).toBe(6)
  })
})

describe('a destroyed pool', () => {
  test('rejects what was outstanding and never comes back to life', async () => {
    const pool = open()
    const block = gate()
    const calls = [pool.call('hold', [block.shared]), pool.call('double', [1])]
    const settled = Promise.allSettled(calls)
    await vi.waitUntil(block.isHolding)
    await pool.destroy()
    for (const result of await settled)
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'ShuttingDown' } })
    await expect(pool.call('double', [1])).rejects.toMatchObject({ code: 'ShuttingDown' })
    expect(pool.pending).toBe(0)
  })

  test('may be destroyed before its first call', async () => {
    const pool = open()
    await pool.destroy()
    await expect(pool.call('double', [1])).rejects.toMatchObject({ code: 'ShuttingDown' })
  })
})
