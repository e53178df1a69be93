/** Group commit: what one turn asked for is one transaction, a unit that throws is undone alone, and order is kept. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HoltError } from '../../src/model/error.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { Connection } from '../../src/store/connection.ts'
import { stateFault } from '../../src/store/faults.ts'
import { computed, integer } from '../../src/store/rows.ts'
import { Writer } from '../../src/store/writer.ts'
import { FakeClock, nextTurn } from '../../src/testkit/fake-clock.ts'
import { errorOf, tempFolder, tempState, tempStore } from './temp-store.ts'

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24

/** Transactions in a log of SQLite's, counted in its own format: a frame that ends one carries the size of the database. */
function transactionsIn(logPath: string): number {
  const log = readFileSync(logPath)
  const pageBytes = log.readUInt32BE(8)
  let count = 0
  for (let at = HEADER_BYTES; at + FRAME_HEADER_BYTES <= log.length; at += FRAME_HEADER_BYTES + pageBytes) {
    if (log.readUInt32BE(at + 4) > 0) count++
  }
  return count
}

/** A writer on a table of numbers. */
function numbers(path = ':memory:', clock = systemClock) {
  const connection = new Connection(path)
  connection.exec('PRAGMA busy_timeout = 0; CREATE TABLE n (value INTEGER PRIMARY KEY) STRICT')
  const insert = connection.insert('n', ['value'])
  const list = connection.query({ value: integer }, 'FROM n ORDER BY value')
  const tx = { add: (value: number) => insert.run(value) }
  const faults: HoltError[] = []
  const onFault = (fault: HoltError): void => void faults.push(fault)
  const writer = new Writer({ connection, clock, tx, obstacle: () => null, onFault, busyTimeoutMs: 200 })
  return { connection, writer, faults, values: () => list.all().map(({ value }) => value) }
}

describe('one turn of the loop', () => {
  it('is one transaction for all its writes, by the log itself', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    const log = join(dir, 'holt.db-wal')
    const before = transactionsIn(log)
    const count = (): Promise<void> => store.write((tx) => tx.counters.add('a', { received: 1 }))
    await Promise.all(Array.from({ length: 500 }, count))
    expect(transactionsIn(log) - before).toBe(1)
    await count()
    await count()
    expect(transactionsIn(log) - before).toBe(3)
    expect(store.commits).toBe(3)
    expect(store.counters.read('a')).toEqual({ received: 502 })
  })

  it('commits in the next turn and not before, and promises settle after that', async () => {
    const clock = new FakeClock()
    const { writer, values } = numbers(':memory:', clock)
    const settled: number[] = []
    for (const n of [1, 2]) void writer.write((tx) => tx.add(n)).then(() => settled.push(n))
    await nextTurn()
    expect(values()).toEqual([])
    clock.drainSoon()
    expect(settled).toEqual([])
    expect(values()).toEqual([1, 2])
    await nextTurn()
    expect(settled).toEqual([1, 2])
    expect(writer.commits).toBe(1)
  })

  it('holds the loop for a bounded number of units; the rest follow in the next', async () => {
    const { writer, values } = numbers()
    await Promise.all(Array.from({ length: 8193 }, (_, n) => writer.write((tx) => tx.add(n))))
    expect(writer.commits).toBe(2)
    expect(values()).toHaveLength(8193)
  })

  it('runs units in the order of the calls, each seeing those before it', async () => {
    const { writer, connection } = numbers()
    const count = connection.query({ n: computed('count(*)') }, 'FROM n')
    const seen = Array.from({ length: 5 }, (_, n) =>
      writer.write((tx) => {
        tx.add(n)
        return count.get()!.n
      }),
    )
    expect(await Promise.all(seen)).toEqual([1, 2, 3, 4, 5])
  })

  it('takes a write that a unit asks for into the next turn', async () => {
    const { writer, values } = numbers()
    let inner: Promise<unknown> = Promise.resolve()
    await writer.write(() => {
      inner = writer.write((tx) => tx.add(1))
    })
    expect(values()).toEqual([])
    await inner
    expect(values()).toEqual([1])
  })
})

describe('a unit of work that throws', () => {
  const kinds: readonly (readonly [string, (tx: { add: (value: number) => unknown }) => unknown, string])[] = [
    ['before it has written', () => fail('not now'), 'not now'],
    ['after it has written', (tx) => [tx.add(100), fail('too late')], 'too late'],
    ['by a constraint, at its first write', (tx) => tx.add(1), 'UNIQUE constraint failed: n.value'],
    ['by a constraint, after another write', (tx) => [tx.add(100), tx.add(1)], 'UNIQUE constraint failed: n.value'],
    [
      'by being asynchronous',
      async (tx) => void tx.add(100),
      'a unit of work must be synchronous, and this one is not',
    ],
  ]

  it.each(kinds)('%s is undone alone; the others of its turn commit', async (_when, work, message) => {
    const { writer, values } = numbers()
    await writer.write((tx) => tx.add(1))
    const results = await Promise.allSettled([
      writer.write((tx) => tx.add(2)),
      writer.write(work),
      writer.write((tx) => tx.add(3)),
      writer.write(work),
      writer.write((tx) => tx.add(4)),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'])
    expect((results[1] as PromiseRejectedResult).reason.message).toBe(message)
    expect(values()).toEqual([1, 2, 3, 4])
    expect(writer.commits).toBe(2)
    expect(writer.health).toEqual({ state: 'ok' })
  })

  it('has what it wanted done after the commit left undone, and that of the others done once', async () => {
    const { writer } = numbers()
    const done: string[] = []
    const unit = (name: string, value: number, bad = false): Promise<unknown> =>
      writer.write((tx) => {
        writer.afterCommit(() => done.push(name))
        tx.add(value)
        if (bad) fail(name)
      })
    await Promise.allSettled([unit('first', 1), unit('bad', 2, true), unit('last', 3)])
    await Promise.allSettled([unit('same value', 3), unit('next', 4)])
    expect(done).toEqual(['first', 'last', 'next'])
  })
})

describe('C128: another program that holds the database', () => {
  function twoPrograms() {
    const path = join(tempFolder(), 'n.db')
    const ours = numbers(path)
    ours.connection.exec('PRAGMA journal_mode = WAL')
    const theirs = new Connection(path)
    theirs.exec('PRAGMA busy_timeout = 0')
    onTestFinished(() => theirs.close())
    return { ...ours, theirs }
  }

  it('is waited for without holding the loop, and nothing is lost or reordered', async () => {
    const { writer, theirs, values, faults } = twoPrograms()
    theirs.exec('BEGIN IMMEDIATE; INSERT INTO n VALUES (10)')
    const order: number[] = []
    const writes = [1, 2].map((n) => writer.write((tx) => tx.add(n)).then(() => order.push(n)))
    for (let turn = 0; turn < 5; turn++) await nextTurn()
    writes.push(writer.write((tx) => tx.add(3)).then(() => order.push(3)))
    expect(order).toEqual([])
    theirs.exec('COMMIT')
    await Promise.all(writes)
    expect(order).toEqual([1, 2, 3])
    expect(values()).toEqual([1, 2, 3, 10])
    expect(faults).toEqual([])
  })

  it('is waited for by more than one turn holds, in order', async () => {
    const { writer, theirs } = twoPrograms()
    theirs.exec('BEGIN IMMEDIATE')
    const order: number[] = []
    const writes = Array.from({ length: 8200 }, (_, n) => writer.write(() => order.push(n)))
    for (let turn = 0; turn < 3; turn++) await nextTurn()
    theirs.exec('ROLLBACK')
    await Promise.all(writes)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    expect(order).toHaveLength(8200)
  })

  it('past the limit has writes refused, and the next one that gets through mends it', async () => {
    const { writer, theirs, values, faults } = twoPrograms()
    theirs.exec('BEGIN IMMEDIATE')
    const error = await errorOf(() => writer.write((tx) => tx.add(1)))
    expect(error.code).toBe('StateLocked')
    expect(error.message).toContain('Another program keeps')
    expect(writer.health).toMatchObject({ state: 'degraded', reason: error })
    expect(faults).toEqual([error])
    theirs.exec('ROLLBACK')
    await writer.write((tx) => tx.add(2))
    expect(writer.health).toEqual({ state: 'ok' })
    expect(values()).toEqual([2])
  })

  it('that reads keeps no one from writing', async () => {
    const { writer, theirs, values } = twoPrograms()
    theirs.exec('BEGIN; SELECT count(*) FROM n')
    await writer.write((tx) => tx.add(1))
    theirs.exec('COMMIT')
    expect(values()).toEqual([1])
  })
})

describe('a full database', () => {
  /** A page more than the table needs at first. */
  const fullAfter = (connection: Connection, pages: number): void =>
    connection.exec(`CREATE TABLE fill (x BLOB); PRAGMA max_page_count = ${pages}`)

  it('C134: refuses the whole turn, loses nothing that was committed, and goes on when there is room', async () => {
    const { writer, connection, values, faults } = numbers()
    await writer.write((tx) => tx.add(1))
    fullAfter(connection, 4)
    const fill = connection.change('INSERT INTO fill VALUES (zeroblob(?))')
    const results = await Promise.allSettled([
      writer.write((tx) => tx.add(2)),
      writer.write(() => fill.run(100_000)),
      writer.write((tx) => tx.add(3)),
    ])
    for (const result of results) {
      const { reason } = result as PromiseRejectedResult
      expect(reason).toBeInstanceOf(HoltError)
      expect(reason).toMatchObject({ code: 'StateFull' })
    }
    expect(values()).toEqual([1])
    expect(connection.inTransaction).toBe(false)
    expect(writer.health).toMatchObject({ state: 'degraded', reason: { code: 'StateFull' } })
    connection.exec('PRAGMA max_page_count = 1000000')
    await writer.write(() => fill.run(100_000))
    await writer.write((tx) => tx.add(2))
    expect(values()).toEqual([1, 2])
    expect(writer.health).toEqual({ state: 'ok' })
    expect(faults).toHaveLength(1)
  })

  it('is told once until it is mended, and keeps the time since when', async () => {
    const { writer, connection, faults } = numbers(':memory:', systemClock)
    fullAfter(connection, 4)
    const fill = connection.change('INSERT INTO fill VALUES (zeroblob(?))')
    const write = (): Promise<unknown> => writer.write(() => fill.run(100_000)).catch(() => {})
    await write()
    const first = writer.health
    await write()
    await write()
    expect(writer.health).toMatchObject({ state: 'degraded', since: (first as { since: number }).since })
    expect(faults).toHaveLength(1)
  })

  it('is not taken for mended by a transaction that wrote nothing', async () => {
    const { writer, connection } = numbers()
    fullAfter(connection, 4)
    const fill = connection.change('INSERT INTO fill VALUES (zeroblob(?))')
    await writer.write(() => fill.run(100_000)).catch(() => {})
    await writer.write(() => 'nothing')
    expect(writer.health.state).toBe('degraded')
  })
})

describe('a unit that finds the state damaged', () => {
  it('has its turn refused, and leaves no transaction open for the next', async () => {
    const { writer, values, faults } = numbers()
    const fault = stateFault('StateCorrupt', 'n.db', 'it is damaged')
    const results = await Promise.allSettled([
      writer.write((tx) => tx.add(1)),
      writer.write((tx) => {
        tx.add(2)
        throw fault
      }),
    ])
    expect(results.map((result) => (result as PromiseRejectedResult).reason)).toEqual([fault, fault])
    expect(faults).toEqual([fault])
    await writer.write((tx) => tx.add(3))
    expect(values()).toEqual([3])
    expect(writer.health).toEqual({ state: 'ok' })
  })
})

describe('closing', () => {
  it('settles all that was asked for before, and refuses what comes after', async () => {
    const { writer, values } = numbers()
    const before = writer.write((tx) => tx.add(1))
    const closed = writer.close()
    const after = await errorOf(() => writer.write((tx) => tx.add(2)))
    await Promise.all([before, closed])
    expect(values()).toEqual([1])
    expect(after.code).toBe('ShuttingDown')
  })
})

function fail(message: string): never {
  throw new Error(message)
}
