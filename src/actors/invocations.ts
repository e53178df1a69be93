/**
 * How often an agent's handlers were called, how often they failed and how long they took, over all its instances. The
 * numbers of the newest instance are read where its thread writes them, also when that has ended; the next one's come
 * on top. Told by `agent.ts`, read for people.
 */
import { type HandlerCounts, readCounts } from '../model/handler-counts.ts'
import type { HandlerMetrics } from '../model/view.ts'
import type { FromThread, HandlerHistogram } from '../model/wire.ts'

interface Tally {
  readonly count: number
  readonly errors: number
}

/** Cells of one instance, by handler in order. */
interface Live {
  readonly names: readonly string[]
  readonly counts: HandlerCounts
}

const US_A_MS = 1000

export class Invocations {
  readonly #past = new Map<string, Tally>()
  readonly #histograms = new Map<string, HandlerHistogram>()
  #live: Live | null = null

  take(message: Extract<FromThread, { type: 'histogram' | 'handlers' }>): void {
    if (message.type === 'histogram') {
      this.#histograms.set(message.handler, message.histogram)
      return
    }
    // The instance before has ended: its numbers are final.
    for (const [name, tally] of this.#tallies()) this.#past.set(name, tally)
    this.#live = { names: message.names, counts: message.counts }
  }

  /** By name of the handler, in the order in which they were first seen. */
  metrics(): Record<string, HandlerMetrics> {
    return Object.fromEntries(
      [...this.#tallies()].map(([name, tally]) => [name, { ...tally, ...percentiles(this.#histograms.get(name)) }]),
    )
  }

  #tallies(): Map<string, Tally> {
    const tallies = new Map(this.#past)
    this.#live?.names.forEach((name, index) => {
      const { count, errors } = readCounts(this.#live!.counts, index)
      const past = this.#past.get(name)
      tallies.set(name, { count: count + (past?.count ?? 0), errors: errors + (past?.errors ?? 0) })
    })
    return tallies
  }
}

function percentiles(histogram: HandlerHistogram | undefined): Omit<HandlerMetrics, 'count' | 'errors'> {
  const at = (percentile: number): number | null =>
    histogram === undefined || histogram.count === 0 ? null : histogram.percentile(percentile) / US_A_MS
  return { p50Ms: at(50), p95Ms: at(95), p99Ms: at(99) }
}
