/** Past, then live: no gap and no double, whatever is published when. */
import fc from 'fast-check'
import { take } from 'rxjs'
import { describe, expect, it } from 'vitest'
import { createBus } from '../../src/streams/bus.ts'
import { type ResumeOptions, resume } from '../../src/streams/resume.ts'
import { heldTurns } from './held-turns.ts'

/** A log and a bus as a host has them: a value is in the log when it is published. */
function journal(options: { readonly page?: number; readonly perTurn?: number } = {}) {
  const { page = 1000, perTurn = 512 } = options
  const turns = heldTurns()
  const reported: unknown[] = []
  const onObserverError = (error: unknown): void => void reported.push(error)
  const bus = createBus<number>({ onObserverError, schedule: turns.schedule, limit: 100_000, slice: 3 })
  const log: number[] = []
  const reads: number[] = []
  const publish = (): void => {
    log.push(log.length + 1)
    bus.publish(log.length)
  }
  const resumeFrom = (afterSeq: number, more: Partial<ResumeOptions<number>> = {}) =>
    resume<number>({
      past: (after) => {
        reads.push(after)
        return log.slice(after, after + page)
      },
      live$: bus.stream$,
      seqOf: (value) => value,
      afterSeq,
      onObserverError,
      schedule: turns.schedule,
      perTurn,
      ...more,
    })
  return { turns, bus, log, reads, reported, publish, resumeFrom }
}

const upTo = (last: number, after = 0): number[] => Array.from({ length: last - after }, (_, i) => after + i + 1)

describe('resuming', () => {
  it('gives what was after the cursor, then what comes', () => {
    const { publish, resumeFrom, turns } = journal()
    for (let i = 0; i < 10; i++) publish()
    const seen: number[] = []
    resumeFrom(4).subscribe((value) => seen.push(value))
    expect(seen).toEqual([5, 6, 7, 8, 9, 10])
    for (let i = 0; i < 10; i++) publish()
    turns.settle()
    expect(seen).toEqual(upTo(20, 4))
  })

  it('goes live at once when the cursor is at the end', () => {
    const { publish, resumeFrom, turns, bus } = journal()
    publish()
    const seen: number[] = []
    resumeFrom(1).subscribe((value) => seen.push(value))
    expect(bus.listenerCount).toBe(1)
    publish()
    turns.settle()
    expect(seen).toEqual([2])
  })

  it('reads a long past in pages, a bounded number of values a turn', () => {
    const { publish, resumeFrom, turns, bus } = journal({ page: 100, perTurn: 200 })
    for (let i = 0; i < 1000; i++) publish()
    const seen: number[] = []
    resumeFrom(0).subscribe((value) => seen.push(value))
    expect(seen).toHaveLength(200)
    expect(bus.listenerCount).toBe(0)
    expect(turns.settle()).toBe(5)
    expect(seen).toEqual(upTo(1000))
    expect(bus.listenerCount).toBe(1)
  })

  it('misses nothing that its own observer publishes', () => {
    const { publish, resumeFrom, turns, log } = journal({ page: 2, perTurn: 3 })
    for (let i = 0; i < 5; i++) publish()
    const seen: number[] = []
    resumeFrom(0).subscribe((value) => {
      seen.push(value)
      if (log.length < 40) publish()
    })
    turns.settle()
    expect(seen).toEqual(upTo(40))
  })

  it('leaves out what the live stream repeats', () => {
    const { publish, resumeFrom, turns, bus } = journal()
    publish()
    const seen: number[] = []
    resumeFrom(0).subscribe((value) => seen.push(value))
    bus.publish(1)
    publish()
    turns.settle()
    expect(seen).toEqual([1, 2])
  })

  it('passes markers without a number on and keeps its cursor', () => {
    const { publish, resumeFrom, turns, bus, log } = journal()
    const seen: number[] = []
    resumeFrom(0, { seqOf: (value) => (value < 0 ? null : value) }).subscribe((value) => seen.push(value))
    publish()
    bus.publish(-7)
    bus.publish(1)
    publish()
    turns.settle()
    expect(seen).toEqual([1, -7, 2])
    expect(log).toEqual([1, 2])
  })

  it('gives each subscriber the whole from the same cursor', () => {
    const { publish, resumeFrom, turns } = journal({ page: 2, perTurn: 2 })
    for (let i = 0; i < 5; i++) publish()
    const stream$ = resumeFrom(2)
    const all: number[][] = [[], []]
    for (const seen of all) {
      stream$.subscribe((value) => seen.push(value))
      turns.turn()
      publish()
    }
    turns.settle()
    expect(all).toEqual([upTo(7, 2), upTo(7, 2)])
  })

  it('is gapless and without doubles for any interleaving', () => {
    const script = fc.array(fc.constantFrom('publish', 'turn', 'subscribe'), { maxLength: 80 })
    const sizes = fc.record({ page: fc.integer({ min: 1, max: 5 }), perTurn: fc.integer({ min: 1, max: 7 }) })
    fc.assert(
      fc.property(script, sizes, fc.double({ min: 0, max: 1, noNaN: true }), (steps, options, share) => {
        const { publish, resumeFrom, turns, log } = journal(options)
        const readers: { after: number; seen: number[] }[] = []
        for (const step of steps) {
          if (step === 'publish') publish()
          else if (step === 'turn') turns.turn()
          else {
            const reader = { after: Math.floor(log.length * share), seen: [] as number[] }
            readers.push(reader)
            resumeFrom(reader.after).subscribe((value) => reader.seen.push(value))
          }
        }
        turns.settle()
        for (const { after, seen } of readers) expect(seen).toEqual(upTo(log.length, after))
      }),
    )
  })
})

describe('a resumption that ends', () => {
  it('in the midst of the past reads no more of it', () => {
    const { publish, resumeFrom, turns, reads, bus } = journal({ page: 10, perTurn: 10 })
    for (let i = 0; i < 100; i++) publish()
    const seen: number[] = []
    resumeFrom(0)
      .pipe(take(15))
      .subscribe((value) => seen.push(value))
    turns.settle()
    expect(seen).toEqual(upTo(15))
    expect(reads).toEqual([0, 10])
    expect(bus.listenerCount).toBe(0)
  })

  it('between two turns is not taken up again', () => {
    const { publish, resumeFrom, turns, reads, bus } = journal({ page: 10, perTurn: 10 })
    for (let i = 0; i < 100; i++) publish()
    const subscription = resumeFrom(0).subscribe()
    subscription.unsubscribe()
    turns.settle()
    expect([reads, bus.listenerCount]).toEqual([[0], 0])
  })

  it('while live leaves the live stream', () => {
    const { resumeFrom, bus } = journal()
    const subscription = resumeFrom(0).subscribe()
    expect(bus.listenerCount).toBe(1)
    subscription.unsubscribe()
    expect(bus.listenerCount).toBe(0)
  })

  it('by a throw of its observer is told once and leaves nothing', () => {
    const { publish, resumeFrom, turns, reported, bus } = journal()
    for (const at of [2, 4]) {
      resumeFrom(0).subscribe((value) => {
        if (value === at) throw new Error(`at ${at}`)
      })
    }
    for (let i = 0; i < 6; i++) publish()
    turns.settle()
    expect(reported).toEqual([new Error('at 2'), new Error('at 4')])
    expect(bus.listenerCount).toBe(0)
  })

  it('when the live stream completes is complete too', () => {
    const { publish, resumeFrom, turns, bus } = journal()
    const seen: (number | 'done')[] = []
    resumeFrom(0).subscribe({ next: (value) => seen.push(value), complete: () => seen.push('done') })
    publish()
    bus.close()
    turns.settle()
    expect(seen).toEqual([1, 'done'])
  })

  it('when the past cannot be read hands the error to its observer', () => {
    const { resumeFrom, bus } = journal()
    const errors: unknown[] = []
    const broken = new Error('disk')
    const past = (): Iterable<number> => {
      throw broken
    }
    resumeFrom(0, { past }).subscribe({ error: (error) => errors.push(error) })
    expect([errors, bus.listenerCount]).toEqual([[broken], 0])
  })
})
