/** The flight recorder: numbers that wrap, what was in flight, and one buffer seen from two sides. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CELL, FlightRecorder, recorderBytes, signedDifference } from '../../src/model/flight-recorder.ts'

const MAX = 2 ** 31 - 1
const MIN = -(2 ** 31)

describe('the difference of wrapped numbers', () => {
  it.each([
    [5, 3, 2],
    [3, 5, -2],
    [0, 0, 0],
    [MIN, MAX, 1],
    [MAX, MIN, -1],
    [MIN + 9, MAX, 10],
    [-1, 1, -2],
    [0, MAX, MIN + 1],
  ])('%i after %i is %i', (a, b, difference) => {
    expect(signedDifference(a, b)).toBe(difference)
  })

  it('orders any numbers that lie less than half the circle apart', () => {
    fc.assert(
      fc.property(fc.integer({ min: MIN, max: MAX }), fc.integer({ min: 0, max: MAX }), (from, steps) => {
        const to = (from + steps) | 0
        expect(signedDifference(to, from)).toBe(steps)
        expect(signedDifference(from, to) + steps).toBe(0)
      }),
    )
  })
})

describe('one buffer from two sides', () => {
  it('shows the host what the thread wrote', () => {
    const { recorder, buffer } = FlightRecorder.create(1)
    const thread = new FlightRecorder(buffer, 1)
    thread.write(CELL.begun, 7)
    thread.add(CELL.failed, 2)
    thread.add(CELL.failed, 1)
    thread.beat(1234.9, 12.5, 0.25)
    thread.turnAt = 99.5
    expect([recorder.read(CELL.begun), recorder.read(CELL.failed)]).toEqual([7, 3])
    expect([recorder.heapUsedMb, recorder.utilization, recorder.turnAt]).toEqual([12.5, 0.25, 99.5])
    expect(recorder.heartbeatAgeMs(1300)).toBe(66)
  })

  it.each([1, 2, 3, 4, 7, 64])('has room for every cell and slot at concurrency %i', (concurrency) => {
    const { recorder, buffer } = FlightRecorder.create(concurrency)
    expect(buffer.byteLength).toBe(recorderBytes(concurrency))
    expect(buffer.byteLength % 8).toBe(0)
    const cells = CELL.slots + (concurrency > 1 ? concurrency : 0)
    expect(recorder.cells.length).toBeGreaterThanOrEqual(cells)
    for (let cell = 0; cell < cells; cell++) recorder.write(cell, cell + 1)
    recorder.beat(cells, 0, 0)
    recorder.turnAt = 0
    for (let cell = 0; cell < cells; cell++) {
      expect(recorder.read(cell)).toBe(cell === CELL.heartbeat ? cells : cell + 1)
    }
  })

  it('gives each purpose a cell of its own', () => {
    const cells = Object.values(CELL)
    expect(new Set(cells).size).toBe(cells.length)
    expect(Math.max(...cells)).toBe(CELL.slots)
  })
})

describe('the age of the heartbeat', () => {
  it.each([2 ** 31, 2 ** 32, 2 ** 33 + 12_345])('is right around a clock of %i ms', (turn) => {
    const { recorder } = FlightRecorder.create(1)
    recorder.beat(turn - 10, 0, 0)
    expect(recorder.heartbeatAgeMs(turn + 20)).toBe(30)
    recorder.beat(turn + 20, 0, 0)
    expect(recorder.heartbeatAgeMs(turn + 20)).toBe(0)
  })

  it('is below nothing by as much as the clocks differ', () => {
    const { recorder } = FlightRecorder.create(1)
    recorder.beat(101, 0, 0)
    expect(recorder.heartbeatAgeMs(100)).toBe(-1)
  })
})

describe('what is in flight, one at a time', () => {
  const at = (begun: number, done: number): number[] => {
    const { recorder } = FlightRecorder.create(1)
    recorder.write(CELL.begun, begun)
    recorder.write(CELL.done, done)
    return recorder.inFlight()
  }

  it.each([
    ['nothing before the first', 0, 0, []],
    ['the first', 1, 0, [1]],
    ['nothing between two', 5, 5, []],
    ['the one that has begun', 6, 5, [6]],
    ['the last before the numbers wrap', MAX, MAX - 1, [MAX]],
    ['the first after', MIN, MAX, [MIN]],
    ['nothing at the wrap', MIN, MIN, []],
  ] as const)('%s', (_name, begun, done, expected) => {
    expect(at(begun, done)).toEqual(expected)
  })
})

describe('what is in flight, several at a time', () => {
  /** A recorder whose slots hold these. */
  function slots(begun: number, ...seqs: number[]): FlightRecorder {
    const { recorder } = FlightRecorder.create(Math.max(2, seqs.length))
    recorder.write(CELL.begun, begun)
    seqs.forEach((seq, slot) => {
      recorder.write(CELL.slots + slot, seq)
    })
    return recorder
  }

  it('is what the slots hold, in order, without the free ones', () => {
    expect(slots(9, 9, 0, 4, 7).inFlight()).toEqual([4, 7, 9])
    expect(slots(9, 0, 0).inFlight()).toEqual([])
  })

  it('leaves out a slot that was taken for a message that did not begin', () => {
    expect(slots(9, 10, 8).inFlight()).toEqual([8])
  })

  it('is in order where the numbers wrap', () => {
    expect(slots(MIN + 1, MIN + 1, MAX, MIN, MAX - 1).inFlight()).toEqual([MAX - 1, MAX, MIN, MIN + 1])
    expect(slots(MAX, MIN, MAX).inFlight()).toEqual([MAX])
  })
})

describe('what is done and not yet posted', () => {
  const at = (done: number, flushed: number, unposted: 0 | 1): number => {
    const { recorder } = FlightRecorder.create(1)
    recorder.write(CELL.done, done)
    recorder.write(CELL.flushed, flushed)
    recorder.write(CELL.unposted, unposted)
    return recorder.unflushed()
  }

  it.each([
    ['is nothing while nothing waits to be posted', 9, 4, 0, 0],
    ['is what lies between', 9, 4, 1, 5],
    ['is nothing when all was', 9, 9, 1, 0],
    ['is counted across the wrap', MIN + 1, MAX, 1, 2],
    ['is never below nothing', 4, 9, 1, 0],
  ] as const)('%s', (_name, done, flushed, unposted, expected) => {
    expect(at(done, flushed, unposted)).toBe(expected)
  })
})
