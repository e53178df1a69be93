/**
 * The loop of a thread: begins deliveries in order, at most `concurrency` at a time, and marks each in the flight
 * recorder:
 *
 *      begun = k → pause flag? (up: undo, stop here) → run → done = k → bell, if the host waits for it
 *
 * A handler that returns no promise costs no turn of the loop. Called by `main.ts`; `invoke.ts` knows roles and replies.
 */
import { CELL, type FlightRecorder, signedDifference } from '../model/flight-recorder.ts'
import type { Batch, FromThread } from '../model/wire.ts'
import { monotonicMs } from '../platform/clock.ts'
import type { MountedCapabilities } from './capabilities.ts'
import type { ContextFactory, HandlerContext } from './context.ts'
import { Deliveries, type Delivery } from './deliveries.ts'
import { endThread } from './end.ts'
import type { Fatal } from './fatal.ts'
import type { Histograms } from './histograms.ts'
import { Invoker } from './invoke.ts'
import type { Outbox } from './outbox.ts'
import type { Roles } from './roles.ts'

export interface LoopParts {
  readonly recorder: FlightRecorder
  readonly outbox: Outbox
  readonly histograms: Histograms
  readonly post: (message: FromThread) => void
  readonly fatal: Fatal
  /** Called at the end of each turn in which something ran. */
  readonly pulse: () => void
}

/** The clock is read once in so many deliveries while behind. */
const SAMPLE = 16
/** Other things of the thread (control, timers, input) get a turn at least this often. */
const TURN_MS = 10
const TURN_DELIVERIES = 1024

export class Loop {
  readonly #parts: LoopParts
  readonly #cells: Int32Array
  readonly #concurrency: number
  readonly #deliveries = new Deliveries()
  /** What runs, by slot; with one at a time there is one slot. */
  readonly #running: (HandlerContext | undefined)[]
  readonly #abandoned = new Map<number, string>()
  #invoker: Invoker | null = null
  #mounted: MountedCapabilities | null = null
  #open = 0
  #solo = false
  #count = 0
  #turnAt = 0
  #turnCount = 0
  /** The end of this turn will be seen. */
  #turning = false
  #yielded = false
  #pauseAsked: number | null = null
  #ending: 'told' | 'self' | null = null

  constructor(parts: LoopParts) {
    this.#parts = parts
    this.#cells = parts.recorder.cells
    this.#concurrency = parts.recorder.concurrency
    this.#running = new Array<HandlerContext | undefined>(this.#concurrency).fill(undefined)
  }

  equip(roles: Roles, contexts: ContextFactory, mounted: MountedCapabilities): void {
    this.#mounted = mounted
    this.#invoker = new Invoker(roles, contexts, this.#parts, (seq, slot, inline) => this.#complete(seq, slot, inline))
  }

  take(batch: Batch): void {
    this.#deliveries.add(batch)
    if (this.#open === 0) this.#count = 0
    this.#run()
  }

  /** The flag is up already; this asks to be told when nothing runs. */
  pause(n: number): void {
    this.#pauseAsked = n
    this.#whenIdle()
  }

  resume(): void {
    this.#pauseAsked = null
    this.#run()
  }

  abort(seqs: readonly number[] | 'all', reason: string): void {
    for (const ctx of this.#running)
      if (ctx !== undefined && (seqs === 'all' || seqs.includes(ctx.seq))) ctx.abort(reason)
    if (seqs === 'all') return
    const begun = Atomics.load(this.#cells, CELL.begun)
    for (const seq of seqs) if (signedDifference(seq, begun) > 0) this.#abandoned.set(seq, reason)
  }

  /** Told to end: what runs may finish. The flag is up. */
  stop(): void {
    this.#ending ??= 'told'
    this.#whenIdle()
  }

  /** The agent ends itself, when what runs has ended. */
  stopSelf(): void {
    this.#ending ??= 'self'
    // Not at once: the handler that asks for it is still running.
    setImmediate(() => this.#whenIdle())
  }

  // --- running -----------------------------------------------------------------------------------------------------

  readonly #run = (): void => {
    const cells = this.#cells
    while (this.#open < this.#concurrency && !this.#solo && this.#ending !== 'self') {
      const seq = this.#deliveries.nextSeq
      if (seq === null || this.#yielded || this.#mustYield()) return
      if (this.#open > 0 && this.#deliveries.nextIsSolo) return
      const slot = this.#claim(seq)
      Atomics.store(cells, CELL.begun, seq)
      if (Atomics.load(cells, CELL.pause) !== 0) {
        Atomics.store(cells, CELL.begun, (seq - 1) | 0)
        this.#release(slot)
        return this.#whenIdle()
      }
      this.#solo = this.#deliveries.nextIsSolo
      this.#begin(this.#deliveries.take(), slot)
    }
  }

  #begin(delivery: Delivery, slot: number): void {
    const sampled = this.#count++ % SAMPLE === 0
    if (sampled) this.#parts.recorder.turnAt = monotonicMs()
    this.#open++
    const gone = this.#abandoned.size === 0 ? undefined : this.#abandoned.get(delivery.seq)
    if (gone !== undefined) this.#abandoned.delete(delivery.seq)
    const ctx = this.#invoker!.invoke(delivery, slot, sampled, gone)
    if (ctx !== null) this.#running[slot] = ctx
  }

  /** A delivery has ended, in whatever way. Called exactly once for each. */
  #complete(seq: number, slot: number, inline: boolean): void {
    const cells = this.#cells
    this.#running[slot] = undefined
    this.#release(slot)
    if (this.#concurrency === 1) Atomics.store(cells, CELL.done, seq)
    else Atomics.add(cells, CELL.done, 1)
    this.#open--
    this.#solo = false
    if (Atomics.load(cells, CELL.waiting) !== 0) this.#bell()
    if (inline) return
    if (this.#open === 0 && (this.#ending !== null || this.#pauseAsked !== null)) this.#whenIdle()
    this.#run()
  }

  #claim(seq: number): number {
    if (this.#concurrency === 1) return 0
    for (let slot = 0; slot < this.#concurrency; slot++) {
      if (Atomics.compareExchange(this.#cells, CELL.slots + slot, 0, seq) === 0) return slot
    }
    throw new Error('no free slot: more handlers run than were allowed')
  }

  #release(slot: number): void {
    if (this.#concurrency > 1) Atomics.store(this.#cells, CELL.slots + slot, 0)
  }

  #bell(): void {
    const cells = this.#cells
    if (signedDifference(Atomics.load(cells, CELL.done), Atomics.load(cells, CELL.wakeAt)) < 0) return
    // Only one of two rings: the host clears the flag too when it finds out by itself.
    if (Atomics.compareExchange(cells, CELL.waiting, 1, 0) === 1) this.#parts.outbox.ring()
  }

  // --- turns -------------------------------------------------------------------------------------------------------

  /**
   * The port may hand over many batches without a turn of the loop in between: a turn ends only when the loop turns. One
   * that comes alone asks for no such turn, which would cost as much as handling it; it counts for the next.
   */
  #mustYield(): boolean {
    const count = ++this.#turnCount
    if (count === 1) this.#turnAt = monotonicMs()
    // Also after the first, the second, the fourth, the eighth: handlers may be slow.
    const looks = count > 1 && (count % SAMPLE === 0 || (count & (count - 1)) === 0)
    this.#yielded = count >= TURN_DELIVERIES || (looks && monotonicMs() - this.#turnAt > TURN_MS)
    if (!this.#turning && (this.#yielded || this.#deliveries.more)) {
      this.#turning = true
      setImmediate(this.#endTurn)
    }
    return this.#yielded
  }

  readonly #endTurn = (): void => {
    this.#turning = false
    this.#turnCount = 0
    this.#parts.pulse()
    if (!this.#yielded) return
    this.#yielded = false
    this.#run()
  }

  // --- coming to rest ----------------------------------------------------------------------------------------------

  /** Answers a pause, or ends the thread, once nothing runs. */
  #whenIdle(): void {
    if (this.#open > 0) return
    if (this.#ending !== null) {
      void this.#end(this.#ending)
      return
    }
    if (this.#pauseAsked === null || Atomics.load(this.#cells, CELL.pause) === 0) return
    const n = this.#pauseAsked
    this.#pauseAsked = null
    this.#parts.outbox.flush()
    this.#parts.post({ type: 'paused', n })
  }

  async #end(why: 'told' | 'self'): Promise<void> {
    this.#ending = 'self'
    this.#open = Number.POSITIVE_INFINITY
    // Told before the hooks run: the host sees to it that they end.
    if (why === 'self') this.#parts.post({ type: 'ending', cause: 'normal' })
    try {
      await this.#invoker?.runStops()
      await this.#mounted?.shutdown()
    } catch (error) {
      this.#parts.fatal(error)
    }
    this.#parts.outbox.close()
    endThread(0)
  }
}
