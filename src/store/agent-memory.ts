/**
 * Table `memory`: what agents remember, by key. Each write gives its key a new version, which is never given again, also
 * not after a delete: compare-and-set cannot be fooled by a key that came back.
 */
import type { Connection } from './connection.ts'
import { refusal } from './faults.ts'
import { afterPrefix, checkKey } from './memory-keys.ts'
import type { Retention } from './retention.ts'
import { integer, type RowOf, text } from './rows.ts'
import { BODY, bodyOf, type StoredBody, sizeOfBody } from './stored-body.ts'

const ROW = { key: text, version: integer, at: integer, ...BODY }

export interface MemoryEntry {
  readonly key: string
  readonly value: StoredBody
  readonly version: number
  /** When it was written; wall clock, ms. */
  readonly at: number
}

export interface MemoryCondition {
  /** Of the instance that writes; undefined: the host itself. */
  readonly epoch?: number | undefined
  /** Write only where the key has this version; null: only where it does not exist. @default any */
  readonly ifVersion?: number | null | undefined
}

export type MemoryOperation =
  | { readonly op: 'set'; readonly key: string; readonly value: StoredBody; readonly ifVersion?: number | null }
  | { readonly op: 'delete'; readonly key: string; readonly ifVersion?: number | null }

export interface MemoryPage {
  /** @default 1000 */
  readonly limit?: number
  /** The last key of the page before. */
  readonly after?: string
}

/** @throws HoltError `StaleEpoch` unless the epoch is the agent's present one */
export type Fence = (agent: string, epoch: number | undefined) => void

const DEFAULT_LIMIT = 1000
const PAGE = 'ORDER BY key LIMIT ?'

export class AgentMemory {
  readonly #fence: Fence
  readonly #maxBytes: number
  readonly #get
  readonly #from
  readonly #between
  readonly #set
  readonly #delete

  constructor(connection: Connection, fence: Fence, { valueBytes }: Retention) {
    this.#fence = fence
    this.#maxBytes = valueBytes
    this.#get = connection.query(ROW, 'FROM memory WHERE agent = ? AND key = ?')
    this.#from = connection.query(ROW, `FROM memory WHERE agent = ? AND key >= ? AND key > ? ${PAGE}`)
    this.#between = connection.query(ROW, `FROM memory WHERE agent = ? AND key >= ? AND key > ? AND key < ? ${PAGE}`)
    this.#set = connection.change(
      'INSERT OR REPLACE INTO memory (agent, key, body, encoding, at) VALUES (?, ?, ?, ?, ?)',
    )
    this.#delete = connection.change('DELETE FROM memory WHERE agent = ? AND key = ?')
  }

  get(agent: string, key: string): MemoryEntry | undefined {
    const row = this.#get.get(agent, key)
    return row === undefined ? undefined : entryOf(row)
  }

  /** Those whose key begins with `prefix`, in order of keys (by code points). */
  list(agent: string, prefix = '', { limit = DEFAULT_LIMIT, after = '' }: MemoryPage = {}): MemoryEntry[] {
    const end = afterPrefix(prefix)
    const rows =
      end === null ? this.#from.all(agent, prefix, after, limit) : this.#between.all(agent, prefix, after, end, limit)
    return rows.map(entryOf)
  }

  /**
   * @returns the new version of the key
   * @throws HoltError `StaleEpoch`; `VersionMismatch`, naming the present one; `ValueTooLarge`; `InvalidInput` for the key
   */
  set(agent: string, key: string, value: StoredBody, at: number, condition: MemoryCondition = {}): number {
    checkKey(agent, key)
    this.#checkSize(agent, key, value)
    this.#check(agent, key, condition)
    return this.#set.run(agent, key, value.body, value.encoding, at).rowId
  }

  /**
   * @returns whether it was there
   * @throws HoltError `StaleEpoch`; `VersionMismatch`, naming the present one
   */
  delete(agent: string, key: string, condition: MemoryCondition = {}): boolean {
    this.#check(agent, key, condition)
    return this.#delete.run(agent, key).changes > 0
  }

  /**
   * All of them in order; where one throws the unit of work is undone, and so are those before it.
   * @returns the version of each key that was set, null of each that was deleted
   * @throws HoltError as `set` and `delete` do
   */
  apply(agent: string, operations: readonly MemoryOperation[], at: number, epoch?: number): (number | null)[] {
    return operations.map((operation) => {
      const condition = { epoch, ifVersion: operation.ifVersion }
      if (operation.op === 'set') return this.set(agent, operation.key, operation.value, at, condition)
      this.delete(agent, operation.key, condition)
      return null
    })
  }

  #check(agent: string, key: string, { epoch, ifVersion }: MemoryCondition): void {
    this.#fence(agent, epoch)
    if (ifVersion === undefined) return
    const version = this.#get.get(agent, key)?.version ?? null
    if (version === ifVersion) return
    const say = (found: number | null): string => (found === null ? 'none' : String(found))
    const text = `Expected version ${say(ifVersion)} of '${key}' of agent '${agent}', found ${say(version)}. Read it again`
    throw refusal('VersionMismatch', text, { agent, key, expected: ifVersion, found: version })
  }

  #checkSize(agent: string, key: string, value: StoredBody): void {
    const bytes = sizeOfBody(value)
    if (bytes <= this.#maxBytes) return
    const text = `Expected at most ${this.#maxBytes} bytes for '${key}' of agent '${agent}', found ${bytes}. Split it`
    throw refusal('ValueTooLarge', text, { agent, key, bytes, maxBytes: this.#maxBytes })
  }
}

const entryOf = ({ key, version, at, ...body }: RowOf<typeof ROW>): MemoryEntry => ({
  key,
  value: bodyOf(body),
  version,
  at,
})
