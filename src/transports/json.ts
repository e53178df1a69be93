/**
 * Any value as plain JSON data, for transports whose wire is plain JSON. What has a `toJSON` (a Date) is what that says;
 * a Map is an object or a list of pairs, a Set a list, a bigint a text, bytes a list of numbers, an error its name and
 * message. Never throws.
 */
import { describeError } from '../model/error.ts'

/** As deep as a request may be. */
const MAX_DEPTH = 512

/** The value as JSON would carry it; `undefined` where there is nothing. */
export function toJson(value: unknown): unknown {
  return plain(value, [])
}

/** {@link toJson}, as JSON.stringify writes it. What is plain already, as nearly all is, is itself, and not gone through twice. */
export const asJson = (value: unknown): unknown => (isPlain(value, 0) ? value : toJson(value))

/** {@link toJson} as text, `null` where there is nothing. */
export const toJsonText = (value: unknown): string => JSON.stringify(asJson(value)) ?? 'null'

/** Far deeper than any answer of ours; what is deeper may be a cycle. */
const PLAIN_DEPTH = 32

/** What JSON.stringify cannot write, or leaves out. */
const UNWRITTEN: readonly string[] = ['bigint', 'function', 'symbol']

/** Whether JSON.stringify alone comes to the same. */
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return !UNWRITTEN.includes(typeof value)
  if (depth > PLAIN_DEPTH) return false
  if (Array.isArray(value)) return value.every((one) => isPlain(one, depth + 1))
  if (Object.getPrototypeOf(value) !== Object.prototype) return false
  for (const key of Object.keys(value)) {
    const field = Object.getOwnPropertyDescriptor(value, key)
    if (field === undefined || !('value' in field) || !isPlain(field.value, depth + 1)) return false
  }
  return true
}

function plain(value: unknown, open: readonly object[]): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (open.includes(value)) return '[circular]'
  if (open.length >= MAX_DEPTH) return '[too deep]'
  try {
    return plainObject(value, [...open, value])
  } catch (error) {
    return `[unreadable: ${describeError(error).message}]`
  }
}

function plainObject(value: object, open: readonly object[]): unknown {
  if (value instanceof Error) {
    const { name, message, code } = describeError(value)
    return { name, message, ...(code === undefined ? {} : { code }) }
  }
  if (ArrayBuffer.isView(value) && !(value instanceof DataView))
    return Array.from(value as Uint8Array, (n) => plain(n, open))
  const { toJSON } = value as { toJSON?: unknown }
  if (typeof toJSON === 'function') return plain(Reflect.apply(toJSON, value, ['']), open)
  if (value instanceof Map) return plainMap(value, open)
  if (value instanceof Set) return [...value].map((one) => plain(one, open) ?? null)
  if (Array.isArray(value)) return value.map((one) => plain(one, open) ?? null)
  return fields(Object.entries(value), open)
}

function plainMap(map: Map<unknown, unknown>, open: readonly object[]): unknown {
  const entries = [...map]
  if (entries.every((entry): entry is [string, unknown] => typeof entry[0] === 'string')) return fields(entries, open)
  return entries.map(([key, one]) => [plain(key, open) ?? null, plain(one, open) ?? null])
}

const fields = (entries: readonly (readonly [string, unknown])[], open: readonly object[]): Record<string, unknown> =>
  Object.fromEntries(
    entries.flatMap(([key, one]) => {
      const inner = plain(one, open)
      return inner === undefined ? [] : [[key, inner]]
    }),
  )
