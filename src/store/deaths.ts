/** Table `deaths`: one record for each instance that has ended, bounded for each agent and in age. */
import type { DeathRecord } from '../model/death.ts'
import type { Connection } from './connection.ts'
import { type Retention, SWEEP_ROWS, sweepOldest, TrimTally } from './retention.ts'
import { json } from './rows.ts'

const RECORD = { record: json<DeathRecord>() }
const NEWEST = 'ORDER BY number DESC LIMIT ?'

export class Deaths {
  readonly #bound: number
  readonly #maxAgeMs: number
  readonly #tally: TrimTally
  readonly #of
  readonly #all
  readonly #byId
  readonly #add
  readonly #trim
  readonly #trimAge

  constructor(connection: Connection, { deathsPerAgent, deathsForMs }: Retention) {
    this.#bound = deathsPerAgent
    this.#maxAgeMs = deathsForMs
    this.#tally = new TrimTally(deathsPerAgent)
    this.#of = connection.query(RECORD, `FROM deaths WHERE agent = ? ${NEWEST}`)
    this.#all = connection.query(RECORD, `FROM deaths ${NEWEST}`)
    this.#byId = connection.query(RECORD, 'FROM deaths WHERE id = ?')
    this.#add = connection.insert(
      'deaths',
      ['id', 'agent', 'at', 'cause', 'record'],
      'ON CONFLICT (id) DO UPDATE SET record = excluded.record',
    )
    this.#trim = connection.change(
      'DELETE FROM deaths WHERE agent = ? AND number <= ' +
        '(SELECT number FROM deaths WHERE agent = ? ORDER BY number DESC LIMIT 1 OFFSET ?)',
    )
    this.#trimAge = connection.change(sweepOldest('deaths'))
  }

  /** The newest `limit` of one agent, the newest at the end. */
  of(agent: string, limit: number): DeathRecord[] {
    return this.#of.all(agent, limit).map(recordOf).reverse()
  }

  /** The newest `limit` of all agents, the newest at the end. */
  all(limit: number): DeathRecord[] {
    return this.#all.all(limit).map(recordOf).reverse()
  }

  get(id: string): DeathRecord | undefined {
    return this.#byId.get(id)?.record
  }

  /** A second record of the same id takes the place of the first. */
  add(record: DeathRecord): void {
    const { id, agent, at, cause } = record
    this.#add.run(id, agent, at, cause, JSON.stringify(record))
    if (this.#tally.isDue(agent)) this.#trim.run(agent, agent, this.#bound)
  }

  /** Removes what is too old. @returns whether there may be more */
  sweep(now: number): boolean {
    return this.#trimAge.run(now - this.#maxAgeMs).changes >= SWEEP_ROWS
  }
}

const recordOf = ({ record }: { readonly record: DeathRecord }): DeathRecord => record
