/** An inbox with a fake clock, everything it told kept, and the thread's side played by the test. */
import { DeadLetters } from '../../src/actors/dead-letters.ts'
import { Inbox } from '../../src/actors/inbox.ts'
import type { JournalStore, Written } from '../../src/actors/journal.ts'
import type { MailboxOptions } from '../../src/model/agent-options.ts'
import { FakeClock } from '../../src/testkit/fake-clock.ts'
import { PlayedThread } from './played-thread.ts'

export const MAILBOX: MailboxOptions = {
  capacity: 256,
  overflow: 'drop-newest',
  window: 4096,
  backlog: 65_536,
  concurrency: 1,
  redeliver: 0,
  durable: false,
}

/** A journal that remembers, and can be told to refuse. */
export class PlayedJournal implements JournalStore {
  readonly waiting = new Map<string, Written>()
  readonly handled = new Set<string>()
  /** Delivered once more. */
  readonly delivered: string[] = []
  /** What every write is refused with. */
  refusal: Error | null = null
  #ids = 0

  async append(_agent: string, message: Written): Promise<void> {
    if (this.refusal !== null) throw this.refusal
    this.waiting.set(message.messageId, message)
  }

  async again(_agent: string, messageIds: readonly string[]): Promise<void> {
    for (const id of messageIds) this.delivered.push(id)
  }

  async done(_agent: string, messageIds: readonly string[], keepIds: boolean): Promise<void> {
    if (this.refusal !== null) throw this.refusal
    for (const id of messageIds) {
      this.waiting.delete(id)
      if (keepIds) this.handled.add(id)
    }
  }

  async buried(_agent: string, messageId: string): Promise<void> {
    if (this.refusal !== null) throw this.refusal
    this.waiting.delete(messageId)
  }

  seen(_agent: string, messageId: string): boolean {
    return this.waiting.has(messageId) || this.handled.has(messageId)
  }

  newId(): string {
    return `m${++this.#ids}`
  }
}

export class TestedInbox {
  readonly clock = new FakeClock()
  readonly facts: { kind: string; data: unknown }[] = []
  readonly deadLetters: DeadLetters
  readonly inbox: Inbox
  /** Deliveries whose handlers were told to give up. */
  readonly aborted: number[] = []
  readonly exclusive = new Set<string>()
  readonly journal = new PlayedJournal()
  thread: PlayedThread

  constructor(options: Partial<MailboxOptions> = {}, Kind: typeof Inbox = Inbox) {
    const mailbox = { ...MAILBOX, ...options }
    this.deadLetters = new DeadLetters(
      'a',
      this.clock,
      (kind, data) => this.facts.push({ kind, data }),
      () => {},
    )
    this.inbox = new Kind('a', mailbox, this.clock, this.deadLetters, this.journal, {
      abort: (seqs) => this.aborted.push(...seqs),
      whyNot: () => 'it is away',
      isExclusive: (command) => this.exclusive.has(command),
    })
    this.thread = new PlayedThread(mailbox.concurrency)
  }

  /** An instance begins its life, ready for messages. */
  activate(): this {
    this.attach()
    this.inbox.setMode('deliver', false)
    return this
  }

  /** An instance is there; the gate stays as it is. */
  attach(): this {
    const thread = new PlayedThread(this.inbox.options.concurrency)
    this.thread = thread
    thread.onBell(() => process.nextTick(() => this.inbox.pump.onBell()))
    this.inbox.attach(thread)
    return this
  }

  /** Reason and name of each dead letter, the oldest first. */
  get buried(): string[] {
    return this.deadLetters.list().map(({ reason, name }) => `${reason} ${name}`)
  }
}

/** What a promise has come to by now: its value, its error's code, or `pending`. */
export async function stateOf(promise: Promise<unknown>): Promise<unknown> {
  const pending = Symbol('pending')
  const now = new Promise((resolve) => setImmediate(resolve, pending))
  try {
    const value = await Promise.race([promise, now])
    return value === pending ? 'pending' : value
  } catch (error) {
    return (error as { code?: unknown }).code ?? error
  }
}
