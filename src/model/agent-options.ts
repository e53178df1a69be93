/**
 * What the actor needs to know of an agent.yml: the blocks `mailbox` and `limits`, and what becomes of a thread that
 * cannot be ended. Checked by the manifest room, shown in an agent's detail. Types only; the defaults stand in
 * `manifest/defaults.ts`.
 */
import type { Overflow } from './mailbox-policy.ts'

/**
 * While a thread cannot be ended, since it is inside a native call: `wait`, there is no successor until it has ended;
 * `replace`, there is one, and the old thread is fenced.
 */
export type Unkillable = 'wait' | 'replace'

export interface MailboxOptions {
  /** Messages that may wait while the agent is not ACTIVE; 1 to 1e6. @default 256 */
  readonly capacity: number
  /** What becomes of a message past {@link capacity}. @default 'drop-newest' */
  readonly overflow: Overflow
  /** Messages in the thread's hands while ACTIVE; a power of two, 16 to 65536. @default 4096 */
  readonly window: number
  /** Messages that wait behind the window while ACTIVE; 1 to 1e7. @default 65536 */
  readonly backlog: number
  /** Messages handled at once; 1 to 256. @default 1 */
  readonly concurrency: number
  /** Times a message that was in flight at a crash is handed over again; 0 to 1000. @default 0 */
  readonly redeliver: number
  /** Events are on disk before they are answered, and outlive the host. @default false */
  readonly durable: boolean
}

export interface Limits {
  /** Old-generation heap of the thread, MiB; 8 to 65536. @default 64 */
  readonly heapMb: number
  /** From the start of the thread to ACTIVE. @default 10000 */
  readonly bootTimeoutMs: number
  /** For what is in flight and the `stop` hooks at a graceful stop. @default 5000 */
  readonly stopTimeoutMs: number
  /** After this a pause answers with what is still in flight. @default 5000 */
  readonly pauseTimeoutMs: number
  /** From the abort signal to the end of the thread on `suspend`. @default 1000 */
  readonly abortGraceMs: number
  /** One handler's longest run; 0 is no limit. @default 0 */
  readonly handlerTimeoutMs: number
  /** Age of the heartbeat at which the agent is Unhealthy; less than {@link killAfterMs}. @default 5000 */
  readonly unresponsiveAfterMs: number
  /** Age of the heartbeat at which the thread is ended. @default 15000 */
  readonly killAfterMs: number
}
