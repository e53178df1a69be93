/** Names of a batch as they cross the thread boundary: mostly they are all the same one, and cross once. */
import { padded } from './payload-column.ts'

/** One name for all, or one each. */
export type NameColumn = string | readonly string[]

export const nameIn = (column: NameColumn, index: number): string =>
  typeof column === 'string' ? column : column[index]!

/** Collects names. One per flush. */
export class NameColumnBuilder {
  #count = 0
  #name = ''
  #names: string[] | undefined

  add(name: string): void {
    if (this.#count === 0) this.#name = name
    else if (name !== this.#name) this.#names ??= padded(this.#count, this.#name)
    this.#names?.push(name)
    this.#count++
  }

  build(): NameColumn {
    return this.#names ?? this.#name
  }
}
