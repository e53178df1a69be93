/**
 * Writes a sign of life into the flight recorder: that the thread's loop turns, how much of its heap's old generation
 * is alive, how busy it is. At a steady pace, and more often while the loop is at work: a heap that grows with every
 * message is seen before it is full.
 */
import type { FlightRecorder } from '../model/flight-recorder.ts'
import { monotonicMs } from '../platform/clock.ts'
import type { LiveHeap } from './live-heap.ts'

/** At work, signs of life are this far apart at least. */
const AT_WORK_MS = 100

/** Starts to beat; returns what the loop calls at the end of a turn in which it worked. */
export function startHeartbeat(recorder: FlightRecorder, everyMs: number, heap: Pick<LiveHeap, 'read'>): () => void {
  let last = performance.eventLoopUtilization()
  let beatenAt = 0
  const beat = (): void => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    beatenAt = monotonicMs()
    recorder.beat(beatenAt, heap.read(), utilization)
  }
  beat()
  setInterval(beat, everyMs)
  return () => {
    if (monotonicMs() - beatenAt > AT_WORK_MS) beat()
  }
}
