/**
 * What becomes of events: who waits for a fate, what is counted, what turns into a dead letter. Called by `inbox.ts`
 * and `aftermath.ts`; one per agent, counters never reset.
 */
import type { DeadLetterReason, Fate } from '../model/message.ts'
import type { Body } from '../model/payload.ts'
import type { DeadLetters } from './dead-letters.ts'
import { Fenced } from './fence.ts'
import type { Letter, Meta } from './mailbox.ts'
import { Waiting } from './waiting.ts'

/** Counts over the life of the agent. */
export interface Counters {
  /** Accepted into the mailbox. */
  received: number
  /** Handlers that ended, well or not, in earlier instances; the present one's are in its recorder. */
  completed: number
  /** Handlers that failed. */
  failed: number
  dropped: number
  ignored: number
  staleEpoch: number
}

export const FATE_OF: Readonly<Record<DeadLetterReason, Fate['fate']>> = {
  not_accepting: 'ignored',
  draining: 'ignored',
  no_handler: 'ignored',
  overflow: 'dropped',
  overloaded: 'dropped',
  rejected: 'dropped',
  transferred: 'dropped',
  no_such_agent: 'dropped',
  stale_epoch: 'dropped',
  purged: 'dropped',
  expired: 'expired',
  aborted: 'aborted',
  crashed: 'crashed',
  quarantined: 'quarantined',
  handler_error: 'handled',
}

const inTurn = (first: (fate: Fate) => void, then: (fate: Fate) => void) => (fate: Fate) => {
  first(fate)
  then(fate)
}

export class Fates {
  readonly counters: Counters = { received: 0, completed: 0, failed: 0, dropped: 0, ignored: 0, staleEpoch: 0 }
  /** What instances said that were not to be heard. */
  readonly fenced = new Fenced()
  readonly #deadLetters: DeadLetters
  /** Told of each message that was not handled. */
  onBuried: ((meta: Meta | undefined) => void) | null = null
  readonly #awaited = new Waiting<(fate: Fate) => void>()

  constructor(deadLetters: DeadLetters) {
    this.#deadLetters = deadLetters
  }

  /** The fate of the event at `position`, once it has one. */
  wait(position: number): Promise<Fate> {
    return new Promise((resolve) => this.#tellOf(position, resolve))
  }

  /** Counts a message that was accepted; who traces it is told of its fate beside whoever else waits for that. */
  accepted(position: number, meta: Meta | undefined): void {
    this.counters.received++
    if (meta?.onFate !== undefined) this.#tellOf(position, meta.onFate)
  }

  #tellOf(position: number, told: (fate: Fate) => void): void {
    const before = this.#awaited.get(position)
    this.#awaited.set(position, before === undefined ? told : inTurn(before, told))
  }

  settle(position: number, fate: Fate): void {
    this.#awaited.take(position)?.(fate)
  }

  /** A redelivered event sits at another position from now on. */
  move(from: number, to: number): void {
    if (from === to) return
    const resolve = this.#awaited.take(from)
    if (resolve !== undefined) this.#awaited.set(to, resolve)
  }

  /** Settles all that wait and that `which` picks. */
  settleWhere(which: (position: number) => boolean, fate: Fate): void {
    for (const [position] of this.#awaited.entries()) if (which(position)) this.settle(position, fate)
  }

  /** Counts the end of a message that was not handled, keeps it as a dead letter, and says what its fate is. */
  bury(letter: Omit<Letter, 'at'>, reason: DeadLetterReason, deathId?: string): Fate {
    const fate = FATE_OF[reason]
    if (fate === 'dropped') this.counters.dropped++
    if (fate === 'ignored') this.counters.ignored++
    this.onBuried?.(letter.meta)
    this.#deadLetters.add({
      id: letter.id,
      messageId: letter.meta?.messageId,
      reason,
      kind: letter.meta?.kind ?? 'event',
      name: letter.name,
      body: letter.body,
      from: letter.meta?.from,
      deliveryCount: letter.meta?.deliveries ?? 0,
      deathId,
    })
    const end = deathId === undefined ? { fate, reason } : { fate, reason, deathId }
    letter.meta?.onFate?.(end)
    return end
  }

  /** The same for a message that never got a position. */
  refuse(name: string, body: Body, reason: DeadLetterReason, from?: string): Fate {
    return this.bury({ id: 0, name, body, meta: from === undefined ? undefined : { kind: 'event', from } }, reason)
  }
}
