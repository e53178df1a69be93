/**
 * The contract of a role, published as `holt/role`. A role file's default export is what `defineRole` returns. Types
 * only, but for `defineRole` and `CommandError`: this file is bundled into every role.
 */

import type { Published } from '../model/channel.ts'
import type { Memory, Session } from '../model/keeping.ts'
import type { AskOptions, Down, Fate } from '../model/message.ts'
import type { ScheduleInput, ScheduleView } from '../model/schedule.ts'
import type { Spawned, SpawnOptions } from '../model/spawn.ts'

export type { Down, Published, ScheduleInput, ScheduleView, Spawned, SpawnOptions }

/** What Standard Schema (standardschema.dev) asks of a schema; zod, valibot and arktype fit. */
export interface Schema<T> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<T> | Promise<SchemaResult<T>>
    readonly types?: { readonly input: unknown; readonly output: T } | undefined
  }
}

export type SchemaResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] }

/** A capability as an agent sees it: every method answers with a promise. */
export type Lent<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : never
}

export interface Logger {
  debug(text: string, data?: unknown): void
  info(text: string, data?: unknown): void
  warn(text: string, data?: unknown): void
  error(text: string, data?: unknown): void
}

/** What a handler is given beside its payload. Valid until the handler ends; `signal` says when it is cut short. */
export interface Context {
  /** Id of the agent. */
  readonly agent: string
  readonly instance: string
  readonly epoch: number
  /** Aborts when the caller gives up, on `suspend`, on `pause --now` and on `stop --now`. */
  readonly signal: AbortSignal
  /** When the caller stops waiting, in monotonic ms (`performance.now()` of no thread in particular); null for events. */
  readonly deadline: number | null
  /** Ms until {@link deadline}; `Infinity` for events. */
  readonly remainingMs: number
  readonly log: Logger
  /**
   * W3C `traceparent` of the message being handled; undefined for one that belongs to no trace. What is sent by this
   * context carries it on; where the host traces, it is the span of this very message.
   */
  readonly traceparent: string | undefined
  /**
   * A capability this agent was granted.
   * @throws HoltError `NoSuchCapability`
   */
  capability<T = Record<string, (...args: unknown[]) => unknown>>(id: string): Lent<T>
  /** What the agent keeps: it outlives instances and hosts. */
  readonly memory: Memory
  /** A list of the agent's that only grows, by name. */
  session(id: string): Session
  /** Sends an event. False only when this thread's own outbound credit is spent; the message is then counted as dropped. */
  tell(agent: string, name: string, payload?: unknown): boolean
  /** Sends an event; settles with its fate. */
  emit(agent: string, name: string, payload?: unknown): Promise<Fate>
  /** Asks; the deadline is never later than this handler's own. Rejects with a HoltError. */
  ask<T = unknown>(agent: string, name: string, payload?: unknown, options?: AskOptions): Promise<T>
  /** Sends an event to this agent after `delayMs`; it dies with the instance. Returns what cancels it. */
  after(delayMs: number, name: string, payload?: unknown): () => void
  /**
   * Asks to be told of an agent's death: exactly one event `down` with a {@link Down}, after all that the dead instance
   * had sent. At once where none of it lives, unless this instance has been told of that very death: then of the next.
   * The watch ends with this instance.
   * @throws HoltError `NoSuchAgent`
   */
  watch(agent: string): Promise<void>
  /** Takes back what this instance has asked for of that agent. */
  unwatch(agent: string): Promise<void>
  /**
   * Adds an agent to a `dynamic` supervisor; resolves once it is ACTIVE.
   * @throws HoltError `NoSuchSupervisor`, `TooManyChildren`, `IdTaken`, `InvalidManifest`, `BootFailed`
   */
  spawn(supervisor: string, options: SpawnOptions): Promise<Spawned>
  /**
   * Hands an event to every agent that is bound to the channel, but for this one; resolves once each mailbox has said
   * whether it takes it. What one handler publishes arrives everywhere in that order.
   */
  publish(channel: string, event: string, payload?: unknown): Promise<Published>
  /**
   * Sends an event to this agent by the clock, beside the schedules of its manifest; resolves once that is on disk. One of
   * the same id takes the place of the other.
   * @throws HoltError `InvalidOption`: what is wrong with it, in one sentence
   */
  schedule(schedule: ScheduleInput): Promise<ScheduleView>
  /** Takes back a schedule that was made while the agent ran; answers whether it was there. @throws HoltError `InvalidOption` for one of the manifest's */
  unschedule(id: string): Promise<boolean>
  /** Ends this instance when the handler has ended, cause `normal`. */
  stop(): void
}

/** An answer that is an error and no crash: the caller's ask rejects with it, the agent goes on. */
export class CommandError extends Error {
  readonly code: string

  constructor(message: string, code = 'CommandError') {
    super(message)
    this.name = 'CommandError'
    this.code = code
  }
}

export interface CommandDefinition<I, O> {
  /** One line for people. @default '' */
  readonly summary?: string
  /** Any Standard Schema; an input that fails it is answered with `InvalidInput` and never reaches the handler. @default none */
  readonly input?: Schema<I>
  /** A second call is refused with `CommandBusy` until the first has ended. @default false */
  readonly exclusive?: boolean
  handle(input: I, ctx: Context): O
}

export interface RoleDefinition<E, C, R> {
  readonly name: string
  /** Capabilities that must be mounted. @default [] */
  readonly needs?: readonly string[]
  readonly events?: { readonly [K in keyof E]: (payload: E[K], ctx: Context) => unknown }
  readonly commands?: { readonly [K in keyof C]: CommandDefinition<C[K], unknown> } & {
    readonly [K in keyof R]: { handle(...args: never[]): R[K] }
  }
  /** `crash`: a throw in a handler ends the instance. `continue`: it is counted and answered. @default 'crash' */
  readonly onError?: 'crash' | 'continue'
  /** Runs before a graceful end, within its deadline. */
  stop?(ctx: Context): unknown
}

export interface Role<E, C, R> extends Omit<RoleDefinition<E, C, R>, 'events' | 'commands'> {
  readonly events: { readonly [K in keyof E]: (payload: E[K], ctx: Context) => unknown }
  readonly commands: { readonly [K in keyof C & keyof R]: CommandDefinition<C[K], R[K]> }
}

/**
 * Declares a role. Its default export is the contract: `export default defineRole({ name, events, commands })`.
 * Payload types come from the handlers' own parameters; a command's input type from its schema.
 */
export function defineRole<E = Record<never, never>, C = Record<never, never>, R = Record<never, never>>(
  definition: RoleDefinition<E, C, R>,
): Role<E, C, R> {
  const { events = {}, commands = {}, ...rest } = definition
  return Object.freeze({
    ...rest,
    events: Object.freeze(events),
    commands: Object.freeze(commands),
  }) as unknown as Role<E, C, R>
}
