/**
 * The only place that makes a thread. What is fixed at creation is decided here: memory limits, an empty environment
 * (the first message brings the agent's own), no flags of the host's (a heap flag would be refused by the platform).
 */
import type { Readable } from 'node:stream'
import { type MessagePort, type ResourceLimits, Worker } from 'node:worker_threads'
import { HEADROOM } from '../model/heap.ts'
import type { FromThread, ToThread } from '../model/wire.ts'
import type { Expected } from './ahead.ts'

/** What an instance needs of a thread; a Worker is one. */
export interface Thread {
  on(event: 'message', listener: (message: FromThread) => void): unknown
  on(event: 'error', listener: (error: unknown) => void): unknown
  on(event: 'messageerror', listener: (error: Error) => void): unknown
  once(event: 'exit', listener: (exitCode: number) => void): unknown
  postMessage(message: ToThread, transfer?: MessagePort[]): void
  terminate(): Promise<unknown>
  getHeapSnapshot?(): Promise<Readable>
}

/** Where threads come from. */
export interface Threads {
  /** A thread that waits for its first message; its heap may hold `heapMb`. */
  take(name: string, heapMb: number): Thread
  /** These will ask soon, in this order: their threads may be started before they do. */
  expect?(agents: Iterable<Expected>): void
  /** It does not ask after all. */
  release?(name: string): void
}

/** From source the bundled bootstrap is the one of the last build. */
const ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/thread/main.cjs' : '../thread/main.cjs',
  import.meta.url,
)

const STACK_MB = 4

/** Limits of a thread whose heap may hold `heapMb`. Always set: without them each thread reserves half a gigabyte of addresses. */
export function resourceLimits(heapMb: number): Required<ResourceLimits> {
  return {
    maxOldGenerationSizeMb: heapMb * HEADROOM,
    maxYoungGenerationSizeMb: Math.max(1, Math.min(16, Math.floor(heapMb / 4))),
    codeRangeSizeMb: 16,
    stackSizeMb: STACK_MB,
  }
}

/** Each thread is started when it is asked for. */
export const coldThreads: Threads = { take: (name, heapMb) => spawnThread(name, heapMb) }

export function spawnThread(name: string, heapMb: number): Worker {
  return new Worker(ENTRY, {
    name: name.slice(0, 32),
    resourceLimits: resourceLimits(heapMb),
    env: {},
    execArgv: [],
    // The thread posts its own lines; what goes round it must not reach the host's own output.
    stdout: true,
    stderr: true,
  })
}
