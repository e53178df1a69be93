/**
 * Writes a sign of life into the flight recorder: that the thread's loop turns, how much of its heap's old generation
 * is in use, how busy it is. At a steady pace, and more often while the loop is at work: a heap that grows with every
 * message is seen before it is full.
 */
import { getHeapSpaceStatistics } from 'node:v8'
import type { FlightRecorder } from '../model/flight-recorder.ts'
import { monotonicMs } from '../platform/clock.ts'

const MB = 1024 * 1024
/** At work, signs of life are this far apart at least. */
const AT_WORK_MS = 100

/** Starts to beat; returns what the loop calls at the end of a turn in which it worked. */
export function startHeartbeat(recorder: FlightRecorder, everyMs: number): () => void {
  let last = performance.eventLoopUtilization()
  let beatenAt = 0
  const beat = (): void => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    beatenAt = monotonicMs()
    recorder.beat(beatenAt, oldGenerationMb(), utilization)
  }
  beat()
  setInterval(beat, everyMs)
  return () => {
    if (monotonicMs() - beatenAt > AT_WORK_MS) beat()
  }
}

/** What `heapMb` limits. New space has a limit of its own, and holds mostly what is dead already. */
function oldGenerationMb(): number {
  let bytes = 0
  for (const { space_name, space_used_size } of getHeapSpaceStatistics())
    if (!space_name.startsWith('new_')) bytes += space_used_size
  return bytes / MB
}
