/**
 * Is this instance responsive, hung, or past its time? Pure judgement over what the flight recorder shows; the
 * supervisor's tick calls it and acts. It ends no thread and reads no clock.
 *
 *     heartbeat age, less the host's own lag:   good ── unresponsiveAfterMs ── unresponsive ── killAfterMs ── kill
 *
 * A thread that awaits something slow still beats, so it is busy and not hung; only `handlerTimeoutMs` bounds it.
 */

import { WATERMARK } from '../model/heap.ts'

/** Bad at once, good again slowly: only after it has been judged good at every tick for so long. */
export const CALM_MS = 1000

export interface LifeSigns {
  /** Ms since the last sign of life. */
  readonly heartbeatAgeMs: number
  /** By how much the host's own tick came late, ms; a process that was suspended sees every heartbeat old. */
  readonly hostLagMs: number
  /** For how long the oldest handler in flight has run, ms, less the host's lags meanwhile; null when idle. */
  readonly busyForMs: number | null
  /** Older heartbeats make it Unhealthy. 0: off. @default 5000 */
  readonly unresponsiveAfterMs: number
  /** Older heartbeats end it. 0: off. @default 15000 */
  readonly killAfterMs: number
  /** A handler that runs longer ends its instance. @default 0, off */
  readonly handlerTimeoutMs: number
  /** The judgement at the tick before was `unresponsive`. */
  readonly wasUnresponsive: boolean
  /** What was alive in the old generation at the last heartbeat, MiB; 0 before the first. */
  readonly heapUsedMb: number
  /** What it may hold, MiB. */
  readonly heapMb: number
}

export type Judgement = 'good' | 'unresponsive' | 'kill' | 'handler_timeout' | 'out_of_memory'

const exceeds = (ms: number, limit: number): boolean => limit > 0 && ms > limit

/** What these signs of life amount to. */
export function judgeLife(signs: LifeSigns): Judgement {
  if (signs.heapUsedMb > signs.heapMb * WATERMARK) return 'out_of_memory'
  const ageMs = signs.heartbeatAgeMs - Math.max(0, signs.hostLagMs)
  const silent = exceeds(ageMs, signs.killAfterMs)
  // Nobody is ended at first sight: one more tick gives a thread that was starved along with the host time to beat.
  if (silent && signs.wasUnresponsive) return 'kill'
  if (signs.busyForMs !== null && exceeds(signs.busyForMs, signs.handlerTimeoutMs)) return 'handler_timeout'
  return silent || exceeds(ageMs, signs.unresponsiveAfterMs) ? 'unresponsive' : 'good'
}
