/**
 * The mailbox: a FIFO of one agent, kept by the host, so that it outlives every instance. One array a field over a
 * ring with a mask, so that a message costs no object. A message has a position that never changes while it waits:
 *
 *      head ─────────── sent ─────────── tail
 *      │ in the thread's hands │ waiting │
 *
 * Positions only grow (the first is 1). What is withdrawn leaves a hole that the pump numbers and the thread skips,
 * so that position and delivery number stay one subtraction apart. Used by `inbox.ts` and `pump.ts` alone.
 */
import { HoltError } from '../model/error.ts'
import type { AskOptions, Fate, MessageKind, SendOptions } from '../model/message.ts'
import type { Body } from '../model/payload.ts'
import { checkedTraceparent } from '../model/trace-context.ts'
import type { Clock } from '../platform/clock.ts'

/** Told of the fate of an event, once or more, the same each time. Must not throw. */
export type OnFate = (fate: Fate) => void

/** What some messages carry beside name and payload. Times in monotonic ms. */
export interface Meta {
  readonly kind: MessageKind
  readonly from?: string | undefined
  /** Of an ask: when its caller stops waiting. */
  readonly deadline?: number
  /** Of an event: when it is no longer worth beginning. */
  readonly expires?: number
  /** An emit waits for its fate. */
  readonly awaited?: boolean
  /** How many instances it was handed to before. */
  readonly deliveries?: number
  /** To be run alone: it was in flight, among others, at a death. */
  readonly solo?: boolean
  /** Belongs to one instance (its `boot`): never delivered to another. */
  readonly once?: boolean
  /** Under which a durable mailbox has written it down. */
  readonly messageId?: string
  /** Of the host's own: it takes nobody's room, and is not dropped for others. */
  readonly notice?: boolean
  /** The trace it belongs to, checked. */
  readonly traceparent?: string | undefined
  /** Of an event that is traced. */
  readonly onFate?: OnFate
}

/** Of the host's own events. */
export const NOTICE: Meta = { kind: 'event', notice: true }

/** Of all emits that carry nothing else. */
const AWAITED_EVENT: Meta = { kind: 'event', awaited: true }

let lastFrom: Meta = { kind: 'event', from: '' }

/** Of all tells of one agent in a row. */
function fromAgent(from: string): Meta {
  if (lastFrom.from !== from) lastFrom = { kind: 'event', from }
  return lastFrom
}

/**
 * What an event carries beside name and payload; undefined for nothing.
 * @throws HoltError `InvalidOption` for its time to live
 */
export function metaOf(
  options: SendOptions | undefined,
  from: string | undefined,
  awaited: boolean,
  clock: Pick<Clock, 'now'>,
  onFate?: OnFate,
): Meta | undefined {
  const { ttlMs, messageId } = options ?? {}
  const traceparent = checkedTraceparent(options?.traceparent)
  const traced = traceparent !== undefined || onFate !== undefined
  if (ttlMs === undefined && messageId === undefined && !traced) {
    if (from === undefined) return awaited ? AWAITED_EVENT : undefined
    if (!awaited) return fromAgent(from)
  }
  return {
    kind: 'event',
    ...(from === undefined ? {} : { from }),
    ...(ttlMs === undefined ? {} : { expires: clock.now() + checkedTtl(ttlMs) }),
    ...(awaited ? { awaited } : {}),
    ...(messageId === undefined ? {} : { messageId }),
    ...(traceparent === undefined ? {} : { traceparent }),
    ...(onFate === undefined ? {} : { onFate }),
  }
}

/** What an ask carries: always in the same fields, which keeps the way of all messages fast. */
export function metaOfAsk(deadline: number, options: AskOptions | undefined, from: string | undefined): Meta {
  return { kind: 'ask', deadline, from, traceparent: checkedTraceparent(options?.traceparent) }
}

function checkedTtl(ms: number): number {
  if (typeof ms === 'number' && ms >= 0) return ms
  throw new HoltError('InvalidOption', `ttlMs: expected a number from 0, found ${ms}`)
}

/** A message taken out. */
export interface Letter {
  readonly id: number
  readonly name: string
  readonly body: Body
  readonly meta: Meta | undefined
  readonly at: number
}

const INITIAL = 64

export class Mailbox {
  /** The oldest message that is not settled. */
  head = 1
  /** The next one to hand to the thread. */
  sent = 1
  /** Where the next one goes. */
  tail = 1
  /** Told of each message with an id that was done. */
  onDone: ((position: number, messageId: string) => void) | null = null
  #mask = INITIAL - 1
  #names: string[] = new Array(INITIAL).fill('')
  #bodies: (Body | undefined)[] = new Array(INITIAL).fill(undefined)
  #metas: (Meta | undefined)[] = new Array(INITIAL).fill(undefined)
  #times: number[] = new Array(INITIAL).fill(0)
  #ids: number[] = new Array(INITIAL).fill(0)
  #nextId = 1
  #holes = 0

  /** Messages that are not settled, in the thread's hands or waiting. */
  get depth(): number {
    return this.tail - this.head - this.#holes
  }

  get unsent(): number {
    return this.tail - this.sent
  }

  /** Adds at the end; returns the position. */
  push(name: string, body: Body, meta: Meta | undefined, now: number): number {
    if (this.tail - this.head > this.#mask) this.#grow()
    const position = this.tail++
    this.#put(position, name, body, meta, now, this.#nextId++)
    return position
  }

  /** The ring is about to grow, and half of it is holes. */
  get isMostlyHoles(): boolean {
    return this.tail - this.head > this.#mask && this.#holes > this.#mask >> 1
  }

  /** Closes the holes among what waits on this side; `moved` is told of each message whose position changes. */
  compact(moved: (from: number, to: number) => void): void {
    let to = this.sent
    for (let from = this.sent; from < this.tail; from++) {
      const letter = this.letterAt(from)
      if (letter === undefined) continue
      if (from !== to) {
        this.#put(to, letter.name, letter.body, letter.meta, letter.at, letter.id)
        this.#clear(from)
        moved(from, to)
      }
      to++
    }
    this.#holes -= this.tail - to
    this.tail = to
  }

  /**
   * Adds before all others. Only while nothing is in a thread's hands.
   * @param id the number of a message that comes back; 0 for one that is none of the sender's
   */
  unshift(name: string, body: Body, meta: Meta | undefined, now: number, id = 0): number {
    if (this.tail - this.head > this.#mask) this.#grow()
    const position = --this.head
    this.sent = position
    this.#put(position, name, body, meta, now, id)
    return position
  }

  nameAt(position: number): string {
    return this.#names[position & this.#mask]!
  }

  /** `undefined` for a hole. */
  bodyAt(position: number): Body | undefined {
    return this.#bodies[position & this.#mask]
  }

  metaAt(position: number): Meta | undefined {
    return this.#metas[position & this.#mask]
  }

  /** The number of the message: its own for good, whatever its position. */
  idAt(position: number): number {
    return this.#ids[position & this.#mask]!
  }

  timeAt(position: number): number {
    return this.#times[position & this.#mask]!
  }

  has(position: number): boolean {
    return position >= this.head && position < this.tail && this.bodyAt(position) !== undefined
  }

  letterAt(position: number): Letter | undefined {
    const body = this.bodyAt(position)
    if (body === undefined || position < this.head || position >= this.tail) return undefined
    const meta = this.metaAt(position)
    return { id: this.idAt(position), name: this.nameAt(position), body, meta, at: this.timeAt(position) }
  }

  /** Takes a message out of the middle; a hole stays. */
  withdraw(position: number): Letter | undefined {
    const letter = this.letterAt(position)
    if (letter === undefined) return undefined
    this.#clear(position)
    this.#holes++
    return letter
  }

  /** All before `position` are settled and forgotten. */
  settleTo(position: number): void {
    while (this.head < position) {
      const index = this.head & this.#mask
      if (this.#bodies[index] === undefined) this.#holes--
      else {
        const messageId = this.#metas[index]?.messageId
        if (messageId !== undefined) this.onDone?.(this.head, messageId)
        this.#clear(this.head)
      }
      this.head++
    }
    if (this.sent < this.head) this.sent = this.head
  }

  /** What was handed over is waiting again: its thread is gone. */
  rewind(): void {
    this.sent = this.head
  }

  /** Positions that hold a message, from `from` on. */
  *positions(from = this.head): Generator<number> {
    for (let position = Math.max(from, this.head); position < this.tail; position++) {
      if (this.bodyAt(position) !== undefined) yield position
    }
  }

  #put(position: number, name: string, body: Body, meta: Meta | undefined, now: number, id: number): void {
    const index = position & this.#mask
    this.#names[index] = name
    this.#bodies[index] = body
    this.#metas[index] = meta
    this.#times[index] = now
    this.#ids[index] = id
  }

  #clear(position: number): void {
    const index = position & this.#mask
    this.#bodies[index] = undefined
    this.#metas[index] = undefined
  }

  #grow(): void {
    const [names, bodies, metas, times, ids, mask] = [
      this.#names,
      this.#bodies,
      this.#metas,
      this.#times,
      this.#ids,
      this.#mask,
    ]
    const size = (mask + 1) * 2
    this.#mask = size - 1
    this.#names = new Array(size).fill('')
    this.#bodies = new Array(size).fill(undefined)
    this.#metas = new Array(size).fill(undefined)
    this.#times = new Array(size).fill(0)
    this.#ids = new Array(size).fill(0)
    for (let position = this.head; position < this.tail; position++) {
      const old = position & mask
      const now = position & this.#mask
      this.#names[now] = names[old]!
      this.#bodies[now] = bodies[old]
      this.#metas[now] = metas[old]
      this.#times[now] = times[old]!
      this.#ids[now] = ids[old]!
    }
  }
}
