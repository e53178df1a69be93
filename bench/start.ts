/**
 * Start of one more agent of a host that is up, to ACTIVE: its manifest read, its intent and its life written down, its
 * identity proven, its role loaded. Beside an empty worker with the same limits, to its first message: what the platform
 * takes for a thread. One after the other, and fifty asked for at once.
 */
import { percentile } from './arithmetic.ts'
import { firstMessage, limitsOfHolt, spawnMember, startPeer } from './crowd.ts'
import type { Bench, Effort, Figures, Variant } from './definition.ts'
import { withHost } from './holt.ts'
import { expectHandled } from './measure.ts'

const ONE_BY_ONE = 12
const WARM_UP = 3
const AT_ONCE = 50
const QUICK_AT_ONCE = 4

/** Starts one and resolves once it is there. */
type Start = (n: number) => Promise<unknown>

async function starts(effort: Effort, start: Start): Promise<Figures> {
  const quick = effort.share < 1
  const times: number[] = []
  let up = 0
  const one = async (n: number): Promise<void> => {
    await start(n)
    up++
  }
  const last = WARM_UP + Math.max(2, Math.round(ONE_BY_ONE * effort.share))
  for (let n = 0; n < last; n++) {
    const begun = performance.now()
    await one(n)
    if (n >= WARM_UP) times.push(performance.now() - begun)
  }
  const atOnce = quick ? QUICK_AT_ONCE : AT_ONCE
  const begun = performance.now()
  await Promise.all(Array.from({ length: atOnce }, (_, n) => one(last + n)))
  const tookMs = performance.now() - begun
  expectHandled(up, last + atOnce)
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99), atOnce: (atOnce / tookMs) * 1000 }
}

const empty: Variant = async (effort) => {
  const limits = await limitsOfHolt()
  return starts(effort, () => firstMessage(startPeer('empty-worker.cjs', limits)))
}

const holt: Variant = (effort) =>
  withHost('many', (host) =>
    starts(effort, async (n) => {
      const { phase } = await spawnMember(host, `member-${n}`)
      if (phase !== 'ACTIVE') throw new Error(`Expected ACTIVE after spawn, got ${phase}`)
    }),
  )

export const start: Bench = {
  name: 'start',
  summary: 'from asking for one more agent to ACTIVE',
  metrics: [
    { key: 'p50', label: 'p50 ms, one by one', ratio: true },
    { key: 'p99', label: 'p99 ms', ratio: false },
    { key: 'atOnce', label: 'starts/s, 50 at once', ratio: true },
  ],
  base: 'empty worker, to its first message',
  variants: { 'empty worker, to its first message': empty, 'Holt spawn': holt },
  targets: [{ variant: 'Holt spawn', against: 'empty worker, to its first message', metric: 'p50', atMost: 1.5 }],
  packages: [],
  leavesOut: {
    'empty worker, to its first message':
      'code of its own, a mailbox, proof of identity, anything written down, supervision',
  },
}
