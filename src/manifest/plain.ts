/**
 * A manifest handed over as an object to a source: a copy in plain data, so that what is checked is what is used. What
 * could never stand in a file (functions, dates, cycles, getters that throw) is refused by its field.
 */
import { type Fault, fieldOf, type Path } from './fault.ts'
import type { Source } from './source.ts'

const MAX_DEPTH = 64
const MAX_VALUES = 100_000

interface Copy {
  readonly what: string
  readonly faults: Fault[]
  readonly open: Set<object>
  values: number
}

function refuse(copy: Copy, path: Path, found: string): undefined {
  const expected = 'plain data'
  copy.faults.push({ file: copy.what, line: null, column: null, field: fieldOf(path), expected, found })
}

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null
}

function copyOf(copy: Copy, value: unknown, path: Path): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value
  if (value === undefined) return undefined
  if (typeof value !== 'object') return refuse(copy, path, `a ${typeof value}`)
  if (copy.open.has(value)) return refuse(copy, path, 'a cycle')
  if (path.length > MAX_DEPTH) return refuse(copy, path, `more than ${MAX_DEPTH} levels`)
  copy.values++
  if (copy.values === MAX_VALUES) return refuse(copy, path, `more than ${MAX_VALUES} lists and maps`)
  if (copy.values > MAX_VALUES) return undefined
  copy.open.add(value)
  try {
    if (!isPlain(value)) return refuse(copy, path, 'an instance of a class')
    return Array.isArray(value) ? listOf(copy, value, path) : mapOf(copy, value, path)
  } catch {
    return refuse(copy, path, 'an object that throws when it is read')
  } finally {
    copy.open.delete(value)
  }
}

function listOf(copy: Copy, value: readonly unknown[], path: Path): unknown[] {
  if (value.length > MAX_VALUES) {
    refuse(copy, path, `a list of ${value.length}`)
    return []
  }
  // Array.from and not map: a hole is nothing, and nothing is refused by the schema.
  return Array.from(value, (item, index) => copyOf(copy, item, [...path, index]))
}

function mapOf(copy: Copy, value: object, path: Path): Record<string, unknown> {
  const result: Record<string, unknown> = Object.create(null)
  for (const key of Object.keys(value)) {
    const inner = copyOf(copy, Reflect.get(value, key), [...path, key])
    // A field that is undefined is a field left out.
    if (inner !== undefined) result[key] = inner
  }
  return result
}

/** @param what what to call the object in a refusal, where a file would be named */
export function objectSource(value: unknown, what: string): Source {
  const copy: Copy = { what, faults: [], open: new Set(), values: 0 }
  const plain = copyOf(copy, value, [])
  return {
    file: what,
    prefix: [],
    value: plain,
    faults: copy.faults,
    doubts: [],
    place: () => null,
    written: () => undefined,
  }
}
