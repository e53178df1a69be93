/**
 * The thread's side of a pump, played by a test: takes batches as a port would carry them, and writes a real flight
 * recorder in the order in which a thread does.
 */
import type { Link } from '../../src/actors/pump.ts'
import { CELL, FlightRecorder, signedDifference } from '../../src/model/flight-recorder.ts'
import { readColumn } from '../../src/model/payload-column.ts'
import type { Batch, DataToThread } from '../../src/model/wire.ts'

/** One delivery as the thread sees it. */
export interface Taken {
  readonly seq: number
  readonly name: string
  readonly payload: unknown
  readonly ask: number
  readonly expires: number
  readonly skip: boolean
  readonly solo: boolean
}

export class PlayedThread implements Link {
  readonly recorder: FlightRecorder
  readonly batches: Batch[] = []
  /** All that was handed over, in the order in which it came. */
  readonly taken: Taken[] = []
  /** How many of them have begun. */
  begun = 0
  #wake: () => void = () => {}

  constructor(concurrency = 1) {
    this.recorder = FlightRecorder.create(concurrency).recorder
  }

  /** What the host does when the bell rings. */
  onBell(wake: () => void): void {
    this.#wake = wake
  }

  /** Carries a message as a port does: a copy, with buffers moved. */
  post(message: DataToThread, transfer: ArrayBuffer[] = []): void {
    const batch = structuredClone(message, { transfer })
    if (batch.type !== 'batch') return
    this.batches.push(batch)
    const payloads = readColumn(batch)
    for (let index = 0; index < batch.count; index++) {
      this.taken.push({
        seq: (batch.first + index) | 0,
        name: typeof batch.names === 'string' ? batch.names : batch.names[index]!,
        payload: payloads[index],
        ask: batch.asks?.[index] ?? 0,
        expires: batch.expires?.[index] ?? 0,
        skip: batch.skip?.includes(index) === true,
        solo: batch.solo?.includes(index) === true,
      })
    }
  }

  /** Names of what was handed over and is no hole. */
  get names(): string[] {
    return this.taken.filter(({ skip }) => !skip).map(({ name }) => name)
  }

  /** Payloads of what was handed over and is no hole. */
  get payloads(): unknown[] {
    return this.taken.filter(({ skip }) => !skip).map(({ payload }) => payload)
  }

  /** Begins the next delivery; undefined where none waits. */
  begin(): Taken | undefined {
    const next = this.taken[this.begun]
    if (next === undefined) return undefined
    const { recorder } = this
    if (recorder.concurrency > 1) {
      const slot = this.#slots().indexOf(0)
      if (slot < 0) throw new Error('no slot is free')
      recorder.write(CELL.slots + slot, next.seq)
    }
    recorder.write(CELL.begun, next.seq)
    this.begun++
    return next
  }

  /** Ends a delivery; the bell rings where the host waits for it. */
  end(seq: number): void {
    const { recorder } = this
    if (recorder.concurrency > 1) {
      recorder.write(CELL.slots + this.#slots().indexOf(seq), 0)
      recorder.add(CELL.done, 1)
    } else recorder.write(CELL.done, seq)
    this.#ringIfWanted()
  }

  /** Begins and ends so many, or all that wait. */
  work(count = this.taken.length - this.begun): void {
    for (let i = 0; i < count; i++) {
      const next = this.begin()
      if (next === undefined) return
      this.end(next.seq)
    }
  }

  #ringIfWanted(): void {
    const { recorder } = this
    if (recorder.read(CELL.waiting) === 0) return
    if (signedDifference(recorder.read(CELL.done), recorder.read(CELL.wakeAt)) < 0) return
    if (Atomics.compareExchange(recorder.cells, CELL.waiting, 1, 0) === 1) this.#wake()
  }

  #slots(): number[] {
    const { recorder } = this
    return Array.from({ length: recorder.concurrency }, (_, slot) => recorder.read(CELL.slots + slot))
  }
}
