/**
 * Names the field for which a payload could not be copied. Called by `payload.ts` on the way to a throw; it must not
 * throw itself and must not take long: it walks once, over a bounded number of values, and clones only what is unusual.
 */
import { isProxy } from 'node:util/types'
import { HoltError } from './error.ts'

interface Culprit {
  readonly path: string
  readonly kind: string
}

const MAX_VALUES = 100_000
/** V8 itself refuses what is nested some thousand deep; a path longer than this helps nobody. */
const MAX_DEPTH = 100

/** What has been seen, so that cycles end, and how many values may still be looked at. */
interface Walk {
  readonly seen: Set<unknown>
  left: number
}

/** The refusal of this value, naming the innermost field that is at fault. */
export function notCloneable(value: unknown, error: unknown): HoltError {
  const found = culprit(value, '', 0, { seen: new Set(), left: MAX_VALUES }) ?? { path: '', kind: kindOf(value) }
  const reason = error instanceof Error ? error.message : String(error)
  const field = found.path === '' ? 'the payload itself' : `field '${found.path}'`
  return new HoltError('NotCloneable', `${field} (${found.kind}) could not be cloned: ${reason}`, {
    field: found.path,
    kind: found.kind,
  })
}

function culprit(value: unknown, path: string, depth: number, walk: Walk): Culprit | undefined {
  if (typeof value === 'function' || typeof value === 'symbol') return { path, kind: typeof value }
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH || walk.seen.has(value)) return undefined
  walk.seen.add(value)
  if (isProxy(value)) return { path, kind: 'Proxy' }
  const inner = innerCulprit(value, path, depth, walk)
  if (inner !== undefined) return inner
  return isUnusual(value) && !clones(value) ? { path, kind: kindOf(value) } : undefined
}

function innerCulprit(value: object, path: string, depth: number, walk: Walk): Culprit | undefined {
  for (const [step, read] of partsOf(value, path)) {
    if (--walk.left < 0) return undefined
    let part: unknown
    try {
      part = read()
    } catch {
      return { path: path + step, kind: 'a getter that throws' }
    }
    const found = culprit(part, path + step, depth + 1, walk)
    if (found !== undefined) return found
  }
  return undefined
}

/** The parts of an object that a clone visits, each with its step in the path. */
function* partsOf(value: object, path: string): Generator<readonly [step: string, read: () => unknown]> {
  const dot = path === '' ? '' : '.'
  if (value instanceof Map) {
    for (const [key, inner] of value) {
      yield [`${dot}<key>`, () => key]
      yield [`${dot}${typeof key === 'object' ? '<value>' : String(key)}`, () => inner]
    }
  } else if (value instanceof Set) {
    for (const inner of value) yield [`${dot}<element>`, () => inner]
  }
  if (ArrayBuffer.isView(value)) return
  const isArray = Array.isArray(value)
  for (const key of Object.keys(value)) yield [isArray ? `[${key}]` : dot + key, () => Reflect.get(value, key)]
}

/** Neither plain nor a container that was walked: only trying tells. */
function isUnusual(value: object): boolean {
  if (Array.isArray(value) || value instanceof Map || value instanceof Set) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype !== Object.prototype && prototype !== null
}

const clones = (value: unknown): boolean => {
  try {
    structuredClone(value)
    return true
  } catch {
    return false
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value !== 'object') return typeof value
  try {
    const name: unknown = value.constructor?.name
    return typeof name === 'string' && name !== '' ? name : 'object'
  } catch {
    return 'object'
  }
}
