/**
 * What leaves the thread on the data port: replies, fates and messages to other agents, collected and posted together
 * when a batch has been begun or at the end of the turn's callback, or at once when 256 are waiting. It also holds what this agent has asked of
 * others. `flushed` in the flight recorder says up to which delivery all of it has left.
 */
import type { MessagePort } from 'node:worker_threads'
import { type ErrorShape, reviveError } from '../model/error.ts'
import { CELL, type FlightRecorder, signedDifference } from '../model/flight-recorder.ts'
import type { Fate } from '../model/message.ts'
import { NameColumnBuilder } from '../model/name-column.ts'
import { type Body, encodePayload } from '../model/payload.ts'
import { BodyColumnBuilder, padded, readColumn } from '../model/payload-column.ts'
import { type Answers, BELL, type Flush, HOST_ADDRESS, type Outcome } from '../model/wire.ts'

const BATCH = 256
/** Messages to other agents that the host has not taken yet. */
const CREDIT = 16_384

/** What a handler of a durable agent sends: of which delivery it is, and its number among the effects of that. */
export interface Effect {
  readonly seq: number
  readonly n: number
}

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

export class Outbox {
  readonly #agent: string
  readonly #recorder: FlightRecorder
  readonly #port: MessagePort
  readonly #waiting = new Map<number, Waiting>()
  /** Emits and asks that wait for credit, in order. */
  readonly #held: (() => void)[] = []
  #nextId = 1
  #sent = 0
  #armed = false
  #gathering = false
  #outcomes: Outcome[] = []
  #handled: number[] = []
  #replies = new ReplyColumns()
  #sends = new SendColumns()

  constructor(agent: string, recorder: FlightRecorder, port: MessagePort) {
    this.#agent = agent
    this.#recorder = recorder
    this.#port = port
  }

  // --- about deliveries --------------------------------------------------------------------------------------------

  /** @throws HoltError `NotCloneable` when the value cannot cross */
  reply(seq: number, value: unknown): void {
    this.#replies.add(seq, encodePayload(value))
    this.#arm(this.#replies.count)
  }

  fail(seq: number, error: ErrorShape): void {
    this.#replies.fail(seq, error)
    this.#arm(this.#replies.count)
  }

  /** An awaited event was handled. */
  handled(seq: number): void {
    this.#arm(this.#handled.push(seq))
  }

  outcome(outcome: Outcome): void {
    this.#arm(this.#outcomes.push(outcome))
  }

  /** Rings the host: what it waits for is done. */
  ring(): void {
    this.#port.postMessage(BELL)
  }

  // --- to other agents ---------------------------------------------------------------------------------------------

  /** @param trace the `traceparent` it carries, '' for none; so below */
  tell(to: string, name: string, payload: unknown, effect?: Effect, trace = ''): boolean {
    return this.#tell(to, name, encodePayload(payload), effect, trace)
  }

  /** To the agent itself: a timer's event, copied when the timer was set. */
  tellSelf(name: string, body: Body, trace = ''): void {
    this.#tell(this.#agent, name, body, undefined, trace)
  }

  #tell(to: string, name: string, body: Body, effect: Effect | undefined, trace: string): boolean {
    if (!this.#hasCredit()) {
      this.#recorder.add(CELL.sendsDropped, 1)
      return false
    }
    this.#send(to, name, body, 0, 0, effect, trace)
    return true
  }

  emit(to: string, name: string, payload: unknown, effect?: Effect, trace = ''): Promise<Fate> {
    return this.#request(to, name, encodePayload(payload), 0, effect, trace) as Promise<Fate>
  }

  ask(to: string, name: string, payload: unknown, due: number, trace = ''): Promise<unknown> {
    return this.#request(to, name, encodePayload(payload), due, undefined, trace)
  }

  /** To the host itself, in order with what is sent to other agents. */
  request(name: string, payload: unknown): Promise<unknown> {
    return this.#request(HOST_ADDRESS, name, encodePayload(payload), 0, undefined, '')
  }

  onAnswers(answers: Answers): void {
    const values = readColumn(answers)
    const errors = new Map(answers.errors)
    answers.ids.forEach((id, index) => {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      const error = errors.get(index)
      if (error === undefined) waiting?.resolve(values[index])
      else waiting?.reject(reviveError(error))
    })
  }

  #request(
    to: string,
    name: string,
    body: Body,
    due: number,
    effect: Effect | undefined,
    trace: string,
  ): Promise<unknown> {
    const id = this.#nextId++
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
    const send = (): void => this.#send(to, name, body, id, due, effect, trace)
    if (this.#hasCredit()) send()
    else if (this.#held.push(send) === 1) setImmediate(this.#letOut)
    return answer
  }

  readonly #letOut = (): void => {
    for (const send of this.#held.splice(0, this.#credit)) send()
    if (this.#held.length > 0) setImmediate(this.#letOut)
  }

  #send(
    to: string,
    name: string,
    body: Body,
    id: number,
    due: number,
    effect: Effect | undefined,
    trace: string,
  ): void {
    this.#sent = (this.#sent + 1) | 0
    this.#sends.add(to, name, body, id, due, effect, trace)
    this.#arm(this.#sends.count)
  }

  /** Nothing overtakes what waits for credit. */
  #hasCredit(): boolean {
    return this.#held.length === 0 && this.#credit > 0
  }

  get #credit(): number {
    return CREDIT - signedDifference(this.#sent, this.#recorder.read(CELL.sendsTaken))
  }

  // --- leaving -----------------------------------------------------------------------------------------------------

  /** What `work` brings about before it returns leaves when it does, without waiting for the end of the callback. */
  gather(work: () => void): void {
    this.#gathering = true
    try {
      work()
    } finally {
      this.#gathering = false
      this.flush()
    }
  }

  #arm(waiting: number): void {
    if (!this.#armed) {
      this.#armed = true
      this.#recorder.write(CELL.flushed, this.#recorder.read(CELL.done))
      this.#recorder.write(CELL.unposted, 1)
      if (!this.#gathering) process.nextTick(this.#tick)
    }
    if (waiting >= BATCH) this.flush()
  }

  readonly #tick = (): void => this.flush()

  /** Posts all there is, also what waits for credit: the thread ends, and what has not left is lost. */
  close(): void {
    for (const send of this.#held.splice(0)) send()
    this.flush()
  }

  /** Posts all that waits. */
  flush(): void {
    if (!this.#armed) return
    this.#armed = false
    const flush: { -readonly [K in keyof Flush]: Flush[K] } = { type: 'flush' }
    if (this.#outcomes.length > 0) flush.outcomes = this.#outcomes
    if (this.#handled.length > 0) flush.handled = this.#handled
    if (this.#replies.count > 0) flush.replies = this.#replies.build()
    if (this.#sends.count > 0) flush.sends = this.#sends.build()
    this.#port.postMessage(flush)
    this.#outcomes = []
    this.#handled = []
    if (this.#replies.count > 0) this.#replies = new ReplyColumns()
    if (this.#sends.count > 0) this.#sends = new SendColumns()
    this.#recorder.write(CELL.unposted, 0)
  }
}

class ReplyColumns {
  readonly #seqs: number[] = []
  readonly #errors: [number, ErrorShape][] = []
  readonly #bodies = new BodyColumnBuilder()

  get count(): number {
    return this.#seqs.length
  }

  add(seq: number, body: Body): void {
    this.#seqs.push(seq)
    this.#bodies.add(body)
  }

  fail(seq: number, error: ErrorShape): void {
    this.#errors.push([this.#seqs.push(seq) - 1, error])
    this.#bodies.add(0)
  }

  build(): NonNullable<Flush['replies']> {
    return { seqs: this.#seqs, ...this.#bodies.build(), ...(this.#errors.length === 0 ? {} : { errors: this.#errors }) }
  }
}

const NO_EFFECT: Effect = { seq: 0, n: 0 }

class SendColumns {
  readonly #to = new NameColumnBuilder()
  readonly #names = new NameColumnBuilder()
  #count = 0
  readonly #ids: number[] = []
  readonly #due: number[] = []
  readonly #bodies = new BodyColumnBuilder()
  #answered = false
  #of: number[] | undefined
  #n: number[] | undefined
  #traces: string[] | undefined

  get count(): number {
    return this.#count
  }

  add(to: string, name: string, body: Body, id: number, due: number, effect: Effect | undefined, trace: string): void {
    if (effect !== undefined || this.#of !== undefined) this.#addEffect(effect)
    if (trace !== '' || this.#traces !== undefined) this.#addTrace(trace)
    this.#count++
    this.#to.add(to)
    this.#names.add(name)
    this.#ids.push(id)
    this.#due.push(due)
    this.#bodies.add(body)
    if (id !== 0) this.#answered = true
  }

  build(): NonNullable<Flush['sends']> {
    const traces = this.#traces === undefined ? {} : { traces: this.#traces }
    const answered = this.#answered ? { ids: this.#ids, due: this.#due } : {}
    const effects = this.#of === undefined ? {} : { of: this.#of, n: this.#n! }
    const head = { count: this.#count, to: this.#to.build(), names: this.#names.build() }
    return { ...head, ...answered, ...effects, ...traces, ...this.#bodies.build() }
  }

  #addTrace(trace: string): void {
    this.#traces ??= padded<string>(this.count, '')
    this.#traces.push(trace)
  }

  #addEffect({ seq, n }: Effect = NO_EFFECT): void {
    const { count } = this
    this.#of ??= padded<number>(count, 0)
    this.#n ??= padded<number>(count, 0)
    this.#of.push(seq)
    this.#n.push(n)
  }
}
