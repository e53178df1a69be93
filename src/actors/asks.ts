/**
 * The asks that wait for one agent: every one settles exactly once, by reply, error, time-out, abort or death. One
 * timer serves them all. Called by `inbox.ts`, which knows the mailbox; this file knows callers and deadlines.
 */
import { setMaxListeners } from 'node:events'
import { HoltError } from '../model/error.ts'
import { type AskOptions, DEFAULT_ASK_TIMEOUT_MS } from '../model/message.ts'
import { type Clock, MAX_TIMER_MS, type Timer } from '../platform/clock.ts'
import { Waiting } from './waiting.ts'

interface Pending {
  /** Where its message is; changes when the mailbox closes its holes. */
  position: number
  readonly command: string
  readonly deadline: number
  readonly timeoutMs: number
  readonly resolve: (reply: unknown) => void
  readonly reject: (error: Error) => void
  forget: (() => void) | undefined
}

/** Why an ask is turned away. */
export const notAccepting = (agent: string, name: string, whyNot: string): HoltError =>
  new HoltError('NotAccepting', `agent '${agent}' does not take '${name}': ${whyNot}`)

export const overloaded = (agent: string, name: string): HoltError =>
  new HoltError('Overloaded', `agent '${agent}' has no room for '${name}': its mailbox is full`)

export const aborted = (agent: string, name: string): HoltError =>
  new HoltError('Aborted', `'${name}' was aborted on agent '${agent}'`)

/** The time-out of an ask, checked. */
export function askTimeoutMs(options: AskOptions | undefined): number {
  const timeoutMs = options?.timeoutMs ?? DEFAULT_ASK_TIMEOUT_MS
  if (Number.isFinite(timeoutMs) && timeoutMs > 0 && timeoutMs <= MAX_TIMER_MS) return timeoutMs
  throw new HoltError(
    'InvalidOption',
    `timeoutMs: expected a number above 0 and up to ${MAX_TIMER_MS}, found ${timeoutMs}`,
  )
}

export class Asks {
  readonly #agent: string
  readonly #clock: Clock
  /** The caller gave up; the message is to be withdrawn or its handler aborted. */
  readonly #onAbandoned: (position: number, why: string) => void
  readonly #pending = new Waiting<Pending>()
  /** Exclusive commands and the position that holds each. */
  readonly #exclusive = new Map<string, number>()
  #timer: Timer | null = null
  #timerAt = Number.POSITIVE_INFINITY
  /** Replies that came after their ask had settled. */
  late = 0

  constructor(agent: string, clock: Clock, onAbandoned: (position: number, why: string) => void) {
    this.#agent = agent
    this.#clock = clock
    this.#onAbandoned = onAbandoned
  }

  get size(): number {
    return this.#pending.size
  }

  /** Whether an exclusive command is held by a call that has not ended. */
  isHeld(command: string): boolean {
    return this.#exclusive.has(command)
  }

  /** Waits for the reply to the message at `position`. */
  add(
    position: number,
    command: string,
    timeoutMs: number,
    deadline: number,
    exclusive: boolean,
    signal?: AbortSignal,
  ): Promise<unknown> {
    if (exclusive) this.#exclusive.set(command, position)
    return new Promise((resolve, reject) => {
      const pending: Pending = { position, command, deadline, timeoutMs, resolve, reject, forget: undefined }
      this.#pending.set(position, pending)
      if (signal !== undefined) pending.forget = this.#onAbort(pending, signal)
      this.#arm(deadline)
    })
  }

  /** The handler has ended: exclusive commands are free again, whoever still waits. */
  ended(position: number, command?: string): void {
    if (command !== undefined) {
      if (this.#exclusive.get(command) === position) this.#exclusive.delete(command)
      return
    }
    if (this.#exclusive.size === 0) return
    for (const [name, holder] of this.#exclusive) if (holder === position) this.#exclusive.delete(name)
  }

  reply(position: number, value: unknown): void {
    this.ended(position)
    const pending = this.#take(position)
    if (pending === undefined) this.late++
    else pending.resolve(value)
  }

  fail(position: number, error: Error): void {
    this.ended(position)
    const pending = this.#take(position)
    if (pending === undefined) this.late++
    else pending.reject(error)
  }

  /** Settles every ask that `which` picks with the error made for it; their handlers have ended with the instance. */
  failWhere(which: (position: number) => boolean, makeError: (command: string) => Error): void {
    for (const [position, { command }] of this.#pending.entries())
      if (which(position)) this.fail(position, makeError(command))
    for (const [name, position] of this.#exclusive) if (which(position)) this.#exclusive.delete(name)
  }

  /** The message has another position from now on. */
  move(from: number, to: number): void {
    const pending = this.#pending.take(from)
    if (pending !== undefined) {
      this.#pending.set(to, pending)
      pending.position = to
    }
    for (const [name, holder] of this.#exclusive) if (holder === from) this.#exclusive.set(name, to)
  }

  /** Positions that wait, for one who looks. */
  has(position: number): boolean {
    return this.#pending.get(position) !== undefined
  }

  #take(position: number): Pending | undefined {
    const pending = this.#pending.take(position)
    // The timer stays: with one ask after another, arming it anew each time would cost more than one idle sweep.
    pending?.forget?.()
    return pending
  }

  #onAbort(pending: Pending, signal: AbortSignal): () => void {
    const abort = (): void => {
      const error = new HoltError(
        'Aborted',
        `ask '${pending.command}' to agent '${this.#agent}' was aborted by its caller`,
        {},
        signal.reason,
      )
      this.#abandon(pending.position, error, 'aborted by the caller')
    }
    // A caller may share one signal among any number of asks; the platform would warn of a leak from the eleventh on.
    setMaxListeners(0, signal)
    signal.addEventListener('abort', abort, { once: true })
    return () => signal.removeEventListener('abort', abort)
  }

  #abandon(position: number, error: Error, why: string): void {
    const pending = this.#take(position)
    if (pending === undefined) return
    pending.reject(error)
    this.#onAbandoned(position, why)
  }

  #arm(deadline: number): void {
    if (deadline >= this.#timerAt) return
    this.#timer?.cancel()
    this.#timerAt = deadline
    this.#timer = this.#clock.after(Math.max(0, deadline - this.#clock.now()), this.#sweep)
  }

  /** No timer is left behind. */
  close(): void {
    this.#disarm()
  }

  #disarm(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#timerAt = Number.POSITIVE_INFINITY
  }

  readonly #sweep = (): void => {
    this.#disarm()
    const now = this.#clock.now()
    let next = Number.POSITIVE_INFINITY
    for (const [position, { deadline, command, timeoutMs }] of this.#pending.entries()) {
      if (deadline <= now + 0.5)
        this.#abandon(position, timedOut(this.#agent, command, timeoutMs), 'its caller stopped waiting')
      else if (deadline < next) next = deadline
    }
    if (next !== Number.POSITIVE_INFINITY) this.#arm(next)
  }
}

const timedOut = (agent: string, command: string, timeoutMs: number): HoltError =>
  new HoltError('Timeout', `agent '${agent}' did not reply to '${command}' within ${Math.round(timeoutMs)} ms`, {
    agent,
    command,
    timeoutMs,
  })
