/**
 * The inbox of one agent: the three ways to send to it, and what comes back from its thread. It joins mailbox, pump,
 * asks and fates; `agent.ts` tells it when the agent's whereabouts change. Where a message may go is decided by the
 * table in `model/mailbox-policy.ts`; the fast path of `tell` is one comparison beside it.
 */
import type { MailboxOptions } from '../model/agent-options.ts'
import { HoltError } from '../model/error.ts'
import { type Acceptance, admit } from '../model/mailbox-policy.ts'
import type { AskOptions, DeadLetterReason, Fate, SendOptions } from '../model/message.ts'
import { type Body, bytesOf, encodePayload } from '../model/payload.ts'
import type { Flush } from '../model/wire.ts'
import type { Clock } from '../platform/clock.ts'
import { Asks, aborted, askTimeoutMs, notAccepting, overloaded } from './asks.ts'
import type { DeadLetters } from './dead-letters.ts'
import { Fates } from './fates.ts'
import { takeFlush } from './flush.ts'
import { Journal, type JournalStore, type Written } from './journal.ts'
import { Mailbox, type Meta, metaOf, metaOfAsk, NOTICE, type OnFate } from './mailbox.ts'
import { promised } from './promised.ts'
import { type Link, Pump } from './pump.ts'

/** How the inbox reaches the thread for what is no message. */
export interface InboxHooks {
  /** Deliveries to be aborted: their callers have gone. */
  abort(seqs: readonly number[], reason: string): void
  /** Why nothing is accepted now, in words. */
  whyNot(): string
  isExclusive(command: string): boolean
}

/** A refused offer: no position. */
const REFUSED = 0

const wake = (waiting: readonly (() => void)[]): void => {
  for (const resolve of waiting) resolve()
}

export class Inbox {
  readonly mailbox = new Mailbox()
  readonly pump: Pump
  readonly asks: Asks
  readonly fates: Fates
  readonly journal: Journal
  options: MailboxOptions
  readonly #agent: string
  readonly #clock: Clock
  readonly #hooks: InboxHooks
  /** The host is being drained: only other agents may still send. Written by `host/drain.ts`. */
  draining = false
  #mode: Acceptance = 'ignore'
  #bound: number
  /** Messages from here on arrived while the agent was not ACTIVE; what counts against the capacity. */
  #awayFrom = 1
  #away = 0
  #refused: Fate = { fate: 'ignored' }
  /** Emits that wait for room, in order. */
  #queue: (() => void)[] = []
  #rooms: (() => void)[] = []
  /** Waiting emits are being let in: what that sends off does not let in others before them. */
  #waking = false
  #now = 0

  constructor(
    agent: string,
    options: MailboxOptions,
    clock: Clock,
    deadLetters: DeadLetters,
    store: JournalStore,
    hooks: InboxHooks,
  ) {
    this.#agent = agent
    this.options = options
    this.#bound = options.capacity
    this.#clock = clock
    this.#hooks = hooks
    this.fates = new Fates(deadLetters)
    this.journal = new Journal(agent, store, clock)
    this.mailbox.onDone = (position, messageId) => this.journal.settled(position, messageId)
    this.fates.onBuried = (meta) => this.journal.ended(meta)
    this.asks = new Asks(agent, clock, (position, why) => this.#abandoned(position, why))
    const pumpHooks = { onProgress: () => this.#makeRoom(), onExpired: (at: number) => this.#bury(at, 'expired') }
    this.pump = new Pump(this.mailbox, options.window, pumpHooks, clock)
  }

  // --- sending -----------------------------------------------------------------------------------------------

  /** See {@link AgentRef.tell}. */
  tell(name: string, payload: unknown, options?: SendOptions, from?: string, onFate?: OnFate): boolean {
    if (this.#isKnown(options)) return true
    const body = encodePayload(payload, options?.transfer)
    const plain = this.#mode === 'deliver' && options === undefined && from === undefined && onFate === undefined
    if (plain && this.mailbox.unsent < this.options.backlog && this.#queue.length === 0 && !this.draining) {
      this.#push(name, body, undefined)
      this.pump.kick(bytesOf(body))
      return true
    }
    if (this.#offer(name, body, metaOf(options, from, false, this.#clock, onFate)) === REFUSED) {
      // An agent cannot be given its message back: it has been told already that it was sent.
      if (from !== undefined && this.#refused.reason === 'rejected') this.fates.refuse(name, body, 'rejected', from)
      return false
    }
    this.pump.kick(bytesOf(body))
    return true
  }

  /** See {@link AgentRef.emit}. */
  emit(name: string, payload: unknown, options?: SendOptions, from?: string, onFate?: OnFate): Promise<Fate> {
    return promised(() => {
      const body = encodePayload(payload, options?.transfer)
      if (this.#isKnown(options)) return this.#again(options!.messageId!)
      const place = (): Fate | Promise<Fate> =>
        this.#place(name, body, metaOf(options, from, true, this.#clock, onFate))
      if (this.#mode !== 'deliver' || this.hasRoom) return place()
      return new Promise((resolve) => this.#queue.push(() => resolve(promised(place))))
    })
  }

  async #again(messageId: string): Promise<Fate> {
    await this.journal.committed()
    return { fate: this.journal.isOpen(messageId) ? 'queued' : 'handled', reason: 'duplicate' }
  }

  #place(name: string, body: Body, meta: Meta | undefined): Fate | Promise<Fate> {
    const position = this.#offer(name, body, meta)
    if (position !== REFUSED) {
      const queued = this.#mode !== 'deliver'
      const fate = queued ? { fate: 'queued' as const, reason: this.#hooks.whyNot() } : this.fates.wait(position)
      this.pump.kick(bytesOf(body))
      return this.options.durable ? this.#saved(position, fate) : fate
    }
    if (this.#refused.reason === 'rejected') throw overloaded(this.#agent, name)
    return this.#refused
  }

  /** The fate, once what it says is on disk. One that cannot be saved is taken out again, where it has not begun. */
  async #saved(position: number, fate: Fate | Promise<Fate>): Promise<Fate> {
    try {
      await this.journal.committed()
    } catch (error) {
      if (position >= this.mailbox.sent) this.journal.ended(this.mailbox.withdraw(position)?.meta)
      throw error
    }
    const settled = await fate
    await this.journal.committed()
    return settled
  }

  /** Messages that a host before this one had accepted, in their order; before the agent is started. */
  restore(messages: readonly Written[]): void {
    for (const message of messages)
      this.mailbox.push(message.name, message.body, this.journal.adopt(message), this.#clock.now())
    this.#awayFrom = this.mailbox.tail
  }

  #isKnown(options: SendOptions | undefined): boolean {
    return options?.messageId !== undefined && this.options.durable && this.journal.knows(options.messageId)
  }

  /** See {@link AgentRef.ask}. */
  ask(name: string, payload: unknown, options?: AskOptions, from?: string): Promise<unknown> {
    return promised(() => this.#ask(name, payload, options, from))
  }

  #ask(name: string, payload: unknown, options: AskOptions | undefined, from: string | undefined): Promise<unknown> {
    const timeoutMs = askTimeoutMs(options)
    const body = encodePayload(payload)
    if (options?.signal?.aborted === true) {
      throw new HoltError('Aborted', `ask '${name}' was aborted before it was sent`, {}, options.signal.reason)
    }
    if (this.#mode === 'ignore' || (this.draining && from === undefined)) throw this.notAccepting(name)
    const exclusive = this.#hooks.isExclusive(name)
    if (exclusive && this.asks.isHeld(name)) {
      throw new HoltError('CommandBusy', `command '${name}' of agent '${this.#agent}' is exclusive and still runs`)
    }
    const deadline = this.#clock.now() + timeoutMs
    const position = this.#offer(name, body, metaOfAsk(deadline, options, from))
    if (position === REFUSED) throw overloaded(this.#agent, name)
    const reply = this.asks.add(position, name, timeoutMs, deadline, exclusive, options?.signal)
    this.pump.kick(bytesOf(body))
    return reply
  }

  /** An event of the host's own: it needs no room, but its turn comes after the emits that wait for that. */
  notify(name: string, payload: unknown): void {
    const body = encodePayload(payload)
    const place = (): void => {
      if (this.#mode === 'ignore') this.#refuse(name, body, undefined, 'not_accepting')
      else this.#push(name, body, NOTICE)
      this.pump.kick()
    }
    if (this.#queue.length > 0) this.#queue.push(place)
    else place()
  }

  /** Whether what is sent now is handed over or waits; else it is ignored. */
  get takes(): boolean {
    return this.#mode !== 'ignore'
  }

  /** Whether a `tell` would find room now. */
  get hasRoom(): boolean {
    if (this.#mode === 'deliver') return this.#queue.length === 0 && !this.#isFull()
    return this.#mode === 'queue' && this.#away < this.#limit
  }

  /** Resolves once half the backlog is free, or the agent's whereabouts change. */
  room(): Promise<void> {
    return this.hasRoom ? Promise.resolve() : new Promise((resolve) => this.#rooms.push(resolve))
  }

  /** Takes out what waits on this side of the thread; each becomes a dead letter. Returns how many. */
  purge(): number {
    let purged = 0
    for (const position of this.mailbox.positions(this.mailbox.sent)) {
      this.#bury(position, 'purged')
      purged++
    }
    wake(this.#rooms.splice(0))
    return purged
  }

  // --- whereabouts, told by agent.ts ------------------------------------------------------------------------------

  /** @param roomy ACTIVE, or away for a planned hand-over: the bound is the backlog and not the capacity */
  setMode(mode: Acceptance, roomy: boolean): void {
    this.#bound = roomy ? this.options.backlog : this.options.capacity
    if (mode === this.#mode) return
    if (this.#mode === 'deliver') {
      this.#awayFrom = this.mailbox.tail
      this.#away = 0
    }
    this.#mode = mode
    this.pump.setOpen(mode === 'deliver')
    // Those who wait find out where they stand now: an emit queues or is told, a producer tries again.
    wake(this.#queue.splice(0))
    wake(this.#rooms.splice(0))
  }

  /** Between two instances: what the manifest says now. What waits already stays. */
  configure(options: MailboxOptions): void {
    this.options = options
    this.pump.resize(options.window)
  }

  attach(link: Link): void {
    this.pump.attach(link)
  }

  /** Before {@link attach}: puts an instance's own first event before all others. */
  first(name: string): void {
    this.mailbox.unshift(name, encodePayload(undefined), { kind: 'event', once: true }, this.#clock.now())
    this.fates.counters.received++
  }

  // --- between two instances ---------------------------------------------------------------------------------------

  /** Takes out the asks that nobody waits for any more: no instance is to run them. */
  withdrawAbandoned(): void {
    for (const position of this.mailbox.positions())
      if (this.mailbox.metaAt(position)?.kind === 'ask' && !this.asks.has(position)) this.#withdraw(position)
  }

  /** No instance is coming: asks that wait for one are told, and taken out. Events wait. */
  rejectAsks(): void {
    this.asks.failWhere(
      () => true,
      (command) => this.notAccepting(command),
    )
    this.withdrawAbandoned()
  }

  /** What the thread says. */
  onFlush(flush: Flush): void {
    takeFlush(this, flush)
  }

  // --- inside ------------------------------------------------------------------------------------------------------

  /** The backlog is full, also after what the window has room for has left. Then a bell is on its way. */
  #isFull(): boolean {
    if (this.mailbox.unsent < this.options.backlog) return false
    this.pump.flush()
    return this.mailbox.unsent >= this.options.backlog
  }

  /** How much may wait that arrived while it is away: less where earlier absences have left more than window and backlog. */
  get #limit(): number {
    const { window, backlog } = this.options
    return Math.min(this.#bound, this.#away + window + backlog + this.#bound - this.mailbox.depth)
  }

  /** The pump is kicked by the caller, once whoever waits for the message's end is known. */
  #push(name: string, body: Body, meta: Meta | undefined): number {
    // One clock read a batch: messages of one turn share their time of arrival.
    if (!this.pump.scheduled) this.#now = this.#clock.now()
    if (this.mailbox.isMostlyHoles) this.#compact()
    const durable = this.options.durable && meta?.kind !== 'ask' && meta?.notice !== true
    const kept = durable ? this.journal.accept(name, body, meta) : meta
    const position = this.mailbox.push(name, body, kept, this.#now)
    this.fates.accepted(position, kept)
    return position
  }

  /** What was evicted or withdrawn from the middle must not hold the ring open. */
  #compact(): void {
    this.mailbox.compact((from, to) => {
      this.asks.move(from, to)
      this.fates.move(from, to)
    })
    this.#awayFrom = this.mailbox.tail - this.#away
  }

  /** The one door: the position, or {@link REFUSED} with the fate in `#refused`. */
  #offer(name: string, body: Body, meta: Meta | undefined): number {
    if (this.#mode === 'ignore') return this.#refuse(name, body, meta, 'not_accepting')
    if (this.draining && meta?.from === undefined) return this.#refuse(name, body, meta, 'draining')
    if (this.#mode === 'deliver') {
      // An ask takes a place of its own, past the emits that wait for one: its caller has a deadline.
      const full = this.#isFull() || (this.#queue.length > 0 && meta?.awaited !== true && meta?.kind !== 'ask')
      return full ? this.#refuse(name, body, meta, 'overloaded') : this.#push(name, body, meta)
    }
    switch (admit(this.#away, this.#limit, this.options.overflow)) {
      case 'push':
        break
      case 'drop-oldest':
        this.#evictOldest()
        break
      case 'drop-newest':
        return this.#refuse(name, body, meta, 'overflow')
      case 'reject':
        this.#refused = { fate: 'dropped', reason: 'rejected' }
        return REFUSED
    }
    const position = this.#push(name, body, meta)
    this.#away++
    return position
  }

  #refuse(name: string, body: Body, meta: Meta | undefined, reason: DeadLetterReason): number {
    this.#refused = this.fates.bury({ id: 0, name, body, meta }, reason)
    return REFUSED
  }

  #evictOldest(): void {
    for (const position of this.mailbox.positions(this.#awayFrom)) {
      if (this.mailbox.metaAt(position)?.notice === true) continue
      this.#bury(position, 'overflow')
      // All up to here are holes now; the next search need not pass them again.
      this.#awayFrom = position + 1
      return
    }
  }

  /** Takes a waiting message out and tells whoever waits for it. */
  #bury(position: number, reason: DeadLetterReason): void {
    const letter = this.mailbox.withdraw(position)
    if (letter === undefined) return
    if (position >= this.#awayFrom && this.#away > 0) this.#away--
    const fate = this.fates.bury(letter, reason)
    if (letter.meta?.kind !== 'ask') this.fates.settle(position, fate)
    else
      this.asks.fail(
        position,
        reason === 'purged' ? aborted(this.#agent, letter.name) : overloaded(this.#agent, letter.name),
      )
  }

  #abandoned(position: number, why: string): void {
    const seq = this.pump.seqOf(position)
    if (seq !== null) {
      this.#hooks.abort([seq], why)
      return
    }
    this.#withdraw(position)
  }

  /** Takes out an ask that waits, and frees its place. */
  #withdraw(position: number): void {
    if (position >= this.#awayFrom && this.#away > 0 && this.mailbox.has(position)) this.#away--
    this.mailbox.withdraw(position)
    this.asks.ended(position)
  }

  #makeRoom(): void {
    if (this.#waking) return
    this.#waking = true
    // Each waiting emit takes its place, in order, before anything else is let in; a full batch that leaves makes room
    // for the next.
    while (this.#queue.length > 0 && this.mailbox.unsent < this.options.backlog)
      wake(this.#queue.splice(0, this.options.backlog - this.mailbox.unsent))
    this.#waking = false
    if (this.#rooms.length > 0 && this.mailbox.unsent <= this.options.backlog >> 1) wake(this.#rooms.splice(0))
  }

  /** Why an ask is turned away where nothing is accepted. */
  notAccepting(name: string): HoltError {
    return notAccepting(this.#agent, name, this.#hooks.whyNot())
  }
}
