/**
 * Rows as data: a shape names the columns of a table in camelCase, with how each is read. Texts are read as bytes and
 * decoded here, since the driver ends the process at text that is not UTF-8, as a damaged file may hold.
 */
import { damaged, stateFault } from './faults.ts'

interface Place {
  readonly column: string
  readonly path: string
}

export interface Column<T> {
  /** What to select for it. */
  readonly sql: (name: string) => string
  /** @param where the name of the column, and the file it is in */
  readonly read: (value: unknown, where: Place) => T
}

export type Shape = Readonly<Record<string, Column<unknown>>>
export type RowOf<S extends Shape> = { readonly [K in keyof S]: S[K] extends Column<infer T> ? T : never }

const asBytes = (value: unknown): Buffer => (Buffer.isBuffer(value) ? value : Buffer.from(value as ArrayBuffer))
/** Lossy on purpose: what is damaged is to be shown, not thrown over. A leading byte order mark is part of the text. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const textOf = (value: unknown): string => decoder.decode(value as ArrayBuffer)
const castToBytes = (name: string): string => `CAST(${name} AS BLOB)`
const itself = (name: string): string => name

export const integer: Column<number> = { sql: itself, read: (value) => value as number }
export const flag: Column<boolean> = { sql: itself, read: (value) => value === 1 }
export const text: Column<string> = { sql: castToBytes, read: textOf }
export const bytes: Column<Buffer> = { sql: castToBytes, read: asBytes }

/** One of a few words; what a later program may have added is passed on as it is. */
export const word = <T extends string>(): Column<T> => text as Column<T>

export const json = <T = unknown>(): Column<T> => ({
  sql: castToBytes,
  read: (value, { column, path }) => {
    const read = textOf(value)
    try {
      return JSON.parse(read) as T
    } catch (error) {
      const found = JSON.stringify(read.slice(0, 40))
      throw stateFault(
        'StateCorrupt',
        path,
        damaged(path, `column '${column}': expected JSON, found ${found}`),
        {},
        error,
      )
    }
  },
})

export const maybe = <T>(column: Column<T>): Column<T | null> => ({
  sql: column.sql,
  read: (value, where) => (value === null ? null : column.read(value, where)),
})

/** A value that is no column: counts, sums, pragmas. */
export const computed = (sql: string): Column<number> => ({ sql: () => sql, read: (value) => value as number })

const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

export const selectList = (shape: Shape): string =>
  Object.entries(shape)
    .map(([name, { sql }]) => `${sql(snakeCase(name))} AS "${name}"`)
    .join(', ')

/** @throws HoltError `StateCorrupt` where a column holds what it cannot */
export function readRow<S extends Shape>(shape: S, row: unknown, path: string): RowOf<S> {
  const found = row as Readonly<Record<string, unknown>>
  const read: Record<string, unknown> = {}
  for (const column in shape) read[column] = shape[column]!.read(found[column], { column, path })
  return read as RowOf<S>
}
