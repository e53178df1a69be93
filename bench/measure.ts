/**
 * The stopwatch of a variant: a warm-up that is not counted, then timed repetitions. What it times ends when the last
 * message was handled: `run` must await that, and variants check it with {@link expectHandled}.
 */
import { median, percentile } from './arithmetic.ts'
import type { Effort } from './definition.ts'

const WARM_UP_SHARE = 0.5
const IN_FLIGHT = 256

/** So long does each variant run before it is timed: what is compiled late is not to be timed, in none of them. */
const WARM_UP_MS = 1200

/** Runs for as long as a warm-up takes; once in a quick run, which times nothing. */
async function warmUp(effort: Effort, run: () => unknown): Promise<void> {
  const until = performance.now() + (effort.repeats > 1 ? WARM_UP_MS : 0)
  do await run()
  while (performance.now() < until)
}

/** Messages a second: a warm-up, then the median of the repetitions of `count`. */
export async function perSecond(count: number, effort: Effort, run: (count: number) => unknown): Promise<number> {
  const total = Math.max(IN_FLIGHT, Math.round(count * effort.share))
  await warmUp(effort, () => run(Math.ceil(total * WARM_UP_SHARE)))
  const rates: number[] = []
  for (let i = 0; i < effort.repeats; i++) {
    const start = performance.now()
    await run(total)
    rates.push((total / (performance.now() - start)) * 1000)
  }
  return median(rates)
}

/** Keeps `width` calls in flight until `count` have settled. */
export async function lanes(
  count: number,
  call: (index: number) => Promise<unknown>,
  width = IN_FLIGHT,
): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) await call(next++)
  }
  await Promise.all(Array.from({ length: width }, lane))
}

/** Round-trip times in µs, one call at a time, after a warm-up. */
export async function latency(count: number, effort: Effort, call: (index: number) => Promise<unknown>) {
  const total = Math.max(IN_FLIGHT, Math.round(count * effort.share))
  await warmUp(effort, async () => {
    for (let i = 0; i < IN_FLIGHT; i++) await call(i)
  })
  const times: number[] = []
  for (let i = 0; i < total * effort.repeats; i++) {
    const start = performance.now()
    await call(i)
    times.push((performance.now() - start) * 1000)
  }
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) }
}

/** @throws Error when not exactly what was sent was handled */
export function expectHandled(handled: unknown, sent: number): void {
  if (handled !== sent) throw new Error(`Expected ${sent} messages handled, got ${String(handled)}`)
}
