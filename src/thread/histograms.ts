/**
 * How long handlers take, a histogram each, in microseconds. Recording and two clock reads would cost half as much as
 * handling an event, so only the first message after a wait and every 16th while behind are measured. A histogram is
 * posted once and read live by the host.
 */
import type { RecordableHistogram } from 'node:perf_hooks'
import type { FromThread, HandlerHistogram } from '../model/wire.ts'

export class Histograms {
  readonly #post: (message: FromThread) => void
  readonly #byHandler = new Map<string, RecordableHistogram>()

  constructor(post: (message: FromThread) => void) {
    this.#post = post
  }

  record(handler: string, tookMs: number): void {
    let histogram = this.#byHandler.get(handler)
    if (histogram === undefined) {
      // Loaded with the first: an agent that has done nothing yet does without.
      histogram = process.getBuiltinModule('node:perf_hooks').createHistogram()
      this.#byHandler.set(handler, histogram)
      this.#post({ type: 'histogram', handler, histogram: histogram as HandlerHistogram })
    }
    // Zero and fractions are refused by the platform.
    histogram.record(Math.max(1, Math.round(tookMs * 1000)))
  }
}
