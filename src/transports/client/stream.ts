/**
 * A stream of a host as an async iterable, on a connection of its own: a reader that is slow slows nothing else, and the
 * host sees it. Ends when the host ends it, throws when the host is lost, and lets go when the loop is left.
 */
import { HoltError } from '../../model/error.ts'
import type { Clock, Timer } from '../../platform/clock.ts'
import { dataOf, tookTooLong } from './calls.ts'
import { type Channel, errorOf, type Incoming, openChannel } from './channel.ts'
import { lost } from './refused.ts'

export interface Stream<T = unknown> extends AsyncIterable<T> {
  /** Resolves once the host sends values: what happens from then on is in the stream. */
  readonly opened: Promise<void>
  close(): void
}

export interface StreamDeps {
  readonly path: string
  readonly clock: Clock
  readonly timeoutMs: number
  /** A value as it was before it was written. */
  readonly read: (value: unknown) => unknown
  readonly onClosed: () => void
}

/** Values that wait for the reader before the socket is read no more, and below which it is read again. */
const MANY = 1024
const FEW = 256
const SHOWN = 60

type Next = IteratorResult<unknown, undefined>
interface Waiting {
  readonly resolve: (next: Next) => void
  readonly reject: (error: HoltError) => void
}

const DONE: Next = { done: true, value: undefined }

export class HostStream implements Stream, AsyncIterator<unknown, undefined> {
  readonly opened: Promise<void>
  readonly #deps: StreamDeps
  readonly #values: unknown[] = []
  readonly #waiting: Waiting[] = []
  #channel: Channel | null = null
  #end: { readonly error: HoltError | null } | null = null
  #timer: Timer | null = null
  #onOpened!: { resolve: () => void; reject: (error: HoltError) => void }

  constructor(deps: StreamDeps, request: Incoming | Promise<Incoming>) {
    this.#deps = deps
    this.opened = new Promise((resolve, reject) => {
      this.#onOpened = { resolve, reject }
    })
    // Whoever reads the values is told as well.
    this.opened.catch(() => {})
    void this.#open(request)
  }

  [Symbol.asyncIterator](): AsyncIterator<unknown, undefined> {
    return this
  }

  async next(): Promise<Next> {
    const { done, value } = await this.#next()
    return done === true ? DONE : { done: false, value: await this.#deps.read(value) }
  }

  #next(): Promise<Next> {
    if (this.#values.length > 0) {
      const value = this.#values.shift()
      if (this.#values.length < FEW) this.#channel?.resume()
      return Promise.resolve({ done: false, value })
    }
    if (this.#end === null) return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
    const { error } = this.#end
    this.#end = { error: null }
    return error === null ? Promise.resolve(DONE) : Promise.reject(error)
  }

  return(): Promise<Next> {
    this.close()
    return Promise.resolve(DONE)
  }

  close(): void {
    this.#values.length = 0
    this.#finish(null)
  }

  async #open(asked: Incoming | Promise<Incoming>): Promise<void> {
    const { path, clock, timeoutMs } = this.#deps
    try {
      const request = await asked
      const channel = await openChannel(
        {
          path,
          clock,
          onMessage: (message) => this.#take(message),
          onTold: () => {},
          onLost: (error) => this.#finish(error),
        },
        timeoutMs,
      )
      if (this.#end !== null) {
        channel.close(gone())
        return
      }
      this.#channel = channel
      this.#timer = clock.after(timeoutMs, () => {
        this.#finish(tookTooLong(path, String(request['method']), timeoutMs, channel.half))
      })
      channel.send({ jsonrpc: '2.0', id: 1, ...request })
    } catch (error) {
      this.#finish(error as HoltError)
    }
  }

  #take(message: Incoming): void {
    const { id, method, params } = message
    if (id === 1 || id === null) {
      if ('error' in message) throw errorOf(dataOf(message['error']))
      this.#timer?.cancel()
      this.#onOpened.resolve()
      return
    }
    if (typeof method !== 'string' || typeof params !== 'object' || params === null) {
      throw lost(
        this.#deps.path,
        `expected values of a stream, found '${JSON.stringify(message).slice(0, SHOWN)}'`,
        'stranger',
      )
    }
    const { value, error } = params as Incoming
    if (method === 'facts') this.#put(value)
    else if (method === 'end') this.#finish(error === undefined ? null : errorOf(error))
  }

  #put(value: unknown): void {
    const waiting = this.#waiting.shift()
    if (waiting !== undefined) {
      waiting.resolve({ done: false, value })
      return
    }
    this.#values.push(value)
    if (this.#values.length >= MANY) this.#channel?.pause()
  }

  #finish(error: HoltError | null): void {
    if (this.#end !== null) return
    this.#end = { error }
    this.#timer?.cancel()
    this.#onOpened.reject(error ?? gone())
    const [first, ...others] = this.#waiting.splice(0)
    if (first !== undefined) {
      this.#end = { error: null }
      if (error === null) first.resolve(DONE)
      else first.reject(error)
    }
    for (const other of others) other.resolve(DONE)
    this.#channel?.close(gone())
    this.#deps.onClosed()
  }
}

const gone = (): HoltError => new HoltError('Aborted', 'the stream was closed')
