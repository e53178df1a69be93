/**
 * Group commit, and the one writer: what is asked for in one turn of the loop becomes one transaction in the next, and
 * each promise settles once that is on disk.
 *
 * A unit of work that throws is undone alone. Most throw before they have changed anything; for the few others the
 * transaction is taken back and run again with a savepoint for each unit (savepoints for all of them halve the rate,
 * measured). So a unit may run twice and must change nothing but the database.
 *
 * When the state itself fails, all of the turn's units are refused and the writer is degraded; each later write is a
 * new attempt, and the first that succeeds mends it.
 */
import { HoltError } from '../model/error.ts'
import type { Clock } from '../platform/clock.ts'
import type { Connection } from './connection.ts'
import { isStateFault } from './faults.ts'

export type StoreHealth =
  | { readonly state: 'ok' }
  /** Nothing can be saved; since when (wall clock, ms) and why. */
  | { readonly state: 'degraded'; readonly since: number; readonly reason: HoltError }

export interface WriterOptions<Tx> {
  readonly connection: Connection
  readonly clock: Clock
  /** What units of work are handed. */
  readonly tx: Tx
  /** Why nothing may be written now; null where all is well. Asked before each transaction. */
  readonly obstacle: () => HoltError | null
  /** Told when the writer becomes degraded, and when the reason changes. Must not throw. */
  readonly onFault: (reason: HoltError) => void
  /** How long another program may keep the database locked before writes are refused. */
  readonly busyTimeoutMs: number
}

interface Unit {
  readonly work: (tx: never) => unknown
  readonly resolve: (value: never) => void
  readonly reject: (reason: unknown) => void
}

type Outcome = { readonly value: unknown } | { readonly error: unknown }

/** Units in one transaction at most: it must not hold the loop for long. The rest follow in the next turn. */
const MAX_UNITS = 8192
const RETRY_MS = 20
const OK: StoreHealth = { state: 'ok' }

export class Writer<Tx> {
  readonly #options: WriterOptions<Tx>
  #queue: Unit[] = []
  #scheduled = false
  #health: StoreHealth = OK
  /** When another program's lock was first met; null while there is none. Monotonic ms. */
  #busySince: number | null = null
  #afterCommit: (() => void)[] = []
  #commits = 0
  #closed = false

  constructor(options: WriterOptions<Tx>) {
    this.#options = options
  }

  get health(): StoreHealth {
    return this.#health
  }

  /** Transactions that have been committed. */
  get commits(): number {
    return this.#commits
  }

  /**
   * Runs a unit of work in the next turn's transaction: all of it or nothing, in the order of the calls.
   * @param work synchronous; may run twice
   * @returns what it returned, once that is on disk
   * @throws what it threw; HoltError `StateFull`, `StateUnwritable`, `StateLocked`, `StateCorrupt`, `StateReplaced`;
   *   `ShuttingDown` after `close`
   */
  write<T>(work: (tx: Tx) => T): Promise<T> {
    if (this.#closed) return Promise.reject(new HoltError('ShuttingDown', 'The store is closed: nothing more is saved'))
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, resolve, reject } as Unit)
      this.#schedule()
    })
  }

  /** Takes no more; resolves once all that was asked for is on disk or was refused. */
  async close(): Promise<void> {
    const last = this.write(() => undefined)
    this.#closed = true
    await last.catch(() => {})
  }

  /** From within a unit of work: call this once it is on disk, before its promise resolves. */
  readonly afterCommit = (call: () => void): void => {
    this.#afterCommit.push(call)
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#options.clock.soon(() => this.#turn())
  }

  #turn(): void {
    this.#scheduled = false
    const units = this.#queue
    this.#queue = units.splice(MAX_UNITS)
    const obstacle = this.#options.obstacle()
    if (obstacle !== null) this.#refuse(units, obstacle)
    else this.#commit(units)
    if (this.#queue.length > 0) this.#schedule()
  }

  #commit(units: readonly Unit[]): void {
    const { connection } = this.#options
    const writesBefore = connection.writes
    let outcomes: readonly Outcome[]
    try {
      connection.begin()
      outcomes = this.#runAll(units)
      connection.commit()
    } catch (error) {
      this.#afterCommit = []
      this.#failed(units, this.#undone(error))
      return
    }
    this.#commits++
    this.#busySince = null
    // A transaction that wrote nothing says nothing about the disk.
    if (connection.writes > writesBefore) this.#health = OK
    for (const call of this.#afterCommit.splice(0)) call()
    for (const [index, { resolve, reject }] of units.entries()) {
      const outcome = outcomes[index]!
      if ('error' in outcome) reject(outcome.error)
      else resolve(outcome.value as never)
    }
  }

  /** Takes the transaction back; where even that fails, says so in place of what came before. */
  #undone(error: unknown): unknown {
    try {
      this.#options.connection.rollback()
      return error
    } catch (second) {
      return second
    }
  }

  #failed(units: readonly Unit[], error: unknown): void {
    const reason = isStateFault(error) ? error : unexpected(error)
    if (isStateFault(reason, 'StateLocked') && this.#mayWait()) {
      this.#queue = [...units, ...this.#queue]
      this.#scheduled = true
      this.#options.clock.after(RETRY_MS, () => this.#turn())
      return
    }
    this.#busySince = null
    this.#refuse(units, reason)
  }

  /** Whether the lock of another program may be waited for still. */
  #mayWait(): boolean {
    const now = this.#options.clock.now()
    this.#busySince ??= now
    return now - this.#busySince < this.#options.busyTimeoutMs
  }

  #refuse(units: readonly Unit[], reason: HoltError): void {
    const before = this.#health
    const since = before.state === 'degraded' ? before.since : this.#options.clock.wall()
    this.#health = { state: 'degraded', since, reason }
    for (const { reject } of units) reject(reason)
    if (before.state === 'ok' || before.reason.code !== reason.code) this.#options.onFault(reason)
  }

  /** @throws the fault of the state, where it is that which failed */
  #runAll(units: readonly Unit[]): Outcome[] {
    const { connection } = this.#options
    const outcomes: Outcome[] = []
    for (const unit of units) {
      const before = connection.writes
      const outcome = this.#run(unit)
      if ('error' in outcome && connection.writes > before) return this.#runEach(units)
      outcomes.push(outcome)
    }
    return outcomes
  }

  /** Anew, so that each unit can be undone alone. */
  #runEach(units: readonly Unit[]): Outcome[] {
    const { connection } = this.#options
    connection.rollback()
    this.#afterCommit = []
    connection.begin()
    return units.map((unit) => {
      connection.mark()
      const outcome = this.#run(unit)
      if ('error' in outcome) connection.undo()
      else connection.keep()
      return outcome
    })
  }

  #run({ work }: Unit): Outcome {
    const { connection, tx } = this.#options
    const hooks = this.#afterCommit.length
    try {
      const value = connection.writing(() => (work as (tx: Tx) => unknown)(tx))
      if (value instanceof Promise) throw asynchronous(value)
      return { value }
    } catch (error) {
      // After some errors of its own SQLite has ended the transaction, and with it the units before.
      if (isStateFault(error) || !connection.inTransaction) throw error
      this.#afterCommit.length = hooks
      return { error }
    }
  }
}

/** Whatever else it has to say is too late to matter. */
function asynchronous(result: Promise<unknown>): TypeError {
  result.catch(() => {})
  return new TypeError('a unit of work must be synchronous, and this one is not')
}

const unexpected = (error: unknown): HoltError =>
  new HoltError('Internal', `Committing failed: ${error instanceof Error ? error.message : String(error)}`, {}, error)
