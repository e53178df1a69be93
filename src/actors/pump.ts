/**
 * The pump: moves messages from one agent's mailbox into its thread, in columns of up to 256, never more than a window
 * ahead of what is done. It learns of progress from the flight recorder; only when it is held up does it ask for a bell.
 *
 *      mailbox ──(nextTick, or 256 at once)──▶ batch ──▶ thread       done ◀── recorder       bell, only if held up
 *
 * Called by `inbox.ts`; knows nothing of phases: the gate is opened and shut from outside.
 */
import { CELL, type FlightRecorder, signedDifference } from '../model/flight-recorder.ts'
import { NameColumnBuilder } from '../model/name-column.ts'
import { Copied } from '../model/payload.ts'
import { BodyColumnBuilder, padded } from '../model/payload-column.ts'
import { AWAITED, type Batch, type DataToThread } from '../model/wire.ts'
import type { Clock } from '../platform/clock.ts'
import type { Mailbox, Meta } from './mailbox.ts'

/** The way into one instance. */
export interface Link {
  /** Of the instance. */
  readonly id?: string
  readonly recorder: FlightRecorder
  /** What was in flight when it was fenced: what is done since then is not believed. Null: it is not fenced. */
  readonly fencedWith?: readonly number[] | null
  post(message: DataToThread, transfer?: ArrayBuffer[]): void
}

export interface PumpHooks {
  /** Messages have left, or are done: room may have come about. */
  onProgress(): void
  /** An event outlived its time before it was handed over; takes it out of the mailbox. */
  onExpired(position: number): void
}

/** What an ended instance leaves of the messages it was handed. */
export interface Remains {
  /** Begun and not done, in order. */
  readonly inFlight: readonly { readonly position: number; readonly seq: number }[]
  /** The last position that was begun; all up to it that is not in flight is done. */
  readonly begunTo: number
  readonly doneCount: number
  /** Done, but what they replied and sent may not have left the thread. */
  readonly unflushed: number
}

/** Nothing was handed over. */
export const NO_REMAINS: Remains = { inFlight: [], begunTo: 0, doneCount: 0, unflushed: 0 }

const BATCH = 256
/** A batch is full with so many bytes too: a thread begins with what is large while the rest is still being sent. */
const BATCH_BYTES = 512 * 1024

export class Pump {
  readonly #mailbox: Mailbox
  #window = 0
  #batch = 0
  readonly #hooks: PumpHooks
  readonly #clock: Clock
  #link: Link | null = null
  /** Delivery number = position - base. */
  #base = 0
  #done = 0
  #open = false
  #scheduled = false
  #armed = false
  /** Messages, and bytes known to be in them, since the last look. */
  #added = 0
  #addedBytes = 0

  constructor(mailbox: Mailbox, window: number, hooks: PumpHooks, clock: Clock) {
    this.#mailbox = mailbox
    this.resize(window)
    this.#hooks = hooks
    this.#clock = clock
  }

  /** Between two instances: the most that may be in a thread's hands. */
  resize(window: number): void {
    this.#window = window
    this.#batch = Math.max(1, Math.min(BATCH, window >> 2))
  }

  /** Of the instance there is. */
  get doneCount(): number {
    return this.#link === null ? 0 : this.#done
  }

  /** A batch is about to leave in this turn. */
  get scheduled(): boolean {
    return this.#scheduled
  }

  attach(link: Link): void {
    this.#mailbox.rewind()
    this.#link = link
    this.#base = this.#mailbox.head - 1
    this.#done = 0
    this.#armed = false
  }

  /** Lets messages out, or holds them. What has left is not called back. */
  setOpen(open: boolean): void {
    this.#open = open
    if (open) this.#schedule()
  }

  /**
   * A message was added: a full batch leaves at once, a part of one at the end of this turn's callback. A producer that
   * never yields hears no bell, so the recorder is looked at once a batch.
   */
  kick(bytes = 0): void {
    if (this.#link === null || !this.#open) return
    this.#addedBytes += bytes
    if (++this.#added >= this.#batch || this.#addedBytes >= BATCH_BYTES) this.flush()
    else this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    process.nextTick(this.#tick)
  }

  readonly #tick = (): void => {
    this.#scheduled = false
    this.flush()
  }

  /** Hands over what the window allows. */
  flush(): void {
    const mailbox = this.#mailbox
    this.#added = 0
    this.#addedBytes = 0
    if (this.#link === null || !this.#open) return
    this.reclaim()
    const before = mailbox.sent
    while (mailbox.unsent > 0) {
      const room = this.#window - this.#outstanding()
      if (room >= mailbox.unsent || room >= this.#batch) this.#post(Math.min(this.#batch, room, mailbox.unsent))
      else if (this.#heldUp()) break
    }
    if (mailbox.sent !== before) this.#hooks.onProgress()
  }

  /** The thread rang. */
  onBell(): void {
    this.#armed = false
    this.flush()
    this.#hooks.onProgress()
  }

  /** Forgets what is done. Cheap; reads the recorder. */
  reclaim(): void {
    const link = this.#link
    if (link === null || (link.fencedWith ?? null) !== null) return
    this.#readDone(link)
    if (link.recorder.concurrency <= 1) {
      this.#mailbox.settleTo(this.#base + this.#done + 1)
      return
    }
    // Read on both sides of the slots: meanwhile the thread may begin more, or take back the last at a pause.
    const before = this.#absolute(link.recorder.read(CELL.begun))
    const oldest = link.recorder.inFlight()[0]
    const begun = Math.min(before, this.#absolute(link.recorder.read(CELL.begun)))
    this.#mailbox.settleTo(this.#base + (oldest === undefined ? begun + 1 : this.#absolute(oldest)))
  }

  /** The position of a delivery of this instance. */
  positionOf(seq: number): number {
    return this.#base + this.#absolute(seq)
  }

  /** The delivery number of a position in the thread's hands, or null while it still waits here. */
  seqOf(position: number): number | null {
    return this.#link !== null && position < this.#mailbox.sent ? (position - this.#base) | 0 : null
  }

  /** The last position that has begun, in this instance or one before it. */
  get begunTo(): number {
    const link = this.#link
    return link === null ? this.#mailbox.head - 1 : this.#base + this.#absolute(link.recorder.read(CELL.begun))
  }

  /** Deliveries in flight at this moment. */
  inFlight(): { position: number; seq: number }[] {
    const open = this.#link?.recorder.inFlight() ?? []
    return open.map((seq) => ({ seq, position: this.positionOf(seq) }))
  }

  /** The instance has ended: what became of what it was handed. Nothing in the mailbox moves yet. */
  detach(): Remains {
    const link = this.#link
    if (link === null) return { inFlight: [], begunTo: this.#mailbox.head - 1, doneCount: 0, unflushed: 0 }
    const { fencedWith = null } = link
    if (fencedWith === null) this.#readDone(link)
    const begun = this.#absolute(link.recorder.read(CELL.begun))
    const inFlight = (fencedWith ?? link.recorder.inFlight()).map((seq) => ({
      seq: this.#absolute(seq),
      position: this.positionOf(seq),
    }))
    const unflushed = link.recorder.unflushed()
    this.#link = null
    this.#armed = false
    return { inFlight, begunTo: this.#base + begun, doneCount: this.#done, unflushed }
  }

  #outstanding(): number {
    return this.#mailbox.sent - 1 - this.#base - this.#done
  }

  #readDone(link: Link): void {
    this.#done += signedDifference(link.recorder.read(CELL.done), this.#done | 0)
  }

  #absolute(seq: number): number {
    return this.#done + signedDifference(seq, this.#done | 0)
  }

  /** Asks for a bell at half a window. False if that much was done meanwhile, so that no bell would come. */
  #heldUp(): boolean {
    const recorder = this.#link!.recorder
    const target = this.#mailbox.sent - 1 - this.#base - (this.#window >> 1)
    if (!this.#armed) {
      recorder.write(CELL.wakeAt, target | 0)
      recorder.write(CELL.waiting, 1)
      this.#armed = true
    }
    if (signedDifference(recorder.read(CELL.done), target | 0) < 0) return true
    recorder.write(CELL.waiting, 0)
    this.#armed = false
    this.reclaim()
    return false
  }

  /** Hands over as many, or as a batch holds bytes. */
  #post(most: number): void {
    const mailbox = this.#mailbox
    const first = mailbox.sent
    const now = this.#clock.now()
    const columns = new Columns()
    let count = 0
    for (let bytes = 0; count < most && bytes < BATCH_BYTES; count++) {
      const position = first + count
      const expires = mailbox.metaAt(position)?.expires
      if (expires !== undefined && expires <= now) this.#hooks.onExpired(position)
      bytes += columns.add(mailbox, position, count)
    }
    mailbox.sent = first + count
    this.#link!.post(columns.build((first - this.#base) | 0, count), columns.transfer)
  }
}

/** The columns of one batch; those that few messages need begin with the first one that does. */
class Columns {
  readonly #bodies = new BodyColumnBuilder()
  readonly #names = new NameColumnBuilder()
  #asks: number[] | undefined
  #expires: number[] | undefined
  #skip: number[] | undefined
  #solo: number[] | undefined
  #traces: string[] | undefined

  get transfer(): ArrayBuffer[] | undefined {
    return this.#bodies.transfer
  }

  /** @returns the bytes that are known to be in it */
  add(mailbox: Mailbox, position: number, index: number): number {
    this.#names.add(mailbox.nameAt(position))
    const body = mailbox.bodyAt(position)
    this.#bodies.add(body === undefined ? 0 : body)
    if (body === undefined) {
      this.#skip ??= []
      this.#skip.push(index)
    }
    const meta = mailbox.metaAt(position)
    const ask = meta === undefined ? 0 : askOf(meta)
    if (ask !== 0) this.#asks ??= padded(index, 0)
    this.#asks?.push(ask)
    if (meta !== undefined || this.#expires !== undefined || this.#traces !== undefined) this.#addRare(meta, index)
    return body instanceof Copied ? body.bytes : 0
  }

  #addRare(meta: Meta | undefined, index: number): void {
    if (meta?.expires !== undefined) this.#expires ??= padded(index, 0)
    this.#expires?.push(meta?.expires ?? 0)
    if (meta?.traceparent !== undefined) this.#traces ??= padded(index, '')
    this.#traces?.push(meta?.traceparent ?? '')
    if (meta?.solo !== true) return
    this.#solo ??= []
    this.#solo.push(index)
  }

  build(first: number, count: number): Batch {
    return {
      type: 'batch',
      first,
      count,
      names: this.#names.build(),
      ...this.#bodies.build(),
      ...(this.#asks === undefined ? {} : { asks: this.#asks }),
      ...(this.#expires === undefined ? {} : { expires: this.#expires }),
      ...(this.#skip === undefined ? {} : { skip: this.#skip }),
      ...(this.#solo === undefined ? {} : { solo: this.#solo }),
      ...(this.#traces === undefined ? {} : { traces: this.#traces }),
    }
  }
}

/** What stands in the column of asks. */
function askOf({ kind, deadline, awaited, onFate }: Meta): number {
  return kind === 'ask' || awaited === true || onFate !== undefined ? (deadline ?? AWAITED) : 0
}
