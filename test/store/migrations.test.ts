/** Migrations: once each, in one transaction each; what breaks leaves the state as it was, and a newer state is refused. */
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Connection } from '../../src/store/connection.ts'
import { openDatabase } from '../../src/store/database.ts'
import { MIGRATIONS, type Migration, migrate, schemaVersion } from '../../src/store/migrations.ts'
import { computed, text } from '../../src/store/rows.ts'
import { startChild } from './children.ts'
import { laterSteps } from './later-steps.ts'
import { errorOf, tempFolder, tempState, tempStore } from './temp-store.ts'

const databaseIn = (dir: string): Connection => new Connection(join(dir, 'holt.db'))
const tablesOf = (connection: Connection): string[] =>
  connection
    .query({ name: text }, "FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all()
    .map(({ name }) => name)

describe('migrations', () => {
  it('are run once each, from where the state is', () => {
    const connection = databaseIn(tempFolder())
    const [first, ...rest] = laterSteps()
    expect(migrate(connection, [first!])).toBe(1)
    expect(migrate(connection, [first!, ...rest])).toBe(2)
    expect(migrate(connection, [first!, ...rest])).toBe(0)
    expect(schemaVersion(connection, 3)).toBe(3)
    expect(tablesOf(connection)).toEqual(['more1', 'more2', 'more3', 'step1', 'step2', 'step3'])
    expect(connection.query({ n: computed('count(*)') }, 'FROM step1').get()).toEqual({ n: 1 })
    connection.close()
  })

  it('C133: that break leave the state as it was, usable by the version before, and go on when they are mended', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    await store.epochs.next('a')
    await store.close()
    const path = join(dir, 'holt.db')
    const broken: Migration = {
      name: 'half',
      up: (connection) => connection.exec('CREATE TABLE newest (x); DROP TABLE tokens; INSERT INTO nowhere VALUES (1)'),
    }
    const mended: Migration = { name: 'whole', up: (connection) => connection.exec('CREATE TABLE newest (x)') }
    const number = MIGRATIONS.length + 1
    const error = await errorOf(() => openDatabase(path, false, [...MIGRATIONS, broken]))
    expect(error).toMatchObject({ code: 'StateMigrationFailed', details: { path, migration: number } })
    expect(error.message).toContain(`Migration ${number} (half) of ${path} failed: no such table: nowhere`)
    expect(error.message).toContain(`The state is as it was, at schema ${number - 1}`)
    const before = await tempStore({ dir })
    expect([before.epochs.current('a'), before.tokens.list()]).toEqual([1, []])
    await before.close()
    const { connection } = openDatabase(path, false, [...MIGRATIONS, mended])
    expect(tablesOf(connection)).toEqual(expect.arrayContaining(['newest', 'tokens']))
    expect(connection.query({ epoch: computed('epoch') }, 'FROM agents').get()).toEqual({ epoch: 1 })
    connection.close()
  })

  it('C133: are the first thing that happens: an old state that only they can read opens', () => {
    const dir = tempFolder()
    migrate(databaseIn(dir), laterSteps().slice(0, 1))
    const path = join(dir, 'holt.db')
    const drop: Migration = { name: 'to ours', up: (connection) => connection.exec('DROP TABLE step1') }
    const { connection } = openDatabase(path, false, [laterSteps()[0]!, drop, ...MIGRATIONS])
    expect(tablesOf(connection)).toContain('agents')
    connection.close()
  })

  it('are refused by a version that knows less, which changes nothing', async () => {
    const dir = tempState()
    await (await tempStore({ dir })).close()
    const newer = databaseIn(dir)
    newer.exec(`PRAGMA user_version = ${MIGRATIONS.length + 2}`)
    newer.close()
    const before = readFileSync(join(dir, 'holt.db'))
    const error = await errorOf(() => tempStore({ dir }))
    expect(error).toMatchObject({
      code: 'StateNewer',
      details: { found: MIGRATIONS.length + 2, known: MIGRATIONS.length },
    })
    expect(error.message).toContain(`has schema ${MIGRATIONS.length + 2}`)
    expect(error.message).toContain(`knows schemas up to ${MIGRATIONS.length}`)
    expect(error.message).toContain('Use that one, or give this one another directory with --state')
    expect(readFileSync(join(dir, 'holt.db')).equals(before)).toBe(true)
  })

  it.each([1, 2, 3])(
    'that are killed in step %i are there up to the step before, and end with the next start',
    async (deadly) => {
      const dir = tempState()
      mkdirSync(dir)
      const child = startChild('migrate', dir, String(deadly))
      expect(await child.ended).toMatchObject({ signal: 'SIGKILL' })
      const connection = databaseIn(dir)
      const done = Array.from({ length: deadly - 1 }, (_, index) => index + 1)
      expect(schemaVersion(connection, 3)).toBe(deadly - 1)
      expect(tablesOf(connection)).toEqual([...done.map((n) => `more${n}`), ...done.map((n) => `step${n}`)])
      expect(migrate(connection, laterSteps())).toBe(3 - done.length)
      expect(tablesOf(connection)).toHaveLength(6)
      connection.close()
    },
  )
})
