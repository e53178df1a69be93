/**
 * Placement `pool`: runs the methods of one capability module on a Piscina pool of its own, started at the first call.
 * A thread that dies takes only the calls it was running; those that waited behind them run again elsewhere, which pure
 * functions allow. Called by the registry. Once destroyed it never comes back to life.
 */
import { availableParallelism } from 'node:os'
import type { Piscina } from 'piscina'
import { describeError, HoltError, reviveError } from '../model/error.ts'
import { notCloneable } from '../model/not-cloneable.ts'
import type { ModuleSource } from '../model/wire.ts'
import type { CapabilityContext } from './contract.ts'
import { MAX_DEPTH, PoolBalance } from './pool-balance.ts'
import { PoolLedger } from './pool-ledger.ts'
import type { PoolAnswer, PoolCall } from './pool-worker.ts'

export interface PoolSettings {
  /** @default one a processor */
  readonly maxThreads?: number
  /** An idle thread ends after this. @default 30000 */
  readonly idleTimeoutMs?: number
  /** Calls that may run or wait at once; one more is refused with `Overloaded`. @default 65536 */
  readonly maxPending?: number
  /** Old-generation heap of one thread. @default 256 */
  readonly heapMb?: number
}

export interface PoolOptions extends PoolSettings {
  /** Id of the capability. */
  readonly id: string
  readonly module: ModuleSource
  readonly workerUrl: URL
  readonly log: CapabilityContext['log']
}

const DEFAULTS = { idleTimeoutMs: 30_000, maxPending: 65_536, heapMb: 256 } as const

/** Times a call may be handed to a thread before the deaths of threads count as its own. */
const MAX_ATTEMPTS = 3

/** The pool worker's bundle: beside this file when built, in dist when run from source. */
export function poolWorkerUrl(): URL {
  const fromSource = import.meta.url.endsWith('.ts')
  return new URL(fromSource ? '../../dist/capabilities/pool-worker.js' : './pool-worker.js', import.meta.url)
}

const isCloneError = (error: unknown): boolean => error instanceof DOMException && error.name === 'DataCloneError'

/** Piscina, and what its events told. */
interface Threads {
  readonly piscina: Piscina
  /** Whether any thread has ever been ready. */
  proven: boolean
  /** Why no thread can be started. */
  broken: unknown
}

export class Pool {
  readonly #options: PoolOptions & Required<Pick<PoolSettings, keyof typeof DEFAULTS>>
  readonly #ledger: PoolLedger
  readonly #balance = new PoolBalance()
  #threads: Promise<Threads> | null = null
  #destroyed = false

  constructor(options: PoolOptions) {
    this.#options = { ...DEFAULTS, ...options }
    this.#ledger = new PoolLedger(this.#options.maxPending)
  }

  /** Calls that run or wait. */
  get pending(): number {
    return this.#ledger.outstanding
  }

  /**
   * Runs one method on a thread of the pool.
   * @throws HoltError `Overloaded`, `ShuttingDown`, `NotCloneable`, `HandlerError` when its thread died; else the method's own error
   */
  async call(method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#destroyed) throw this.#shuttingDown()
    const slot = this.#ledger.take()
    if (slot === undefined) {
      throw new HoltError('Overloaded', `the pool of capability '${this.#options.id}' has ${this.pending} calls to do`)
    }
    try {
      const { id, module } = this.#options
      const answer = await this.#run({ capability: id, url: module.url, method, args, slot })
      this.#balance.note(answer.ms)
      if ('error' in answer) throw reviveError(answer.error)
      return answer.value
    } finally {
      this.#ledger.give(slot)
    }
  }

  /** Ends all threads and rejects what is outstanding. Settles when the last thread has ended. */
  async destroy(): Promise<void> {
    this.#destroyed = true
    await (await this.#threads)?.piscina.destroy()
  }

  async #run(call: PoolCall): Promise<PoolAnswer> {
    for (let attempt = 1; ; attempt++) {
      this.#threads ??= this.#start()
      const threads = await this.#threads
      if (this.#destroyed) throw this.#shuttingDown()
      try {
        return await threads.piscina.run(call)
      } catch (error) {
        const innocent = !isCloneError(error) && !this.#ledger.isRunning(call.slot)
        if (this.#destroyed) throw this.#shuttingDown()
        if (threads.broken !== undefined || !innocent || attempt === MAX_ATTEMPTS) {
          throw explain(call, error, threads.broken)
        }
      }
    }
  }

  async #start(): Promise<Threads> {
    const { Piscina } = await import('piscina')
    const { workerUrl, idleTimeoutMs, heapMb, maxThreads = availableParallelism() } = this.#options
    const piscina = new Piscina({
      filename: workerUrl.href,
      name: 'run',
      minThreads: 0,
      maxThreads,
      idleTimeout: idleTimeoutMs,
      concurrentTasksPerWorker: MAX_DEPTH,
      loadBalancer: (_task, candidates) => this.#balance.pick(candidates),
      stricterFIFO: true,
      recordTiming: false,
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
      // The host's own flags (a loader, an inspector) are not for its pools.
      execArgv: [],
      workerData: { ledger: this.#ledger.shared },
    })
    const threads: Threads = { piscina, proven: false, broken: undefined }
    piscina.on('workerCreate', () => {
      threads.proven = true
    })
    piscina.on('workerDestroy', () => this.#onThreadEnd(threads))
    piscina.on('error', (error) => this.#onIdleError(threads, error))
    return threads
  }

  /** Piscina starts no thread for what still waits when the last one has died; a call of nothing makes it do so. */
  #onThreadEnd({ piscina, proven }: Threads): void {
    this.#balance.forget()
    if (!proven) return
    queueMicrotask(() => {
      if (this.#destroyed || this.pending === 0) return
      piscina.run(null).catch((error) => {
        this.#options.log.warn(`capability '${this.#options.id}': a pool thread died early`, describeError(error))
      })
    })
  }

  /** A thread failed with no call in it. Before any was ever ready, none will be: reject all that wait, start anew later. */
  #onIdleError(threads: Threads, error: unknown): void {
    this.#options.log.error(`capability '${this.#options.id}': a pool thread failed`, describeError(error))
    if (threads.proven || threads.broken !== undefined) return
    threads.broken = error
    this.#threads = null
    void threads.piscina.destroy()
  }

  #shuttingDown(): HoltError {
    return new HoltError('ShuttingDown', `capability '${this.#options.id}' is shut down`)
  }
}

/** What Piscina's own error means for the caller. */
function explain({ capability, method, args }: PoolCall, error: unknown, broken: unknown): HoltError {
  const name = `${capability}.${method}`
  if (isCloneError(error)) {
    const { message, details } = notCloneable(args, error)
    return new HoltError('NotCloneable', `the arguments of ${name} cannot be copied to its pool: ${message}`, details)
  }
  if (broken !== undefined) {
    const reason = describeError(broken).message
    return new HoltError('BootFailed', `the pool of ${name} has no thread: ${reason}`, {}, broken)
  }
  return new HoltError(
    'HandlerError',
    `the pool thread that ran ${name} died: ${describeError(error).message}`,
    {},
    error,
  )
}
