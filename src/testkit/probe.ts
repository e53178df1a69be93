/** Collects what a stream says, for a test to look at. */
import type { Observable, Subscription } from 'rxjs'

export class Probe<T> {
  /** All it has said, the newest at the end. */
  readonly seen: T[] = []
  readonly #subscription: Subscription

  constructor(stream: Observable<T>) {
    this.#subscription = stream.subscribe((value) => this.seen.push(value))
  }

  get last(): T | undefined {
    return this.seen.at(-1)
  }

  /** What it has said so far, forgotten by this. */
  take(): T[] {
    return this.seen.splice(0)
  }

  close(): void {
    this.#subscription.unsubscribe()
  }
}

export const probe = <T>(stream: Observable<T>): Probe<T> => new Probe(stream)
