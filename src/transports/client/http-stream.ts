/** A stream of a host over HTTP, as an async iterable: the socket is read as the reader reads. */
import { type ErrorCode, HoltError } from '../../model/error.ts'
import type { EventReader } from './event-reader.ts'
import type { Stream } from './stream.ts'

export interface HttpStreamDeps {
  readonly reader: EventReader
  /** @throws HoltError of the host; what fetch throws */
  open(): Promise<AsyncIterable<Uint8Array>>
  errorOf(thrown: unknown): HoltError
  /** A value as it was before it was written. */
  read(value: unknown): unknown
  onClosed(): void
}

export class HttpStream implements Stream {
  readonly opened: Promise<void>
  readonly #deps: HttpStreamDeps
  readonly #body: Promise<AsyncIterable<Uint8Array>>
  #closed = false

  constructor(deps: HttpStreamDeps) {
    this.#deps = deps
    this.#body = deps.open()
    this.opened = this.#body.then(
      () => {},
      (thrown) => {
        throw deps.errorOf(thrown)
      },
    )
    // Whoever reads the values is told as well.
    this.opened.catch(() => {})
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<unknown, undefined> {
    const { reader, read, errorOf } = this.#deps
    try {
      for await (const piece of await this.#body) {
        for (const { event, data } of reader.read(piece)) {
          if (event === 'end') return
          if (event === 'error') throw failureOf(JSON.parse(data) as Record<string, unknown>)
          if (event !== 'snapshot') yield await read(JSON.parse(data))
        }
      }
      // Only `end` is the end.
      if (!this.#closed) throw new HoltError('NoHost', 'not connected: the connection ended', { reason: 'closed' })
    } catch (thrown) {
      if (!this.#closed) throw errorOf(thrown)
    } finally {
      this.close()
    }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#deps.onClosed()
  }
}

const failureOf = ({ code, detail }: Record<string, unknown>): HoltError =>
  new HoltError((typeof code === 'string' ? code : 'Internal') as ErrorCode, String(detail))
