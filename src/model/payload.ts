/**
 * Payloads: copied at the call, so that what is sent is what the caller had at that moment. Small plain data crosses as
 * JSON text, one text for a whole batch (the fastest form, docs/decisions/002); the rest is cloned by the port when the
 * batch is posted. Both sides of the thread boundary use this file.
 */
import { notCloneable } from './not-cloneable.ts'

/** A payload that does not cross as JSON text: a private copy, with what moves along. */
export class Copied {
  readonly value: unknown
  readonly transfer: readonly ArrayBuffer[] | undefined
  /** Bytes of the buffers in it, as far as is known: what is large is not to wait until a batch is full. */
  readonly bytes: number

  constructor(value: unknown, bytes = 0, transfer?: readonly ArrayBuffer[]) {
    this.value = value
    this.transfer = transfer
    this.bytes = bytes
  }
}

/** A private copy of small plain data: nothing in it would be changed by JSON. */
export type Plain = string | number | boolean | null | { readonly [key: string]: Plain } | readonly Plain[]

/** How a mailbox keeps a payload. `undefined` is none: as a payload it is `Copied`. */
export type Body = Plain | Copied

/** Up to this many characters JSON text is the faster form (docs/decisions/002). */
const TEXT_LIMIT = 512
const NODE_LIMIT = 4096
const DEPTH_LIMIT = 32
/** Refused past this: what one thread's stack still clones, the next one's may not, and there nobody could be told. */
const MAX_NESTING = 1000
const NOT_PLAIN = -1

/** Characters of JSON this needs, about; over {@link TEXT_LIMIT} when it is large, {@link NOT_PLAIN} for anything JSON would change. */
function plainSize(value: unknown, depth: number): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0) ? 8 : NOT_PLAIN
  if (typeof value === 'boolean' || value === null) return 5
  if (typeof value !== 'object' || depth > DEPTH_LIMIT) return NOT_PLAIN
  return Array.isArray(value) ? arraySize(value, depth) : objectSize(value, depth)
}

function arraySize(array: readonly unknown[], depth: number): number {
  if (array.length > TEXT_LIMIT) return TEXT_LIMIT + 1
  let size = 2
  // A hole reads as undefined, which is not plain: holes go the structured way.
  for (let i = 0; i < array.length; i++) {
    const inner = plainSize(array[i], depth + 1)
    if (inner === NOT_PLAIN) return NOT_PLAIN
    size += inner + 1
    if (size > TEXT_LIMIT) return size
  }
  // Named properties of an array survive a structured clone and not JSON.
  return Object.keys(array).length === array.length ? size : NOT_PLAIN
}

function objectSize(object: object, depth: number): number {
  const prototype = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null) return NOT_PLAIN
  let size = 2
  for (const key in object) {
    const inner = plainSize((object as Record<string, unknown>)[key], depth + 1)
    if (inner === NOT_PLAIN) return NOT_PLAIN
    size += key.length + inner + 4
    if (size > TEXT_LIMIT) return size
  }
  return size
}

const GIVE_UP: unique symbol = Symbol('not plain enough to copy by hand')

/** What a copy may still take, and what it has taken. */
interface Budget {
  nodes: number
  bytes: number
}

/** A deep copy of plain data and byte arrays, or {@link GIVE_UP} for all else. Strings are shared: they cannot change. */
function copyPlain(value: unknown, budget: Budget, depth: number): unknown {
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'function' || typeof value === 'symbol' ? GIVE_UP : value
  }
  if (depth > DEPTH_LIMIT || --budget.nodes < 0) return GIVE_UP
  if (Array.isArray(value)) return copyArray(value, budget, depth)
  // Exact bytes: a clone would carry the whole buffer behind a small view, with what others left in it.
  if (value instanceof Uint8Array) {
    budget.bytes += value.byteLength
    return value.buffer instanceof ArrayBuffer ? new Uint8Array(value) : GIVE_UP
  }
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return GIVE_UP
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const inner = copyPlain((value as Record<string, unknown>)[key], budget, depth + 1)
    if (inner === GIVE_UP || key === '__proto__') return GIVE_UP
    copy[key] = inner
  }
  return copy
}

function copyArray(array: readonly unknown[], budget: Budget, depth: number): unknown {
  const copy: unknown[] = []
  for (let i = 0; i < array.length; i++) {
    if (!(i in array)) return GIVE_UP
    const inner = copyPlain(array[i], budget, depth + 1)
    if (inner === GIVE_UP) return GIVE_UP
    copy.push(inner)
  }
  // Named properties of an array survive a structured clone; leave those arrays to it.
  return Object.keys(array).length === array.length ? copy : GIVE_UP
}

/** A payload that is a body already: what a thread has sent is a private copy of the host's. */
export class Encoded {
  readonly body: Body

  constructor(body: Body) {
    this.body = body
  }
}

/**
 * A payload as the mailbox keeps it. The caller may change its object afterwards.
 * @param transfer buffers to move instead of copy; their length is 0 afterwards
 * @throws HoltError `NotCloneable`, naming the field
 */
export function encodePayload(value: unknown, transfer?: readonly ArrayBuffer[]): Body {
  if (value instanceof Encoded) return value.body
  try {
    return (transfer?.length ?? 0) === 0 ? copyOut(value) : cloneOut(value, transfer)
  } catch (error) {
    throw notCloneable(value, error)
  }
}

function copyOut(value: unknown): Body {
  if (isSmallAndPlain(value)) {
    const copy = ownCopy(value, 0)
    // Looked at again: a getter may say something else each time, and one bad payload would spoil its whole batch.
    if (copy === value || isSmallAndPlain(copy)) return copy as Plain
  }
  const budget = { nodes: NODE_LIMIT, bytes: 0 }
  const copy = copyPlain(value, budget, 0)
  return copy === GIVE_UP ? cloneOut(value) : new Copied(copy, budget.bytes)
}

function isSmallAndPlain(value: unknown): boolean {
  const size = plainSize(value, 0)
  return size !== NOT_PLAIN && size <= TEXT_LIMIT
}

/** Copies objects by spread, which keeps their shape and is several times faster than field by field. */
function ownCopy(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth > DEPTH_LIMIT) return value
  if (Array.isArray(value)) {
    const copy: unknown[] = []
    for (let i = 0; i < value.length; i++) copy.push(ownCopy(value[i], depth + 1))
    return copy
  }
  const copy: Record<string, unknown> = { ...value }
  for (const key in copy) {
    const inner = copy[key]
    if (typeof inner === 'object' && inner !== null) copy[key] = ownCopy(inner, depth + 1)
  }
  return copy
}

/** A byte array that is all of the one buffer that moves, which is what most who move have: without a clone around it. */
function moveWhole(value: unknown, [buffer, ...others]: readonly ArrayBuffer[]): Body | null {
  if (!(value instanceof Uint8Array) || Object.getPrototypeOf(value) !== Uint8Array.prototype) return null
  if (value.buffer !== buffer || others.length > 0 || value.byteLength !== buffer.byteLength) return null
  const moved = detached(buffer)
  return new Copied(new Uint8Array(moved), moved.byteLength, [moved])
}

/** Its bytes in another buffer; it has none afterwards. Node has `transfer` from 21 on. */
function detached(buffer: ArrayBuffer & { transfer?(): ArrayBuffer }): ArrayBuffer {
  return buffer.transfer === undefined ? structuredClone(buffer, { transfer: [buffer] }) : buffer.transfer()
}

function cloneOut(value: unknown, transfer: readonly ArrayBuffer[] = []): Body {
  // A view on it throws for a buffer that has been moved already; Node would send it on as an empty one.
  for (const buffer of transfer) new Uint8Array(buffer)
  const whole = moveWhole(value, transfer)
  if (whole !== null) return whole
  const cloned = structuredClone({ value, moved: [...transfer] }, { transfer: [...transfer] })
  const copy = trimViews(cloned, new Set(), 0) as { value: unknown; moved: ArrayBuffer[] }
  const bytes = copy.moved.reduce((sum, { byteLength }) => sum + byteLength, 0)
  return new Copied(copy.value, bytes, copy.moved.length === 0 ? undefined : copy.moved)
}

export const bytesOf = (body: Body): number => (body instanceof Copied ? body.bytes : 0)

/** The payload; what is plain is copied once more, since a mailbox may still hold it. */
export const decodeBody = (body: Body): unknown => (body instanceof Copied ? body.value : ownCopy(body, 0))

/**
 * Replaces views on a larger buffer by exact ones, in a copy that is ours alone.
 * @throws Error where it is nested deeper than {@link MAX_NESTING}
 */
function trimViews(value: unknown, seen: Set<object>, depth: number): unknown {
  if (typeof value !== 'object' || value === null || seen.has(value)) return value
  if (ArrayBuffer.isView(value)) return exactView(value)
  if (depth > MAX_NESTING) throw new Error(`it is nested deeper than ${MAX_NESTING}`)
  seen.add(value)
  if (value instanceof Map) trimMap(value, seen, depth + 1)
  else if (value instanceof Set) trimSet(value, seen, depth + 1)
  else if (Array.isArray(value)) for (let i = 0; i < value.length; i++) trimField(value, i, seen, depth + 1)
  else for (const key of Object.keys(value)) trimField(value, key, seen, depth + 1)
  return value
}

function exactView(view: ArrayBufferView): ArrayBufferView {
  const { buffer, byteOffset, byteLength } = view
  if (byteLength === buffer.byteLength || !(buffer instanceof ArrayBuffer)) return view
  if (view instanceof DataView) return new DataView(buffer.slice(byteOffset, byteOffset + byteLength))
  return (view as Uint8Array).slice()
}

function trimField(holder: object, key: string | number, seen: Set<object>, depth: number): void {
  const inner: unknown = Reflect.get(holder, key)
  const trimmed = trimViews(inner, seen, depth)
  if (trimmed !== inner) Reflect.set(holder, key, trimmed)
}

function trimMap(map: Map<unknown, unknown>, seen: Set<object>, depth: number): void {
  const entries = [...map]
  map.clear()
  for (const [key, inner] of entries) map.set(trimViews(key, seen, depth), trimViews(inner, seen, depth))
}

function trimSet(set: Set<unknown>, seen: Set<object>, depth: number): void {
  const elements = [...set]
  set.clear()
  for (const element of elements) set.add(trimViews(element, seen, depth))
}
