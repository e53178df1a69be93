/** Opens a state directory: takes its lock, looks at its file, brings the schema up to date, prepares all statements. */
import { join } from 'node:path'
import type { HoltError } from '../model/error.ts'
import type { Clock } from '../platform/clock.ts'
import type { Connection } from './connection.ts'
import { closeDatabase, DATABASE_FILE, MEMORY, openDatabase } from './database.ts'
import { damaged, isStateFault, stateFault } from './faults.ts'
import { FileWatch, preparePrivateFolder } from './files.ts'
import { HostLock } from './lock.ts'
import { DEFAULT_RETENTION, type Retention } from './retention.ts'
import { Store } from './store.ts'
import { Tables } from './tables.ts'
import { Writer } from './writer.ts'

export interface StoreOptions {
  /** Absolute; made (0700) where it is not there. `:memory:` keeps everything in memory, by the same code, without a lock. */
  readonly dir: string
  readonly clock: Clock
  /** What is kept of what grows by itself. @default see {@link Retention} */
  readonly limits?: Partial<Retention>
  /** How long another program may keep the database locked before writes are refused. @default 5000 */
  readonly busyTimeoutMs?: number
  /** Told when nothing can be saved any more, and when the reason changes; `StateLogLost` at opening. Must not throw. */
  readonly onFault: (fault: HoltError) => void
}

const BUSY_TIMEOUT_MS = 5000

/**
 * @throws HoltError `InvalidOption` for a relative path; `StateInUse` where another host has the directory, with its pid
 *   and socket; `StateUnreadable`, `StateUnwritable`, `StateFull`, `StateCorrupt`, `StateNewer`, `StateMigrationFailed`.
 *   A file that is refused is left as it was.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { dir, clock } = options
  if (dir === MEMORY) return assemble(options, MEMORY, null)
  preparePrivateFolder(dir)
  const lock = new HostLock(dir, clock.wall())
  try {
    return assemble(options, join(dir, DATABASE_FILE), lock)
  } catch (error) {
    // After a crash the next attempt is still the first one after it.
    lock.release({ keepNote: lock.afterCrash })
    throw error
  }
}

function assemble(options: StoreOptions, path: string, lock: HostLock | null): Store {
  const { dir, clock, onFault, limits, busyTimeoutMs = BUSY_TIMEOUT_MS } = options
  const afterCrash = lock?.afterCrash ?? false
  const { connection, logLost } = openDatabase(path, afterCrash)
  try {
    let writer: Writer<Tables>
    const tables = prepareTables(connection, { ...DEFAULT_RETENTION, ...limits }, (call) => writer.afterCommit(call))
    const watch = new FileWatch(lock === null ? [] : [path, `${path}-wal`, `${path}-shm`, lock.path])
    writer = new Writer({ connection, clock, tx: tables, busyTimeoutMs, onFault, obstacle: () => watch.fault() })
    // Epochs that were given and not kept: the wall clock is past all of them.
    if (lock === null || logLost) connection.transaction(() => tables.agents.raiseEpochs(clock.wall()))
    if (logLost) onFault(lostLog(path))
    return new Store({ dir, clock, connection, tables, writer, lock, afterCrash })
  } catch (error) {
    closeDatabase(connection)
    throw error
  }
}

function prepareTables(connection: Connection, retention: Retention, afterCommit: (call: () => void) => void): Tables {
  try {
    return new Tables(connection, retention, afterCommit)
  } catch (error) {
    if (isStateFault(error)) throw error
    const { path } = connection
    const text = damaged(
      path,
      `its tables are not those of its schema: ${error instanceof Error ? error.message : error}`,
    )
    throw stateFault('StateCorrupt', path, text, {}, error)
  }
}

const lostLog = (path: string): HoltError =>
  stateFault(
    'StateLogLost',
    path,
    `${path}-wal is gone or empty since the last host was killed: what it had saved last may be lost. The host goes on with ` +
      `${path} as it is. Leave the side files (-wal, -shm) where they are`,
  )
