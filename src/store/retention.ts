/** How much is kept, and when a bounded table is due for trimming: in batches, so that it keeps up at little cost. */

/** Bounds of what grows by itself. What agents keep (memory, sessions, waiting messages) is theirs and has none. */
export interface Retention {
  /** @default 1000 */
  readonly deathsPerAgent: number
  /** @default 90 days */
  readonly deathsForMs: number
  /** @default 100000 */
  readonly facts: number
  /** @default 10000 */
  readonly deadLetters: number
  /** @default 1000 */
  readonly deadLettersPerAgent: number
  /** How long the id of a handled message is known, and what an unfinished one has done. @default 24 hours */
  readonly handledForMs: number
  /** Ids of handled messages in all. @default 1000000 */
  readonly handled: number
  /** @default 100 */
  readonly runsPerSchedule: number
  /** Runs of all schedules, those included that have been removed. @default 100000 */
  readonly runs: number
  /** The largest value of a memory key, and entry of a session, in bytes. @default 1 MiB */
  readonly valueBytes: number
}

const HOUR_MS = 3_600_000

export const DEFAULT_RETENTION: Retention = {
  deathsPerAgent: 1000,
  deathsForMs: 90 * 24 * HOUR_MS,
  facts: 100_000,
  deadLetters: 10_000,
  deadLettersPerAgent: 1000,
  handledForMs: 24 * HOUR_MS,
  handled: 1_000_000,
  runsPerSchedule: 100,
  runs: 100_000,
  valueBytes: 1024 * 1024,
}

/** A tenth of the bound is let grow past it before it is trimmed, at most this. */
const MAX_BATCH = 1000
/** Owners that are counted for; past it all are due again. */
const MAX_OWNERS = 10_000

/** Rows that one sweep of a table looks at. */
export const SWEEP_ROWS = 5000

/**
 * Deletes what is too old in a table whose `number` grows with its `at`: from the oldest on, so that the rest is not
 * looked at. One value: the time before which rows go.
 */
export const sweepOldest = (table: string): string =>
  `DELETE FROM ${table} WHERE number <= (SELECT max(number) FROM ` +
  `(SELECT number, at FROM ${table} ORDER BY number LIMIT ${SWEEP_ROWS}) WHERE at < ?)`

/** Counts additions to a bounded table, by owner where each has its own bound. */
export class TrimTally {
  readonly #batch: number
  readonly #added = new Map<string, number>()

  constructor(bound: number) {
    this.#batch = Math.min(MAX_BATCH, Math.max(1, Math.floor(bound / 10)))
  }

  /** Whether it is time to trim: at the first addition after opening, and then once in a batch. */
  isDue(owner = '', count = 1): boolean {
    const added = (this.#added.get(owner) ?? this.#batch) + count
    const due = added >= this.#batch
    if (this.#added.size >= MAX_OWNERS) this.#added.clear()
    this.#added.set(owner, due ? 0 : added)
    return due
  }
}
