/**
 * What observing costs: events a second by `tell` with subscribers beside the same without, in turn in one process, so
 * that what the machine does meanwhile weighs on both alike. `with ÷ without` is over all windows of a round. With
 * nobody both are the same: that row shows how much of the others is chance.
 */
import { median } from './arithmetic.ts'
import type { Bench, Effort, Figures, Variant } from './definition.ts'
import { type BenchAgent, type BenchHost, withHost } from './holt.ts'
import { expectHandled } from './measure.ts'

/** Of each kind. */
const WINDOWS = 4
/** Events a window: a tenth of a second and more. */
const EVENTS = 150_000
const SCRAPE_EVERY_MS = 1000

interface Stream {
  subscribe(next: (value: unknown) => void): { unsubscribe(): void }
}

interface ObservedHost extends BenchHost {
  readonly facts$: Stream
  readonly metrics: { text(): Promise<unknown> }
  agent(id: string): BenchAgent & { readonly snapshot$: Stream }
}

/** Begins to observe; returns what ends it. */
type Observe = (host: ObservedHost) => () => void

const toStream =
  (streamOf: (host: ObservedHost) => Stream): Observe =>
  (host) => {
    let seen = 0
    const subscription = streamOf(host).subscribe(() => seen++)
    return () => subscription.unsubscribe()
  }

const facts = toStream((host) => host.facts$)
const snapshot = toStream((host) => host.agent('counter').snapshot$)

/** Once at the beginning of what is observed and each second from then on, also over windows in between. */
function scraping(): Observe {
  let nextAt = 0
  return (host) => {
    const scrape = (): void => {
      nextAt = performance.now() + SCRAPE_EVERY_MS
      void host.metrics.text()
    }
    if (performance.now() >= nextAt) scrape()
    const timer = setInterval(scrape, SCRAPE_EVERY_MS)
    return () => clearInterval(timer)
  }
}

const together =
  (...all: readonly Observe[]): Observe =>
  (host) => {
    const ends = all.map((observe) => observe(host))
    return () => {
      for (const end of ends) end()
    }
  }

const watched =
  (observe: Observe): Variant =>
  (effort) =>
    withHost('counter', (host: ObservedHost) => inTurn(effort, host, observe))

async function inTurn(effort: Effort, host: ObservedHost, observe: Observe): Promise<Figures> {
  const counter = host.agent('counter')
  const events = Math.ceil(EVENTS * effort.share)
  let sent = 0
  const window = async (): Promise<number> => {
    const begun = performance.now()
    for (let n = 0; n < events; n++) {
      if (!counter.hasRoom) await counter.room()
      if (!counter.tell('add', { n, text: 'hello' })) throw new Error(`tell was refused at ${n}, with room`)
    }
    sent += events
    expectHandled(await counter.ask('total'), sent)
    return performance.now() - begun
  }
  const observed = async (): Promise<number> => {
    const end = observe(host)
    try {
      return await window()
    } finally {
      end()
    }
  }
  const [withMs, withoutMs]: [number[], number[]] = [[], []]
  await window()
  await observed()
  for (let n = 0; n < WINDOWS; n++) {
    // Turned about each time: neither always comes second.
    if (n % 2 === 0) withoutMs.push(await window())
    withMs.push(await observed())
    if (n % 2 === 1) withoutMs.push(await window())
  }
  const sum = (times: readonly number[]): number => times.reduce((total, time) => total + time, 0)
  return { perSecond: (events / median(withMs)) * 1000, share: sum(withoutMs) / sum(withMs) }
}

const NOBODY = 'nobody'
const OBSERVED = ['one of facts$', 'one of snapshot$', 'both, and metrics each second'] as const
const [FACTS, SNAPSHOT, ALL] = OBSERVED

export const observe: Bench = {
  name: 'observe',
  summary: 'events per second by tell while somebody watches',
  metrics: [
    { key: 'perSecond', label: 'events/s', ratio: false },
    { key: 'share', label: 'with ÷ without', ratio: false },
  ],
  base: NOBODY,
  variants: {
    [NOBODY]: watched(() => () => {}),
    [FACTS]: watched(facts),
    [SNAPSHOT]: watched(snapshot),
    [ALL]: watched(together(facts, snapshot, scraping())),
  },
  targets: OBSERVED.map((variant) => ({ variant, against: NOBODY, metric: 'share', atLeast: 0.95 })),
  packages: [],
}
