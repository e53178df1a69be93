/** The pump: batches, the window, columns, numbers that wrap, and what an ended instance leaves. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Mailbox, type Meta } from '../../src/actors/mailbox.ts'
import { Pump } from '../../src/actors/pump.ts'
import { CELL } from '../../src/model/flight-recorder.ts'
import { type Body, bytesOf, Copied } from '../../src/model/payload.ts'
import { AWAITED } from '../../src/model/wire.ts'
import { FakeClock, nextTurn } from '../../src/testkit/fake-clock.ts'
import { PlayedThread } from './played-thread.ts'

const MAX = 2 ** 31 - 1

class TestedPump {
  readonly clock = new FakeClock()
  readonly mailbox = new Mailbox()
  readonly expired: number[] = []
  readonly pump: Pump
  thread: PlayedThread
  progress = 0

  constructor(window: number, concurrency = 1) {
    const hooks = {
      onProgress: () => {
        this.progress++
      },
      onExpired: (position: number) => {
        this.expired.push(position)
        this.mailbox.withdraw(position)
      },
    }
    this.pump = new Pump(this.mailbox, window, hooks, this.clock)
    this.thread = new PlayedThread(concurrency)
  }

  start(): this {
    this.thread.onBell(() => this.pump.onBell())
    this.pump.attach(this.thread)
    this.pump.setOpen(true)
    return this
  }

  push(name = 'e', meta?: Meta, body: Body = 0): number {
    const position = this.mailbox.push(name, body, meta, this.clock.now())
    this.pump.kick(bytesOf(body))
    return position
  }

  pushNumbers(count: number): void {
    for (let i = 0; i < count; i++) this.push('e', undefined, this.mailbox.tail)
  }

  /** Goes on as if `count` deliveries of this instance had been done. */
  jumpTo(count: number): void {
    const { mailbox, thread } = this
    for (const cell of [CELL.begun, CELL.done]) thread.recorder.write(cell, count | 0)
    mailbox.head = mailbox.sent = mailbox.tail = count + 1
    this.pump.reclaim()
  }
}

const sizes = (thread: PlayedThread): number[] => thread.batches.map(({ count }) => count)

describe('what leaves in one turn', () => {
  it('is one batch for messages of one turn, numbered from 1', async () => {
    const tested = new TestedPump(4096).start()
    tested.pushNumbers(3)
    expect(tested.thread.batches).toEqual([])
    await nextTurn()
    expect(tested.thread.batches).toEqual([{ type: 'batch', first: 1, count: 3, names: 'e', text: '[1,2,3]' }])
  })

  it('leaves at once in full batches of 256', () => {
    const tested = new TestedPump(4096).start()
    tested.pushNumbers(1000)
    expect(sizes(tested.thread)).toEqual([256, 256, 256])
  })

  it('leaves at once with half a MiB of bytes, and a batch holds no more than it takes to pass that', async () => {
    const tested = new TestedPump(4096).start()
    const body = new Copied(null, 200 * 1024)
    const push = (): unknown => Array.from({ length: 7 }, () => tested.push('e', undefined, body))
    push()
    expect(sizes(tested.thread)).toEqual([3, 3])
    tested.pump.setOpen(false)
    push()
    tested.pump.setOpen(true)
    await nextTurn()
    expect(sizes(tested.thread)).toEqual([3, 3, 3, 3, 2])
  })

  it.each([
    [16, 4],
    [64, 16],
    [512, 128],
    [1024, 256],
    [65_536, 256],
    [3, 1],
    [1, 1],
  ])(
    'of a window of %i is never more than %i a batch, nor the window before anything is done',
    async (window, most) => {
      const tested = new TestedPump(window).start()
      tested.pushNumbers(Math.min(window * 3, 70_000))
      await nextTurn()
      expect(Math.max(...sizes(tested.thread))).toBe(most)
      expect(tested.thread.taken.length).toBeLessThanOrEqual(window)
      expect(tested.thread.taken.length).toBeGreaterThan(window - most)
    },
  )

  it('is held while the gate is shut, and leaves when it opens', async () => {
    const tested = new TestedPump(64).start()
    tested.pump.setOpen(false)
    tested.pushNumbers(20)
    await nextTurn()
    expect(tested.thread.taken).toEqual([])
    tested.pump.setOpen(true)
    await nextTurn()
    expect(tested.thread.payloads).toHaveLength(20)
  })
})

describe('a producer that never yields', () => {
  it('still gets batches out as the recorder shows progress', () => {
    const tested = new TestedPump(64).start()
    // Nobody hears a bell: the producer holds the loop.
    tested.thread.onBell(() => {})
    for (let i = 0; i < 100; i++) {
      tested.pushNumbers(16)
      tested.thread.work()
    }
    expect(tested.thread.payloads.length).toBeGreaterThan(1600 - 64 - 16)
    expect(tested.thread.payloads).toEqual(Array.from({ length: tested.thread.taken.length }, (_, i) => i + 1))
  })
})

describe('order and window', () => {
  it('hold for any pushes and any progress: contiguous numbers, sent order, never more than the window', () => {
    const moves = fc.array(
      fc.oneof(
        fc.record({ push: fc.integer({ min: 1, max: 40 }) }),
        fc.record({ work: fc.integer({ min: 1, max: 40 }) }),
        fc.constant({ flush: true }),
        fc.record({ withdraw: fc.integer({ min: 0, max: 99 }) }),
      ),
      { maxLength: 60, size: 'max' },
    )
    fc.assert(
      fc.property(fc.constantFrom(1, 3, 16, 64), fc.constantFrom(1, 4), moves, (window, concurrency, steps) => {
        const tested = new TestedPump(window, concurrency).start()
        const { thread, mailbox, pump } = tested
        const withdrawn = new Set<number>()
        for (const step of steps) {
          if ('push' in step) tested.pushNumbers(step.push)
          else if ('work' in step) thread.work(step.work)
          else if ('flush' in step) pump.flush()
          else if (mailbox.unsent > 0) {
            const position = mailbox.sent + Math.floor((step.withdraw / 100) * mailbox.unsent)
            if (mailbox.withdraw(position) !== undefined) withdrawn.add(position)
          }
          expect(thread.taken.length - thread.begun).toBeLessThanOrEqual(window)
        }
        for (let quiet = false; !quiet; ) {
          pump.flush()
          quiet = thread.begun === thread.taken.length
          thread.work()
        }
        expect(thread.taken.map(({ seq }) => seq)).toEqual(Array.from({ length: mailbox.tail - 1 }, (_, i) => i + 1))
        const expected = Array.from({ length: mailbox.tail - 1 }, (_, i) => i + 1).filter((i) => !withdrawn.has(i))
        expect(thread.payloads).toEqual(expected)
        pump.reclaim()
        expect(mailbox.depth).toBe(0)
      }),
    )
  })
})

describe('the columns of a batch', () => {
  it('carry one name where all are the same, and one each from the first that differs', () => {
    const tested = new TestedPump(16).start()
    for (const name of ['a', 'a', 'a', 'a', 'a', 'a', 'b', 'a']) tested.push(name)
    expect(tested.thread.batches.map(({ names }) => names)).toEqual(['a', ['a', 'a', 'b', 'a']])
  })

  it('are absent where no message needs them', () => {
    const tested = new TestedPump(16).start()
    for (let i = 0; i < 4; i++) tested.push('a', { kind: 'event', from: 'other' })
    expect(Object.keys(tested.thread.batches[0]!).sort()).toEqual(['count', 'first', 'names', 'text', 'type'])
  })

  it('carry deadlines of asks, marks of awaited events and ends of life, 0 elsewhere', () => {
    const tested = new TestedPump(32).start()
    const metas: (Meta | undefined)[] = [
      undefined,
      { kind: 'ask', deadline: 7000.5 },
      { kind: 'event', awaited: true },
      { kind: 'event', expires: 9000 },
      { kind: 'event', awaited: true, expires: 8000 },
      undefined,
      { kind: 'event' },
      undefined,
    ]
    for (const meta of metas) tested.push('a', meta)
    const [batch] = tested.thread.batches
    expect(batch?.asks).toEqual([0, 7000.5, AWAITED, 0, AWAITED, 0, 0, 0])
    expect(batch?.expires).toEqual([0, 0, 0, 9000, 8000, 0, 0, 0])
  })

  it('name what is to be skipped and what is to run alone', () => {
    const tested = new TestedPump(16).start()
    tested.pump.setOpen(false)
    tested.push('a')
    tested.push('b', { kind: 'event', solo: true })
    tested.push('c')
    tested.push('d', { kind: 'event', solo: true })
    tested.mailbox.withdraw(3)
    tested.pump.setOpen(true)
    tested.pump.flush()
    const [batch] = tested.thread.batches
    expect([batch?.skip, batch?.solo]).toEqual([[2], [1, 3]])
    expect(tested.thread.names).toEqual(['a', 'b', 'd'])
  })

  it('hold a hole in place of what expired before it was handed over', () => {
    const tested = new TestedPump(16).start()
    tested.pump.setOpen(false)
    tested.push('a')
    tested.push('late', { kind: 'event', expires: tested.clock.now() + 10 })
    tested.push('soon', { kind: 'event', expires: tested.clock.now() + 11 })
    tested.clock.advance(10)
    tested.pump.setOpen(true)
    tested.pump.flush()
    expect(tested.expired).toEqual([2])
    expect(tested.thread.names).toEqual(['a', 'soon'])
  })
})

describe('numbers that wrap', () => {
  it.each([
    ['the largest', MAX - 3],
    ['zero', 2 ** 32 - 4],
  ])('go on in order past %s', (_name, count) => {
    const tested = new TestedPump(64).start()
    for (let at = 2 ** 30; at < count; at += 2 ** 30) tested.jumpTo(at)
    tested.jumpTo(count)
    tested.pushNumbers(8)
    tested.pump.flush()
    expect(tested.thread.taken.map(({ seq }) => seq)).toEqual(Array.from({ length: 8 }, (_, i) => (count + 1 + i) | 0))
    tested.thread.taken.forEach(({ seq }, i) => {
      expect(tested.pump.positionOf(seq)).toBe(count + 1 + i)
      expect(tested.pump.seqOf(count + 1 + i)).toBe(seq)
    })
    tested.thread.work(6)
    tested.thread.begin()
    expect(tested.pump.inFlight()).toEqual([{ position: count + 7, seq: (count + 7) | 0 }])
    const remains = tested.pump.detach()
    expect(remains.inFlight.map(({ position }) => position)).toEqual([count + 7])
    expect([remains.begunTo, remains.doneCount]).toEqual([count + 7, count + 6])
  })

  it('keep the window at the wrap', () => {
    const tested = new TestedPump(16).start()
    tested.jumpTo(MAX - 5)
    tested.pushNumbers(100)
    for (let i = 0; i < 100; i++) {
      expect(tested.thread.taken.length - tested.thread.begun).toBeLessThanOrEqual(16)
      tested.thread.work(1)
    }
    expect(tested.thread.payloads).toHaveLength(100)
  })
})

describe('a message in the thread’s hands', () => {
  it('has a number, and one that still waits has none', () => {
    const tested = new TestedPump(16).start()
    const first = tested.push()
    expect(tested.pump.seqOf(first)).toBeNull()
    tested.pump.flush()
    expect(tested.pump.seqOf(first)).toBe(1)
    expect(tested.pump.seqOf(tested.push())).toBeNull()
  })
})

describe('what an ended instance leaves', () => {
  it('is nothing where there was none', () => {
    const tested = new TestedPump(16)
    tested.pushNumbers(3)
    expect(tested.pump.detach()).toEqual({ inFlight: [], begunTo: 0, doneCount: 0, unflushed: 0 })
  })

  it('is the one in flight, what was done, and what was not posted', () => {
    const tested = new TestedPump(16).start()
    tested.pushNumbers(8)
    tested.thread.work(3)
    tested.thread.begin()
    tested.thread.recorder.write(CELL.flushed, 1)
    tested.thread.recorder.write(CELL.unposted, 1)
    expect(tested.pump.detach()).toEqual({
      inFlight: [{ position: 4, seq: 4 }],
      begunTo: 4,
      doneCount: 3,
      unflushed: 2,
    })
  })

  it('is every slot in order with four at a time', () => {
    const tested = new TestedPump(32, 4).start()
    tested.pushNumbers(8)
    for (let i = 0; i < 4; i++) tested.thread.begin()
    tested.thread.end(2)
    tested.thread.begin()
    tested.thread.end(1)
    const { inFlight, begunTo, doneCount } = tested.pump.detach()
    expect(inFlight.map(({ position }) => position)).toEqual([3, 4, 5])
    expect([begunTo, doneCount]).toEqual([5, 2])
  })

  it('counts once: the next instance starts from nothing', () => {
    const tested = new TestedPump(16).start()
    tested.pushNumbers(4)
    tested.thread.work()
    expect(tested.pump.detach().doneCount).toBe(4)
    expect(tested.pump.doneCount).toBe(0)
    tested.thread = new PlayedThread()
    tested.start()
    tested.pushNumbers(4)
    tested.thread.work(2)
    tested.pump.reclaim()
    expect(tested.pump.doneCount).toBe(2)
  })

  it('is handed to the next from the oldest that is not settled, numbered from 1 again', () => {
    const tested = new TestedPump(16).start()
    tested.pushNumbers(8)
    tested.thread.work(3)
    tested.mailbox.settleTo(tested.pump.detach().begunTo + 1)
    tested.thread = new PlayedThread()
    tested.start()
    tested.pump.flush()
    expect(tested.thread.taken.map(({ seq, payload }) => [seq, payload])).toEqual([
      [1, 4],
      [2, 5],
      [3, 6],
      [4, 7],
      [5, 8],
    ])
  })
})

describe('what is done, several at a time', () => {
  it('is forgotten up to the oldest in flight', () => {
    const tested = new TestedPump(32, 4).start()
    tested.pushNumbers(8)
    for (let i = 0; i < 4; i++) tested.thread.begin()
    tested.thread.end(1)
    tested.thread.end(3)
    tested.pump.reclaim()
    expect(tested.mailbox.head).toBe(2)
    tested.thread.end(2)
    tested.thread.end(4)
    tested.pump.reclaim()
    expect(tested.mailbox.head).toBe(5)
  })

  it('is not guessed from what begins while the host looks', () => {
    const tested = new TestedPump(32, 4).start()
    tested.pushNumbers(8)
    tested.thread.work(2)
    const { recorder } = tested.thread
    const inFlight = recorder.inFlight.bind(recorder)
    // Between the slots and the number of the last that begun, the thread begins two more.
    recorder.inFlight = () => {
      const seen = inFlight()
      tested.thread.begin()
      tested.thread.begin()
      return seen
    }
    tested.pump.reclaim()
    expect(tested.mailbox.has(3)).toBe(true)
    expect(tested.mailbox.has(4)).toBe(true)
  })

  it('is not guessed from one that is undone while the host looks', () => {
    const tested = new TestedPump(32, 4).start()
    tested.pushNumbers(8)
    tested.thread.work(2)
    const { recorder } = tested.thread
    tested.thread.begin()
    const inFlight = recorder.inFlight.bind(recorder)
    // The thread finds the pause flag up and takes the third back.
    recorder.inFlight = () => {
      recorder.write(CELL.begun, 2)
      recorder.write(CELL.slots, 0)
      return inFlight()
    }
    tested.pump.reclaim()
    expect(tested.mailbox.has(3)).toBe(true)
  })
})
