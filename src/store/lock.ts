/**
 * One host at a time on a state directory. An exclusive transaction on a database of its own, `host.lock`, is held as
 * long as the store is open: the system frees it at any end of the process, also at kill -9, and SQLite minds it within
 * one process and over every path to the same file. `host.json` only says who holds it, for the text of a refusal.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HoltError } from '../model/error.ts'
import { Connection } from './connection.ts'
import { isStateFault, stateFault } from './faults.ts'
import { preparePrivateFile } from './files.ts'

export const LOCK_FILE = 'host.lock'
export const HOLDER_FILE = 'host.json'

/** Who holds a state directory. */
export interface Holder {
  readonly pid: number
  /** Wall clock, ms. */
  readonly startedAt: number
  /** Where it can be spoken to; null before it listens. */
  readonly socket: string | null
}

export class HostLock {
  readonly path: string
  /** The host before this one was not closed: it was killed, or its machine went down. */
  readonly afterCrash: boolean
  readonly #dir: string
  readonly #connection: Connection
  #holder: Holder

  /**
   * @throws HoltError `StateInUse`, with the holder's pid and socket; others where the lock's file is in a bad way
   */
  constructor(dir: string, startedAt: number) {
    this.#dir = dir
    this.path = join(dir, LOCK_FILE)
    preparePrivateFile(this.path)
    this.#connection = new Connection(this.path)
    try {
      // In memory: a journal beside it would be one more file to stumble over.
      this.#connection.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    } catch (error) {
      this.#connection.close()
      if (isStateFault(error, 'StateLocked')) throw inUse(dir)
      if (!isStateFault(error, 'StateCorrupt')) throw error
      throw stateFault(
        'StateCorrupt',
        this.path,
        `${this.path} is no lock of Holt's. Remove it, then start again`,
        {},
        error,
      )
    }
    this.afterCrash = readHolder(dir) !== null
    this.#holder = { pid: process.pid, startedAt, socket: null }
    this.#write()
  }

  /** For those who are refused: where this host can be spoken to. */
  setSocket(socket: string | null): void {
    this.#holder = { ...this.#holder, socket }
    this.#write()
  }

  /** @param options.keepNote the next host is to find that this one was not closed */
  release({ keepNote = false }: { readonly keepNote?: boolean } = {}): void {
    if (!keepNote) rmSync(join(this.#dir, HOLDER_FILE), { force: true })
    this.#connection.rollback()
    this.#connection.close()
  }

  /**
   * Aside and renamed, so that a reader sees one or the other. It is only a note: where it cannot be written (a full
   * disk), none is better than that of the host before.
   */
  #write(): void {
    const path = join(this.#dir, HOLDER_FILE)
    const aside = `${path}.new`
    try {
      writeFileSync(aside, `${JSON.stringify(this.#holder)}\n`, { mode: 0o600 })
      renameSync(aside, path)
    } catch {
      for (const file of [aside, path]) rmSync(file, { force: true })
    }
  }
}

function inUse(dir: string): HoltError {
  const holder = readHolder(dir)
  if (holder === null || !isAlive(holder.pid)) {
    return stateFault('StateInUse', dir, `${dir} is in use by another host that has not said yet who it is. Try again`)
  }
  const { pid, startedAt, socket } = holder
  const who = pid === process.pid ? `this very process (pid ${pid})` : `the host with pid ${pid}`
  const how =
    socket === null
      ? 'it has no socket; end it by a signal to its pid'
      : `reach it with 'holt status --socket ${socket}', end it with 'holt down --socket ${socket}'`
  const since = new Date(startedAt).toISOString()
  const text = `${dir} is in use by ${who}, since ${since}: ${how}. Or give this host another directory with --state`
  return stateFault('StateInUse', dir, text, { ...holder })
}

/** Null where it is missing or no such file: it is only a note. */
export function readHolder(dir: string): Holder | null {
  try {
    const { pid, startedAt, socket } = JSON.parse(readFileSync(join(dir, HOLDER_FILE), 'utf8')) as Partial<Holder>
    if (!Number.isSafeInteger(pid) || pid! <= 0 || !Number.isSafeInteger(startedAt)) return null
    return { pid: pid!, startedAt: startedAt!, socket: typeof socket === 'string' ? socket : null }
  } catch {
    return null
  }
}

/** Also true for another user's process. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
