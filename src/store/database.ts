/**
 * The database file of a state directory: looked at before anything is written to it, then taken through the migrations.
 * A file that cannot be read, or is damaged, or is another program's, is refused and left as it was.
 */
import { statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { Connection } from './connection.ts'
import { damaged, isStateFault, stateFault } from './faults.ts'
import { preparePrivateFile } from './files.ts'
import { MIGRATIONS, type Migration, migrate, schemaVersion } from './migrations.ts'
import { text } from './rows.ts'

export const DATABASE_FILE = 'holt.db'
export const MEMORY = ':memory:'

/** How long another program may hold the file while the host starts; the loop has nothing else to do then. */
const BOOT_BUSY_MS = 5000
/** How long a statement waits inside SQLite, where it blocks the loop; the writer tries again after that. */
const BUSY_MS = 50
/** What the log (-wal) is cut to once it has been written back. */
const LOG_BYTES = 16 * 1024 * 1024

export interface Opened {
  readonly connection: Connection
  /** There was none before. */
  readonly created: boolean
  /** The log of a host that was killed has gone or is empty: what it had committed last may be lost. */
  readonly logLost: boolean
}

/**
 * @param path of the file, or `:memory:`
 * @param afterCrash the host before this one did not close the file
 * @throws HoltError `StateUnreadable`, `StateUnwritable`, `StateCorrupt`, `StateNewer`, `StateMigrationFailed`, `StateFull`
 */
export function openDatabase(path: string, afterCrash: boolean, migrations: readonly Migration[] = MIGRATIONS): Opened {
  const created = path === MEMORY || preparePrivateFile(path)
  const logBytes = created ? 0 : sizeOf(`${path}-wal`)
  const connection = judged(path, logBytes, migrations.length)
  try {
    const logLost = afterCrash && !created && logBytes === 0 && connection.query(MODE, MODE_FROM).get()?.mode === 'wal'
    connection.exec(`PRAGMA busy_timeout = ${BOOT_BUSY_MS}; PRAGMA auto_vacuum = INCREMENTAL`)
    connection.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = ${LOG_BYTES}`)
    migrate(connection, migrations)
    connection.exec(`PRAGMA busy_timeout = ${BUSY_MS}`)
    return { connection, created, logLost }
  } catch (error) {
    closeDatabase(connection)
    throw error
  }
}

/**
 * Leaves one file without side files, which can be copied as it is. Where another program reads it at this moment the
 * side files stay, and the next host starts from them as after a crash.
 */
export function closeDatabase(connection: Connection): void {
  try {
    connection.exec('PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE')
  } catch {
    // What was committed is in the log.
  }
  connection.close()
}

const MODE = { mode: text }
const MODE_FROM = 'FROM (SELECT journal_mode AS mode FROM pragma_journal_mode)'

/**
 * A connection to a database that is whole and ours. The one who is last to close a database writes its log back, so
 * one with a log is only looked at until it has been judged.
 */
function judged(path: string, logBytes: number, knownSchema: number): Connection {
  if (logBytes === 0) return judge(new Connection(path), knownSchema)
  const url = `${pathToFileURL(path).href}?mode=ro`
  try {
    judge(new Connection(path, url), knownSchema).close()
  } catch (error) {
    if (!isStateFault(error, 'StateCorrupt')) throw error
    const hint = `If it was put back from a copy, ${path}-wal and ${path}-shm belong to the file before: remove them`
    throw stateFault('StateCorrupt', path, `${error.message}. ${hint}`, error.details, error)
  }
  return new Connection(path)
}

const VERDICT = { verdict: text }
const VERDICT_FROM = 'FROM (SELECT quick_check AS verdict FROM pragma_quick_check(1))'

/** @throws HoltError `StateNewer`, `StateCorrupt`; the connection is closed then */
function judge(connection: Connection, knownSchema: number): Connection {
  const { path } = connection
  try {
    schemaVersion(connection, knownSchema)
    const verdict = connection.query(VERDICT, VERDICT_FROM).get()?.verdict
    if (verdict === 'ok') return connection
    // It begins with a line that names the database within SQLite.
    const text = (verdict ?? 'no verdict').split('\n').at(-1) ?? ''
    throw stateFault('StateCorrupt', path, damaged(path, text), { verdict })
  } catch (error) {
    connection.close()
    throw error
  }
}

/** 0 where it is not there. */
const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
