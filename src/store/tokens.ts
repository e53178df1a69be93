/** Table `tokens`: who may call, by the hash of a secret that is kept nowhere. */
import type { Connection } from './connection.ts'
import { integer, maybe, type RowOf, text } from './rows.ts'

const ROW = {
  id: text,
  name: text,
  hash: text,
  access: text,
  createdAt: integer,
  lastUsedAt: maybe(integer),
  expiresAt: maybe(integer),
}

/** Times are wall clock, ms; without `expiresAt` it never expires. */
export type TokenRow = RowOf<typeof ROW>

export class Tokens {
  readonly #list
  readonly #byHash
  readonly #add
  readonly #used
  readonly #remove

  constructor(connection: Connection) {
    this.#list = connection.query(ROW, 'FROM tokens ORDER BY created_at, id')
    this.#byHash = connection.query(ROW, 'FROM tokens WHERE hash = ?')
    this.#add = connection.insert('tokens', [
      ...['id', 'name', 'hash', 'access', 'created_at', 'last_used_at', 'expires_at'],
    ])
    this.#used = connection.change('UPDATE tokens SET last_used_at = ? WHERE id = ?')
    this.#remove = connection.change('DELETE FROM tokens WHERE id = ?')
  }

  /** The oldest first. */
  list(): readonly TokenRow[] {
    return this.#list.all()
  }

  /** Also one that has expired: that is for the caller to see. */
  byHash(hash: string): TokenRow | undefined {
    return this.#byHash.get(hash)
  }

  add({ id, name, hash, access, createdAt, lastUsedAt, expiresAt }: TokenRow): void {
    this.#add.run(id, name, hash, access, createdAt, lastUsedAt, expiresAt)
  }

  used(id: string, at: number): void {
    this.#used.run(at, id)
  }

  /** @returns whether it was there */
  remove(id: string): boolean {
    return this.#remove.run(id).changes > 0
  }
}
