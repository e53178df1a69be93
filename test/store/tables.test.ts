/** The small tables, what concerns all of them, and the file as other programs see it. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { makeFact } from '../../src/model/fact.ts'
import { Connection } from '../../src/store/connection.ts'
import { computed, text } from '../../src/store/rows.ts'
import type { Store } from '../../src/store/store.ts'
import type { Tables } from '../../src/store/tables.ts'
import { death, letter, message } from './samples.ts'
import { body, tempState, tempStore } from './temp-store.ts'

describe('counters', () => {
  it('add up by agent and name, also below zero, and survive', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    const add = (agent: string, deltas: Record<string, number>) => store.write((tx) => tx.counters.add(agent, deltas))
    await Promise.all([add('a', { received: 2, dropped: 0 }), add('a', { received: 1, failed: 5 }), add('b', { x: 1 })])
    await add('a', { failed: -2, odd: 0 })
    await store.close()
    const again = await tempStore({ dir })
    expect(again.counters.read('a')).toEqual({ failed: 3, received: 3 })
    expect([again.counters.read('b'), again.counters.read('none')]).toEqual([{ x: 1 }, {}])
  })
})

describe('instances', () => {
  it('are open from their beginning to their end, over a crash of the host too', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    const of = (n: number, agent = 'a') => ({ agent, instance: `inst_${n}`, epoch: n, startedAt: 10 - n })
    await store.write((tx) => [of(1), of(2), of(3, 'b')].map((one) => tx.instances.began(one)))
    await store.write((tx) => tx.instances.ended('a', 'inst_2'))
    await store.close()
    const again = await tempStore({ dir })
    expect(again.instances.open()).toEqual([of(3, 'b'), of(1)])
  })
})

describe('channels', () => {
  it('are bound once, and unbound', async () => {
    const store = await tempStore()
    await store.write((tx) => {
      tx.channels.bind('news', 'b', 1)
      tx.channels.bind('news', 'a', 2)
      tx.channels.bind('docs', 'a', 3)
      tx.channels.bind('news', 'a', 9)
    })
    expect(store.channels.list()).toEqual([
      { channel: 'docs', agent: 'a', at: 3 },
      { channel: 'news', agent: 'a', at: 2 },
      { channel: 'news', agent: 'b', at: 1 },
    ])
    const unbind = () => store.write((tx) => tx.channels.unbind('news', 'a'))
    expect([await unbind(), await unbind()]).toEqual([true, false])
    expect(store.channels.list()).toHaveLength(2)
  })
})

describe('the catalog', () => {
  it('has one entry of a name', async () => {
    const store = await tempStore()
    const entry = { name: 'x', version: '1.0.0', source: 'x.tgz', installedAt: 5, digest: 'sha256-…' }
    await store.write((tx) => [entry, { ...entry, version: '2.0.0' }].map((one) => tx.catalog.set(one)))
    expect(store.catalog.list()).toEqual([{ ...entry, version: '2.0.0' }])
    expect([store.catalog.get('x')?.version, store.catalog.get('y')]).toEqual(['2.0.0', undefined])
    const remove = () => store.write((tx) => tx.catalog.remove('x'))
    expect([await remove(), await remove(), store.catalog.list()]).toEqual([true, false, []])
  })
})

describe('tokens', () => {
  it('are found by their hash, and say when they were used', async () => {
    const store = await tempStore()
    const token = { id: 't1', name: 'ci', hash: 'abc', access: 'read', createdAt: 1, lastUsedAt: null, expiresAt: 9 }
    await store.write((tx) => tx.tokens.add(token))
    await store.write((tx) => tx.tokens.used('t1', 7))
    expect(store.tokens.byHash('abc')).toEqual({ ...token, lastUsedAt: 7 })
    expect([store.tokens.byHash('none'), store.tokens.list()]).toEqual([undefined, [{ ...token, lastUsedAt: 7 }]])
    expect([await store.write((tx) => tx.tokens.remove('t1')), store.tokens.list()]).toEqual([true, []])
  })
})

/** A row of an agent in every table there is. */
function fill(tx: Tables, agent: string): void {
  tx.agents.changeIntent(agent, { intent: 'running', by: 'me', reason: null, at: 1 })
  tx.agents.nextEpoch(agent)
  tx.counters.add(agent, { received: 1 })
  tx.instances.began({ agent, instance: `inst_${agent}`, epoch: 1, startedAt: 1 })
  tx.leases.set({ agent, instance: `inst_${agent}`, epoch: 1, expiresAt: 1, signature: 's' })
  tx.deaths.add(death(1, agent))
  tx.facts.append([makeFact(tx.facts.lastSeq() + 1, 5, 'host.stopped', { killed: [], stuck: [] }, { agent })])
  tx.deadLetters.add(letter(agent))
  tx.mailboxes.append(agent, message('waits'))
  tx.mailboxes.settle(agent, ['done'], 5)
  tx.effects.once(agent, 'waits', 0, 5)
  tx.memory.set(agent, 'k', body(1), 5)
  tx.sessions.append(agent, 's', body(1), 5)
  const spec = { id: 's', event: 'tick', everyMs: 1000, timezone: 'UTC', overlap: 'skip', missed: 'once' } as const
  const never = { lastDueAt: null, nextDueAt: null, lastFiredAt: null, lastOutcome: null, lastDetail: null }
  tx.schedules.save({ agent, id: 's', origin: 'manifest', spec, ...never, missedCount: 0 }, [
    { agent, schedule: 's', dueAt: 1, firedAt: 1, outcome: 'handled', detail: null },
  ])
  tx.channels.bind('news', agent, 5)
}

/** Rows of an agent in each table that has any to have, as another connection sees them. */
function rowsOf(dir: string, agent: string): Record<string, number> {
  const other = new Connection(join(dir, 'holt.db'))
  const tables = other.query(
    { name: text },
    "FROM sqlite_schema AS s WHERE type = 'table' AND EXISTS " +
      "(SELECT 1 FROM pragma_table_info(s.name) AS c WHERE c.name = 'agent')",
  )
  const counts = tables.all().map(({ name }) => {
    const count = other.query({ n: computed('count(*)') }, `FROM ${name} WHERE agent = ?`)
    return [name, count.get(agent)!.n] as const
  })
  other.close()
  return Object.fromEntries(counts)
}

describe('removing an agent', () => {
  it('takes every row of it out of every table, and none of another', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    await store.write((tx) => ['a', 'b'].map((agent) => fill(tx, agent)))
    const before = rowsOf(dir, 'a')
    expect(Object.keys(before)).toHaveLength(16)
    expect(Object.entries(before).filter(([, rows]) => rows !== 1)).toEqual([])
    await store.removeAgent('a')
    expect(Object.values(rowsOf(dir, 'a')).every((rows) => rows === 0)).toBe(true)
    expect(rowsOf(dir, 'b')).toEqual(before)
    expect([store.intents.read('a'), store.epochs.current('a')]).toEqual([undefined, 0])
  })
})

describe('a unit of work over several tables', () => {
  const message1 = async (store: Store, bad: boolean): Promise<void> => {
    await store.write((tx) => tx.mailboxes.append('a', message('m1')))
    const unit = store.write((tx) => {
      tx.mailboxes.settle('a', ['m1'], 5)
      tx.memory.set('a', 'total', body(1), 5)
      tx.sessions.append('a', 's', body(1), 5)
      tx.counters.add('a', { completed: 1 })
      tx.mailboxes.append('b', message('m2'))
      if (bad) throw new Error('died')
    })
    await unit.catch(() => {})
  }
  const seen = (store: Store) => [
    store.mailboxes.depth('a'),
    store.memory.list('a').length,
    store.sessions.page('a', 's').length,
    store.counters.read('a')['completed'] ?? 0,
    store.mailboxes.depth('b'),
  ]

  it('is all there or not at all', async () => {
    const store = await tempStore()
    await message1(store, true)
    expect(seen(store)).toEqual([1, 0, 0, 0, 0])
    await message1(store, false)
    expect(seen(store)).toEqual([0, 1, 1, 1, 1])
  })
})

describe('the file', () => {
  const SCHEMA = [
    ...['agents', 'catalog', 'channel_bindings', 'counters', 'dead_letters', 'deaths', 'effects', 'facts'],
    ...['handled_messages', 'instances', 'leases', 'mailboxes', 'memory', 'meta', 'schedule_runs', 'schedules'],
    ...['session_entries', 'sessions', 'tokens'],
  ]

  it('is read by another program while the host runs, by table and column names people can read', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    await store.intents.commit('greeter', { intent: 'suspended', by: 'ann', reason: 'holiday', at: 1_790_000_000_000 })
    const script = `
      const Database = require('libsql')
      const db = new Database('file:' + process.argv[1] + '?mode=ro')
      const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name").all()
      const row = db.prepare('SELECT agent, intent, wanted_by, reason, wanted_at FROM agents').raw().get()
      console.log(JSON.stringify({ tables: tables.map((one) => one.name), row }))`
    const said = execFileSync(process.execPath, ['-e', script, join(dir, 'holt.db')], { encoding: 'utf8' })
    expect(JSON.parse(said)).toEqual({
      tables: SCHEMA,
      row: ['greeter', 'suspended', 'ann', 'holiday', 1_790_000_000_000],
    })
    await store.intents.commit('greeter', { intent: 'running', by: 'ann', reason: null, at: 1 })
    expect(store.health).toEqual({ state: 'ok' })
  })

  it('has only strict tables', async () => {
    const dir = tempState()
    await tempStore({ dir })
    const other = new Connection(join(dir, 'holt.db'))
    onTestFinished(() => other.close())
    const loose = other.query({ name: text }, "FROM pragma_table_list WHERE strict = 0 AND name NOT LIKE 'sqlite_%'")
    expect(loose.all()).toEqual([])
  })
})
