/**
 * Deliveries waiting in the thread: batches as they came, and a cursor. Nothing is unpacked ahead of its turn but the
 * payloads, which one parse makes for the whole batch.
 */
import { nameIn } from '../model/name-column.ts'
import { readColumn } from '../model/payload-column.ts'
import type { Batch } from '../model/wire.ts'

/** One delivery, read at the cursor. */
export interface Delivery {
  readonly seq: number
  readonly name: string
  readonly payload: unknown
  /** Absolute deadline of an ask, 0 for an event, AWAITED for an event whose fate is awaited. */
  readonly ask: number
  /** Absolute end of life, 0 for none. */
  readonly expires: number
  readonly skip: boolean
  /** The trace it belongs to; '' for none. */
  readonly traceparent: string
}

export class Deliveries {
  readonly #waiting: Batch[] = []
  #batch: Batch | null = null
  #payloads: unknown[] = []
  #index = 0

  add(batch: Batch): void {
    this.#waiting.push(batch)
  }

  /** Number of the next delivery, or null when none waits. */
  get nextSeq(): number | null {
    const batch = this.#current()
    return batch === null ? null : (batch.first + this.#index) | 0
  }

  /** Whether the next is to be run alone. */
  get nextIsSolo(): boolean {
    return this.#current()?.solo?.includes(this.#index) === true
  }

  /** Whether others wait behind the next one. */
  get more(): boolean {
    return this.#waiting.length > 0 || (this.#batch !== null && this.#index + 1 < this.#batch.count)
  }

  /** Takes the next one. Only after {@link nextSeq} was not null. */
  take(): Delivery {
    const batch = this.#batch!
    const index = this.#index++
    const payload = this.#payloads[index]
    this.#payloads[index] = undefined
    return {
      seq: (batch.first + index) | 0,
      name: nameIn(batch.names, index),
      payload,
      ask: batch.asks === undefined ? 0 : batch.asks[index]!,
      expires: batch.expires === undefined ? 0 : batch.expires[index]!,
      skip: batch.skip?.includes(index) === true,
      traceparent: batch.traces === undefined ? '' : batch.traces[index]!,
    }
  }

  #current(): Batch | null {
    if (this.#batch !== null && this.#index < this.#batch.count) return this.#batch
    this.#batch = this.#waiting.shift() ?? null
    this.#index = 0
    this.#payloads = this.#batch === null ? [] : readColumn(this.#batch)
    return this.#batch
  }
}
