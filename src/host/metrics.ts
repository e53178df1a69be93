/**
 * The figures of a host and its agents, for Prometheus. Read where they are kept, at the moment somebody asks: a message
 * costs nothing here. Only deaths and dead letters are counted as they happen. `GET /metrics` serves the text.
 */
import type { Directory } from '../actors/directory.ts'
import { FATE_OF } from '../actors/fates.ts'
import type { DeathCause, DeathRecord } from '../model/death.ts'
import type { DeadLetterReason, Fate } from '../model/message.ts'
import type { Clock } from '../platform/clock.ts'
import { MetricsPage, type MetricsText } from '../platform/metrics.ts'
import type { HostIdentity } from './host.ts'
import { seriesOf } from './metrics-series.ts'

export interface MetricsParts {
  readonly directory: Directory
  readonly clock: Clock
  readonly identity: HostIdentity
}

type Counts<K extends string> = Map<K, number>

export class Metrics {
  readonly #parts: MetricsParts
  readonly #deaths = new Map<string, Counts<DeathCause>>()
  readonly #fates = new Map<string, Counts<Fate['fate']>>()
  /** Calls that a death has cut off. */
  readonly #cutOff = new Map<string, number>()
  /** The highest that was told: a call that begins while it is read must not take one back. */
  readonly #handled = new Map<string, number>()
  #page: MetricsPage | null = null

  constructor(parts: MetricsParts) {
    this.#parts = parts
  }

  /** The page, as it is now; of the agents that there are now. */
  text(): Promise<MetricsText> {
    this.#page ??= new MetricsPage(seriesOf({ ...this.#parts, tallies: this }))
    return this.#page.text()
  }

  deathsOf(agent: string): Iterable<readonly [cause: string, count: number]> {
    return this.#deaths.get(agent) ?? []
  }

  /** Of messages, by what became of them in the life of this host. */
  *fatesOf(agent: string): Iterable<readonly [fate: string, count: number]> {
    yield ['handled', this.#handledBy(agent)]
    yield* this.#fates.get(agent) ?? []
  }

  // --- told by the host --------------------------------------------------------------------------------------------

  onDeath({ agent, cause, inFlight }: DeathRecord): void {
    count(this.#deaths, agent, cause)
    this.#cutOff.set(agent, (this.#cutOff.get(agent) ?? 0) + inFlight.length)
  }

  onDeadLetter(agent: string, reason: DeadLetterReason): void {
    const fate = FATE_OF[reason]
    // Its handler ended, with an error: it is among the calls.
    if (fate !== 'handled') count(this.#fates, agent, fate)
  }

  /** An agent that is one no more: its series end. */
  forget(agent: string): void {
    for (const map of [this.#deaths, this.#fates, this.#cutOff, this.#handled]) map.delete(agent)
  }

  /** Calls of handlers that have ended, well or not. */
  #handledBy(id: string): number {
    const agent = this.#parts.directory.find(id)
    if (agent === undefined) return 0
    const calls = Object.values(agent.invocations.metrics()).reduce((sum, handler) => sum + handler.count, 0)
    const ended = calls - agent.inbox.pump.inFlight().length - (this.#cutOff.get(id) ?? 0)
    const highest = Math.max(ended, this.#handled.get(id) ?? 0)
    this.#handled.set(id, highest)
    return highest
  }
}

function count<K extends string>(of: Map<string, Counts<K>>, agent: string, key: K): void {
  let counts = of.get(agent)
  if (counts === undefined) {
    counts = new Map()
    of.set(agent, counts)
  }
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
