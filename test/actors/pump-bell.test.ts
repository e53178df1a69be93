/**
 * The bell: the host asks for it only when it is held up, and none may be lost. Every interleaving of the two sides'
 * steps is tried, for sizes at which that can be done, and many more at random.
 *
 *     thread, per message:  done = k → waiting? → done against wakeAt → waiting 1 to 0 → bell
 *     host, held up:        wakeAt = n → waiting = 1 → done? (the pump itself; each access is a point to interleave at)
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Mailbox } from '../../src/actors/mailbox.ts'
import { Pump } from '../../src/actors/pump.ts'
import { CELL, type FlightRecorder, signedDifference } from '../../src/model/flight-recorder.ts'
import { FakeClock } from '../../src/testkit/fake-clock.ts'
import { PlayedThread } from './played-thread.ts'

/** How many steps the thread makes before the host's next access; asked at each. */
type Choose = (options: number) => number

class Duel {
  readonly thread = new PlayedThread()
  readonly mailbox = new Mailbox()
  readonly pump: Pump
  readonly #choose: Choose
  readonly #steps: Iterator<void>
  #bells = 0
  /** In the middle of the host's turn. */
  #hostRuns = false
  /** In the middle of the thread's steps for one message. */
  #busy = false

  constructor(window: number, choose: Choose) {
    this.#choose = choose
    this.pump = new Pump(this.mailbox, window, { onProgress: () => {}, onExpired: () => {} }, new FakeClock())
    this.#steps = this.#work()
    this.#interleave(this.thread.recorder)
    this.pump.attach(this.thread)
    this.pump.setOpen(true)
  }

  /** Pushes so many in one turn of the host, then lets both run until nothing moves any more. True if all came through. */
  run(turns: readonly number[]): boolean {
    for (const count of turns) {
      this.#hostTurn(() => {
        for (let i = 0; i < count; i++) this.mailbox.push('e', '0', undefined, 0)
        this.pump.flush()
      })
    }
    for (let moved = true; moved; ) {
      moved = this.#threadSteps(Number.POSITIVE_INFINITY) > 0
      while (this.#bells > 0) {
        this.#bells--
        moved = true
        this.#hostTurn(() => this.pump.onBell())
      }
    }
    return this.thread.begun === this.mailbox.tail - 1
  }

  #hostTurn(turn: () => void): void {
    this.#hostRuns = true
    turn()
    this.#hostRuns = false
  }

  /** Before each access of the host, the thread gets as many steps as are chosen. */
  #interleave(recorder: FlightRecorder): void {
    const { read, write } = recorder
    recorder.read = (cell) => {
      this.#between()
      return read.call(recorder, cell)
    }
    recorder.write = (cell, value) => {
      this.#between()
      write.call(recorder, cell, value)
    }
  }

  #between(): void {
    if (!this.#hostRuns) return
    const left = (this.thread.taken.length - this.thread.begun) * 4
    this.#threadSteps(this.#choose(left + 1))
  }

  #threadSteps(count: number): number {
    let made = 0
    const hostRan = this.#hostRuns
    this.#hostRuns = false
    while (made < count && !this.#idle) {
      this.#steps.next()
      made++
    }
    this.#hostRuns = hostRan
    return made
  }

  get #idle(): boolean {
    return !this.#busy && this.thread.begun === this.thread.taken.length
  }

  /** The thread, one shared access a step. */
  *#work(): Generator<void> {
    const { cells } = this.thread.recorder
    for (;;) {
      const seq = this.thread.taken[this.thread.begun]!.seq
      this.#busy = true
      this.thread.begun++
      Atomics.store(cells, CELL.done, seq)
      yield
      const waiting = Atomics.load(cells, CELL.waiting)
      if (waiting !== 0) {
        yield
        const due = signedDifference(seq, Atomics.load(cells, CELL.wakeAt)) >= 0
        if (due) {
          yield
          if (Atomics.compareExchange(cells, CELL.waiting, 1, 0) === 1) this.#bells++
        }
      }
      this.#busy = false
      yield
    }
  }
}

/** Calls with every sequence of choices there is. Returns how many there were. */
function everyWay(run: (choose: Choose) => void): number {
  let prefix: number[] = []
  for (let ways = 1; ; ways++) {
    const taken: { choice: number; options: number }[] = []
    run((options) => {
      const choice = prefix[taken.length] ?? 0
      taken.push({ choice, options })
      return choice
    })
    while (taken.length > 0 && taken.at(-1)!.choice + 1 >= taken.at(-1)!.options) taken.pop()
    const last = taken.pop()
    if (last === undefined) return ways
    prefix = [...taken.map(({ choice }) => choice), last.choice + 1]
  }
}

describe('no wake-up is lost', () => {
  it.each([
    [1, [2]],
    [1, [1, 2]],
    [2, [3]],
    [2, [2, 2]],
    [3, [4]],
    [4, [5]],
  ] as const)('in any interleaving, with a window of %i and %j messages a turn', (window, turns) => {
    const ways = everyWay((choose) => {
      if (!new Duel(window, choose).run(turns)) throw new Error('messages wait, and no bell is on its way')
    })
    expect(ways).toBeGreaterThan(10)
  })

  it('at random, for larger sizes', () => {
    const turns = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 12, size: 'max' })
    const chance = fc.infiniteStream(fc.integer({ min: 0, max: 99 }))
    fc.assert(
      fc.property(fc.constantFrom(1, 2, 3, 4, 8, 16), turns, chance, (window, counts, stream) => {
        const choose: Choose = (options) => Math.floor(((stream.next().value as number) / 100) * options)
        expect(new Duel(window, choose).run(counts)).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})
