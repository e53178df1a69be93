/** Table `facts`: the log of what the runtime reports, bounded by count. Its numbers go on from one host to the next. */
import type { Fact } from '../model/fact.ts'
import type { Connection } from './connection.ts'
import { type Retention, TrimTally } from './retention.ts'
import { computed, integer, json, maybe, text, word } from './rows.ts'

const ROW = {
  seq: integer,
  at: integer,
  kind: word<Fact['kind']>(),
  agent: maybe(text),
  instance: maybe(text),
  epoch: maybe(integer),
  level: word<Fact['level']>(),
  message: text,
  data: json<Fact['data']>(),
}
const COLUMNS = ['seq', 'at', 'kind', 'agent', 'instance', 'epoch', 'level', 'message', 'data']

export class Facts {
  readonly #bound: number
  readonly #tally: TrimTally
  readonly #after
  readonly #last
  readonly #first
  readonly #append
  readonly #trim

  constructor(connection: Connection, { facts }: Retention) {
    this.#bound = facts
    this.#tally = new TrimTally(facts)
    this.#after = connection.query(ROW, 'FROM facts WHERE seq > ? ORDER BY seq LIMIT ?')
    // Kept by SQLite itself, also when the newest facts have been removed.
    this.#last = connection.query({ seq: integer }, "FROM sqlite_sequence WHERE name = 'facts'")
    this.#first = connection.query({ seq: computed('min(seq)') }, 'FROM facts')
    this.#append = connection.insert('facts', COLUMNS)
    this.#trim = connection.change('DELETE FROM facts WHERE seq <= ?')
  }

  /** Those with a higher number, at most `limit`, in order. */
  after(seq: number, limit: number): Fact[] {
    return this.#after.all(seq, limit).map(factOf)
  }

  /** The highest number ever given; 0 before the first. The next host's facts begin above it. */
  lastSeq(): number {
    return this.#last.get()?.seq ?? 0
  }

  /** The lowest number that is kept; null where there is none. A cursor below it has missed some. */
  firstSeq(): number | null {
    return this.#first.get()?.seq ?? null
  }

  /** @param facts each with a number higher than all before */
  append(facts: readonly Fact[]): void {
    for (const { seq, at, kind, agent, instance, epoch, level, message, data } of facts) {
      this.#append.run(
        ...[seq, at, kind, agent ?? null, instance ?? null, epoch ?? null],
        ...[level, message, JSON.stringify(data)],
      )
    }
    const last = facts.at(-1)
    if (last !== undefined && this.#tally.isDue('', facts.length)) this.#trim.run(last.seq - this.#bound)
  }
}

function factOf({ agent, instance, epoch, ...rest }: FactRow): Fact {
  return {
    ...rest,
    ...(agent === null ? {} : { agent }),
    ...(instance === null ? {} : { instance }),
    ...(epoch === null ? {} : { epoch }),
  }
}

type FactRow = Pick<Fact, 'seq' | 'at' | 'kind' | 'level' | 'message' | 'data'> & {
  readonly agent: string | null
  readonly instance: string | null
  readonly epoch: number | null
}
