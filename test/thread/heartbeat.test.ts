/** The signs of life of a thread: steady, and the heap is looked at after work alone. */
import type { EventLoopUtilityFunction } from 'node:perf_hooks'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FlightRecorder } from '../../src/model/flight-recorder.ts'
import { startHeartbeat } from '../../src/thread/heartbeat.ts'

const EVERY_MS = 500

class TestedHeart {
  readonly recorder = FlightRecorder.create(1).recorder
  heapMb = 5
  reads = 0
  /** For how long the loop has been at work, in all. */
  activeMs = 0

  constructor() {
    const loopUse = ((now?: { active: number }, last?: { active: number }) => {
      const active = now === undefined ? this.activeMs : now.active - (last?.active ?? 0)
      return { active, idle: 0, utilization: active / EVERY_MS }
    }) as EventLoopUtilityFunction
    const read = (): number => {
      this.reads++
      return this.heapMb
    }
    startHeartbeat(this.recorder, EVERY_MS, { read }, loopUse)
  }

  beat(workedMs: number): { readonly heapMb: number; readonly reads: number } {
    this.activeMs += workedMs
    vi.advanceTimersByTime(EVERY_MS)
    return { heapMb: this.recorder.heapUsedMb, reads: this.reads }
  }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

describe('the heartbeat', () => {
  it('tells of the heap after the first work, and looks again only after more', () => {
    const heart = new TestedHeart()
    expect(heart.recorder.heapUsedMb).toBe(0)
    expect(heart.beat(30)).toEqual({ heapMb: 5, reads: 1 })
    heart.heapMb = 6
    expect(heart.beat(0)).toEqual({ heapMb: 5, reads: 1 })
    expect(heart.beat(20)).toEqual({ heapMb: 6, reads: 2 })
  })

  it('adds up what is too short to look for: a heap that grows slowly is seen', () => {
    const heart = new TestedHeart()
    heart.beat(30)
    heart.heapMb = 7
    expect([0.5, 0.5, 0.5].map((ms) => heart.beat(ms).heapMb)).toEqual([5, 5, 7])
  })

  it('says with every beat that the loop turns, and how busy it is', () => {
    const heart = new TestedHeart()
    const before = heart.recorder.heartbeatAgeMs(Number.MAX_SAFE_INTEGER)
    heart.beat(250)
    expect(heart.recorder.utilization).toBe(0.5)
    heart.beat(0)
    expect(heart.recorder.utilization).toBe(0)
    expect(heart.recorder.heartbeatAgeMs(Number.MAX_SAFE_INTEGER)).toBeLessThanOrEqual(before)
  })
})
