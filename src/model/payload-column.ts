/**
 * Payloads of a batch as they cross the thread boundary. Where all are objects with the same fields, an array a field:
 * names cross once, and numbers and texts at the price of numbers and texts. Else one JSON text for all that is plain.
 * Beside it what is neither, cloned by the port. Why, with figures: docs/decisions/009.
 */
import { type Body, Copied, type Plain } from './payload.ts'

/** A column of bodies in the form that is cheapest for what they are. */
export interface BodyColumn {
  /** A JSON array. */
  readonly text?: string
  /** The fields that every one of them has, in their order. */
  readonly fields?: readonly string[]
  /** Of each field its values; where some are objects, as the JSON text of an array. */
  readonly columns?: readonly (readonly Plain[] | string)[]
  /** What is not plain, cloned by the port: all of them, or those at these places. */
  readonly rich?: readonly unknown[]
  readonly richAt?: readonly number[]
  /** Or, where all are small byte arrays: one after the other, and where each ends. */
  readonly bytes?: Uint8Array
  readonly ends?: readonly number[]
}

/** Fewer are not worth an array a field. */
const FEWEST = 8
const MOST_FIELDS = 16
/** Larger byte arrays are cloned as fast as they are packed. */
const PACKED_BYTES = 4096

const isObject = (value: Plain | undefined): value is { readonly [key: string]: Plain } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Collects bodies into a column. One per flush. */
export class BodyColumnBuilder {
  readonly #plain: Plain[] = []
  readonly #rich: unknown[] = []
  readonly #richAt: number[] = []
  readonly #moved: ArrayBuffer[] = []

  add(body: Body): void {
    if (!(body instanceof Copied)) {
      this.#plain.push(body)
      return
    }
    this.#richAt.push(this.#plain.push(0) - 1)
    this.#rich.push(body.value)
    if (body.transfer !== undefined) this.#moved.push(...body.transfer)
  }

  /** What moves with it. */
  get transfer(): ArrayBuffer[] | undefined {
    return this.#moved.length === 0 ? undefined : this.#moved
  }

  build(): BodyColumn {
    if (this.#rich.length === 0) return byField(this.#plain) ?? { text: JSON.stringify(this.#plain) }
    if (this.#rich.length < this.#plain.length)
      return { text: JSON.stringify(this.#plain), rich: this.#rich, richAt: this.#richAt }
    const bytes = this.#moved.length === 0 ? packed(this.#rich) : null
    if (bytes === null) return { rich: this.#rich }
    // Made for this column alone.
    this.#moved.push(bytes.bytes.buffer)
    return bytes
  }
}

/** Small byte arrays in one, or null where they are something else. */
function packed(values: readonly unknown[]): { bytes: Uint8Array<ArrayBuffer>; ends: number[] } | null {
  if (values.length < FEWEST) return null
  const ends: number[] = []
  let end = 0
  for (const value of values) {
    if (!(value instanceof Uint8Array) || value.byteLength > PACKED_BYTES) return null
    end += value.byteLength
    ends.push(end)
  }
  const bytes = new Uint8Array(end)
  for (const [index, value] of values.entries()) bytes.set(value as Uint8Array, index === 0 ? 0 : ends[index - 1]!)
  return { bytes, ends }
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
  const { text, fields, columns, rich = [], richAt, bytes, ends } = column
  if (fields !== undefined) return joined(fields, columns!)
  if (bytes !== undefined) return ends!.map((end, index) => bytes.slice(index === 0 ? 0 : ends![index - 1]!, end))
  if (text === undefined) return [...rich]
  const values = JSON.parse(text) as unknown[]
  richAt?.forEach((place, index) => {
    values[place] = rich[index]
  })
  return values
}

/** The same as bodies, which need no further copy to be sent on. */
export function readBodies(column: BodyColumn): Body[] {
  const values = readColumn(column)
  const { rich, richAt } = column
  if (rich !== undefined && richAt !== undefined) for (const at of richAt) values[at] = new Copied(values[at])
  else if (column.text === undefined && column.fields === undefined)
    return values.map((value) => new Copied(value, sizeOf(value)))
  return values as Body[]
}

const sizeOf = (value: unknown): number => (value instanceof Uint8Array ? value.byteLength : 0)

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
