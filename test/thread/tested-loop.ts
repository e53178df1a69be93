/** A loop with a real flight recorder, ports that keep what is posted, and roles made by hand. */
import type { MessagePort } from 'node:worker_threads'
import { CELL, FlightRecorder } from '../../src/model/flight-recorder.ts'
import { newHandlerCounts } from '../../src/model/handler-counts.ts'
import { type Body, encodePayload } from '../../src/model/payload.ts'
import { BodyColumnBuilder, readColumn } from '../../src/model/payload-column.ts'
import type { Batch, DataFromThread, Flush, FromThread, Init } from '../../src/model/wire.ts'
import { ContextFactory } from '../../src/thread/context.ts'
import type { Fatal } from '../../src/thread/fatal.ts'
import { Histograms } from '../../src/thread/histograms.ts'
import { createLogger } from '../../src/thread/log.ts'
import { Loop } from '../../src/thread/loop.ts'
import { Outbox } from '../../src/thread/outbox.ts'
import type { CommandDefinition, Context } from '../../src/thread/role.ts'
import type { CommandEntry, EventEntry, Roles } from '../../src/thread/roles.ts'

type Handler = (payload: never, ctx: Context) => unknown

export interface Handlers {
  readonly events?: Readonly<Record<string, Handler>>
  readonly commands?: Readonly<Record<string, Partial<CommandDefinition<never, unknown>> & { handle: Handler }>>
  /** The role goes on after an error. */
  readonly continues?: boolean
  readonly stops?: readonly ((ctx: Context) => unknown)[]
}

/** Thrown in place of the end of the thread. */
export class ThreadEnded extends Error {}

/** A message to the loop. */
export interface Sent {
  readonly name?: string
  readonly payload?: unknown
  readonly ask?: number
  readonly expires?: number
  readonly skip?: boolean
  readonly solo?: boolean
}

export function rolesOf({ events = {}, commands = {}, continues = false, stops = [] }: Handlers): Roles {
  const handlers = [...new Set([...Object.keys(events), ...Object.keys(commands)])]
  const entry = (name: string) => ({ at: handlers.indexOf(name), continues })
  return {
    events: new Map(Object.entries(events).map(([name, run]) => [name, { ...entry(name), run } as EventEntry])),
    commands: new Map(
      Object.entries(commands).map(([name, command]) => [name, { ...entry(name), command } as unknown as CommandEntry]),
    ),
    handlers,
    counts: newHandlerCounts(handlers.length),
    infos: [],
    stops,
  }
}

/** A port that keeps what is posted, as the other side would get it. */
export class KeptPort {
  readonly posted: DataFromThread[] = []

  postMessage(message: DataFromThread): void {
    this.posted.push(structuredClone(message))
  }

  get flushes(): Flush[] {
    return this.posted.filter((message) => message !== 0)
  }

  get bells(): number {
    return this.posted.length - this.flushes.length
  }

  asPort(): MessagePort {
    return this as unknown as MessagePort
  }
}

export class TestedLoop {
  readonly recorder: FlightRecorder
  readonly port = new KeptPort()
  readonly outbox: Outbox
  readonly loop: Loop
  /** What was posted on the control port. */
  readonly control: FromThread[] = []
  readonly fatals: { readonly error: unknown; readonly seq: number | undefined }[] = []
  /** Turns in which something ran. */
  pulses = 0
  /** How a fatal error ends: by a throw, as nothing may follow it. */
  dies = true
  #next: number

  /** @param after the number of the last delivery before the first */
  constructor(handlers: Handlers, concurrency = 1, after = 0) {
    this.recorder = FlightRecorder.create(concurrency).recorder
    for (const cell of [CELL.begun, CELL.done]) this.recorder.write(cell, after)
    this.#next = after
    this.outbox = new Outbox('a', this.recorder, this.port.asPort())
    const post = (message: FromThread): void => void this.control.push(message)
    const fatal = ((error: unknown, seq?: number) => {
      this.fatals.push({ error, seq })
      if (this.dies) throw new ThreadEnded()
    }) as Fatal
    this.loop = new Loop({
      recorder: this.recorder,
      outbox: this.outbox,
      histograms: new Histograms(post),
      post,
      fatal,
      pulse: () => void this.pulses++,
    })
    const mounted = { get: () => ({}) as never, shutdown: async () => {} }
    const init = { agent: 'a', instance: 'i', epoch: 1 } as Init
    const contexts = new ContextFactory(init, this.outbox, createLogger(post), mounted, () => this.loop.stopSelf())
    this.loop.equip(rolesOf(handlers), contexts, mounted)
  }

  /** One batch, as the pump would post it. */
  send(...messages: readonly Sent[]): void {
    this.loop.take(batchOf((this.#next + 1) | 0, messages))
    this.#next = (this.#next + messages.length) | 0
  }

  get begun(): number {
    return this.recorder.read(CELL.begun)
  }

  get done(): number {
    return this.recorder.read(CELL.done)
  }

  /** Replies by delivery: a value, or the error as `code: message`. */
  get replies(): Record<number, unknown> {
    const replies: Record<number, unknown> = {}
    for (const { replies: column } of this.port.flushes) {
      if (column === undefined) continue
      const values = readColumn(column)
      const errors = new Map(column.errors)
      column.seqs.forEach((seq, index) => {
        const error = errors.get(index)
        replies[seq] = error === undefined ? values[index] : `${error.code ?? error.name}: ${error.message}`
      })
    }
    return replies
  }

  get outcomes(): string[] {
    return this.port.flushes.flatMap(({ outcomes = [] }) =>
      outcomes.map(({ seq, fate, name }) => `${seq} ${fate} ${name}`),
    )
  }

  get paused(): number[] {
    return this.control.flatMap((message) => (message.type === 'paused' ? [message.n] : []))
  }

  /** The host shuts the gate: the flag first, then the message. */
  pause(n: number): void {
    this.recorder.write(CELL.pause, 1)
    this.loop.pause(n)
  }

  resume(): void {
    this.recorder.write(CELL.pause, 0)
    this.loop.resume()
  }
}

export function batchOf(first: number, messages: readonly Sent[]): Batch {
  const column = new BodyColumnBuilder()
  for (const { payload } of messages) column.add(encodePayload(payload) as Body)
  const indices = (pick: (sent: Sent) => boolean | undefined): number[] =>
    messages.flatMap((message, index) => (pick(message) === true ? [index] : []))
  const [skip, solo] = [indices((sent) => sent.skip), indices((sent) => sent.solo)]
  return {
    type: 'batch',
    first,
    count: messages.length,
    names: messages.map(({ name = 'e' }) => name),
    ...column.build(),
    asks: messages.map(({ ask = 0 }) => ask),
    expires: messages.map(({ expires = 0 }) => expires),
    ...(skip.length === 0 ? {} : { skip }),
    ...(solo.length === 0 ? {} : { solo }),
  }
}

/** A handler that runs until it is told to end. */
export class Held {
  readonly #ends: { readonly resolve: (value: unknown) => void; readonly reject: (error: unknown) => void }[] = []

  readonly handle = (): Promise<unknown> => new Promise((resolve, reject) => this.#ends.push({ resolve, reject }))

  get count(): number {
    return this.#ends.length
  }

  end(which = 0, value?: unknown): void {
    this.#ends.splice(which, 1)[0]?.resolve(value)
  }

  fail(which: number, error: unknown): void {
    this.#ends.splice(which, 1)[0]?.reject(error)
  }
}
