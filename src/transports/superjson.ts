/**
 * Values as superjson, `{ json, meta }`, for programs that want dates, maps, sets, bigints and errors as they were: what
 * plain JSON carries as it is has no `meta`. Pure. Used by both servers and, loaded when it is needed, by the client.
 */
import superjson from 'superjson'
import { describeError, HoltError } from '../model/error.ts'
import { toJson } from './json.ts'
import { isExact, isPacked, type Packed } from './packed.ts'

/** As deep as a request may be. */
const MAX_DEPTH = 512
/** Names that superjson does not carry, and nobody should merge into an object. */
const REFUSED_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/** @throws HoltError `NotCloneable`, naming the field, for what superjson does not carry */
export function pack(value: unknown): Packed {
  if (isExact(value)) return { json: value }
  refuseStrange(value, '', new Set(), 0)
  try {
    return superjson.serialize(value) as Packed
  } catch (error) {
    throw new HoltError('NotCloneable', `the value cannot be written as superjson (${describeError(error).message})`)
  }
}

/** What superjson does not carry goes as plain JSON: for streams, where there is nobody to refuse it to. */
export function packLoosely(value: unknown): Packed {
  try {
    return pack(value)
  } catch {
    return { json: toJson(value) ?? null }
  }
}

/** @throws HoltError `BadRequest` for what is no superjson */
export function unpack(value: unknown): unknown {
  if (!isPacked(value)) throw notPacked('something else')
  if (value.meta === undefined) return value.json
  if (typeof value.meta !== 'object' || value.meta === null) throw notPacked('a meta that is no object')
  const key = refusedKey(value.json)
  if (key !== null) throw notPacked(`the key '${key}' beside meta`)
  try {
    return superjson.deserialize(value as unknown as Parameters<typeof superjson.deserialize>[0])
  } catch (error) {
    throw notPacked(describeError(error).message)
  }
}

const notPacked = (found: string): HoltError =>
  new HoltError('BadRequest', `expected superjson, { "json": …, "meta": … }, found ${found}`)

function refusedKey(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null
  for (const [key, one] of Object.entries(value)) {
    const found = REFUSED_KEYS.has(key) ? key : refusedKey(one)
    if (found !== null) return found
  }
  return null
}

function refuseStrange(value: unknown, path: string, seen: Set<object>, depth: number): void {
  const refuse = (what: string): never => {
    const field = path === '' ? 'the value' : path
    throw new HoltError('NotCloneable', `${field}: expected what superjson carries, found ${what}`, { field: path })
  }
  if (typeof value === 'function' || typeof value === 'symbol') refuse(`a ${typeof value}`)
  if (typeof value !== 'object' || value === null || seen.has(value)) return
  if (depth > MAX_DEPTH) refuse(`a value more than ${MAX_DEPTH} deep`)
  seen.add(value)
  if (value instanceof Date || value instanceof RegExp || value instanceof URL) return
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return
  for (const [key, one] of childrenOf(value, refuse)) {
    const at = path === '' ? key : `${path}.${key}`
    if (REFUSED_KEYS.has(key) && !(value instanceof Map)) refuse(`the key '${key}'`)
    refuseStrange(one, at, seen, depth + 1)
  }
}

function childrenOf(value: object, refuse: (what: string) => never): [string, unknown][] {
  if (value instanceof Map)
    return [...value].flatMap(([key, one], n): [string, unknown][] => [
      [`${n}`, key],
      [`${n}`, one],
    ])
  if (value instanceof Set) return [...value].map((one, n) => [`${n}`, one])
  if (value instanceof Error) return 'cause' in value ? [['cause', value.cause]] : []
  if (Array.isArray(value)) return value.map((one, n) => [`${n}`, one])
  const proto: unknown = Object.getPrototypeOf(value)
  // Of another realm, as from a worker's own, Object.prototype is another one.
  if (proto !== null && Object.getPrototypeOf(proto) !== null)
    refuse(`an object of the class ${value.constructor?.name || 'without a name'}`)
  if (proto !== null && proto !== Object.prototype && value.constructor?.name !== 'Object')
    refuse(`an object of the class ${value.constructor?.name || 'without a name'}`)
  if (Object.getOwnPropertySymbols(value).length > 0) refuse('a key that is a symbol')
  return Object.entries(value)
}
