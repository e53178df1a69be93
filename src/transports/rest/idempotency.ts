/**
 * Idempotency keys: a write that is sent again under the same key, since its answer was lost, is not done again but
 * answered as the first time. Remembered in memory, within bounds; a host that was restarted knows none.
 */
import { HoltError } from '../../model/error.ts'
import type { Reply } from './reply.ts'

interface Entry {
  /** Of the request: another one may not have its key. */
  readonly print: string
  readonly at: number
  /** Null while it is in work. */
  readonly reply: Reply | null
}

export interface KeyLimits {
  readonly keys: number
  readonly keyChars: number
  readonly keyMs: number
}

const FORM = /^[\x21-\x7e]{1,255}$/

export class IdempotencyKeys {
  readonly #limits: KeyLimits
  readonly #now: () => number
  /** The oldest first. */
  readonly #entries = new Map<string, Entry>()
  #chars = 0

  /** @param now monotonic ms */
  constructor(limits: KeyLimits, now: () => number) {
    this.#limits = limits
    this.#now = now
  }

  /**
   * Begins a request under a key.
   * @param scope whose key it is, and of which route
   * @returns the answer of the first time; null: it is to be done, and settled
   * @throws HoltError `BadRequest`, `KeyReused`, `KeyInUse`, `Overloaded`
   */
  begin(scope: string, key: string, print: string): Reply | null {
    if (!FORM.test(key)) throw new HoltError('BadRequest', 'Idempotency-Key: expected 1 to 255 printable characters')
    this.#forgetOld()
    const name = `${scope} ${key}`
    const entry = this.#entries.get(name)
    if (entry === undefined) {
      if (this.#entries.size >= this.#limits.keys)
        throw new HoltError('Overloaded', 'too many idempotency keys in work')
      this.#entries.set(name, { print, at: this.#now(), reply: null })
      return null
    }
    if (entry.print !== print) {
      throw new HoltError('KeyReused', 'Idempotency-Key: this key was used with another request. Use a new one')
    }
    if (entry.reply !== null) return entry.reply
    throw new HoltError('KeyInUse', 'Idempotency-Key: the request of this key is in work', { retryAfterS: 1 })
  }

  /** @param reply null: it was not done, and may be tried again */
  settle(scope: string, key: string, reply: Reply | null): void {
    const name = `${scope} ${key}`
    const entry = this.#entries.get(name)
    this.#entries.delete(name)
    if (entry === undefined || reply === null) return
    this.#entries.set(name, { ...entry, at: this.#now(), reply })
    this.#chars += reply.body.length
    this.#forgetOld()
  }

  /** What is in work stays. */
  #forgetOld(): void {
    const { keys, keyChars, keyMs } = this.#limits
    for (const [name, { at, reply }] of this.#entries) {
      const tooMany = this.#entries.size >= keys || this.#chars > keyChars
      if (!tooMany && this.#now() - at < keyMs) return
      if (reply === null) continue
      this.#entries.delete(name)
      this.#chars -= reply.body.length
    }
  }
}
