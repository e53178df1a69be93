/**
 * Everything that crosses the thread boundary, in one place, with its version. Two ports: control (few, small, in
 * order) and data (columns, one array per field, so that keys cross once a batch). A third carries Comlink's capability
 * calls, since Comlink wants a port to itself (docs/decisions/004).
 */
import type { MessagePort } from 'node:worker_threads'
import type { BootStep } from './death.ts'
import type { ErrorShape } from './error.ts'
import type { HandlerCounts } from './handler-counts.ts'
import type { NameColumn } from './name-column.ts'
import type { BodyColumn } from './payload-column.ts'

/** Both sides are built together; a mismatch means a stale build and is refused at the first message. */
export const WIRE_VERSION = 3

/** Where requests to the host itself go; no agent can have this id. */
export const HOST_ADDRESS = 'holt:host'

// --- control, host to thread ---------------------------------------------------------------------------------

/** The first message of a thread's life. */
export interface Init {
  readonly type: 'init'
  readonly version: number
  readonly agent: string
  readonly instance: string
  readonly epoch: number
  /** Secret of this instance; proves identity, never logged. */
  readonly credential: string
  readonly nonce: string
  readonly recorder: SharedArrayBuffer
  readonly concurrency: number
  /** Its mailbox is durable: what handlers send says of which delivery it is. */
  readonly durable: boolean
  readonly heartbeatMs: number
  readonly data: MessagePort
  readonly lend: MessagePort | null
  readonly env: Readonly<Record<string, string>>
}

/** A compiled module to import: where it is, and what to call it in messages. */
export interface ModuleSource {
  readonly url: string
  readonly file: string
}

/** What is mounted in an agent: a capability lent over the port, or one that lives in the thread. */
export interface Mount {
  readonly id: string
  readonly allow: readonly string[]
  /** Set for placement `agent`: the thread imports and boots it itself. */
  readonly module: ModuleSource | null
}

export type ToThread =
  | Init
  | { readonly type: 'load'; readonly roles: readonly ModuleSource[]; readonly mounts: readonly Mount[] }
  /** The pause flag is up; answer `paused` with this number when nothing runs. */
  | { readonly type: 'pause'; readonly n: number }
  | { readonly type: 'resume' }
  /** Abort these deliveries, or all that have begun. */
  | { readonly type: 'abort'; readonly seqs: readonly number[] | 'all'; readonly reason: string }
  /** Begin a CPU profile, or end it; answer `profiled` with this number. */
  | { readonly type: 'profile'; readonly n: number; readonly on: boolean }
  /** Prove your identity again, over this nonce; answer `proof`. */
  | { readonly type: 'challenge'; readonly nonce: string }
  /** Finish what has begun, run the stop hooks, end. */
  | { readonly type: 'stop'; readonly graceMs: number }

// --- control, thread to host ---------------------------------------------------------------------------------

/** What a role says of one of its commands. */
export interface CommandInfo {
  readonly name: string
  readonly role: string
  readonly summary: string
  /** JSON Schema of the input, where its schema offers one. */
  readonly inputSchema?: unknown
  readonly exclusive: boolean
}

export interface RoleInfo {
  readonly name: string
  readonly events: readonly string[]
  readonly commands: readonly CommandInfo[]
  readonly needs: readonly string[]
}

/** Matches the parameter type of perf_hooks' RecordableHistogram once it has crossed to the host. */
export interface HandlerHistogram {
  readonly count: number
  percentile(percentile: number): number
}

export type FromThread =
  | { readonly type: 'proof'; readonly version: number; readonly proof: string }
  | { readonly type: 'ready'; readonly roles: readonly RoleInfo[] }
  | { readonly type: 'refused'; readonly step: BootStep; readonly error: ErrorShape }
  /** The pause flag was seen and nothing runs any more. */
  | { readonly type: 'paused'; readonly n: number }
  /** It ends by its own doing: at once, or, where the cause is `normal`, when its stop hooks have run. */
  | { readonly type: 'ending'; readonly cause: 'crash' | 'normal'; readonly error?: ErrorShape; readonly seq?: number }
  | {
      readonly type: 'lines'
      readonly first: number
      readonly stream: 'stdout' | 'stderr'
      readonly lines: readonly string[]
    }
  | {
      readonly type: 'log'
      readonly level: 'debug' | 'info' | 'warn' | 'error'
      readonly text: string
      readonly data?: unknown
    }
  /** A profile has begun; or it has ended and is here, as JSON; or why not. */
  | { readonly type: 'profiled'; readonly n: number; readonly profile?: string; readonly error?: string }
  /** Live: the thread goes on recording into it. */
  | { readonly type: 'histogram'; readonly handler: string; readonly histogram: HandlerHistogram }
  /** Once, before `ready`. Live: the thread goes on counting in it. */
  | { readonly type: 'handlers'; readonly names: readonly string[]; readonly counts: HandlerCounts }

// --- data, host to thread ------------------------------------------------------------------------------------

/** Marks an event whose sender waits for its fate. */
export const AWAITED = -1

/** Deliveries `first`, `first + 1`, … in order. */
export interface Batch extends BodyColumn {
  readonly type: 'batch'
  readonly first: number
  readonly count: number
  readonly names: NameColumn
  /** Of each: the absolute deadline (monotonic ms) of an ask, 0 for an event, {@link AWAITED} for an event whose end is awaited. Absent: all 0. */
  readonly asks?: readonly number[]
  /** Absolute end of life (monotonic ms) of each event, 0 for none. Absent: none. */
  readonly expires?: readonly number[]
  /** Indices to be skipped: withdrawn after they had been numbered. */
  readonly skip?: readonly number[]
  /** Indices to be run alone: they were in flight at a death. */
  readonly solo?: readonly number[]
  /** The `traceparent` of each, '' for none. Absent: none. */
  readonly traces?: readonly string[]
}

/** Answers to what the thread has asked or emitted. `values` hold replies and fates. */
export interface Answers extends BodyColumn {
  readonly type: 'answers'
  readonly ids: readonly number[]
  readonly errors?: readonly (readonly [index: number, error: ErrorShape])[]
}

export type DataToThread = Batch | Answers

// --- data, thread to host ------------------------------------------------------------------------------------

/** Replies to asks, by delivery number. */
export interface Replies extends BodyColumn {
  readonly seqs: readonly number[]
  readonly errors?: readonly (readonly [index: number, error: ErrorShape])[]
}

/** Messages to other agents. */
export interface Sends extends BodyColumn {
  readonly count: number
  readonly to: NameColumn
  readonly names: NameColumn
  /** Correlation: 0 for a tell, else the id to answer with. Absent: all tells. */
  readonly ids?: readonly number[]
  /** Absolute deadline of an ask, 0 for an emit or a tell. */
  readonly due?: readonly number[]
  /** Of a durable agent: the delivery whose handler sends, 0 for none, and the how many-th effect of that it is. */
  readonly of?: readonly number[]
  readonly n?: readonly number[]
  /** The `traceparent` of each, '' for none. Absent: none. */
  readonly traces?: readonly string[]
}

/** An end other than handled, of one delivery. */
export interface Outcome {
  readonly seq: number
  /** `failed`: the handler threw and the role goes on. */
  readonly fate: 'ignored' | 'expired' | 'aborted' | 'failed'
  readonly name: string
  /** The payload of a message whose handler did not run. */
  readonly payload?: unknown
  readonly error?: ErrorShape
}

export interface Flush {
  readonly type: 'flush'
  readonly outcomes?: readonly Outcome[]
  /** Awaited events that were handled. */
  readonly handled?: readonly number[]
  readonly replies?: Replies
  readonly sends?: Sends
}

/** The bell: what the host was waiting for is done. */
export const BELL = 0

export type DataFromThread = Flush | typeof BELL
