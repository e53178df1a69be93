/**
 * Peers that call functions in other threads and have no actors: counting, ping-pong and fork-join are calls there, each
 * with its reply; what needs one thread to send to another has no figure. 256 calls are in flight, one in ping-pong.
 */
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { type Endpoint, wrap } from 'comlink'
import { Piscina } from 'piscina'
import { Tinypool } from 'tinypool'
import type { Effort, Figures } from '../definition.ts'
import { expectHandled, lanes, perSecond } from '../measure.ts'
import { comedySystem } from './together.ts'
import { WORKERS } from './works.ts'

/** So many threads that echo. */
export interface Callers {
  /** To one of them, where they can be told apart. */
  echo(value: number, worker: number): Promise<unknown>
  stop(): unknown
}

export type OpenCallers = (threads: number) => Promise<Callers> | Callers

const COUNTING = 3_000
const ROUND_TRIPS = 200
const FORKED = 400

/** @param joins whether it has threads enough for fork-join */
export async function callsOf(open: OpenCallers, effort: Effort, joins = true): Promise<Figures> {
  const one = await open(1)
  let right = 0
  const call = async (callers: Callers, n: number, worker: number): Promise<void> => {
    if ((await callers.echo(n, worker)) === n) right++
  }
  const counted = async (count: number, run: () => Promise<unknown>): Promise<void> => {
    right = 0
    await run()
    expectHandled(right, count)
  }
  const counting = await perSecond(COUNTING, effort, (count) =>
    counted(count, () => lanes(count, (n) => call(one, n, 0))),
  )
  const pingPong = await perSecond(ROUND_TRIPS, effort, (count) =>
    counted(count, () => lanes(count, (n) => call(one, n, 0), 1)),
  )
  await one.stop()
  if (!joins) return { counting, pingPong: pingPong * 2 }
  const many = await open(WORKERS)
  const forkJoin = await perSecond(FORKED * WORKERS, effort, (count) =>
    counted(count, () => lanes(count, (n) => call(many, n, n % WORKERS))),
  )
  await many.stop()
  return { counting, pingPong: pingPong * 2, forkJoin }
}

const at = (file: string): string => fileURLToPath(new URL(`../peers/${file}`, import.meta.url))
const each = <T>(threads: number, make: () => T): T[] => Array.from({ length: threads }, make)

export async function comlink(threads: number): Promise<Callers> {
  const adapter: string = 'comlink/dist/esm/node-adapter.mjs'
  const { default: nodeEndpoint } = (await import(adapter)) as { default: (worker: Worker) => Endpoint }
  const workers = each(threads, () => new Worker(at('comlink-worker.mjs'), { execArgv: [] }))
  const proxies = workers.map((worker) => wrap<{ echo(n: number): number }>(nodeEndpoint(worker)))
  return {
    echo: (n, worker) => proxies[worker]!.echo(n),
    stop: () => Promise.all(workers.map((worker) => worker.terminate())),
  }
}

interface ThreadsLibrary {
  spawn(worker: unknown): Promise<{ echo(n: number): Promise<number> }>
  Worker: new (file: string) => unknown
  Thread: { terminate(thread: unknown): Promise<void> }
}

export async function threadsJs(threads: number): Promise<Callers> {
  // It ships without types that its ES module leads to.
  const name: string = 'threads'
  const { spawn, Thread, Worker: ThreadsWorker } = (await import(name)) as ThreadsLibrary
  const workers = await Promise.all(each(threads, () => spawn(new ThreadsWorker('../peers/threads-worker.mjs'))))
  return {
    echo: (n, worker) => Promise.resolve(workers[worker]!.echo(n)),
    stop: () => Promise.all(workers.map((worker) => Thread.terminate(worker))),
  }
}

export function piscina(threads: number): Callers {
  const filename = new URL('../peers/piscina-worker.mjs', import.meta.url).href
  const limits = { minThreads: threads, maxThreads: threads, concurrentTasksPerWorker: 256 }
  const pool = new Piscina({ filename, ...limits, execArgv: [], atomics: 'sync' })
  return { echo: (n) => pool.run(n, { name: 'echo' }), stop: () => pool.destroy() }
}

export function tinypool(threads: number): Callers {
  const filename = new URL('../peers/piscina-worker.mjs', import.meta.url).href
  const limits = { minThreads: threads, maxThreads: threads, concurrentTasksPerWorker: 64 }
  const pool = new Tinypool({ filename, ...limits, execArgv: [] })
  return { echo: (n) => pool.run(n, { name: 'echo' }), stop: () => pool.destroy() }
}

export async function workerpool(threads: number): Promise<Callers> {
  const { default: library } = await import('workerpool')
  const pool = library.pool(at('workerpool-worker.mjs'), {
    minWorkers: threads,
    maxWorkers: threads,
    workerType: 'thread',
  })
  return { echo: (n) => Promise.resolve(pool.exec('echo', [n])), stop: () => pool.terminate() }
}

export async function comedyThreaded(threads: number): Promise<Callers> {
  const system = await comedySystem()
  const root = await system.rootActor()
  // It is sent to the thread as text.
  const definition = { echo: (n: number) => n }
  const actors = await Promise.all(each(threads, () => root.createChild(definition, { mode: 'threaded' })))
  return { echo: (n, worker) => actors[worker]!.sendAndReceive('echo', n), stop: () => system.destroy() }
}
