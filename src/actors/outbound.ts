/**
 * What a thread sends to other agents: routed in order, answered in batches. The thread's credit is given back as its
 * messages are taken, so that a flood is bounded in the thread and not in a port. One per instance.
 */
import { describeError, type ErrorShape, HoltError } from '../model/error.ts'
import { CELL, type FlightRecorder } from '../model/flight-recorder.ts'
import { type AskOptions, type Fate, identified, type SendOptions } from '../model/message.ts'
import { nameIn } from '../model/name-column.ts'
import { decodeBody, Encoded, encodePayload } from '../model/payload.ts'
import { BodyColumnBuilder, readBodies } from '../model/payload-column.ts'
import { type Answers, HOST_ADDRESS, type Sends } from '../model/wire.ts'
import { messageIdOf } from './flush.ts'
import type { Inbox } from './inbox.ts'

/** The way from one agent to another. Rejects and answers as the same call of a program would. */
export interface Router {
  /** @param options its `messageId` is the same each time it is sent for the same durable message */
  tell(from: string, to: string, name: string, payload: unknown, options?: SendOptions): boolean
  emit(from: string, to: string, name: string, payload: unknown, options?: SendOptions): Promise<Fate>
  ask(from: string, to: string, name: string, payload: unknown, options: AskOptions): Promise<unknown>
  /** What an agent asks of its host. */
  request(from: string, name: string, payload: unknown): Promise<unknown>
  now(): number
}

export class Outbound {
  readonly #from: string
  readonly #inbox: Inbox
  readonly #router: Router
  readonly #post: (answers: Answers) => void
  #ids: number[] = []
  #values: unknown[] = []
  #errors: [number, ErrorShape][] = []

  constructor(
    { id, inbox }: { readonly id: string; readonly inbox: Inbox },
    router: Router,
    post: (answers: Answers) => void,
  ) {
    this.#from = id
    this.#inbox = inbox
    this.#router = router
    this.#post = post
  }

  take(sends: Sends, recorder: FlightRecorder): void {
    const bodies = readBodies(sends)
    for (let index = 0; index < sends.count; index++) {
      const to = nameIn(sends.to, index)
      const name = nameIn(sends.names, index)
      const payload = to === HOST_ADDRESS ? decodeBody(bodies[index]!) : new Encoded(bodies[index]!)
      const id = sends.ids?.[index] ?? 0
      const due = sends.due?.[index] ?? 0
      const options = identified(this.#messageId(sends, index), sends.traces?.[index] || undefined)
      if (id === 0) this.#router.tell(this.#from, to, name, payload, options)
      else void this.#answer(id, this.#send(to, name, payload, due, options))
    }
    recorder.add(CELL.sendsTaken, sends.count)
  }

  /** Made from what it was sent for, so that a second delivery of that sends nothing twice. */
  #messageId({ of, n }: Sends, index: number): string | undefined {
    const seq = of?.[index] ?? 0
    const cause = seq === 0 ? undefined : messageIdOf(this.#inbox, seq)
    return cause === undefined ? undefined : `${cause}/${n![index]}`
  }

  async #send(to: string, name: string, payload: unknown, due: number, options?: SendOptions): Promise<unknown> {
    const from = this.#from
    if (to === HOST_ADDRESS) return this.#router.request(from, name, payload)
    if (due === 0) return this.#router.emit(from, to, name, payload, options)
    const timeoutMs = due - this.#router.now()
    if (timeoutMs <= 0)
      throw new HoltError('Timeout', `the deadline for '${name}' to agent '${to}' had passed when it was sent`)
    const traced = options?.traceparent === undefined ? {} : { traceparent: options.traceparent }
    return this.#router.ask(from, to, name, payload, { timeoutMs, ...traced })
  }

  async #answer(id: number, sent: Promise<unknown>): Promise<void> {
    let value: unknown
    let error: ErrorShape | undefined
    try {
      value = await sent
    } catch (thrown) {
      error = describeError(thrown)
    }
    const index = this.#ids.push(id) - 1
    this.#values.push(value)
    if (error !== undefined) this.#errors.push([index, error])
    if (index === 0) process.nextTick(this.#flush)
  }

  readonly #flush = (): void => {
    const column = new BodyColumnBuilder()
    for (const value of this.#values) column.add(encodePayload(value))
    const errors = this.#errors.length === 0 ? {} : { errors: this.#errors }
    this.#post({ type: 'answers', ids: this.#ids, ...column.build(), ...errors })
    this.#ids = []
    this.#values = []
    this.#errors = []
  }
}
