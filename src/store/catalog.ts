/** Table `catalog`: what has been installed. */
import type { Connection } from './connection.ts'
import { integer, type RowOf, text } from './rows.ts'

const ROW = { name: text, version: text, source: text, installedAt: integer, digest: text }

/** `source`: where it was installed from; `digest`: of its files; `installedAt`: wall clock, ms. */
export type CatalogEntry = RowOf<typeof ROW>

export class Catalog {
  readonly #list
  readonly #get
  readonly #set
  readonly #remove

  constructor(connection: Connection) {
    this.#list = connection.query(ROW, 'FROM catalog ORDER BY name')
    this.#get = connection.query(ROW, 'FROM catalog WHERE name = ?')
    this.#set = connection.change(
      'INSERT OR REPLACE INTO catalog (name, version, source, installed_at, digest) VALUES (?, ?, ?, ?, ?)',
    )
    this.#remove = connection.change('DELETE FROM catalog WHERE name = ?')
  }

  /** By name. */
  list(): readonly CatalogEntry[] {
    return this.#list.all()
  }

  get(name: string): CatalogEntry | undefined {
    return this.#get.get(name)
  }

  /** Takes the place of the entry of that name. */
  set({ name, version, source, installedAt, digest }: CatalogEntry): void {
    this.#set.run(name, version, source, installedAt, digest)
  }

  /** @returns whether it was there */
  remove(name: string): boolean {
    return this.#remove.run(name).changes > 0
  }
}
