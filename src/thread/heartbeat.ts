/** Writes a sign of life into the flight recorder: that the thread's loop turns, how large its heap is, how busy it is. */
import { getHeapStatistics } from 'node:v8'
import type { FlightRecorder } from '../model/flight-recorder.ts'
import { monotonicMs } from '../platform/clock.ts'

const MB = 1024 * 1024

export function startHeartbeat(recorder: FlightRecorder, everyMs: number): void {
  let last = performance.eventLoopUtilization()
  const beat = (): void => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    recorder.beat(monotonicMs(), getHeapStatistics().used_heap_size / MB, utilization)
  }
  beat()
  setInterval(beat, everyMs)
}
