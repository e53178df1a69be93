/** What a thread says of its heap: garbage never ends anybody, what is alive is told until the host has seen it. */
import { describe, expect, it } from 'vitest'
import { LiveHeap } from '../../src/thread/live-heap.ts'

const HEAP_MB = 100

/** A heap with so much alive and so much garbage, MiB; the mark is at 90. */
class TestedHeap {
  alive = 0
  garbage = 0
  collections = 0
  readonly heap = new LiveHeap(
    HEAP_MB,
    () => this.alive + this.garbage,
    () => {
      this.collections++
      this.garbage = 0
    },
  )

  read(alive: number, garbage: number): number {
    this.alive = alive
    this.garbage = garbage
    return this.heap.read()
  }
}

describe('the heap of a thread', () => {
  it('up to the mark is what is used, and nothing is collected for it', () => {
    const tested = new TestedHeap()
    expect([tested.read(5, 0), tested.read(20, 40), tested.read(50, 40)]).toEqual([5, 60, 90])
    expect(tested.collections).toBe(0)
  })

  it('above the mark is what is alive', () => {
    const tested = new TestedHeap()
    expect([tested.read(20, 71), tested.read(91, 50)]).toEqual([20, 91])
    expect(tested.collections).toBe(2)
  })

  it('that stays above the mark is told each time', () => {
    const tested = new TestedHeap()
    for (const alive of [91, 92, 130, 91]) expect(tested.read(alive, 10)).toBe(alive)
  })

  it('that holds much is collected again only when a quarter more is used, and is never told above the mark meanwhile', () => {
    const tested = new TestedHeap()
    expect(tested.read(80, 20)).toBe(80)
    expect([tested.read(80, 5), tested.read(80, 12), tested.read(80, 20)]).toEqual([85, 90, 90])
    expect(tested.collections).toBe(1)
    expect(tested.read(80, 21)).toBe(80)
    expect(tested.collections).toBe(2)
    expect([tested.read(99, 0), tested.read(101, 0)]).toEqual([90, 101])
  })

  it('of this very thread is measured, and collected without a flag', () => {
    expect(new LiveHeap(Number.POSITIVE_INFINITY).read()).toBeGreaterThan(1)
    const live = new LiveHeap(1).read()
    expect(live).toBeGreaterThan(1)
    expect(globalThis.gc).toBeUndefined()
  })
})
