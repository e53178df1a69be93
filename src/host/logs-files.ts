/**
 * Output of agents on disk: one file per agent in a folder of its own (0700, files 0600), cut off and put aside when it is
 * full, the oldest thrown away. Lines are collected for a moment and appended together; a file is open only while it is
 * written. Where the disk refuses, lines are lost and the host is told once, and again when it goes on.
 *
 *     librarian.log ← newest      librarian.1.log      librarian.2.log      … librarian.<files - 1>.log ← oldest
 */
import { createHash } from 'node:crypto'
import { appendFile, mkdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describeError } from '../model/error.ts'
import type { Clock, Timer } from '../platform/clock.ts'

export interface FileOptions {
  /** A file is put aside before it would be larger, bytes. */
  readonly fileBytes: number
  /** Files per agent, that which is written included. */
  readonly files: number
}

export interface FileParts extends FileOptions {
  readonly dir: string
  readonly clock: Clock
  /** Lines are being lost from now on, and why. */
  readonly onFault: (why: string) => void
  /** They are kept again; so many were lost. */
  readonly onRecovered: (lost: number) => void
}

/** From the first line to the write. */
const COLLECT_MS = 200
/** Of one agent, while the disk does not keep up; past it lines are lost. */
const MAX_PENDING_CHARS = 4_194_304

/** What an agent may be called; the same rule as in a manifest. Anything else never becomes a path. */
const SAFE_ID = /^[a-z][a-z0-9-]{0,62}$/

export const fileNameOf = (agent: string): string =>
  SAFE_ID.test(agent) ? agent : `x_${createHash('sha256').update(agent).digest('hex').slice(0, 32)}`

interface Writing {
  lines: string[]
  chars: number
  /** Of the newest file; null: not looked at yet. */
  size: number | null
  /** The last write failed, maybe in the middle of a line. */
  torn: boolean
  /** What is done to its files, one after the other. */
  turn: Promise<void>
}

export class LogFiles {
  readonly #parts: FileParts
  readonly #agents = new Map<string, Writing>()
  readonly #dirty = new Set<string>()
  #timer: Timer | null = null
  #made: Promise<unknown> | null = null
  #faulty = false
  #lost = 0

  constructor(parts: FileParts) {
    this.#parts = parts
  }

  /** @param line without its LF */
  append(agent: string, line: string): void {
    const writing = this.#of(agent)
    if (writing.chars > MAX_PENDING_CHARS) {
      this.#lose(1, 'the disk does not keep up')
      return
    }
    writing.lines.push(line)
    writing.chars += line.length
    this.#dirty.add(agent)
    this.#timer ??= this.#parts.clock.after(COLLECT_MS, () => void this.#flushAll())
  }

  /** All lines that were appended before are in the files, or lost. */
  async flush(agent: string): Promise<void> {
    const writing = this.#of(agent)
    this.#dirty.delete(agent)
    await this.#inTurn(writing, () => this.#write(agent, writing))
  }

  /** The lines of each file, the newest file first; a file that cannot be read is left out. */
  async *read(agent: string): AsyncGenerator<string[]> {
    for (let index = 0; index < this.#parts.files; index++) {
      const text = await readFile(this.#path(agent, index), 'utf8').catch(() => null)
      if (text !== null) yield text.split('\n')
    }
  }

  /** With all its files. What is appended later begins anew. */
  async remove(agent: string): Promise<void> {
    const writing = this.#of(agent)
    this.#agents.delete(agent)
    this.#dirty.delete(agent)
    await this.#inTurn(writing, async () => {
      for (let index = 0; index < this.#parts.files; index++)
        await rm(this.#path(agent, index), { force: true }).catch(() => {})
    })
  }

  /** Writes what is left. */
  async close(): Promise<void> {
    await this.#flushAll()
  }

  #of(agent: string): Writing {
    let writing = this.#agents.get(agent)
    if (writing === undefined) {
      writing = { lines: [], chars: 0, size: null, torn: false, turn: Promise.resolve() }
      this.#agents.set(agent, writing)
    }
    return writing
  }

  async #flushAll(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = null
    for (const agent of [...this.#dirty]) await this.flush(agent)
  }

  #inTurn(writing: Writing, work: () => Promise<void>): Promise<void> {
    writing.turn = writing.turn.then(work)
    return writing.turn
  }

  /** Never throws. */
  async #write(agent: string, writing: Writing): Promise<void> {
    const { lines } = writing
    writing.lines = []
    writing.chars = 0
    let done = 0
    try {
      for (const piece of this.#pieces(lines)) {
        await this.#appendPiece(agent, writing, piece)
        done += piece.length
      }
      if (lines.length > 0) this.#went()
    } catch (error) {
      writing.torn = true
      writing.size = null
      this.#lose(lines.length - done, describeError(error).message)
    }
  }

  /** No piece is larger than a file, but for a line that is that by itself. */
  *#pieces(lines: readonly string[]): Generator<string[]> {
    let piece: string[] = []
    let bytes = 0
    for (const line of lines) {
      const more = Buffer.byteLength(line) + 1
      if (piece.length > 0 && bytes + more > this.#parts.fileBytes) {
        yield piece
        piece = []
        bytes = 0
      }
      piece.push(line)
      bytes += more
    }
    if (piece.length > 0) yield piece
  }

  async #appendPiece(agent: string, writing: Writing, piece: readonly string[]): Promise<void> {
    this.#made ??= mkdir(this.#parts.dir, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
      this.#made = null
      throw error
    })
    await this.#made
    const path = this.#path(agent, 0)
    const text = `${writing.torn ? '\n' : ''}${piece.join('\n')}\n`
    const bytes = Buffer.byteLength(text)
    writing.size ??= await stat(path).then(
      ({ size }) => size,
      () => 0,
    )
    if (writing.size > 0 && writing.size + bytes > this.#parts.fileBytes) {
      await this.#rotate(agent)
      writing.size = 0
    }
    await appendFile(path, text, { mode: 0o600 })
    writing.torn = false
    writing.size += bytes
  }

  async #rotate(agent: string): Promise<void> {
    const { files } = this.#parts
    if (files === 1) return rm(this.#path(agent, 0), { force: true })
    // The oldest is overwritten.
    for (let index = files - 2; index >= 0; index--) {
      await rename(this.#path(agent, index), this.#path(agent, index + 1)).catch((error: unknown) => {
        if (describeError(error).code !== 'ENOENT') throw error
      })
    }
  }

  #path(agent: string, index: number): string {
    return join(this.#parts.dir, `${fileNameOf(agent)}${index === 0 ? '' : `.${index}`}.log`)
  }

  #lose(count: number, why: string): void {
    this.#lost += count
    if (this.#faulty) return
    this.#faulty = true
    this.#parts.onFault(why)
  }

  #went(): void {
    if (!this.#faulty) return
    this.#faulty = false
    const lost = this.#lost
    this.#lost = 0
    this.#parts.onRecovered(lost)
  }
}
