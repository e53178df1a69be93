/**
 * What an idle agent takes: how much the resident memory of the process has grown by ten, a hundred and a thousand,
 * beside as many empty workers with the same limits. The fleet grows from one count to the next in one process; the
 * first one, which loads and compiles what all share, is not counted.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { firstMessage, limitsOfHolt, spawnMembers, startPeer, startPeers } from './crowd.ts'
import type { Bench, Effort, Figures, Variant } from './definition.ts'
import { withHost } from './holt.ts'
import { expectHandled } from './measure.ts'

const MIB = 2 ** 20
const COUNTS = [10, 100] as const
/** A minute for each variant and 8 GiB: only when asked for, and in the first round. */
const MANY = 1000
const QUICK_COUNTS = [2, 4] as const

/** Memory has settled when so many readings in a row lie so close together. */
const CALM_READINGS = 5
const CALM_SHARE = 0.005
const EVERY_MS = 50
const SETTLE_MS = 3000

/** The main thread's garbage is no agent's. */
function collect(): void {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  setFlagsFromString('--no-expose-gc')
  gc()
}

/** Bytes, once they move no more; the last reading where they have not come to rest in time. */
async function settledRss(): Promise<number> {
  collect()
  const readings: number[] = []
  for (const begun = performance.now(); performance.now() - begun < SETTLE_MS; ) {
    readings.push(process.memoryUsage.rss())
    const last = readings.slice(-CALM_READINGS)
    const [least, most] = [Math.min(...last), Math.max(...last)]
    if (last.length === CALM_READINGS && most - least <= most * CALM_SHARE) break
    await wait(EVERY_MS)
  }
  return readings.at(-1)!
}

function countsOf({ share, round, large }: Effort): readonly number[] {
  if (share < 1) return QUICK_COUNTS
  return large && round === 0 ? [...COUNTS, MANY] : COUNTS
}

/** @param grow starts one more than there are up to that count, and resolves with how many it started */
async function growth(effort: Effort, grow: (from: number, to: number) => Promise<number>): Promise<Figures> {
  const figures: Record<string, number> = {}
  let up = await grow(0, 1)
  const before = await settledRss()
  for (const count of countsOf(effort)) {
    up += await grow(up, count + 1)
    expectHandled(up, count + 1)
    figures[`mib${count}`] = ((await settledRss()) - before) / count / MIB
  }
  return figures
}

const empty: Variant = async (effort) => {
  const limits = await limitsOfHolt()
  const start = () => startPeer('empty-worker.cjs', limits)
  return growth(effort, async (from, to) => (await startPeers(to - from, start, firstMessage)).length)
}

const holt: Variant = (effort) =>
  withHost('many', (host) =>
    growth(effort, async (from, to) => {
      const members = await spawnMembers(host, from, to)
      return members.filter(({ phase }) => phase === 'ACTIVE').length
    }),
  )

export const memory: Bench = {
  name: 'memory',
  summary: 'resident memory of one idle agent, among 10, 100 and 1000',
  metrics: [...COUNTS, MANY].map((count) => ({ key: `mib${count}`, label: `MiB each of ${count}`, ratio: true })),
  base: 'empty workers, same limits',
  variants: { 'empty workers, same limits': empty, 'Holt, idle agents': holt },
  targets: [100, MANY].map((count) => ({
    variant: 'Holt, idle agents',
    against: 'empty workers, same limits',
    metric: `mib${count}`,
    atMost: 1.1,
  })),
  packages: [],
  leavesOut: {
    'empty workers, same limits': 'code of its own, a mailbox, signs of life, supervision: they wait for a message',
  },
}
