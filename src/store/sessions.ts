/** Tables `sessions` and `session_entries`: append-only logs of an agent, each entry at a position from 0. */
import type { Fence } from './agent-memory.ts'
import type { Connection } from './connection.ts'
import { refusal } from './faults.ts'
import type { Retention } from './retention.ts'
import { integer, type RowOf, text } from './rows.ts'
import { BODY, bodyOf, type StoredBody, sizeOfBody } from './stored-body.ts'

const SESSION = { session: text, length: integer, startedAt: integer, lastAt: integer }
const ENTRY = { position: integer, at: integer, ...BODY }

export type SessionRow = RowOf<typeof SESSION>

export interface SessionEntry {
  readonly position: number
  /** Wall clock, ms. */
  readonly at: number
  readonly value: StoredBody
}

export interface SessionPage {
  /** The first position of the page. @default 0; the last one where `reverse` is set */
  readonly from?: number
  /** @default 100 */
  readonly limit?: number
  /** From `from` down. @default false */
  readonly reverse?: boolean
}

const DEFAULT_LIMIT = 100

export class Sessions {
  readonly #fence: Fence
  readonly #maxBytes: number
  readonly #list
  readonly #get
  readonly #up
  readonly #down
  readonly #grow
  readonly #append
  readonly #remove
  readonly #removeEntries

  constructor(connection: Connection, fence: Fence, { valueBytes }: Retention) {
    this.#fence = fence
    this.#maxBytes = valueBytes
    this.#list = connection.query(SESSION, 'FROM sessions WHERE agent = ? ORDER BY session')
    this.#get = connection.query(SESSION, 'FROM sessions WHERE agent = ? AND session = ?')
    const entries = 'FROM session_entries WHERE agent = ? AND session = ?'
    this.#up = connection.query(ENTRY, `${entries} AND position >= ? ORDER BY position LIMIT ?`)
    this.#down = connection.query(ENTRY, `${entries} AND position <= ? ORDER BY position DESC LIMIT ?`)
    this.#grow = connection.insert(
      'sessions',
      ['agent', 'session', 'length', 'started_at', 'last_at'],
      'ON CONFLICT (agent, session) DO UPDATE SET length = excluded.length, last_at = excluded.last_at',
    )
    this.#append = connection.insert('session_entries', ['agent', 'session', 'position', 'at', 'body', 'encoding'])
    this.#remove = connection.change('DELETE FROM sessions WHERE agent = ? AND session = ?')
    this.#removeEntries = connection.change('DELETE FROM session_entries WHERE agent = ? AND session = ?')
  }

  /** By name. */
  list(agent: string): readonly SessionRow[] {
    return this.#list.all(agent)
  }

  get(agent: string, session: string): SessionRow | undefined {
    return this.#get.get(agent, session)
  }

  page(agent: string, session: string, { from, limit = DEFAULT_LIMIT, reverse = false }: SessionPage = {}) {
    const rows = reverse
      ? this.#down.all(agent, session, from ?? Number.MAX_SAFE_INTEGER, limit)
      : this.#up.all(agent, session, from ?? 0, limit)
    return rows.map(entryOf)
  }

  /**
   * @param epoch of the instance that writes; undefined: the host itself
   * @returns the position of the entry
   * @throws HoltError `StaleEpoch`, `ValueTooLarge`
   */
  append(agent: string, session: string, value: StoredBody, at: number, epoch?: number): number {
    this.#fence(agent, epoch)
    const bytes = sizeOfBody(value)
    if (bytes > this.#maxBytes) {
      const text = `Expected at most ${this.#maxBytes} bytes for an entry of session '${session}', found ${bytes}. Split it`
      throw refusal('ValueTooLarge', text, { agent, session, bytes, maxBytes: this.#maxBytes })
    }
    const position = this.#get.get(agent, session)?.length ?? 0
    this.#grow.run(agent, session, position + 1, at, at)
    this.#append.run(agent, session, position, at, value.body, value.encoding)
    return position
  }

  /** @returns whether it was there @throws HoltError `StaleEpoch` */
  remove(agent: string, session: string, epoch?: number): boolean {
    this.#fence(agent, epoch)
    this.#removeEntries.run(agent, session)
    return this.#remove.run(agent, session).changes > 0
  }
}

const entryOf = ({ position, at, ...body }: RowOf<typeof ENTRY>): SessionEntry => ({
  position,
  at,
  value: bodyOf(body),
})
