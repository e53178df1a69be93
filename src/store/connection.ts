/**
 * One connection to a database file: the only place that knows the driver. It keeps four of the driver's traps away:
 * binding a boolean, and reading text that is not UTF-8, end the process; rows carry keys of the driver's own; a
 * statement that is still referenced keeps a closed connection open.
 */
import Database from 'libsql'
import { HoltError } from '../model/error.ts'
import { fromSqlite } from './faults.ts'
import { type RowOf, readRow, type Shape, selectList } from './rows.ts'

export type Value = string | number | null | Uint8Array

/** Throws where a statement may not be run now. */
type Guard = () => void

type Inner = ReturnType<Database.Database['prepare']>

/** A prepared statement. Released when its connection is closed; throws from then on. */
class Statement {
  #inner: Inner | null
  readonly #arity: number
  protected readonly path: string

  constructor(inner: Inner, arity: number, path: string) {
    this.#inner = inner
    this.#arity = arity
    this.path = path
  }

  protected call<T>(values: readonly Value[], how: (inner: Inner, values: readonly Value[]) => T): T {
    if (this.#inner === null) throw new HoltError('ShuttingDown', `${this.path} has been closed. Open the store again`)
    if (values.length !== this.#arity) throw new TypeError(`expected ${this.#arity} values, got ${values.length}`)
    for (const value of values) checkValue(value)
    try {
      return how(this.#inner, values)
    } catch (error) {
      throw fromSqlite(error, this.path)
    }
  }

  release(): void {
    this.#inner = null
  }
}

function checkValue(value: unknown): void {
  const type = typeof value
  if (type === 'string' || type === 'number' || value === null || value instanceof Uint8Array) return
  throw new TypeError(`expected text, a number, bytes or null for a column, got ${type}`)
}

/** Reads rows of a shape. */
export class Query<S extends Shape> extends Statement {
  readonly #shape: S

  constructor(inner: Inner, arity: number, path: string, shape: S) {
    super(inner, arity, path)
    this.#shape = shape
  }

  all(...values: readonly Value[]): RowOf<S>[] {
    return this.call(values, (inner, bound) => inner.all(bound)).map((row) => readRow(this.#shape, row, this.path))
  }

  get(...values: readonly Value[]): RowOf<S> | undefined {
    const row = this.call(values, (inner, bound) => inner.get(bound))
    return row === undefined ? undefined : readRow(this.#shape, row, this.path)
  }
}

/** Changes rows; only within a unit of work (see {@link Connection.writing}). */
export class Change extends Statement {
  readonly #guard: Guard

  constructor(inner: Inner, arity: number, path: string, guard: Guard) {
    super(inner, arity, path)
    this.#guard = guard
  }

  /** @returns how many rows were changed, and the row id of the last one inserted */
  run(...values: readonly Value[]): { readonly changes: number; readonly rowId: number } {
    this.#guard()
    const { changes, lastInsertRowid } = this.call(values, (inner, bound) => inner.run(bound))
    return { changes, rowId: Number(lastInsertRowid) }
  }
}

type Control = Readonly<Record<'begin' | 'commit' | 'mark' | 'keep', Change>>

export class Connection {
  readonly path: string
  readonly #db: Database.Database
  readonly #statements: Statement[] = []
  #control: Control | null = null
  #writing = false
  #writes = 0

  /**
   * @param path what messages call it
   * @param address what is opened: a path, `:memory:`, or a `file:` URL of SQLite's
   * @throws HoltError as `faults.ts` has them
   */
  constructor(path: string, address = path) {
    this.path = path
    try {
      this.#db = new Database(address)
    } catch (error) {
      throw fromSqlite(error, path)
    }
  }

  /** Runs statements without results; for pragmas, schemas and locks. */
  exec(sql: string): void {
    try {
      this.#db.exec(sql)
    } catch (error) {
      throw fromSqlite(error, this.path)
    }
  }

  /** @param rest of a SELECT, from `FROM` on; its columns come from the shape */
  query<S extends Shape>(shape: S, rest: string): Query<S> {
    const sql = `SELECT ${selectList(shape)} ${rest}`
    return this.#keep(new Query(this.#prepare(sql), arityOf(sql), this.path, shape))
  }

  change(sql: string): Change {
    const guard = (): void => {
      if (!this.#writing) throw new HoltError('Internal', 'a table was written to outside of a unit of work')
      this.#writes++
    }
    return this.#keep(new Change(this.#prepare(sql), arityOf(sql), this.path, guard))
  }

  insert(table: string, columns: readonly string[], conflict = ''): Change {
    const marks = columns.map(() => '?').join(', ')
    return this.change(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks}) ${conflict}`)
  }

  /** Lets changes through while `work` runs. */
  writing<T>(work: () => T): T {
    this.#writing = true
    try {
      return work()
    } finally {
      this.#writing = false
    }
  }

  /** How many changes have been run, those included that failed. */
  get writes(): number {
    return this.#writes
  }

  /** All of the work or nothing. */
  transaction(work: () => void): void {
    this.begin()
    try {
      this.writing(work)
      this.commit()
    } catch (error) {
      this.rollback()
      throw error
    }
  }

  begin(): void {
    this.#controls().begin.run()
  }

  commit(): void {
    this.#controls().commit.run()
  }

  /** Ends a transaction without a trace; SQLite has done so itself after some errors. */
  rollback(): void {
    if (this.#db.inTransaction) this.exec('ROLLBACK')
  }

  /** What follows can be undone by itself with {@link undo}, or kept with {@link keep}. */
  mark(): void {
    this.#controls().mark.run()
  }

  keep(): void {
    this.#controls().keep.run()
  }

  undo(): void {
    this.exec('ROLLBACK TO one')
    this.keep()
  }

  get inTransaction(): boolean {
    return this.#db.inTransaction
  }

  /** The file itself is let go once the released statements have been collected. */
  close(): void {
    for (const statement of this.#statements) statement.release()
    this.#db.close()
  }

  /** Made when first needed: a connection without statements ends at `close`, as that of a lock must. */
  #controls(): Control {
    const control = (sql: string): Change => this.#keep(new Change(this.#prepare(sql), 0, this.path, () => {}))
    this.#control ??= {
      begin: control('BEGIN IMMEDIATE'),
      commit: control('COMMIT'),
      mark: control('SAVEPOINT one'),
      keep: control('RELEASE one'),
    }
    return this.#control
  }

  #prepare(sql: string): Inner {
    try {
      return this.#db.prepare(sql)
    } catch (error) {
      throw fromSqlite(error, this.path)
    }
  }

  #keep<S extends Statement>(statement: S): S {
    this.#statements.push(statement)
    return statement
  }
}

/** How many values a statement takes: `?` each, or numbered ones, which may stand in it more than once. */
function arityOf(sql: string): number {
  const marks = [...sql.matchAll(/\?(\d*)/g)]
  const numbered = marks.map(([, number]) => Number(number))
  return Math.max(0, ...numbered) || marks.length
}
