/**
 * Table `effects`: which writes and sends of a message have been made, so that when it is delivered again each is made
 * once. Rows go when the message is done; those of one that is never done go with age, but not while it still waits.
 */
import type { Connection } from './connection.ts'
import type { Retention } from './retention.ts'
import { text } from './rows.ts'

const SWEEP = `
DELETE FROM effects WHERE at < ? AND NOT EXISTS (
  SELECT 1 FROM mailboxes WHERE mailboxes.agent = effects.agent AND mailboxes.message_id = effects.message_id)`

export class Effects {
  readonly #keptForMs: number
  /** Agents that have rows, or had some: the others have nothing to be forgotten. */
  readonly #agents: Set<string>
  readonly #add
  readonly #forget
  readonly #sweep

  constructor(connection: Connection, { handledForMs }: Retention) {
    this.#keptForMs = handledForMs
    this.#add = connection.insert('effects', ['agent', 'message_id', 'n', 'at'], 'ON CONFLICT DO NOTHING')
    this.#forget = connection.change(
      'DELETE FROM effects WHERE agent = ? AND message_id IN (SELECT value FROM json_each(?))',
    )
    const agents = connection.query({ agent: text }, 'FROM effects GROUP BY agent')
    this.#agents = new Set(agents.all().map(({ agent }) => agent))
    this.#sweep = connection.change(SWEEP)
  }

  /**
   * To be called in the same unit of work that has the effect.
   * @param n which write or send of that message, counted by its handler in a way that is the same each time
   * @returns whether this is the first time; if not, leave it out
   */
  once(agent: string, messageId: string, n: number, at: number): boolean {
    this.#agents.add(agent)
    return this.#add.run(agent, messageId, n, at).changes > 0
  }

  /** These messages are done, and are not delivered again. */
  forget(agent: string, messageIds: readonly string[]): void {
    if (this.#agents.has(agent)) this.#forget.run(agent, JSON.stringify(messageIds))
  }

  sweep(now: number): void {
    this.#sweep.run(now - this.#keptForMs)
  }
}
