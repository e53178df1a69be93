/**
 * Tables `mailboxes` and `handled_messages`: durable messages from the moment they are accepted until they are done, and
 * for some time after that their ids, so that one that is sent or delivered twice is done once.
 */
import type { MessageKind } from '../model/message.ts'
import type { Connection, Value } from './connection.ts'
import { type Retention, SWEEP_ROWS, sweepOldest, TrimTally } from './retention.ts'
import { computed, integer, maybe, type RowOf, text, word } from './rows.ts'
import { BODY, bodyOf, type StoredBody } from './stored-body.ts'

export interface DurableMessage {
  /** Unique within the agent's mailbox for as long as ids are kept. */
  readonly id: string
  readonly kind: MessageKind
  readonly name: string
  readonly payload: StoredBody
  readonly from: string | null
  /** Its number among those of its sender. */
  readonly senderSeq: number | null
  /** Wall clock, ms. */
  readonly acceptedAt: number
  /** Past this it is not begun any more; wall clock, ms. */
  readonly expiresAt: number | null
  /** How many times it was handed to an instance. */
  readonly deliveryCount: number
}

/** A message that waits. */
export interface WaitingMessage extends DurableMessage {
  /** Its place in the order of acceptance over all mailboxes. */
  readonly number: number
}

const ROW = {
  number: integer,
  messageId: text,
  kind: word<MessageKind>(),
  name: text,
  ...BODY,
  sender: maybe(text),
  senderSeq: maybe(integer),
  acceptedAt: integer,
  expiresAt: maybe(integer),
  deliveryCount: integer,
}

const COLUMNS = [
  ...['agent', 'message_id', 'kind', 'name', 'body', 'encoding', 'sender', 'sender_seq', 'accepted_at', 'expires_at'],
  'delivery_count',
]

const APPEND = `
INSERT INTO mailboxes (${COLUMNS.join(', ')})
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11
WHERE NOT EXISTS (SELECT 1 FROM handled_messages WHERE agent = ?1 AND message_id = ?2)
ON CONFLICT (agent, message_id) DO NOTHING`

/** The ids of one call, as one value. */
const GIVEN_IDS = 'SELECT value FROM json_each(?)'

export class Mailboxes {
  readonly #retention: Retention
  readonly #tally: TrimTally
  readonly #load
  readonly #depth
  readonly #seen
  readonly #append
  readonly #add
  readonly #remove
  readonly #handled
  readonly #bump
  readonly #trim
  readonly #trimAge

  constructor(connection: Connection, retention: Retention) {
    this.#retention = retention
    this.#tally = new TrimTally(retention.handled)
    this.#load = connection.query(ROW, 'FROM mailboxes WHERE agent = ? ORDER BY number')
    this.#depth = connection.query({ depth: computed('count(*)') }, 'FROM mailboxes WHERE agent = ?')
    this.#seen = connection.query(
      {
        seen: computed(
          'EXISTS (SELECT 1 FROM mailboxes WHERE agent = ?1 AND message_id = ?2) OR ' +
            'EXISTS (SELECT 1 FROM handled_messages WHERE agent = ?1 AND message_id = ?2)',
        ),
      },
      '',
    )
    this.#append = connection.change(APPEND)
    this.#add = connection.insert('mailboxes', COLUMNS)
    this.#remove = connection.change(`DELETE FROM mailboxes WHERE agent = ? AND message_id IN (${GIVEN_IDS})`)
    this.#handled = connection.change(
      `INSERT OR IGNORE INTO handled_messages (agent, message_id, at) SELECT ?, value, ? FROM json_each(?)`,
    )
    this.#bump = connection.change(
      `UPDATE mailboxes SET delivery_count = delivery_count + 1 WHERE agent = ? AND message_id IN (${GIVEN_IDS})`,
    )
    this.#trim = connection.change(
      'DELETE FROM handled_messages WHERE number <= ' +
        '(SELECT number FROM handled_messages ORDER BY number DESC LIMIT 1 OFFSET ?)',
    )
    this.#trimAge = connection.change(sweepOldest('handled_messages'))
  }

  /** What waits for an agent, in the order of acceptance. */
  load(agent: string): WaitingMessage[] {
    return this.#load.all(agent).map(messageOf)
  }

  depth(agent: string): number {
    return this.#depth.get(agent)?.depth ?? 0
  }

  /** Whether a message of this id waits, or has been done within the time ids are kept. */
  seen(agent: string, messageId: string): boolean {
    return this.#seen.get(agent, messageId)?.seen === 1
  }

  /** @returns false where one of this id waits already or has been done: it is not accepted twice */
  append(agent: string, message: DurableMessage): boolean {
    return this.#append.run(...valuesOf(agent, message)).changes > 0
  }

  /** The same for one whose id has just been made, and so is known to be new. */
  add(agent: string, message: DurableMessage): void {
    this.#add.run(...valuesOf(agent, message))
  }

  /** These are done: out of the mailbox, and their ids kept. */
  settle(agent: string, messageIds: readonly string[], at: number): void {
    const ids = JSON.stringify(messageIds)
    this.#remove.run(agent, ids)
    this.#handled.run(agent, at, ids)
    if (this.#tally.isDue('', messageIds.length)) this.#trim.run(this.#retention.handled)
  }

  /** Out of the mailbox, and their ids forgotten: dead letters, which may come back, and ids that nobody else knows. */
  remove(agent: string, messageIds: readonly string[]): void {
    this.#remove.run(agent, JSON.stringify(messageIds))
  }

  /** These have been handed to an instance once more. */
  bumpDelivery(agent: string, messageIds: readonly string[]): void {
    this.#bump.run(agent, JSON.stringify(messageIds))
  }

  /** Forgets ids that have been kept for their time. @returns whether there may be more */
  sweep(now: number): boolean {
    return this.#trimAge.run(now - this.#retention.handledForMs).changes >= SWEEP_ROWS
  }
}

const valuesOf = (agent: string, message: DurableMessage): Value[] => {
  const { id, kind, name, payload, from, senderSeq, acceptedAt, expiresAt, deliveryCount } = message
  const { body, encoding } = payload
  return [agent, id, kind, name, body, encoding, from, senderSeq, acceptedAt, expiresAt, deliveryCount]
}

function messageOf({ messageId, body, encoding, sender, ...row }: RowOf<typeof ROW>): WaitingMessage {
  return { ...row, id: messageId, payload: bodyOf({ body, encoding }), from: sender }
}
