/**
 * Figures in the text format of Prometheus. Each page has a registry of its own; nothing is counted anywhere but where it
 * happens: the series are read when somebody asks for the page. The figures of the process itself are one registry for
 * all pages of it, made at the first page, since the platform's observers cannot be taken back.
 */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'

/** One figure, with all its label values. */
export interface Series {
  /** By the convention: `holt_`, what it is, its unit; `_total` for a counter. */
  readonly name: string
  readonly help: string
  readonly kind: 'counter' | 'gauge'
  readonly labels: readonly string[]
  /** Label values in the order of `labels`, and the number; one that is not finite is left out. Must not throw. */
  readonly read: () => Iterable<readonly [labels: readonly string[], value: number]>
}

export interface MetricsText {
  readonly contentType: string
  readonly body: string
}

let ofProcess: Registry | null = null

function processRegistry(): Registry {
  if (ofProcess === null) {
    ofProcess = new Registry()
    collectDefaultMetrics({ register: ofProcess })
  }
  return ofProcess
}

export class MetricsPage {
  readonly #registry = new Registry()

  constructor(series: readonly Series[]) {
    for (const one of series) add(one, this.#registry)
  }

  /** Everything as it is now. */
  async text(): Promise<MetricsText> {
    const bodies = await Promise.all([this.#registry.metrics(), processRegistry().metrics()])
    return { contentType: this.#registry.contentType, body: bodies.join('\n') }
  }
}

function add({ name, help, kind, labels, read }: Series, registry: Registry): void {
  const write = (metric: Counter | Gauge): void => {
    // What has gone since leaves no series behind.
    metric.reset()
    for (const [values, value] of read()) {
      if (!Number.isFinite(value)) continue
      metric.inc(Object.fromEntries(labels.map((label, index) => [label, values[index] ?? ''])), value)
    }
  }
  const options = {
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    collect(this: Counter | Gauge) {
      write(this)
    },
  }
  if (kind === 'counter') new Counter(options)
  else new Gauge(options)
}
