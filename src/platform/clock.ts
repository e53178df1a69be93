/**
 * Time, handed in everywhere: nothing outside this room calls Date.now, performance.now, setTimeout or setImmediate on
 * the host's side. Durations follow the monotonic clock; only what people read follows the wall clock.
 */

/** Longest time-out a timer can hold (2^31 - 1 ms); Node fires longer ones at once. */
export const MAX_TIMER_MS = 2_147_483_647

export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Monotonic ms, the same number in every thread of the process. */
  now(): number
  /** Wall clock, ms since the epoch. */
  wall(): number
  /** Calls once after `ms`; longer than a platform timer can hold is chained, `Infinity` never fires. Keeps the process alive. */
  after(ms: number, call: () => void): Timer
  /** Calls once in a later turn of the loop. */
  soon(call: () => void): void
  /** Calls every `ms` until cancelled; does not keep the process alive. */
  every(ms: number, call: () => void): Timer
}

/** Monotonic ms of the process; one clock read. As quick as `performance.now()`, which costs each thread 3 ms to load. */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1000 + nanoseconds / 1e6
}

function after(ms: number, call: () => void): Timer {
  const due = monotonicMs() + ms
  const arm = (left: number): NodeJS.Timeout =>
    setTimeout(
      () => {
        const still = due - monotonicMs()
        if (still > 1) timer = arm(still)
        else call()
      },
      Math.min(left, MAX_TIMER_MS),
    )
  let timer = arm(ms)
  return { cancel: () => clearTimeout(timer) }
}

export const systemClock: Clock = {
  now: monotonicMs,
  wall: () => Date.now(),
  after,
  soon: (call) => void setImmediate(call),
  every: (ms, call) => {
    const timer = setInterval(call, ms)
    timer.unref()
    return { cancel: () => clearInterval(timer) }
  },
}
