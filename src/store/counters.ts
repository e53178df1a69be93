/** Table `counters`: what an agent has received, completed, dropped and so on, over all its instances. */
import type { Connection } from './connection.ts'
import { integer, text } from './rows.ts'

export class Counters {
  readonly #read
  readonly #add

  constructor(connection: Connection) {
    this.#read = connection.query({ name: text, value: integer }, 'FROM counters WHERE agent = ? ORDER BY name')
    this.#add = connection.insert(
      'counters',
      ['agent', 'name', 'value'],
      'ON CONFLICT (agent, name) DO UPDATE SET value = value + excluded.value',
    )
  }

  /** Of one agent, by name; a counter that was never added to is missing. */
  read(agent: string): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#read.all(agent).map(({ name, value }) => [name, value]))
  }

  /** @param deltas whole numbers, by name; zeros are left out */
  add(agent: string, deltas: Readonly<Record<string, number>>): void {
    for (const [name, delta] of Object.entries(deltas)) if (delta !== 0) this.#add.run(agent, name, delta)
  }
}
