/**
 * What a handler is given: one small object per message over shared surroundings. Made by the loop; the signal is made
 * only when someone asks for it.
 */
import { setMaxListeners } from 'node:events'
import type { Published } from '../model/channel.ts'
import { HoltError } from '../model/error.ts'
import type { Memory, Session } from '../model/keeping.ts'
import { type AskOptions, DEFAULT_ASK_TIMEOUT_MS, type Fate } from '../model/message.ts'
import { encodePayload } from '../model/payload.ts'
import type { ScheduleInput, ScheduleView } from '../model/schedule.ts'
import type { Spawned, SpawnOptions } from '../model/spawn.ts'
import { checkedTraceparent } from '../model/trace-context.ts'
import type { Init } from '../model/wire.ts'
import { MAX_TIMER_MS, monotonicMs } from '../platform/clock.ts'
import type { MountedCapabilities } from './capabilities.ts'
import { memoryOver, sessionOver } from './keeping.ts'
import type { Effect, Outbox } from './outbox.ts'
import type { Context, Lent, Logger } from './role.ts'

/** Makes contexts for one instance. */
export class ContextFactory {
  readonly init: Init
  readonly outbox: Outbox
  readonly log: Logger
  readonly mounted: MountedCapabilities
  readonly stop: () => void

  constructor(init: Init, outbox: Outbox, log: Logger, mounted: MountedCapabilities, stop: () => void) {
    this.init = init
    this.outbox = outbox
    this.mounted = mounted
    this.stop = stop
    this.log = log
  }

  /** @param traceparent '' for none */
  make(seq: number, name: string, deadline: number | null, traceparent: string): HandlerContext {
    return new HandlerContext(this, seq, name, deadline, traceparent)
  }
}

export class HandlerContext implements Context {
  readonly seq: number
  readonly name: string
  readonly deadline: number | null
  readonly #shared: ContextFactory
  readonly #traceparent: string
  #controller: AbortController | undefined
  #writes = 0
  /** Set once it is aborted, also while nobody has asked for the signal. */
  aborted: Error | undefined

  constructor(shared: ContextFactory, seq: number, name: string, deadline: number | null, traceparent: string) {
    this.#shared = shared
    this.#traceparent = traceparent
    this.seq = seq
    this.name = name
    this.deadline = deadline
  }

  get agent(): string {
    return this.#shared.init.agent
  }

  get instance(): string {
    return this.#shared.init.instance
  }

  get epoch(): number {
    return this.#shared.init.epoch
  }

  get log(): Logger {
    return this.#shared.log
  }

  get traceparent(): string | undefined {
    return this.#traceparent === '' ? undefined : this.#traceparent
  }

  nextWrite(): number {
    return this.#writes++
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.aborted !== undefined) this.#controller.abort(this.aborted)
    }
    return this.#controller.signal
  }

  get remainingMs(): number {
    return this.deadline === null ? Number.POSITIVE_INFINITY : Math.max(0, this.deadline - monotonicMs())
  }

  abort(reason: string): void {
    if (this.aborted !== undefined) return
    this.aborted = new HoltError('Aborted', reason)
    this.#controller?.abort(this.aborted)
  }

  capability<T>(id: string): Lent<T> {
    return this.#shared.mounted.get(id) as Lent<T>
  }

  get memory(): Memory {
    return memoryOver(this.#shared.outbox, this)
  }

  session(id: string): Session {
    return sessionOver(this.#shared.outbox, id, this)
  }

  tell(agent: string, name: string, payload?: unknown): boolean {
    return this.#shared.outbox.tell(agent, name, payload, this.#effect(), this.#traceparent)
  }

  emit(agent: string, name: string, payload?: unknown): Promise<Fate> {
    return this.#shared.outbox.emit(agent, name, payload, this.#effect(), this.#traceparent)
  }

  ask<T>(agent: string, name: string, payload?: unknown, options?: AskOptions): Promise<T> {
    const due = monotonicMs() + checked('timeoutMs', options?.timeoutMs ?? DEFAULT_ASK_TIMEOUT_MS)
    if (options?.signal?.aborted === true) return Promise.reject(givenUp(options.signal))
    const asked = this.#shared.outbox.ask(
      agent,
      name,
      payload,
      this.deadline === null ? due : Math.min(due, this.deadline),
      checkedTraceparent(options?.traceparent) ?? this.#traceparent,
    )
    return (options?.signal === undefined ? asked : untilAborted(asked, options.signal)) as Promise<T>
  }

  after(delayMs: number, name: string, payload?: unknown): () => void {
    const { outbox } = this.#shared
    const body = encodePayload(payload)
    const timer = setTimeout(() => outbox.tellSelf(name, body, this.#traceparent), checked('delayMs', delayMs))
    return () => clearTimeout(timer)
  }

  async watch(agent: string): Promise<void> {
    await this.#shared.outbox.request('watch', { agent })
  }

  async unwatch(agent: string): Promise<void> {
    await this.#shared.outbox.request('unwatch', { agent })
  }

  spawn(supervisor: string, options: SpawnOptions): Promise<Spawned> {
    return this.#shared.outbox.request('spawn', { supervisor, options }) as Promise<Spawned>
  }

  publish(channel: string, event: string, payload?: unknown): Promise<Published> {
    const { traceparent } = this
    const published = { channel, event, payload, of: this.#effect(), traceparent }
    return this.#shared.outbox.request('publish', published) as Promise<Published>
  }

  schedule(schedule: ScheduleInput): Promise<ScheduleView> {
    return this.#shared.outbox.request('schedule', { schedule }) as Promise<ScheduleView>
  }

  unschedule(id: string): Promise<boolean> {
    return this.#shared.outbox.request('unschedule', { id }) as Promise<boolean>
  }

  stop(): void {
    this.#shared.stop()
  }

  #effect(): Effect | undefined {
    return this.#shared.init.durable ? { seq: this.seq, n: this.nextWrite() } : undefined
  }
}

function checked(option: string, ms: number): number {
  if (Number.isFinite(ms) && ms >= 0 && ms <= MAX_TIMER_MS) return ms
  throw new HoltError('InvalidOption', `${option}: expected a number from 0 to ${MAX_TIMER_MS}, found ${ms}`)
}

/** The caller gives up; the other side runs into its deadline. */
function untilAborted(asked: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(givenUp(signal))
    // Any number of asks may share it.
    setMaxListeners(0, signal)
    signal.addEventListener('abort', abort, { once: true })
    void asked.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

const givenUp = (signal: AbortSignal): HoltError =>
  new HoltError('Aborted', 'the ask was aborted by its caller', {}, signal.reason)
