/**
 * Writes a sign of life into the flight recorder: that the thread's loop turns, how much of its heap's old generation
 * is alive, how busy it is. At a steady pace, and more often while the loop is at work: a heap that grows with every
 * message is seen before it is full. While nothing runs the heap stays what it was, and is not looked at.
 */
import type { EventLoopUtilityFunction, EventLoopUtilization } from 'node:perf_hooks'
import type { FlightRecorder } from '../model/flight-recorder.ts'
import { monotonicMs } from '../platform/clock.ts'
import type { LiveHeap } from './live-heap.ts'

/** At work, signs of life are this far apart at least. */
const AT_WORK_MS = 100
/** So long has the loop to have been at work since the heap was read; it grows by a few MB in that time at most. */
const UNREAD_MS = 1

/** Starts to beat; returns what the loop calls at the end of a turn in which it worked. */
export function startHeartbeat(
  recorder: FlightRecorder,
  everyMs: number,
  heap: Pick<LiveHeap, 'read'>,
  loopUse: EventLoopUtilityFunction = (...between) => performance.eventLoopUtilization(...between),
): () => void {
  let last: EventLoopUtilization | undefined
  let beatenAt = monotonicMs()
  let heapMb = 0
  let unreadMs = 0
  const beat = (): void => {
    const now = loopUse()
    // From its start on, where there was no beat before.
    const { utilization, active } = last === undefined ? now : loopUse(now, last)
    last = now
    beatenAt = monotonicMs()
    unreadMs += active
    if (unreadMs > UNREAD_MS) {
      heapMb = heap.read()
      unreadMs = 0
    }
    recorder.beat(beatenAt, heapMb, utilization)
  }
  // The first says that it is there; what else it tells is loaded for the second, when the agent is up.
  recorder.beat(beatenAt, heapMb, 0)
  setInterval(beat, everyMs)
  return () => {
    if (monotonicMs() - beatenAt > AT_WORK_MS) beat()
  }
}
