/**
 * Payloads of a batch as they cross the thread boundary. Where all are objects with the same fields, an array a field:
 * names cross once, and numbers and texts at the price of numbers and texts. Else one JSON text for all that is plain.
 * Beside it what is neither, cloned by the port. Why, with figures: docs/decisions/009.
 */
import { type Body, Copied, type Plain } from './payload.ts'

/** A column of bodies: `text`, or `fields` and `columns`. */
export interface BodyColumn {
  /** A JSON array. */
  readonly text?: string
  /** The fields that every one of them has, in their order. */
  readonly fields?: readonly string[]
  /** Of each field its values; where some are objects, as the JSON text of an array. */
  readonly columns?: readonly (readonly Plain[] | string)[]
  readonly rich?: readonly (readonly [index: number, value: unknown])[]
}

/** Fewer are not worth an array a field. */
const FEWEST = 8
const MOST_FIELDS = 16

const isObject = (value: Plain | undefined): value is { readonly [key: string]: Plain } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Collects bodies into a column. One per flush. */
export class BodyColumnBuilder {
  readonly #plain: Plain[] = []
  #rich: [number, unknown][] | undefined
  #moved: ArrayBuffer[] | undefined

  add(body: Body): void {
    if (!(body instanceof Copied)) {
      this.#plain.push(body)
      return
    }
    this.#rich ??= []
    this.#rich.push([this.#plain.push(0) - 1, body.value])
    if (body.transfer !== undefined) {
      this.#moved ??= []
      this.#moved.push(...body.transfer)
    }
  }

  get transfer(): ArrayBuffer[] | undefined {
    return this.#moved
  }

  build(): BodyColumn {
    if (this.#rich !== undefined) return { text: JSON.stringify(this.#plain), rich: this.#rich }
    return byField(this.#plain) ?? { text: JSON.stringify(this.#plain) }
  }
}

/** An array a field, or null where they are not of one kind. */
function byField(objects: readonly Plain[]): BodyColumn | null {
  const first = objects[0]
  if (objects.length < FEWEST || !isObject(first)) return null
  const fields = Object.keys(first)
  // As a name in assignments that one is no field.
  if (fields.length === 0 || fields.length > MOST_FIELDS || fields.includes('__proto__')) return null
  const columns: Plain[][] = fields.map(() => [])
  for (const object of objects) if (!isObject(object) || !split(object, fields, columns)) return null
  return { fields, columns: columns.map((column) => (column.some(isNested) ? JSON.stringify(column) : column)) }
}

const isNested = (value: Plain): boolean => typeof value === 'object' && value !== null

/** False where its fields are others, or in another order. */
function split(object: { readonly [key: string]: Plain }, fields: readonly string[], columns: readonly Plain[][]) {
  let at = 0
  for (const key in object) {
    if (key !== fields[at]) return false
    columns[at++]!.push(object[key]!)
  }
  return at === fields.length
}

/** The payloads of a column, in order. */
export function readColumn(column: BodyColumn): unknown[] {
  if (column.fields !== undefined) return joined(column.fields, column.columns!)
  const values = JSON.parse(column.text!) as unknown[]
  if (column.rich !== undefined) for (const [index, value] of column.rich) values[index] = value
  return values
}

function joined(fields: readonly string[], columns: readonly (readonly Plain[] | string)[]): unknown[] {
  const read = columns.map((column) => (typeof column === 'string' ? (JSON.parse(column) as Plain[]) : column))
  const values: unknown[] = []
  for (let i = 0; i < read[0]!.length; i++) {
    const object: Record<string, Plain> = {}
    for (let at = 0; at < fields.length; at++) object[fields[at]!] = read[at]![i]!
    values.push(object)
  }
  return values
}

/** A column of so many empty cells. Filled by pushing: an array that was made with a length has holes for the platform, and is cloned several times slower. */
export function padded<T>(count: number, empty: T): T[] {
  const column: T[] = []
  for (let i = 0; i < count; i++) column.push(empty)
  return column
}
