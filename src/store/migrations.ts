/**
 * The schema, as numbered steps. A database carries the number of the last step it has been through (`user_version`);
 * each further one is one transaction with that number, so that a step that breaks leaves the state as it was. A step
 * that has been released is never changed: what is to be different is a new step.
 */
import type { Connection } from './connection.ts'
import { isStateFault, stateFault } from './faults.ts'
import { LEASES_SCHEMA } from './leases.ts'
import { computed } from './rows.ts'
import { FIRST_SCHEMA } from './schema.ts'

export interface Migration {
  readonly name: string
  readonly up: (connection: Connection) => void
}

/** In order; the first is number 1. */
export const MIGRATIONS: readonly Migration[] = [
  { name: 'first schema', up: (connection) => connection.exec(FIRST_SCHEMA) },
  { name: 'leases', up: (connection) => connection.exec(LEASES_SCHEMA) },
]

/** What marks a SQLite file as Holt's: 'holt' in ASCII. */
const APPLICATION_ID = 0x686f6c74

const HEADER = {
  userVersion: computed('(SELECT user_version FROM pragma_user_version)'),
  applicationId: computed('(SELECT application_id FROM pragma_application_id)'),
  objects: computed('(SELECT count(*) FROM sqlite_schema)'),
}

/**
 * The number of the last step a database has been through; 0 for a new one. Reads no table of ours.
 * @param known how many steps this program has
 * @throws HoltError `StateCorrupt` where it is another program's database, `StateNewer`
 */
export function schemaVersion(connection: Connection, known: number): number {
  const { userVersion, applicationId, objects } = connection.query(HEADER, '').get()!
  const { path } = connection
  if (applicationId !== APPLICATION_ID && (objects > 0 || userVersion !== 0)) {
    const text = `${path} is a SQLite database of another program. Move it away, or choose another directory with --state`
    throw stateFault('StateCorrupt', path, text, { applicationId })
  }
  if (userVersion > known) {
    const text =
      `${path} has schema ${userVersion}, and this version of Holt knows schemas up to ${known}: a newer Holt has ` +
      'been here. Use that one, or give this one another directory with --state. Nothing was changed'
    throw stateFault('StateNewer', path, text, { found: userVersion, known })
  }
  return userVersion
}

/**
 * Takes the database through every step it has not been through.
 * @returns how many steps that were
 * @throws HoltError `StateMigrationFailed` with the step; `StateFull` and others where the disk is at fault
 */
export function migrate(connection: Connection, migrations: readonly Migration[] = MIGRATIONS): number {
  const from = schemaVersion(connection, migrations.length)
  for (const [index, migration] of migrations.entries()) {
    if (index >= from) step(connection, index + 1, migration)
  }
  return migrations.length - from
}

function step(connection: Connection, number: number, { name, up }: Migration): void {
  const { path } = connection
  try {
    connection.transaction(() => {
      up(connection)
      connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${number}`)
    })
  } catch (error) {
    if (isStateFault(error)) throw error
    const text =
      `Migration ${number} (${name}) of ${path} failed: ${error instanceof Error ? error.message : String(error)}. ` +
      `The state is as it was, at schema ${number - 1}. Go back to the version of Holt before, and report this`
    throw stateFault('StateMigrationFailed', path, text, { migration: number }, error)
  }
}
