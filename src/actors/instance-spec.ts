/** What an instance is made from, and whom it tells of its life. Filled in by `agent-spec.ts` and `open-instance.ts`. */
import type { MessagePort } from 'node:worker_threads'
import type { Evidence } from '../model/death.ts'
import type { Flush, FromThread, ModuleSource, Mount, RoleInfo } from '../model/wire.ts'
import type { Threads } from './spawn.ts'

/** What one instance is made from. */
export interface InstanceSpec {
  readonly id: string
  readonly agent: string
  readonly epoch: number
  readonly threads: Threads
  readonly heapMb: number
  readonly concurrency: number
  readonly durable: boolean
  /** How often it gives a sign of life. */
  readonly heartbeatMs: number
  readonly bootTimeoutMs: number
  /** For the stop hooks of an instance that ends itself; when it is told to end, whoever tells it sets the time. */
  readonly stopTimeoutMs: number
  readonly env: Readonly<Record<string, string>>
  readonly roles: readonly ModuleSource[]
  readonly mounts: readonly Mount[]
  /** Serves the capabilities over the port until the instance ends; returns what ends it. Null: nothing is lent. */
  readonly lend: ((port: MessagePort, isCurrent: () => boolean) => { close(): void }) | null
}

export interface InstanceHooks {
  onReady(roles: readonly RoleInfo[]): void
  /** Nothing runs any more since `pause` number `n`. */
  onPaused(n: number): void
  onBell(): void
  onFlush(flush: Flush): void
  /** Lines, log entries, histograms and counts. */
  onOutput(message: Extract<FromThread, { type: 'lines' | 'log' | 'histogram' | 'handlers' }>): void
  /** So many lines more were printed faster than they could be taken. */
  onLost(what: 'lines' | 'sends', count: number): void
  /** It was to end so long ago and has not: its thread is inside a native call. Once. */
  onUnkillable(afterMs: number): void
  /** A thread that had been given up has ended. */
  onGivenUpEnded(): void
  /** What it has said while it was fenced, or after it was given up: it takes no effect. */
  onFenced(flush: Flush): void
  /** Last of all, once: everything it had posted has been taken. */
  onEnded(evidence: Evidence & { readonly failedSeq: number | undefined }): void
}
