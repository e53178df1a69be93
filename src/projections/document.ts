/**
 * How a document of another runtime is read: by path, own fields only, and never a throw. What is missing or of another
 * type is null, so that each rule says for itself what it makes of that.
 */

/** Lists within one document are read so far; no runtime has a thousand containers in one instance. */
const MAX_LIST = 1000
const MAX_SHOWN = 200

export const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !isList(value)

/** The value at the path; undefined where there is none. */
export function at(source: unknown, ...path: readonly string[]): unknown {
  let value = source
  for (const key of path) {
    try {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
      value = Reflect.get(value, key)
    } catch {
      return undefined
    }
  }
  return value
}

/** A text that says something. */
export function textAt(source: unknown, ...path: readonly string[]): string | null {
  const value = at(source, ...path)
  return typeof value === 'string' && value !== '' ? value : null
}

export function numberAt(source: unknown, ...path: readonly string[]): number | null {
  const value = at(source, ...path)
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

export function flagAt(source: unknown, ...path: readonly string[]): boolean | null {
  const value = at(source, ...path)
  return typeof value === 'boolean' ? value : null
}

/** A moment, ms since the epoch. */
export function momentAt(source: unknown, ...path: readonly string[]): number | null {
  const text = textAt(source, ...path)
  const ms = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(ms) ? null : ms
}

/** The objects of a list; what else is in it is passed over. */
export const objectsAt = (source: unknown, ...path: readonly string[]): readonly object[] =>
  listOf(at(source, ...path)).filter(isObject)

/** The beginning of a list; empty for whatever is none. */
export function listOf(value: unknown): readonly unknown[] {
  const items: unknown[] = []
  try {
    if (!Array.isArray(value)) return items
    for (let i = 0; i < Math.min(value.length, MAX_LIST); i++) items.push(value[i])
  } catch {
    // As much as could be read.
  }
  return items
}

/** A revoked proxy is none of anything, and throws when it is asked. */
export function isList(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value)
  } catch {
    return false
  }
}

/** What was found, for a sentence. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return value === '' ? 'an empty text' : `'${brief(value)}'`
  if (typeof value !== 'object') return `a ${typeof value}`
  return isObject(value) ? 'an object' : 'a list'
}

/** A text of the document, of a length that fits a line. */
export const brief = (text: string): string => (text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`)
