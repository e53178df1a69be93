/**
 * The form in which values travel where `superjson` was agreed on. Loads no superjson: what plain JSON carries as it is,
 * as nearly all values are, needs none.
 */
export interface Packed {
  readonly json: unknown
  /** Absent: `json` is the value. */
  readonly meta?: unknown
}

/** How the values of a request, and of what answers it, are written. */
export type Encoding = 'json' | 'superjson'

export const SUPERJSON_TYPE = 'application/vnd.holt.superjson+json'

export const isPacked = (value: unknown): value is Packed =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, 'json')

/** Far deeper than any input of ours; what is deeper may be a cycle. */
const EXACT_DEPTH = 64

/** Whether JSON gives it back as it was. */
export function isExact(value: unknown, depth = 0): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  if (typeof value !== 'object' || value === null)
    return value === null || typeof value === 'string' || typeof value === 'boolean'
  if (depth > EXACT_DEPTH) return false
  // Not `every`: it passes over holes.
  if (Array.isArray(value)) return Array.from(value).every((one) => isExact(one, depth + 1))
  if (Object.getPrototypeOf(value) !== Object.prototype || Object.getOwnPropertySymbols(value).length > 0) return false
  for (const key of Object.keys(value)) {
    const field = Object.getOwnPropertyDescriptor(value, key)
    if (field === undefined || !('value' in field) || !isExact(field.value, depth + 1)) return false
  }
  return true
}
