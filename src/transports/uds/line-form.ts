/**
 * The line form: a request a line, `{"cmd":…}`, and an answer a line, in the order of the requests. A request is begun
 * once the one before it has been answered, so `stop` and `start` sent together do what they say. A stream takes the
 * connection: `ok`, then a value a line; when it ends, so does the connection.
 */
import { HoltError } from '../../model/error.ts'
import { answerError } from '../dispatch.ts'
import type { Prepared } from '../service.ts'
import { type Followed, follow } from './follow.ts'
import type { Link } from './link.ts'
import type { LineRequest, Refusal } from './request.ts'
import { written, writtenLoosely } from './written.ts'

interface Waiting {
  readonly request: LineRequest | Refusal | HoltError
  readonly bytes: number
}

export const lineError = (thrown: unknown): string => JSON.stringify({ ok: false, error: answerError(thrown) })

export class LineForm {
  readonly #link: Link
  readonly #waiting: Waiting[] = []
  #busy = false
  #followed: Followed | null = null
  #stream: string | null = null

  constructor(link: Link) {
    this.#link = link
  }

  /** Streams that are followed. */
  get streams(): number {
    return this.#followed === null ? 0 : 1
  }

  /** @param request an error is answered in its turn */
  take(request: LineRequest | Refusal | HoltError, bytes: number): void {
    this.#link.begin(bytes)
    this.#waiting.push({ request, bytes })
    this.goOn()
  }

  /** Begins what waits, once the client has read enough of what it was answered. */
  goOn(): void {
    if (!this.#busy) void this.#work()
  }

  /** Ends the stream, told by the end of the connection. */
  endStreams(): void {
    this.#followed?.stop()
    this.#followed = null
  }

  async #work(): Promise<void> {
    this.#busy = true
    while (this.#waiting.length > 0 && this.#link.isRead) {
      const { request, bytes } = this.#waiting.shift()!
      await this.#answer(request)
      this.#link.settle(bytes)
    }
    this.#busy = false
  }

  async #answer(request: LineRequest | Refusal | HoltError): Promise<void> {
    try {
      if (request instanceof HoltError) throw request
      if ('refused' in request) throw new HoltError('InvalidInput', request.refused)
      if (this.#stream !== null) throw taken(this.#stream)
      const prepared = this.#link.service.prepare(request.cmd, request.given, { who: request.who })
      if (prepared.kind === 'stream') this.#open(request, prepared)
      else this.#link.answer(JSON.stringify({ ok: true, result: written(await prepared.run(), request.encoding) }))
    } catch (error) {
      this.#link.answer(lineError(error))
    }
  }

  #open({ cmd: name, encoding }: LineRequest, prepared: Prepared & { kind: 'stream' }): void {
    if (!this.#link.open) throw new HoltError('ShuttingDown', 'this connection is about to end')
    const source = prepared.open()
    this.#stream = name
    this.#link.answer('{"ok":true,"result":null}')
    let ended = false
    const followed = follow(source, {
      value: (value) => this.#link.value(JSON.stringify(writtenLoosely(value, encoding))),
      end: (failure) => {
        ended = true
        this.#followed = null
        if (failure !== null) this.#link.answer(lineError(failure.error))
        this.#link.finish()
      },
    })
    if (!ended) this.#followed = followed
  }
}

const taken = (stream: string): HoltError =>
  new HoltError(
    'InvalidCommand',
    `this connection follows '${stream}' and takes no more lines. Open another, or speak JSON-RPC, which has ids.`,
  )
