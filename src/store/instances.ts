/**
 * Table `instances`: those that have begun and not ended. What is in it when a host starts was alive when the host before
 * it died.
 */
import type { Connection } from './connection.ts'
import { integer, text } from './rows.ts'

const ROW = { instance: text, agent: text, epoch: integer, startedAt: integer }

/** An instance that lives, or lived when its host died. */
export interface OpenInstance {
  readonly instance: string
  readonly agent: string
  readonly epoch: number
  /** Wall clock, ms. */
  readonly startedAt: number
}

export class Instances {
  readonly #open
  readonly #began
  readonly #ended

  constructor(connection: Connection) {
    this.#open = connection.query(ROW, 'FROM instances ORDER BY started_at, instance')
    this.#began = connection.insert('instances', ['instance', 'agent', 'epoch', 'started_at'])
    this.#ended = connection.change('DELETE FROM instances WHERE agent = ? AND instance = ?')
  }

  /** The oldest first. */
  open(): readonly OpenInstance[] {
    return this.#open.all()
  }

  began({ agent, instance, epoch, startedAt }: OpenInstance): void {
    this.#began.run(instance, agent, epoch, startedAt)
  }

  /** To be called in the same unit of work that adds its death. */
  ended(agent: string, instance: string): void {
    this.#ended.run(agent, instance)
  }
}
