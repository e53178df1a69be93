/**
 * Dead letters of one agent: a bounded ring for people, counts that never reset, and log facts that do not flood: the
 * first few are told one by one, then a summary at most every {@link SUMMARY_MS}.
 */
import type { Report } from '../model/fact.ts'
import type { DeadLetter, DeadLetterReason, MessageKind } from '../model/message.ts'
import { type Body, decodeBody } from '../model/payload.ts'
import type { Clock, Timer } from '../platform/clock.ts'

const RING = 256
const TOLD_SINGLY = 5
const SUMMARY_MS = 10_000

/** A dead letter before anyone reads it. */
export interface DeadMessage {
  readonly id: number
  readonly reason: DeadLetterReason
  readonly kind: MessageKind
  readonly name: string
  readonly body: Body
  readonly from?: string | undefined
  readonly deliveryCount: number
  readonly deathId?: string | undefined
  /** The id under which it was kept on disk. */
  readonly messageId?: string | undefined
  /** The addressee, where it is not this agent. */
  readonly to?: string
}

interface Kept extends DeadMessage {
  readonly at: number
}

export class DeadLetters {
  readonly #agent: string
  readonly #clock: Clock
  readonly #report: Report
  readonly #watch: (agent: string, message: DeadMessage, read: () => DeadLetter) => void
  readonly #ring: Kept[] = []
  #next = 0
  #told = 0
  #untold = 0
  #timer: Timer | null = null
  #closed = false
  #last: Kept | null = null

  constructor(
    agent: string,
    clock: Clock,
    report: Report,
    watch: (agent: string, message: DeadMessage, read: () => DeadLetter) => void,
  ) {
    this.#agent = agent
    this.#clock = clock
    this.#report = report
    this.#watch = watch
  }

  add(message: DeadMessage): void {
    const kept: Kept = { ...message, at: this.#clock.wall() }
    this.#ring[this.#next] = kept
    this.#next = (this.#next + 1) % RING
    this.#tell(kept)
    this.#watch(this.#agent, kept, () => this.#read(kept))
  }

  /** How many are kept. */
  get size(): number {
    return this.#ring.length
  }

  /** The newest at the end. */
  list(): DeadLetter[] {
    return [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)].map((kept) => this.#read(kept))
  }

  /** The last summary. What comes later is kept and counted, and told by no timer. */
  close(): void {
    this.#closed = true
    this.#timer?.cancel()
    this.#timer = null
    this.#summary()
  }

  #read({ to, body, from, deathId, ...rest }: Kept): DeadLetter {
    return {
      ...rest,
      agent: to ?? this.#agent,
      payload: decodeBody(body),
      ...(from === undefined ? {} : { from }),
      ...(deathId === undefined ? {} : { deathId }),
    }
  }

  #tell(kept: Kept): void {
    if (this.#told < TOLD_SINGLY) {
      this.#told++
      this.#report('message.dead_letter', { reason: kept.reason, name: kept.name, count: 1 }, { agent: this.#agent })
      return
    }
    this.#untold++
    this.#last = kept
    if (this.#closed) return
    this.#timer ??= this.#clock.after(SUMMARY_MS, () => {
      this.#timer = null
      this.#summary()
    })
  }

  #summary(): void {
    if (this.#untold === 0 || this.#last === null) return
    const { reason, name } = this.#last
    this.#report('message.dead_letter', { reason, name, count: this.#untold }, { agent: this.#agent })
    this.#untold = 0
  }
}
