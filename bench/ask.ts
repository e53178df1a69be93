/**
 * Round trips of an ask to one isolated agent that echoes: how many a second with 256 in flight, and the time of one at a
 * time. Every reply is compared with what was asked; a wrong or missing one fails the variant. That time depends on where
 * the system puts the two threads: it is compared on one processor, in latency.ts.
 */
import type { Bench, Effort, Figures, Variant } from './definition.ts'
import { withCounter } from './holt.ts'
import { expectHandled, lanes, latency, perSecond } from './measure.ts'
import { startComlink } from './peers/comlink.ts'
import { startPiscina } from './peers/piscina.ts'
import { startRawAsker } from './peers/raw.ts'

const ONE_BY_ONE = 2_000
const FAST = 100_000
const SLOW = 20_000
const PISCINA_TASKS_PER_WORKER = 256

type Echo = (input: { n: number }) => Promise<unknown>

async function roundTrips(count: number, effort: Effort, echo: Echo): Promise<Figures> {
  let answered = 0
  const call = async (n: number): Promise<void> => {
    const reply = (await echo({ n })) as { n: number }
    if (reply.n === n) answered++
  }
  const times = await latency(ONE_BY_ONE, effort, call)
  const rate = await perSecond(count, effort, async (asked) => {
    answered = 0
    await lanes(asked, call)
    expectHandled(answered, asked)
  })
  return { ...times, perSecond: rate }
}

const postMessage: Variant = async (effort) => {
  const ask = await startRawAsker()
  return roundTrips(FAST, effort, (input) => ask('echo', input))
}

const comlink: Variant = async (effort) => {
  const peer = await startComlink()
  return roundTrips(SLOW, effort, (input) => peer.echo(input))
}

const piscina: Variant = async (effort) => {
  const pool = startPiscina('sync', PISCINA_TASKS_PER_WORKER)
  return roundTrips(SLOW, effort, (input) => pool.run(input, { name: 'echo' }))
}

const holt: Variant = (effort) =>
  withCounter((counter) => roundTrips(FAST, effort, (input) => counter.ask('echo', input)))

export const ask: Bench = {
  name: 'ask',
  summary: 'round trips of an ask to one isolated agent',
  metrics: [
    { key: 'p50', label: 'p50 µs, 1 in flight', ratio: true },
    { key: 'p99', label: 'p99 µs, 1 in flight', ratio: false },
    { key: 'perSecond', label: 'asks/s, 256 in flight', ratio: true },
  ],
  base: 'postMessage and an id map',
  variants: {
    'postMessage and an id map': postMessage,
    Comlink: comlink,
    Piscina: piscina,
    'Holt ask': holt,
  },
  targets: [
    { variant: 'Holt ask', against: 'postMessage and an id map', metric: 'perSecond', atLeast: 2.5 },
    { variant: 'Holt ask', against: 'Comlink', metric: 'perSecond', atLeast: 16 },
  ],
  packages: ['comlink', 'piscina'],
  leavesOut: {
    'postMessage and an id map': 'time-outs, rejection when the thread dies, bounds, supervision',
    Comlink: 'time-outs, rejection when the thread dies, bounds, supervision',
    Piscina: 'identity of a thread, order between tasks',
  },
}
