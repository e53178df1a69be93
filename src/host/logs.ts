/**
 * What agents have printed and logged, as it is kept: the newest lines of each in memory, and all of them in files where
 * the host has a state directory. Told of each line by `host.ts`; asked by the operation `logs`, which gets past lines and
 * then live ones with no gap and no double between the two.
 */
import { join } from 'node:path'
import type { Observable } from 'rxjs'
import { HoltError } from '../model/error.ts'
import type { Output } from '../model/output.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import { MEMORY } from '../store/database.ts'
import { type PastOptions, pastThenLive } from '../streams/past.ts'
import { where } from '../streams/where.ts'
import { type FileOptions, LogFiles } from './logs-files.ts'
import { jsonOf, outputOf } from './logs-line.ts'
import { type KeptLine, LineRing } from './logs-ring.ts'

export interface LogOptions extends FileOptions {
  /** Kept in memory of each agent. */
  readonly ringLines: number
  /** The same in characters. */
  readonly ringChars: number
}

export const LOG_DEFAULTS: LogOptions = { ringLines: 1000, ringChars: 262_144, fileBytes: 1_048_576, files: 4 }

/** Which lines are asked for. */
export interface LogQuery {
  /** Of this agent. @default of all */
  readonly id?: string | undefined
  /** Lines from this moment on, ms since the epoch. @default from the oldest that is kept */
  readonly since?: number | undefined
  /** Only lines with this text in them, as it stands. @default all lines */
  readonly grep?: string | undefined
  /** Goes on with each new line. @default ends with the newest line there is */
  readonly follow?: boolean | undefined
  /** The newest so many of the past lines. @default 1000; with `since` 100000 */
  readonly tail?: number | undefined
}

export const MAX_TAIL = 100_000
const DEFAULT_TAIL = 1000
/** Of past lines in one answer, the newest first: what a client may leave unread is bounded. */
const MAX_PAST_CHARS = 4_194_304

export interface LogParts {
  /** Files go into a folder of it; nowhere where it is `:memory:`. */
  readonly stateDir: string
  readonly clock: Clock
  readonly log: Logger
  readonly options: LogOptions
  readonly watched: Pick<PastOptions<Output>, 'onObserverError' | 'onMissed'>
}

/** A line read back, with where it belongs. */
interface Found {
  readonly output: Output
  readonly n: number
  readonly chars: number
}

export class Logs {
  readonly #rings = new Map<string, LineRing>()
  readonly #parts: LogParts
  readonly #files: LogFiles | null
  /** Tells lines of this host from those of one before it. */
  readonly #run: number
  #count = 0

  constructor(parts: LogParts) {
    const { stateDir, clock, log, options } = parts
    const dir = join(stateDir, 'logs')
    this.#parts = parts
    this.#run = clock.wall()
    this.#files =
      stateDir === MEMORY
        ? null
        : new LogFiles({
            ...options,
            dir,
            clock,
            onFault: (why) => log.error({ kind: 'logs.lost' }, `output of agents is not kept in ${dir}: ${why}`),
            onRecovered: (lost) =>
              log.warn({ kind: 'logs.kept', lost }, `output is kept again; ${lost} lines were lost`),
          })
  }

  /** A line was printed. Before it is published. */
  take(output: Output): void {
    const n = ++this.#count
    const json = jsonOf(output, { n, run: this.#run })
    this.#ringOf(output.agent).push({ n, at: output.at, json })
    this.#files?.append(output.agent, json)
  }

  /**
   * Past lines, and then, where they are to be followed, live ones.
   * @param ids the agents whose past is looked at
   * @param live$ what is published from now on, of all agents
   */
  open(ids: readonly string[], query: LogQuery, live$: Observable<Output>): Observable<Output> {
    const { id } = query
    const wanted = (output: Output): boolean => (id === undefined || output.agent === id) && matches(output, query)
    return pastThenLive({
      ...this.#parts.watched,
      past: () => this.past(ids, query),
      live$: query.follow === true ? where(live$, wanted) : null,
    })
  }

  /** Past lines of these agents, oldest first. What is in memory is taken in the very call. */
  async past(ids: readonly string[], query: LogQuery): Promise<Output[]> {
    const tail = query.tail ?? (query.since === undefined ? DEFAULT_TAIL : MAX_TAIL)
    if (tail === 0) return []
    const rings = ids.map((id) => [id, this.#rings.get(id)?.lines() ?? []] as const)
    let found: Found[] = []
    for (const [id, ring] of rings) {
      found.push(...(await this.#pastOf(id, ring, query, tail)))
      if (ids.length > 1) found = newest(inOrder(found), tail)
    }
    return newest(inOrder(found), tail).map(({ output }) => output)
  }

  /** An agent that is one no more. */
  forget(id: string): void {
    this.#rings.delete(id)
    void this.#files?.remove(id)
  }

  async close(): Promise<void> {
    await this.#files?.close()
  }

  #ringOf(agent: string): LineRing {
    let ring = this.#rings.get(agent)
    if (ring === undefined) {
      ring = new LineRing(this.#parts.options.ringLines, this.#parts.options.ringChars)
      this.#rings.set(agent, ring)
    }
    return ring
  }

  /** The newest of one agent, oldest first. */
  async #pastOf(id: string, ring: readonly KeptLine[], query: LogQuery, tail: number): Promise<Found[]> {
    const found: Found[] = []
    for (let index = ring.length - 1; index >= 0 && found.length < tail; index--) take(found, ring[index]!.json, query)
    if (found.length >= tail || this.#files === null) return found.reverse()
    // Lines that have left the memory may not have reached the file yet.
    await this.#files.flush(id)
    const oldest = ring[0]?.n ?? Number.POSITIVE_INFINITY
    for await (const lines of this.#files.read(id)) {
      for (let index = lines.length - 1; index >= 0 && found.length < tail; index--)
        take(found, lines[index]!, query, (n, run) => run !== this.#run || n < oldest)
      if (found.length >= tail) break
    }
    return found.reverse()
  }
}

function take(found: Found[], json: string, query: LogQuery, isOlder?: (n: number, run: number) => boolean): void {
  if (json === '') return
  const line = outputOf(json)
  if (line === null || !matches(line.output, query)) return
  if (isOlder?.(line.n, line.run) === false) return
  found.push({ output: line.output, n: line.n, chars: json.length })
}

const matches = ({ at, text }: Output, { since, grep }: LogQuery): boolean =>
  (since === undefined || at >= since) && (grep === undefined || text.includes(grep))

const inOrder = (found: Found[]): Found[] => found.sort((a, b) => a.output.at - b.output.at || a.n - b.n)

function newest(found: readonly Found[], tail: number): Found[] {
  let from = found.length
  for (let chars = 0; from > 0 && found.length - from < tail; from--) {
    chars += found[from - 1]!.chars
    if (chars > MAX_PAST_CHARS) break
  }
  return found.slice(from)
}

/** @throws HoltError `InvalidOption` */
export function checkLogOptions(given: Partial<LogOptions> | undefined): LogOptions {
  const unknown = Object.keys(given ?? {}).filter((name) => !(name in LOG_DEFAULTS))
  if (unknown.length > 0)
    throw new HoltError('InvalidOption', `logs: expected ${Object.keys(LOG_DEFAULTS).join(', ')}, found ${unknown[0]}`)
  const options = { ...LOG_DEFAULTS, ...given }
  for (const [name, value] of Object.entries(options))
    if (!Number.isSafeInteger(value) || value < 1)
      throw new HoltError('InvalidOption', `logs.${name}: expected a whole number from 1, found ${String(value)}`)
  return options
}
