/**
 * What runs in a pool's thread: calls one method of a capability module and answers with its value or its error as
 * plain data. Bundled to dist/capabilities/pool-worker.js and started by Piscina only. Never throws: a value that
 * Piscina cannot post would take the thread and everyone's calls with it.
 */
import { isProxy } from 'node:util/types'
import { workerData } from 'node:worker_threads'
import { describeError, type ErrorShape, HoltError } from '../model/error.ts'
import { notCloneable } from '../model/not-cloneable.ts'
import { monotonicMs } from '../platform/clock.ts'
import { RUNNING, WAITING } from './pool-ledger.ts'

/** A call as the pool posts it. */
export interface PoolCall {
  readonly capability: string
  readonly url: string
  readonly method: string
  readonly args: readonly unknown[]
  /** Its byte in the ledger. */
  readonly slot: number
}

/** `ms` is how long the method ran. */
export type PoolAnswer =
  | { readonly ms: number; readonly value: unknown }
  | { readonly ms: number; readonly error: ErrorShape }

type Method = (...args: readonly unknown[]) => unknown

const PLAIN_VALUES = 10_000

/** Whether a value is surely cloneable, found without copying it: of a tree of plain data this costs less. */
function isPlain(value: unknown, budget: { left: number }): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function' && typeof value !== 'symbol'
  // Cycles and shared parts end here too.
  if (--budget.left < 0 || isProxy(value)) return false
  const parts = Object.values(value)
  if (Array.isArray(value)) {
    if (parts.length !== value.length) return false
  } else {
    const prototype = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null) return false
  }
  return parts.every((part) => isPlain(part, budget))
}

/** @throws HoltError `NotCloneable`, naming the field */
function assertCloneable(value: unknown): void {
  if (isPlain(value, { left: PLAIN_VALUES })) return
  try {
    structuredClone(value)
  } catch (error) {
    throw notCloneable(value, error)
  }
}

type Methods = Readonly<Record<string, Method>>

/** By URL. Kept beside Node's own cache, since an await less lets calls end one by one. */
const loaded = new Map<string, Methods>()

async function load(url: string): Promise<Methods> {
  const module: { default?: { methods?: Methods } } = await import(url)
  const methods = module.default?.methods ?? {}
  loaded.set(url, methods)
  return methods
}

function methodOf(call: PoolCall, methods: Methods): Method {
  const method = Object.hasOwn(methods, call.method) ? methods[call.method] : undefined
  if (typeof method === 'function') return (...args) => Reflect.apply(method, methods, args)
  throw new HoltError('NoSuchCapability', `capability '${call.capability}' has no method '${call.method}'`)
}

async function answer(call: PoolCall): Promise<PoolAnswer> {
  let startedAt = 0
  const ran = (): number => (startedAt === 0 ? 0 : monotonicMs() - startedAt)
  try {
    const method = methodOf(call, loaded.get(call.url) ?? (await load(call.url)))
    startedAt = monotonicMs()
    Atomics.store(marks, call.slot, RUNNING)
    const returned = method(...call.args)
    // Piscina may start the next call before an await would go on: what has returned must not be taken for running.
    if (!(returned instanceof Promise)) Atomics.store(marks, call.slot, WAITING)
    const value = await returned
    const ms = ran()
    assertCloneable(value)
    return { ms, value }
  } catch (error) {
    return { ms: ran(), error: describeError(error) }
  } finally {
    Atomics.store(marks, call.slot, WAITING)
  }
}

const { ledger } = (workerData ?? { ledger: new SharedArrayBuffer(0) }) as { ledger: SharedArrayBuffer }
const marks = new Uint8Array(ledger)

/** Runs one call; null only wakes the pool. Piscina calls it by name. */
export async function run(call: PoolCall | null): Promise<PoolAnswer | null> {
  return call === null ? null : answer(call)
}
