/**
 * Gives pages that are free back to the file system, some at a time. What is trimmed leaves pages that the next rows use,
 * so this is for what was large once: a removed agent, a shortened retention.
 */
import type { Connection } from './connection.ts'
import { computed } from './rows.ts'

/** Free pages that are not worth the work; 4 MiB. */
const SPARED_PAGES = 1024
/** At a time; about 15 ms. */
const PAGES = 512

const PAGE_COUNTS = {
  free: computed('(SELECT freelist_count FROM pragma_freelist_count)'),
  all: computed('(SELECT page_count FROM pragma_page_count)'),
}

export class Vacuum {
  readonly #connection: Connection
  readonly #counts

  constructor(connection: Connection) {
    this.#connection = connection
    this.#counts = connection.query(PAGE_COUNTS, '')
  }

  /** Within a unit of work. @returns whether there may be more */
  sweep(): boolean {
    const { free, all } = this.#counts.get()!
    if (free <= Math.max(SPARED_PAGES, all / 4)) return false
    this.#connection.exec(`PRAGMA incremental_vacuum(${PAGES})`)
    return true
  }
}
