/** Table `channel_bindings`: which agents a channel reaches. */
import type { Connection } from './connection.ts'
import { integer, type RowOf, text } from './rows.ts'

const ROW = { channel: text, agent: text, at: integer }

/** `at`: since when; wall clock, ms. */
export type ChannelBinding = RowOf<typeof ROW>

export class Channels {
  readonly #list
  readonly #bind
  readonly #unbind

  constructor(connection: Connection) {
    this.#list = connection.query(ROW, 'FROM channel_bindings ORDER BY channel, agent')
    this.#bind = connection.insert('channel_bindings', ['channel', 'agent', 'at'], 'ON CONFLICT DO NOTHING')
    this.#unbind = connection.change('DELETE FROM channel_bindings WHERE channel = ? AND agent = ?')
  }

  /** By channel and agent. */
  list(): readonly ChannelBinding[] {
    return this.#list.all()
  }

  /** A binding that exists keeps its time. */
  bind(channel: string, agent: string, at: number): void {
    this.#bind.run(channel, agent, at)
  }

  /** @returns whether it was bound */
  unbind(channel: string, agent: string): boolean {
    return this.#unbind.run(channel, agent).changes > 0
  }
}
