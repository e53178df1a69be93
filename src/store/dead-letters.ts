/** Table `dead_letters`: messages that were not handled, kept for people; bounded in all and for each agent. */
import type { DeadLetterReason, MessageKind } from '../model/message.ts'
import type { Connection } from './connection.ts'
import { type Retention, TrimTally } from './retention.ts'
import { integer, maybe, type RowOf, text, word } from './rows.ts'
import { BODY, bodyOf, type StoredBody } from './stored-body.ts'

const ROW = {
  id: integer,
  agent: text,
  at: integer,
  reason: word<DeadLetterReason>(),
  kind: word<MessageKind>(),
  name: text,
  ...BODY,
  sender: maybe(text),
  deliveryCount: integer,
  deathId: maybe(text),
  messageId: maybe(text),
  replayedAt: maybe(integer),
}
const COLUMNS = ['agent', 'at', 'reason', 'kind', 'name', 'body', 'encoding', 'sender']
const MORE_COLUMNS = ['delivery_count', 'death_id', 'message_id']

export interface NewDeadLetter {
  readonly agent: string
  /** Wall clock, ms. */
  readonly at: number
  readonly reason: DeadLetterReason
  readonly kind: MessageKind
  readonly name: string
  readonly payload: StoredBody
  readonly from: string | null
  readonly deliveryCount: number
  readonly deathId: string | null
  /** The id it was accepted under, which a replay keeps; null for a message that had none. */
  readonly messageId: string | null
}

export interface StoredDeadLetter extends NewDeadLetter {
  /** Grows with each dead letter and is never given again. */
  readonly id: number
  readonly replayedAt: number | null
}

export interface DeadLetterPage {
  /** Those with a lower id. @default the newest */
  readonly before?: number
  /** @default 100 */
  readonly limit?: number
}

const DEFAULT_LIMIT = 100

export class DeadLetters {
  readonly #retention: Retention
  readonly #ofAgent: TrimTally
  readonly #inAll: TrimTally
  readonly #list
  readonly #listOf
  readonly #get
  readonly #add
  readonly #remove
  readonly #mark
  readonly #last
  readonly #trim
  readonly #trimOf

  constructor(connection: Connection, retention: Retention) {
    this.#retention = retention
    this.#inAll = new TrimTally(retention.deadLetters)
    this.#ofAgent = new TrimTally(retention.deadLettersPerAgent)
    this.#list = connection.query(ROW, 'FROM dead_letters WHERE id < ? ORDER BY id DESC LIMIT ?')
    this.#listOf = connection.query(ROW, 'FROM dead_letters WHERE agent = ? AND id < ? ORDER BY id DESC LIMIT ?')
    this.#get = connection.query(ROW, 'FROM dead_letters WHERE id = ?')
    this.#last = connection.query({ seq: integer }, "FROM sqlite_sequence WHERE name = 'dead_letters'")
    this.#add = connection.insert('dead_letters', ['id', ...COLUMNS, ...MORE_COLUMNS])
    this.#remove = connection.change('DELETE FROM dead_letters WHERE id = ?')
    this.#mark = connection.change('UPDATE dead_letters SET replayed_at = ? WHERE id = ?')
    this.#trim = connection.change(
      'DELETE FROM dead_letters WHERE id <= (SELECT id FROM dead_letters ORDER BY id DESC LIMIT 1 OFFSET ?)',
    )
    this.#trimOf = connection.change(
      'DELETE FROM dead_letters WHERE agent = ? AND id <= ' +
        '(SELECT id FROM dead_letters WHERE agent = ? ORDER BY id DESC LIMIT 1 OFFSET ?)',
    )
  }

  /** Of one agent or of all, a page of the newest, the newest at the end. */
  list(agent?: string, { before = Number.MAX_SAFE_INTEGER, limit = DEFAULT_LIMIT }: DeadLetterPage = {}) {
    const rows = agent === undefined ? this.#list.all(before, limit) : this.#listOf.all(agent, before, limit)
    return rows.map(letterOf).reverse()
  }

  get(id: number): StoredDeadLetter | undefined {
    const row = this.#get.get(id)
    return row === undefined ? undefined : letterOf(row)
  }

  /** The highest id ever given; 0 before the first. */
  lastId(): number {
    return this.#last.get()?.seq ?? 0
  }

  /** @param id higher than all before; null: the next one
   * @returns its id */
  add(
    { agent, at, reason, kind, name, payload, from, deliveryCount, deathId, messageId }: NewDeadLetter,
    id: number | null = null,
  ): number {
    const { rowId } = this.#add.run(
      ...[id, agent, at, reason, kind, name, payload.body, payload.encoding, from],
      ...[deliveryCount, deathId, messageId],
    )
    if (this.#ofAgent.isDue(agent)) this.#trimOf.run(agent, agent, this.#retention.deadLettersPerAgent)
    if (this.#inAll.isDue()) this.#trim.run(this.#retention.deadLetters)
    return rowId
  }

  /** @returns whether it was there */
  remove(id: number): boolean {
    return this.#remove.run(id).changes > 0
  }

  /** @returns whether it was there */
  markReplayed(id: number, at: number): boolean {
    return this.#mark.run(at, id).changes > 0
  }
}

function letterOf({ body, encoding, sender, ...row }: RowOf<typeof ROW>): StoredDeadLetter {
  return { ...row, payload: bodyOf({ body, encoding }), from: sender }
}
