/**
 * 2, 8, 64 and 300 agents fed round robin by one producer: events a second over all, and fairness. The fleet grows from
 * one size to the next in one process, so that no thread is started twice. Fairness is when the slowest agent has
 * handled its last event over when the fastest has, both from the first event sent: each gets the same number, so 1 is
 * perfectly fair, and one that is starved ends late. Each thread notes its own end, on a clock that all share.
 *
 * Each isolate compiles its own code. Left to itself V8 optimises all of a large fleet at about the same time and beside
 * the threads, and 300 isolates, bare workers or agents, then stand still for half a minute (Node 20, two processors).
 * So both are run with compiling in place. 300 are measured from the thousandth event of each on, when they are half warm:
 * more would take minutes.
 */
import { setFlagsFromString } from 'node:v8'
import { median } from './arithmetic.ts'
import { limitsOfHolt, online, spawnMembers, startPeer, startPeers } from './crowd.ts'
import type { Bench, Effort, Figures, Metric, Variant } from './definition.ts'
import { type BenchAgent, withHost } from './holt.ts'
import { expectHandled } from './measure.ts'
import { type RawEvent, replyTo } from './peers/raw.ts'

interface Size {
  readonly agents: number
  /** Events for each. */
  readonly each: number
  /** Timed runs. @default as many as there are repeats */
  readonly runs?: number
  /** Starting so many takes the most of a round. @default all */
  readonly rounds?: number
}

const SIZES: readonly Size[] = [
  { agents: 2, each: 60_000 },
  { agents: 8, each: 15_000 },
  { agents: 64, each: 3_000 },
  { agents: 300, each: 1_000, runs: 1, rounds: 2 },
]
/** Starting more takes longer than a quick run may. */
const QUICK_AGENTS = 8
/** For each, at most. An isolate that has handled some thousand events is warm. */
const WARM_UP = 2_000
const ARRAY_LENGTH = 256
const ASK_TIMEOUT_MS = 60_000

interface Report {
  readonly total: number
  /** ns, as `process.hrtime` has it in every thread. */
  readonly endedAt: number
}

/** Members of a fleet that can grow. */
interface Crowd {
  grow(to: number): Promise<void>
  /** The same number to each, in turn, after word of how many. */
  feed(share: number): unknown
  reports(): Promise<readonly Report[]>
}

const payloadOf = (n: number): { n: number; text: string } => ({ n, text: 'hello' })

async function feedOnce(crowd: Crowd, agents: number, share: number): Promise<{ rate: number; slowest: number }> {
  const begun = Number(process.hrtime.bigint())
  await crowd.feed(share)
  const reports = await crowd.reports()
  for (const { total } of reports) expectHandled(total, share)
  expectHandled(reports.length, agents)
  const ends = reports.map(({ endedAt }) => endedAt - begun)
  return { rate: (share * agents * 1e9) / Math.max(...ends), slowest: Math.max(...ends) / Math.min(...ends) }
}

async function sizes({ share, repeats, round }: Effort, crowd: Crowd): Promise<Figures> {
  setFlagsFromString('--no-concurrent-recompilation')
  const figures: Record<string, number> = {}
  const now = SIZES.filter(({ agents, rounds = Number.POSITIVE_INFINITY }) =>
    share < 1 ? agents <= QUICK_AGENTS : round < rounds,
  )
  for (const { agents, each, runs = repeats } of now) {
    await crowd.grow(agents)
    const events = Math.ceil(each * share)
    await feedOnce(crowd, agents, Math.min(events, Math.ceil(WARM_UP * share)))
    const feeds: Awaited<ReturnType<typeof feedOnce>>[] = []
    for (let n = 0; n < runs; n++) feeds.push(await feedOnce(crowd, agents, events))
    figures[`rate${agents}`] = median(feeds.map(({ rate }) => rate))
    figures[`slowest${agents}`] = median(feeds.map(({ slowest }) => slowest))
  }
  return figures
}

interface Lane {
  post(events: readonly RawEvent[]): void
  report(): Promise<Report>
}

const bare: Variant = async (effort) => {
  const limits = await limitsOfHolt()
  const workers: Lane[] = []
  return sizes(effort, {
    grow: async (to) => {
      const started = await startPeers(to - workers.length, () => startPeer('member-worker.mjs', limits), online)
      for (const worker of started)
        workers.push({
          post: (events) => worker.postMessage(events),
          report: () => replyTo(worker, [{ name: 'report' }]) as Promise<Report>,
        })
    },
    feed: (share) => {
      const arrays = workers.map((): RawEvent[] => [{ name: 'expect', payload: share }])
      for (let n = 0; n < share; n++)
        for (const [index, worker] of workers.entries()) {
          const length = arrays[index]!.push({ name: 'add', payload: payloadOf(n) })
          if (length < ARRAY_LENGTH) continue
          worker.post(arrays[index]!)
          arrays[index] = []
        }
      for (const [index, worker] of workers.entries()) worker.post(arrays[index]!)
    },
    reports: () => Promise.all(workers.map((worker) => worker.report())),
  })
}

const holt: Variant = (effort) =>
  withHost('many', (host) => {
    const members: BenchAgent[] = []
    return sizes(effort, {
      grow: async (to) => void members.push(...(await spawnMembers(host, members.length, to))),
      feed: async (share) => {
        for (const member of members) member.tell('expect', share)
        for (let n = 0; n < share; n++)
          for (const member of members) {
            if (!member.hasRoom) await member.room()
            if (!member.tell('add', payloadOf(n))) throw new Error(`tell was refused at ${n}, with room`)
          }
      },
      reports: () =>
        Promise.all(
          members.map((member) => member.ask('report', undefined, { timeoutMs: ASK_TIMEOUT_MS }) as Promise<Report>),
        ),
    })
  })

const metricsOf = ({ agents }: Size): Metric[] => [
  { key: `rate${agents}`, label: `events/s, ${agents} agents`, ratio: true },
  { key: `slowest${agents}`, label: `slowest ÷ fastest, ${agents}`, ratio: false },
]

export const fleet: Bench = {
  name: 'fleet',
  summary: 'one producer, 2 to 300 agents fed round robin: total rate and fairness',
  metrics: SIZES.flatMap(metricsOf),
  base: 'bare workers, arrays of 256',
  variants: { 'bare workers, arrays of 256': bare, Holt: holt },
  targets: [],
  packages: [],
  leavesOut: {
    'bare workers, arrays of 256': 'back-pressure, accounting, supervision: nothing bounds what waits for a slow one',
  },
}
