/**
 * Server-sent events to one client: what a stream tells, one event each, and a comment now and then. What the client has
 * not read is bounded: past it, or when it reads nothing for long, it is cut, and may come back from where it was. A
 * client that has gone is forgotten at once.
 */
import type { ServerResponse } from 'node:http'
import type { Observable } from 'rxjs'
import { HoltError } from '../../model/error.ts'
import type { Clock, Timer } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { Schedule } from '../../streams/bus.ts'
import { nextTurn } from '../../streams/bus.ts'
import { type Followed, follow } from '../uds/follow.ts'
import { problemOf } from './problem.ts'
import { SAFE_HEADERS } from './reply.ts'

export interface SentEvent {
  /** The cursor to come back with. */
  readonly id?: number
  readonly event: string
  readonly data: string
}

export interface StreamLimits {
  readonly unreadBytes: number
  readonly stalledMs: number
  readonly heartbeatMs: number
}

export interface StreamDeps {
  readonly clock: Clock
  readonly log: Logger
  readonly limits: StreamLimits
  /** Whether its client may listen still; asked with every heartbeat. */
  readonly allowed: () => boolean
}

export const EVENT_STREAM = 'text/event-stream'
/** How soon a browser comes back after a cut. */
const RETRY_MS = 1000

export const STREAM_HEADERS = {
  ...SAFE_HEADERS,
  'Content-Type': `${EVENT_STREAM}; charset=utf-8`,
  'Cache-Control': 'no-store, no-transform',
  // A proxy that collects what it passes on would hold events back.
  'X-Accel-Buffering': 'no',
} as const

/** As it is written; a line feed within would end it. */
export const eventText = ({ id, event, data }: SentEvent): string =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data.replaceAll(/\r\n|\r|\n/g, '\ndata: ')}\n\n`

export class EventStream {
  readonly #res: ServerResponse
  readonly #deps: StreamDeps
  readonly #onGone: () => void
  #followed: Followed | null = null
  #over = false
  /** Since when something waits and nothing was read. */
  #waitsSince: number | null = null
  /** Told when all has been read. */
  #whenRead: (() => void)[] = []
  readonly #heartbeat: Timer

  /** @param onGone called once, when the client has gone or the stream has ended */
  constructor(res: ServerResponse, deps: StreamDeps, onGone: () => void) {
    this.#res = res
    this.#deps = deps
    this.#onGone = onGone
    res.on('close', () => this.#gone())
    res.on('error', () => {})
    res.on('drain', () => this.#read())
    this.#heartbeat = deps.clock.every(deps.limits.heartbeatMs, () => this.#beat())
  }

  /** Calls once the client has read what it was sent: nothing that is in a log is pushed at it faster than it reads. */
  readonly pace: Schedule = (task) => {
    if (this.#res.writableNeedDrain) this.#whenRead.push(task)
    else nextTurn(task)
  }

  /** Sends the headers, so that the client knows at once. */
  open(headers: Readonly<Record<string, string>>): void {
    this.#res.writeHead(200, { ...STREAM_HEADERS, ...headers })
    this.#write(`retry: ${RETRY_MS}\n\n`)
  }

  /** @param textOf of a value, as {@link eventText} makes it */
  follow(source: Observable<unknown>, textOf: (value: unknown) => string): void {
    let ended = false
    const followed = follow(source, {
      value: (value) => this.#write(textOf(value)),
      end: (failure) => {
        ended = true
        this.end(failure)
      },
    })
    if (ended || this.#over) followed.stop()
    else this.#followed = followed
  }

  send(text: string): void {
    this.#write(text)
  }

  /** Says that it has ended: nobody need come back for more. */
  end(failure: { readonly error: unknown } | null): void {
    if (this.#over) return
    const data = failure === null ? '{}' : JSON.stringify(problemOf(failure.error))
    this.#write(eventText({ event: failure === null ? 'end' : 'error', data }))
    this.#gone()
    if (!this.#res.destroyed) this.#res.end()
  }

  #write(text: string): void {
    if (this.#over || this.#res.destroyed) return
    const { unreadBytes } = this.#deps.limits
    if (this.#res.writableLength > unreadBytes) {
      this.#cut(`${this.#res.writableLength} bytes wait to be read`)
      return
    }
    if (!this.#res.write(text)) this.#waitsSince ??= this.#deps.clock.now()
  }

  #read(): void {
    this.#waitsSince = null
    for (const task of this.#whenRead.splice(0)) nextTurn(task)
  }

  #beat(): void {
    const { allowed, clock, limits } = this.#deps
    if (!allowed()) {
      this.end({ error: new HoltError('Unauthorized', 'the token of this stream was revoked, or has expired') })
      return
    }
    if (this.#waitsSince !== null && clock.now() - this.#waitsSince >= limits.stalledMs) {
      this.#cut(`it has read nothing for ${limits.stalledMs} ms`)
      return
    }
    // Where something waits anyway, a comment would only add to it.
    if (this.#waitsSince === null) this.#write(': so far\n\n')
  }

  #cut(why: string): void {
    this.#deps.log.warn({ kind: 'rest.cut' }, `a client of a stream was cut: ${why}`)
    this.#res.destroy()
    this.#gone()
  }

  #gone(): void {
    if (this.#over) return
    this.#over = true
    this.#heartbeat.cancel()
    this.#whenRead = []
    this.#followed?.stop()
    this.#followed = null
    this.#onGone()
  }
}
