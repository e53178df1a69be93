/**
 * The durable side of one mailbox: each event is written down in the turn in which it is accepted, and taken out in the
 * turn in which it has its fate. Whoever was told that it was accepted was told after the commit. The mailbox itself stays
 * where it is, in memory; this is what the next host finds.
 */
import type { Body } from '../model/payload.ts'
import type { Clock } from '../platform/clock.ts'
import type { Meta } from './mailbox.ts'

/** A message as it is written down. */
export interface Written {
  readonly messageId: string
  readonly name: string
  readonly body: Body
  readonly from?: string
  /** Wall clock, ms. */
  readonly expiresAt?: number
  readonly deliveries: number
  /** Its id was made for it just now: nobody can have sent it before, and nobody will send it again. */
  readonly isNew?: boolean
}

/** Where messages are written down. Calls of one turn are one commit, in their order. */
export interface JournalStore {
  /** Resolves once it is on disk. @throws HoltError where it cannot be saved */
  append(agent: string, message: Written): Promise<unknown>
  /** They are handed to an instance once more. */
  again(agent: string, messageIds: readonly string[]): Promise<unknown>
  /** Out, with what was noted of their effects. @param keepIds they are known as done for some time */
  done(agent: string, messageIds: readonly string[], keepIds: boolean): Promise<unknown>
  /** Out; it may come back under its id. */
  buried(agent: string, messageId: string): Promise<unknown>
  /** Whether it waits, or has been done within the time ids are kept. */
  seen(agent: string, messageId: string): boolean
  newId(): string
}

export class Journal {
  readonly #agent: string
  readonly #store: JournalStore
  readonly #clock: Clock
  /** Written down and not done; whether the id is to be remembered, as one that others know. */
  readonly #open = new Map<string, boolean>()
  /** Done by what the recorder says, at these positions, and not told yet by the thread. */
  readonly #untold = new Map<number, string>()
  #last: Promise<unknown> = Promise.resolve()
  /** Of ids to be remembered, and of the others. */
  #done: Record<'kept' | 'forgotten', string[]> = { kept: [], forgotten: [] }

  constructor(agent: string, store: JournalStore, clock: Clock) {
    this.#agent = agent
    this.#store = store
    this.#clock = clock
  }

  /** Writes an event down as it is accepted; answers with what it carries from now on. */
  accept(name: string, body: Body, meta: Meta | undefined): Meta {
    const messageId = meta?.messageId ?? this.#store.newId()
    const isNew = meta?.messageId === undefined
    this.#open.set(messageId, !isNew)
    const expires = meta?.expires
    const append = this.#store.append(this.#agent, {
      messageId,
      name,
      body,
      deliveries: meta?.deliveries ?? 0,
      isNew,
      ...(meta?.from === undefined ? {} : { from: meta.from }),
      ...(expires === undefined ? {} : { expiresAt: this.#clock.wall() + expires - this.#clock.now() }),
    })
    this.#written(append)
    // Its end is told by the thread as soon as it is there.
    return { kind: 'event', ...meta, messageId, awaited: true }
  }

  /** One that the host before this one had accepted. */
  adopt({ messageId, from, expiresAt, deliveries }: Written): Meta {
    this.#open.set(messageId, true)
    const expires = expiresAt === undefined ? undefined : this.#clock.now() + expiresAt - this.#clock.wall()
    return {
      kind: 'event',
      messageId,
      awaited: true,
      deliveries,
      ...(from === undefined ? {} : { from }),
      ...(expires === undefined ? {} : { expires }),
    }
  }

  /** Whether it was accepted before, and is not to be taken twice. */
  knows(messageId: string): boolean {
    return this.#open.has(messageId) || this.#store.seen(this.#agent, messageId)
  }

  /** Whether it still waits or runs. */
  isOpen(messageId: string): boolean {
    return this.#open.has(messageId)
  }

  /** Its place is free again. The recorder is ahead of what the thread has sent and written for it: that comes first. */
  settled(position: number, messageId: string): void {
    if (this.#open.has(messageId)) this.#untold.set(position, messageId)
  }

  /** The id of a message whose place is free, and whose end has not been told. */
  idAt(position: number): string | undefined {
    return this.#untold.get(position)
  }

  /** The thread says that it has been handled; all it has caused has been taken. */
  handled(position: number, meta: Meta | undefined): void {
    const messageId = meta?.messageId ?? this.#untold.get(position)
    this.#untold.delete(position)
    if (messageId !== undefined) this.#finish(messageId)
  }

  /** No thread tells of these any more. */
  close(): void {
    for (const messageId of this.#untold.values()) this.#finish(messageId)
    this.#untold.clear()
  }

  /** It is to be delivered again. */
  again(meta: Meta | undefined): void {
    if (meta?.messageId === undefined || !this.#open.has(meta.messageId)) return
    this.#written(this.#store.again(this.#agent, [meta.messageId]))
  }

  /** It has had another end: it is a dead letter, or nothing at all. */
  ended(meta: Meta | undefined): void {
    if (meta?.messageId === undefined || !this.#open.delete(meta.messageId)) return
    this.#written(this.#store.buried(this.#agent, meta.messageId))
  }

  /** Resolves once all that was written before is on disk. @throws HoltError where the last of it cannot be */
  async committed(): Promise<void> {
    if (this.#doneCount > 0) await null
    await this.#last
  }

  // --- inside ------------------------------------------------------------------------------------------------------

  get #doneCount(): number {
    return this.#done.kept.length + this.#done.forgotten.length
  }

  #finish(messageId: string): void {
    const keep = this.#open.get(messageId)
    if (keep === undefined) return
    this.#open.delete(messageId)
    this.#done[keep ? 'kept' : 'forgotten'].push(messageId)
    if (this.#doneCount === 1) queueMicrotask(() => this.#noteDone())
  }

  #noteDone(): void {
    const { kept, forgotten } = this.#done
    this.#done = { kept: [], forgotten: [] }
    if (kept.length > 0) this.#written(this.#store.done(this.#agent, kept, true))
    if (forgotten.length > 0) this.#written(this.#store.done(this.#agent, forgotten, false))
  }

  /** Whoever waits for the commit is told; a tell has nobody who does. */
  #written(commit: Promise<unknown>): void {
    this.#last = commit
    commit.catch(() => {})
  }
}
