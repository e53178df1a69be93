/**
 * JSON-RPC 2.0: requests are begun as they come and answered as they end, batches as a whole. A stream is answered with
 * the number of a subscription; its values follow as notifications, once that answer has been written.
 */
import { type ErrorCode, HoltError } from '../../model/error.ts'
import { answerError } from '../dispatch.ts'
import type { Encoding } from '../packed.ts'
import type { Prepared } from '../service.ts'
import { type Followed, follow } from './follow.ts'
import type { Link } from './link.ts'
import type { Refusal, RpcId, RpcRequest } from './request.ts'
import { written, writtenLoosely } from './written.ts'

/** Of a HoltError; those that are not here are -32000. */
const RPC_CODES: Partial<Record<ErrorCode, number>> = {
  NoSuchOperation: -32601,
  InvalidInput: -32602,
  Internal: -32603,
}
const SERVER_ERROR = -32000

/** An answer, and what is to be done once it has been written. */
interface Answer {
  readonly line: string
  readonly after?: () => void
}

const rpcError = (thrown: unknown, code?: number) => {
  const data = answerError(thrown)
  return { code: code ?? RPC_CODES[data.code] ?? SERVER_ERROR, message: data.message, data }
}

export const rpcErrorLine = (thrown: unknown, id: RpcId = null, code?: number): string =>
  JSON.stringify({ jsonrpc: '2.0', error: rpcError(thrown, code), id })

const refusalLine = ({ refused, rpcCode, id }: Refusal): string =>
  rpcErrorLine(new HoltError('InvalidInput', refused), id, rpcCode)

const resultLine = (result: unknown, id: RpcId, encoding: Encoding): string =>
  JSON.stringify({ jsonrpc: '2.0', result: written(result, encoding), id })

const notification = (method: string, params: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({ jsonrpc: '2.0', method, params })

export class RpcForm {
  readonly #link: Link
  /** Null: its answer has not been written. */
  readonly #subscriptions = new Map<number, Followed | null>()
  #lastSubscription = 0

  constructor(link: Link) {
    this.#link = link
  }

  /** Streams that are followed. */
  get streams(): number {
    return this.#subscriptions.size
  }

  take(request: RpcRequest | Refusal, bytes: number): void {
    this.#link.begin(bytes)
    void this.#answer(request).then((answer) => {
      if (answer !== null) this.#link.answer(answer.line)
      answer?.after?.()
      this.#link.settle(bytes)
    })
  }

  /** Answered whole, in the order of its requests; not at all where it has notifications only. */
  takeBatch(requests: readonly (RpcRequest | Refusal)[], bytes: number): void {
    // Each of them counts; the line counts once.
    requests.forEach((_, index) => void this.#link.begin(index === 0 ? bytes : 0))
    void Promise.all(requests.map((request) => this.#answer(request))).then((all) => {
      const answers = all.filter((answer) => answer !== null)
      if (answers.length > 0) this.#link.answer(`[${answers.map(({ line }) => line).join(',')}]`)
      for (const { after } of answers) after?.()
      requests.forEach((_, index) => void this.#link.settle(index === 0 ? bytes : 0))
    })
  }

  /** Ends every stream and says so to the client. */
  endStreams(why: HoltError): void {
    for (const [subscription, followed] of this.#subscriptions) {
      followed?.stop()
      this.#link.answer(notification('end', { subscription, error: answerError(why) }))
    }
    this.#subscriptions.clear()
  }

  /** Never rejects; null: the request wants no answer. */
  async #answer(request: RpcRequest | Refusal): Promise<Answer | null> {
    if ('refused' in request) return { line: refusalLine(request) }
    const { id } = request
    try {
      if (request.method === 'unsubscribe')
        return id === undefined ? this.#end(request) : this.#unsubscribe(request, id)
      const prepared = this.#link.service.prepare(request.method, request.given, { who: request.who })
      if (prepared.kind === 'stream') return id === undefined ? null : this.#subscribe(prepared, id, request.encoding)
      const result = await prepared.run()
      return id === undefined ? null : { line: resultLine(result, id, request.encoding) }
    } catch (error) {
      return id === undefined ? null : { line: rpcErrorLine(error, id) }
    }
  }

  #subscribe(prepared: Prepared & { kind: 'stream' }, id: RpcId, encoding: Encoding): Answer {
    const { subscriptions: most } = this.#link.limits
    if (this.#subscriptions.size >= most) {
      throw new HoltError('Overloaded', `this connection follows ${most} streams already, as many as it may`)
    }
    if (!this.#link.open) throw new HoltError('ShuttingDown', 'this connection is about to end')
    const source = prepared.open()
    const subscription = ++this.#lastSubscription
    this.#subscriptions.set(subscription, null)
    const after = (): void => {
      if (!this.#subscriptions.has(subscription)) return
      const followed = follow(source, {
        value: (value) =>
          this.#link.value(notification('facts', { subscription, value: writtenLoosely(value, encoding) })),
        end: (failure) => {
          this.#subscriptions.delete(subscription)
          const error = failure === null ? {} : { error: answerError(failure.error) }
          this.#link.answer(notification('end', { subscription, ...error }))
          this.#link.streamEnded()
        },
      })
      if (this.#subscriptions.has(subscription)) this.#subscriptions.set(subscription, followed)
    }
    return { line: resultLine({ subscription }, id, 'json'), after }
  }

  #unsubscribe(request: RpcRequest, id: RpcId): Answer {
    this.#end(request)
    return { line: resultLine(true, id, 'json') }
  }

  /** @throws HoltError `InvalidInput` where there is no such subscription */
  #end({ given }: RpcRequest): null {
    const subscription = 'input' in given ? given.input['subscription'] : given.args[0]
    const followed = this.#subscriptions.get(subscription as number)
    if (followed === undefined) {
      const open = [...this.#subscriptions.keys()].join(', ') || 'none'
      throw new HoltError('InvalidInput', `subscription: expected one of this connection (${open})`, {
        field: 'subscription',
      })
    }
    this.#subscriptions.delete(subscription as number)
    followed?.stop()
    return null
  }
}
