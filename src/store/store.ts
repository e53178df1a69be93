/**
 * The store as the host holds it: reads that are answered at once from what is committed, and units of work that change
 * any number of tables together. Made by `open.ts`.
 */
import type { IntentChange, IntentRecord, IntentStore } from '../model/intent.ts'
import type { EpochStore } from '../model/lease.ts'
import type { ScheduleRun } from '../model/schedule.ts'
import type { Clock, Timer } from '../platform/clock.ts'
import type { AgentMemory } from './agent-memory.ts'
import type { Agents, IntentCondition } from './agents.ts'
import type { Catalog } from './catalog.ts'
import type { Channels } from './channels.ts'
import type { Connection } from './connection.ts'
import type { Counters } from './counters.ts'
import { closeDatabase } from './database.ts'
import type { DeadLetters } from './dead-letters.ts'
import type { Deaths } from './deaths.ts'
import type { Facts } from './facts.ts'
import type { Instances } from './instances.ts'
import type { HostLock } from './lock.ts'
import type { Mailboxes } from './mailboxes.ts'
import type { ScheduleRow, Schedules } from './schedules.ts'
import type { Sessions } from './sessions.ts'
import type { Tables } from './tables.ts'
import type { Tokens } from './tokens.ts'
import type { StoreHealth, Writer } from './writer.ts'

/** What the host is handed of an intent's table. */
export interface DurableIntents extends IntentStore {
  /** @throws HoltError `GenerationMismatch`, naming the present one */
  commit(agent: string, change: IntentChange, condition?: IntentCondition): Promise<IntentRecord>
}

/** What the scheduler asks of a store. */
export interface DurableSchedules {
  load(): Promise<{ readonly rows: readonly ScheduleRow[]; readonly pending: readonly ScheduleRun[] }>
  save(row: ScheduleRow | null, runs: readonly ScheduleRun[]): Promise<void>
  remove(agent: string, id: string): Promise<void>
  removeAgent(agent: string): Promise<void>
  history(agent: string, id: string, limit: number): Promise<readonly ScheduleRun[]>
}

export interface StoreParts {
  readonly dir: string
  readonly clock: Clock
  readonly connection: Connection
  readonly tables: Tables
  readonly writer: Writer<Tables>
  /** Null in memory. */
  readonly lock: HostLock | null
  /** The host before this one was killed. */
  readonly afterCrash: boolean
}

const SWEEP_EVERY_MS = 60_000

export class Store {
  /** Absolute, or `:memory:`. */
  readonly dir: string
  /** The host before this one did not end by itself; {@link Instances.open} has what was alive. */
  readonly afterCrash: boolean
  readonly intents: DurableIntents
  readonly epochs: EpochStore
  readonly schedules: DurableSchedules
  readonly agents: Pick<Agents, 'list'>
  readonly counters: Pick<Counters, 'read'>
  readonly instances: Pick<Instances, 'open'>
  readonly deaths: Pick<Deaths, 'of' | 'all' | 'get'>
  readonly facts: Pick<Facts, 'after' | 'lastSeq' | 'firstSeq'>
  readonly deadLetters: Pick<DeadLetters, 'list' | 'get' | 'lastId'>
  readonly mailboxes: Pick<Mailboxes, 'load' | 'depth' | 'seen'>
  readonly memory: Pick<AgentMemory, 'get' | 'list'>
  readonly sessions: Pick<Sessions, 'list' | 'get' | 'page'>
  readonly channels: Pick<Channels, 'list'>
  readonly catalog: Pick<Catalog, 'list' | 'get'>
  readonly tokens: Pick<Tokens, 'list' | 'byHash'>
  readonly #parts: StoreParts
  readonly #sweeps: Timer
  #closed: Promise<void> | null = null

  constructor(parts: StoreParts) {
    const { dir, tables, clock, afterCrash } = parts
    this.#parts = parts
    this.dir = dir
    this.afterCrash = afterCrash
    this.agents = tables.agents
    this.counters = tables.counters
    this.instances = tables.instances
    this.deaths = tables.deaths
    this.facts = tables.facts
    this.deadLetters = tables.deadLetters
    this.mailboxes = tables.mailboxes
    this.memory = tables.memory
    this.sessions = tables.sessions
    this.channels = tables.channels
    this.catalog = tables.catalog
    this.tokens = tables.tokens
    this.intents = {
      read: (agent) => tables.agents.intent(agent),
      commit: (agent, change, condition) => this.write((tx) => tx.agents.changeIntent(agent, change, condition)),
    }
    this.epochs = {
      current: (agent) => tables.agents.epoch(agent),
      next: (agent) => this.write((tx) => tx.agents.nextEpoch(agent)),
    }
    this.schedules = this.#schedules(tables.schedules)
    this.#sweeps = clock.every(SWEEP_EVERY_MS, () => this.#sweep())
  }

  /** Whether what is written reaches the disk; see {@link StoreHealth}. */
  get health(): StoreHealth {
    return this.#parts.writer.health
  }

  /** Transactions committed since it was opened. */
  get commits(): number {
    return this.#parts.writer.commits
  }

  /**
   * A unit of work: everything in it is committed together with that of the same turn of the loop, or none of it.
   * @param work synchronous; changes tables and nothing else, since it may be run twice
   * @returns what it returned, once that is on disk
   * @throws what it threw; HoltError `StateFull`, `StateUnwritable`, `StateLocked`, `StateCorrupt`, `StateReplaced`;
   *   `ShuttingDown` once `close` was called
   */
  write<T>(work: (tx: Tables) => T): Promise<T> {
    return this.#parts.writer.write(work)
  }

  /** After all that was asked for before: only the newest epoch of the agent may write. */
  bringIntoForce(agent: string): void {
    const bring = (): void => this.#parts.tables.agents.bringIntoForce(agent)
    // It holds also where nothing can be written now.
    this.write(bring).catch(bring)
  }

  /** Every row of an agent, in every table; its epochs are not given again. */
  removeAgent(agent: string): Promise<void> {
    return this.write((tx) => tx.removeAgent(agent))
  }

  /** Where this host can be spoken to, for the text that refuses a second one. */
  setSocket(socket: string | null): void {
    this.#parts.lock?.setSocket(socket)
  }

  /** Writes a little, to see whether the state can be saved: a degraded store mends itself so when nothing else does. */
  async check(): Promise<StoreHealth> {
    const { clock } = this.#parts
    await this.write((tx) => tx.probe(clock.wall())).catch(() => {})
    return this.health
  }

  /** Resolves once all that was asked for before is on disk, or was refused. @throws as `write`, where this turn's was */
  flush(): Promise<void> {
    return this.write(() => undefined)
  }

  /** Writes what was asked for, leaves one whole file and lets the directory go. A second call gets the same. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    const { writer, connection, lock } = this.#parts
    this.#sweeps.cancel()
    await writer.close()
    closeDatabase(connection)
    lock?.release()
  }

  #sweep(): void {
    const { clock } = this.#parts
    const more = this.write((tx) => tx.sweep(clock.wall()))
    more.then(
      (again) => again && this.#closed === null && this.#sweep(),
      // The next one is another attempt, and whoever writes meanwhile is told.
      () => {},
    )
  }

  #schedules(table: Schedules): DurableSchedules {
    return {
      load: async () => ({ rows: table.list(), pending: table.pending() }),
      save: (row, runs) => this.write((tx) => tx.schedules.save(row, runs)),
      remove: (agent, id) => this.write((tx) => tx.schedules.remove(agent, id)),
      removeAgent: (agent) => this.write((tx) => tx.schedules.removeAgent(agent)),
      history: async (agent, id, limit) => table.history(agent, id, limit),
    }
  }
}
