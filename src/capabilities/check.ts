/**
 * The check of a capability module at the door: is its default export what the contract asks? The registry calls it for
 * every file. Each fault is an `InvalidManifest` that names file, field, what was expected and what was found.
 */
import { HoltError } from '../model/error.ts'
import type { Capability, Placement } from './contract.ts'

const ID = /^[a-z][a-z0-9-]{0,62}$/
const PLACEMENTS: readonly string[] = ['host', 'pool', 'agent'] satisfies Placement[]

/** `then` makes an awaited object hang, Comlink swallows `bind`, the others reach the prototype chain. */
const RESERVED: ReadonlySet<string> = new Set(['then', 'bind', 'constructor', 'prototype', '__proto__'])

/** A fault of a capability file. */
export function fault(file: string, field: string, expected: string, found: string, cause?: unknown): HoltError {
  const text = `${file}: ${field}: expected ${expected}, found ${found}`
  return new HoltError('InvalidManifest', text, { file, field, expected, found }, cause)
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return `'${value.slice(0, 100)}'`
  if (Array.isArray(value)) return 'an array'
  return value === undefined ? 'nothing' : typeof value
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

function checkMethods(methods: unknown, file: string): void {
  if (!isObject(methods) || Array.isArray(methods)) {
    throw fault(file, 'methods', 'an object of functions', kindOf(methods))
  }
  const names = Object.keys(methods)
  if (names.length === 0) {
    throw fault(file, 'methods', 'at least one function as an own field', 'none (methods of a class do not count)')
  }
  for (const name of names) {
    if (RESERVED.has(name)) throw fault(file, `methods.${name}`, 'another name', 'a reserved one')
    if (typeof methods[name] !== 'function') {
      throw fault(file, `methods.${name}`, 'a function', kindOf(methods[name]))
    }
  }
}

/**
 * The capability that `module` exports by default.
 * @throws HoltError `InvalidManifest`
 */
export function checkCapability(module: unknown, file: string): Capability {
  const exported = isObject(module) ? module['default'] : undefined
  if (!isObject(exported)) {
    throw fault(file, 'default export', 'a capability made by defineCapability', kindOf(exported))
  }
  const { id, placement, methods } = exported
  if (typeof id !== 'string' || !ID.test(id)) throw fault(file, 'id', `a name like ${ID.source}`, kindOf(id))
  if (typeof placement !== 'string' || !PLACEMENTS.includes(placement)) {
    throw fault(file, 'placement', `one of ${PLACEMENTS.join(', ')}`, kindOf(placement))
  }
  checkMethods(methods, file)
  for (const hook of ['boot', 'shutdown']) {
    const value = exported[hook]
    if (value !== undefined && typeof value !== 'function') throw fault(file, hook, 'a function', kindOf(value))
  }
  return exported as unknown as Capability
}
