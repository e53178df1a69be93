/**
 * What an operation is: one row of the table in `operations.ts`, from which the socket, REST, OpenAPI and the CLI's help
 * are made. Types only.
 */
import type { Observable } from 'rxjs'
import type { z } from 'zod'
import type { Host } from '../host/host.ts'
import type { Access } from '../model/access.ts'
import type { Schedule } from '../streams/bus.ts'

/** Who calls, as the caller says it; recorded, not trusted. */
export interface Caller {
  readonly who: string
  /** Of the token that was shown. */
  readonly tokenId?: string
  /** The trace that it says its call belongs to, unchecked; for messages. */
  readonly traceparent?: string
  /** Waits until the caller has read what it was sent, where a stream tells what was. @default it does not wait */
  readonly pace?: Schedule
}

interface Row<I> {
  readonly name: string
  /** One line for people. */
  readonly summary: string
  readonly access: Access
  /** An object schema; refuses unknown keys. */
  readonly input: z.ZodType<I>
  /** Keys of the input that positional arguments fill, in order: `args` of the socket, words of the CLI. */
  readonly positional: readonly string[]
  /** Null: over the socket only. */
  readonly rest: {
    readonly verb: 'GET' | 'POST' | 'DELETE'
    /** Parts in braces are keys of the input; the rest of it is the query of a GET, the body of all else. */
    readonly path: string
    /** The same for one agent, where `id` may be left out. */
    readonly agentPath?: string
  } | null
  /** Usage for the CLI, without the command's own name: `ID [JSON] [--now]`. Null: not a command of its own. */
  readonly cli: string | null
}

/** Answers once. */
export interface CallOperation<I = unknown, O = unknown> extends Row<I> {
  readonly kind: 'call'
  readonly output: z.ZodType<O>
  /** @throws HoltError */
  run(host: Host, input: I, caller: Caller): O | Promise<O>
}

/** Answers `ok`, then with one value after the other until the caller goes or the host ends. */
export interface StreamOperation<I = unknown, O = unknown> extends Row<I> {
  readonly kind: 'stream'
  /** Of each value. */
  readonly output: z.ZodType<O>
  /** @throws HoltError */
  open(host: Host, input: I, caller: Caller): Observable<O>
}

/** Any row; its input is what `parseInput` answers. */
export type Operation = CallOperation | StreamOperation
