/**
 * Calls over one channel: each is settled once: by its answer, its time-out, its signal or the end of the channel. Answers are
 * matched by number and settled once all that came together is read, so that an answer followed by nonsense is no answer.
 */
import { HoltError } from '../../model/error.ts'
import type { Clock, Timer } from '../../platform/clock.ts'
import { type Channel, errorOf, type Incoming } from './channel.ts'
import type { CallWait } from './client.ts'
import { lost } from './refused.ts'

interface Pending {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: HoltError) => void
  /** Whoever waited for it is not to be told of time or signal any more. */
  readonly settle: () => void
}

export class Calls {
  readonly #path: string
  readonly #clock: Clock
  readonly #pending = new Map<number, Pending>()
  /** Timed out or given up: their answers may still come. */
  readonly #late = new Set<number>()
  #told: { readonly id: number; readonly message: Incoming }[] = []
  #lastId = 0
  #lost: HoltError | null = null

  constructor(path: string, clock: Clock) {
    this.#path = path
    this.#clock = clock
  }

  /** @param message the request without its id */
  call(channel: Channel, message: Incoming, { timeoutMs, signal }: CallWait): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const name = String(message['method'])
      if (this.#lost !== null) throw this.#lost
      if (signal?.aborted === true) throw givenUp(name)
      const id = ++this.#lastId
      channel.send({ jsonrpc: '2.0', id, ...message })
      const leave = (error: HoltError): void => {
        settle()
        this.#pending.delete(id)
        this.#late.add(id)
        reject(error)
      }
      const timer: Timer = this.#clock.after(timeoutMs, () =>
        leave(tookTooLong(this.#path, name, timeoutMs, channel.half)),
      )
      const onAbort = (): void => leave(givenUp(name))
      signal?.addEventListener('abort', onAbort, { once: true })
      const settle = (): void => {
        timer.cancel()
        signal?.removeEventListener('abort', onAbort)
      }
      this.#pending.set(id, { resolve, reject, settle })
    })
  }

  /** @throws HoltError where it is no answer to a call that was made */
  take(message: Incoming): void {
    const { id } = message
    if (id === undefined && typeof message['method'] === 'string') return
    if (id === null && 'error' in message) throw errorOf(dataOf(message['error']))
    const answers = 'result' in message || 'error' in message
    if (typeof id === 'number' && answers && this.#late.delete(id)) return
    if (typeof id !== 'number' || !answers || !this.#pending.has(id) || this.#told.some((one) => one.id === id)) {
      const text = `expected one answer to each request, found '${JSON.stringify(message).slice(0, SHOWN)}' as well`
      throw lost(this.#path, text, 'stranger')
    }
    this.#told.push({ id, message })
  }

  /** Settles what was taken. */
  settle(): void {
    const told = this.#told
    this.#told = []
    for (const { id, message } of told) {
      const pending = this.#pending.get(id)
      this.#pending.delete(id)
      pending?.settle()
      if ('error' in message) pending?.reject(errorOf(dataOf(message['error'])))
      else pending?.resolve(message['result'])
    }
  }

  lose(error: HoltError): void {
    this.#lost = error
    for (const { settle, reject } of this.#pending.values()) {
      settle()
      reject(error)
    }
    this.#pending.clear()
  }
}

const SHOWN = 60

export const tookTooLong = (path: string, name: string, timeoutMs: number, half: string): HoltError =>
  new HoltError(
    'Timeout',
    `the host at ${path} did not answer '${name}' within ${timeoutMs} ms${half === '' ? '' : `; half a line came: '${half}'`}`,
    { path, timeoutMs },
  )

export const givenUp = (name: string): HoltError =>
  new HoltError('Aborted', `'${name}' was given up by its signal; the host may have done it`)

/** Holt's own error within that of JSON-RPC; of another server there is only a message. */
export const dataOf = (error: unknown): unknown => {
  const { data, message } = (typeof error === 'object' && error !== null ? error : {}) as Incoming
  return data ?? { message }
}
