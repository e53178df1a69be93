/**
 * Pause in the middle of a flood, and resume with a full queue. A flood is sent, and `pause` right after it: how long
 * until the last event was handled, and until nothing runs any more and it is known. Then the queue is filled, and the
 * agent resumed: how many a second are handled. The thread counts, dies of an event that is out of turn, and notes the
 * longest time between two events, which is the pause: it began when the last one before it was handled.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { median } from './arithmetic.ts'
import { limitsOfHolt, online, startPeer } from './crowd.ts'
import type { Bench, Effort, Figures, Variant } from './definition.ts'
import { type BenchAgent, type BenchHost, withHost } from './holt.ts'
import { expectHandled } from './measure.ts'
import { type RawEvent, replyTo } from './peers/raw.ts'

const PAUSES = 2
const WARM_UP = 1
/** What the mailbox holds of what arrives while it is paused, as in the agent's manifest. */
const CAPACITY = 65_536
/** Sent before the pause: more than is handled while it is sent. */
const FLOOD = 49_152
const ARRAY_LENGTH = 256
/** The longest time between two events is to be the pause, whatever else holds the thread up. */
const PAUSED_FOR_MS = 40
const ASK_TIMEOUT_MS = 60_000

interface Report {
  readonly total: number
  /**
   * The longest time between two events, ns as `process.hrtime` has it in every thread, and how many had been handled
   * before it.
   */
  readonly longest: { readonly from: bigint; readonly to: bigint; readonly before: number }
  /** Of the last event. */
  readonly lastAt: bigint
}

interface Pausable {
  /** Events numbered from `from` on; also while it is paused. */
  send(from: number, count: number): void
  /** Resolves once nothing runs and nothing will. */
  pause(): Promise<void>
  resume(): unknown
  report(): Promise<Report>
}

const payloadOf = (n: number): { n: number; text: string } => ({ n, text: 'hello' })
const now = (): bigint => process.hrtime.bigint()
const ms = (from: bigint, to: bigint): number => Number(to - from) / 1e6

/** One pause in a flood, one full queue. Undefined where something else held the thread up for longer than the pause. */
async function cycle(target: Pausable, before: number, flood: number, full: number): Promise<Figures | undefined> {
  target.send(before + 1, flood)
  const told = now()
  await target.pause()
  const paused = now()
  await wait(PAUSED_FOR_MS)
  target.send(before + flood + 1, full)
  const resumed = now()
  await target.resume()
  const { total, longest, lastAt } = await target.report()
  expectHandled(total, before + flood + full)
  if (longest.from > paused || longest.to < resumed) return undefined
  // Where all of the flood had been handled when it was told, nothing was handled after that.
  const last = Math.max(0, ms(told, longest.from))
  return { last, paused: ms(told, paused), drain: (total - longest.before) / (ms(resumed, lastAt) / 1000) }
}

async function cycles(effort: Effort, target: Pausable): Promise<Figures> {
  const [flood, full] = [Math.ceil(FLOOD * effort.share), Math.ceil(CAPACITY * effort.share)]
  const all: (Figures | undefined)[] = []
  const count = WARM_UP + Math.max(1, Math.round(PAUSES * effort.share * effort.repeats))
  for (let n = 0; n < count; n++) all.push(await cycle(target, n * (flood + full), flood, full))
  const counted = all.slice(WARM_UP).filter((figures) => figures !== undefined)
  if (counted.length === 0) throw new Error('in no cycle was the pause the longest time between two events')
  const middle = (key: string): number => median(counted.map((figures) => figures[key]!))
  return { last: middle('last'), paused: middle('paused'), drain: middle('drain') }
}

/** What one writes by hand: a message that asks for the pause, and an array of what comes meanwhile. */
const bare: Variant = async (effort) => {
  const worker = startPeer('order-worker.mjs', await limitsOfHolt())
  await online(worker)
  let waiting: RawEvent[] | null = null
  const post = (events: readonly RawEvent[]): void => {
    for (let n = 0; n < events.length; n += ARRAY_LENGTH) worker.postMessage(events.slice(n, n + ARRAY_LENGTH))
  }
  return cycles(effort, {
    send: (from, count) => {
      const events = Array.from({ length: count }, (_, n) => ({ name: 'add', payload: payloadOf(from + n) }))
      if (waiting === null) post(events)
      else waiting = waiting.concat(events)
    },
    pause: async () => {
      waiting = []
      await replyTo(worker, [{ name: 'pause' }])
    },
    resume: () => {
      post(waiting ?? [])
      waiting = null
    },
    report: () => replyTo(worker, [{ name: 'report' }]) as Promise<Report>,
  })
}

interface PausableAgent extends BenchAgent {
  pause(): Promise<{ readonly phase: string }>
  resume(): Promise<unknown>
}

interface PausableHost extends BenchHost {
  agent(id: string): PausableAgent
}

const holt: Variant = (effort) =>
  withHost('pausable', (host: PausableHost) => {
    const agent = host.agent('pausable')
    return cycles(effort, {
      send: (from, count) => {
        for (let n = 0; n < count; n++)
          if (!agent.tell('add', payloadOf(from + n))) throw new Error(`tell was refused at ${from + n}`)
      },
      pause: async () => {
        const { phase } = await agent.pause()
        if (phase !== 'PAUSED') throw new Error(`Expected PAUSED after pause, got ${phase}`)
      },
      resume: () => agent.resume(),
      report: async () => {
        // An ask finds no place in a backlog that is full.
        await agent.room()
        return (await agent.ask('report', undefined, { timeoutMs: ASK_TIMEOUT_MS })) as Report
      },
    })
  })

export const pause: Bench = {
  name: 'pause',
  summary: 'a pause in a flood, and the drain of a full queue at resume',
  metrics: [
    { key: 'last', label: 'ms from pause to the last event', ratio: true },
    { key: 'paused', label: 'ms from pause to PAUSED', ratio: true },
    { key: 'drain', label: 'events/s drained at resume', ratio: true },
  ],
  base: 'bare worker, told by message',
  variants: { 'bare worker, told by message': bare, Holt: holt },
  targets: [],
  packages: [],
  leavesOut: {
    'bare worker, told by message':
      'what was posted before the pause is handled before it; no bound on what waits, no accounting; the pause is not written down',
  },
}
