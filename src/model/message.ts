/**
 * Messages and their fates: what an event or an ask is once accepted, what can become of it, and what is kept when
 * it could not be handled.
 */

import type { DeathRecord } from './death.ts'

export const FATES = [
  'handled',
  'queued',
  'dropped',
  'ignored',
  'expired',
  'aborted',
  'crashed',
  'quarantined',
] as const

/** What became of a message. `queued` is the only one that is not final. */
export interface Fate {
  readonly fate: (typeof FATES)[number]
  readonly reason?: string
  /** The death that took it, where one did. */
  readonly deathId?: string
}

export type MessageKind = 'event' | 'ask'

/** Why a message is a dead letter. */
export type DeadLetterReason =
  | 'not_accepting'
  | 'draining'
  | 'overflow'
  | 'overloaded'
  | 'rejected'
  | 'no_handler'
  | 'expired'
  | 'aborted'
  | 'crashed'
  | 'quarantined'
  | 'transferred'
  | 'no_such_agent'
  | 'stale_epoch'
  | 'handler_error'
  | 'purged'

/** A message that was not handled, kept for people. `payload` is the decoded copy. */
export interface DeadLetter {
  readonly id: number
  readonly agent: string
  readonly at: number
  readonly reason: DeadLetterReason
  readonly kind: MessageKind
  readonly name: string
  readonly payload: unknown
  readonly from?: string
  /** How many times it was handed to an instance. */
  readonly deliveryCount: number
  readonly deathId?: string
}

/** Payload of the event `down`, by which a watch is answered. */
export interface Down {
  /** The agent that was watched. */
  readonly agent: string
  /** The instance that died; null where there had never been one. */
  readonly instance: string | null
  readonly record: DeathRecord | null
}

export const DEFAULT_ASK_TIMEOUT_MS = 5000

/** The options of a send that is to be taken once, or that belongs to a trace. */
export function identified(messageId: string | undefined, traceparent?: string): SendOptions | undefined {
  if (traceparent === undefined) return messageId === undefined ? undefined : { messageId }
  return messageId === undefined ? { traceparent } : { messageId, traceparent }
}

/** Which trace a message belongs to. */
export interface Traced {
  /**
   * W3C `traceparent`: the handler has it as `ctx.traceparent`, and what it sends carries it on. One that is not of that
   * form is ignored. @default none; of a send by `ctx`: that of the message being handled
   */
  readonly traceparent?: string
}

/** Options of `ask`. */
export interface AskOptions extends Traced {
  /** From the call to the reply. @default 5000 */
  readonly timeoutMs?: number
  /** Aborting it settles the ask with `Aborted` and aborts the handler's `ctx.signal`. */
  readonly signal?: AbortSignal
}

/** Options of `tell` and `emit`. */
export interface SendOptions extends Traced {
  /** Past this age the event is not begun any more (fate `expired`). @default no limit */
  readonly ttlMs?: number
  /**
   * Its id, for a durable mailbox: one that waits there or was handled within a day is not taken twice.
   * @default one of its own
   */
  readonly messageId?: string
  /** ArrayBuffers to move instead of copy; lost if the thread dies before it begins the message. @default none */
  readonly transfer?: readonly ArrayBuffer[]
}
