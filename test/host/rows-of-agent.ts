/** What a state directory has of an agent: rows to be put into every table, and how many there are. */
import { join } from 'node:path'
import { makeFact } from '../../src/model/fact.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { Connection } from '../../src/store/connection.ts'
import { openStore } from '../../src/store/open.ts'
import { computed, text } from '../../src/store/rows.ts'
import type { Tables } from '../../src/store/tables.ts'
import { death, letter, message } from '../store/samples.ts'
import { body } from '../store/temp-store.ts'

function fill(tx: Tables, agent: string): void {
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
  for (const key of ['a', 'b']) tx.memory.set(agent, key, body(1), 5)
  tx.sessions.append(agent, 's', body(1), 5)
  const spec = { id: 's', event: 'tick', everyMs: 1000, timezone: 'UTC', overlap: 'skip', missed: 'once' } as const
  const never = { lastDueAt: null, nextDueAt: null, lastFiredAt: null, lastOutcome: null, lastDetail: null }
  tx.schedules.save({ agent, id: 's', origin: 'runtime', spec, ...never, missedCount: 0 }, [
    { agent, schedule: 's', dueAt: 1, firedAt: 1, outcome: 'handled', detail: null },
  ])
  tx.channels.bind('news', agent, 5)
}

/** Puts rows of these agents into every table of a directory that no host has open. */
export async function fillState(dir: string, agents: readonly string[]): Promise<void> {
  const store = await openStore({ dir, clock: systemClock, onFault: () => {} })
  await store.write((tx) => {
    for (const agent of agents) fill(tx, agent)
  })
  await store.close()
}

/** Rows of an agent in each table that has any of agents, as another connection sees them. */
export function rowsOf(dir: string, agent: string): Record<string, number> {
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
