/** The loop: what is begun when, what the recorder says of it, and how it comes to rest between two messages. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CELL } from '../../src/model/flight-recorder.ts'
import { nextTurn } from '../../src/testkit/fake-clock.ts'
import type { Context } from '../../src/thread/role.ts'
import { Held, TestedLoop } from './tested-loop.ts'

const MAX = 2 ** 31 - 1
const ASK = 1e12

/** What the thread's clock shows, ms; it stands still but for what a test does to it. */
const clock = { at: 1000 }

beforeEach(() => {
  clock.at = 1000
  vi.spyOn(process, 'hrtime').mockImplementation(() => [0, clock.at * 1e6])
})
afterEach(() => void vi.restoreAllMocks())

describe('a handler that returns no promise', () => {
  it('has begun and is not done while it runs, and is done when the next begins', () => {
    const seen: string[] = []
    const events = { e: () => void seen.push(`begun ${tested.begun} done ${tested.done}`) }
    const tested: TestedLoop = new TestedLoop({ events })
    tested.send({}, {}, {})
    expect(seen).toEqual(['begun 1 done 0', 'begun 2 done 1', 'begun 3 done 2'])
    expect([tested.begun, tested.done]).toEqual([3, 3])
  })

  it('costs no turn of the loop: a batch is done when it has been taken', () => {
    const seen: unknown[] = []
    const tested = new TestedLoop({ events: { e: (n) => void seen.push(n) } })
    tested.send(...Array.from({ length: 256 }, (_, payload) => ({ payload })))
    expect(seen).toEqual(Array.from({ length: 256 }, (_, i) => i))
  })
})

describe('a handler that returns a promise', () => {
  it('is in flight until it settles, and the next waits', async () => {
    const held = new Held()
    const tested = new TestedLoop({ events: { e: held.handle } })
    tested.send({}, {})
    expect([held.count, tested.begun, tested.done]).toEqual([1, 1, 0])
    expect(tested.recorder.inFlight()).toEqual([1])
    held.end()
    await nextTurn()
    expect([held.count, tested.begun, tested.done]).toEqual([1, 2, 1])
  })

  it.each([
    ['at once', (then: (value: unknown) => void) => then(1)],
    [
      'at once and twice',
      (then: (value: unknown) => void) => {
        then(1)
        then(2)
      },
    ],
  ])('that is no promise of the platform and calls back %s ends once, after it has begun', async (_name, call) => {
    // biome-ignore lint/suspicious/noThenProperty: it is what is tried
    const tested = new TestedLoop({ commands: { find: { handle: () => ({ then: call }) } } })
    tested.send({ name: 'find', ask: ASK }, { name: 'find', ask: ASK }, { name: 'find', ask: ASK })
    await nextTurn()
    await nextTurn()
    expect(tested.done).toBe(3)
    expect(tested.replies).toEqual({ 1: 1, 2: 1, 3: 1 })
    expect(tested.port.flushes.flatMap(({ replies }) => replies?.seqs ?? [])).toEqual([1, 2, 3])
  })

  it('whose `then` cannot be read is a death with the delivery in flight', () => {
    const trap = {
      // biome-ignore lint/suspicious/noThenProperty: it is what is tried
      get then(): never {
        throw new Error('no')
      },
    }
    const tested = new TestedLoop({ events: { e: () => trap } })
    expect(() => tested.send({})).toThrow()
    expect(tested.fatals).toMatchObject([{ error: { message: 'no' }, seq: 1 }])
  })
})

describe('several at a time', () => {
  it('begin in order up to the concurrency, and end in any order', async () => {
    const held = new Held()
    const tested = new TestedLoop({ events: { e: held.handle } }, 4)
    tested.send(...Array.from({ length: 6 }, () => ({})))
    expect([held.count, tested.begun, tested.done]).toEqual([4, 4, 0])
    expect(tested.recorder.inFlight()).toEqual([1, 2, 3, 4])
    held.end(2)
    await nextTurn()
    expect([tested.begun, tested.done]).toEqual([5, 1])
    expect(tested.recorder.inFlight()).toEqual([1, 2, 4, 5])
    held.end(0)
    held.end(0)
    await nextTurn()
    expect(tested.recorder.inFlight()).toEqual([4, 5, 6])
    expect([tested.begun, tested.done]).toEqual([6, 3])
  })

  it('wait for one that is to run alone, and it for them', async () => {
    const held = new Held()
    const tested = new TestedLoop({ events: { e: held.handle } }, 4)
    tested.send({}, {}, { solo: true }, { solo: true }, {}, {})
    const running = (): number[] => tested.recorder.inFlight()
    expect(running()).toEqual([1, 2])
    const steps: number[][] = []
    for (let i = 0; i < 6; i++) {
      held.end()
      await nextTurn()
      steps.push(running())
    }
    expect(steps).toEqual([[2], [3], [4], [5, 6], [6], []])
  })

  it('do not wait for one that is to run alone and is done at once', async () => {
    const held = new Held()
    const tested = new TestedLoop({ events: { e: held.handle, quick: () => {} } }, 4)
    tested.send({ name: 'quick', solo: true }, {}, {})
    expect(tested.recorder.inFlight()).toEqual([2, 3])
  })
})

describe('the pause flag', () => {
  it('is seen between two messages of a batch: the next is taken back and waits', () => {
    const seen: unknown[] = []
    const e = (n: unknown): void => {
      seen.push(n)
      if (n === 2) tested.recorder.write(CELL.pause, 1)
    }
    const tested: TestedLoop = new TestedLoop({ events: { e } })
    tested.send({ payload: 1 }, { payload: 2 }, { payload: 3 }, { payload: 4 })
    expect([seen, tested.begun, tested.done]).toEqual([[1, 2], 2, 2])
    expect(tested.paused).toEqual([])
    tested.loop.pause(7)
    expect(tested.paused).toEqual([7])
    tested.resume()
    expect([seen, tested.done]).toEqual([[1, 2, 3, 4], 4])
  })

  it.each([1, 4])('is acknowledged with its number only when nothing runs, at concurrency %i', async (concurrency) => {
    const held = new Held()
    const tested = new TestedLoop({ events: { e: held.handle } }, concurrency)
    tested.send(...Array.from({ length: concurrency + 1 }, () => ({})))
    tested.pause(3)
    for (let i = 0; i < concurrency; i++) {
      expect(tested.paused).toEqual([])
      held.end()
      await nextTurn()
    }
    expect(tested.paused).toEqual([3])
    expect([tested.begun, tested.done]).toEqual([concurrency, concurrency])
    expect(tested.recorder.inFlight()).toEqual([])
  })

  it('is acknowledged once', async () => {
    const tested = new TestedLoop({ events: { e: () => {} } })
    tested.pause(1)
    tested.send({}, {})
    tested.send({})
    await nextTurn()
    expect(tested.paused).toEqual([1])
    expect(tested.done).toBe(0)
  })

  it('that is down again by the time the message comes is not acknowledged, nor later', async () => {
    const tested = new TestedLoop({ events: { e: () => {} } })
    // The host has resumed already; its messages are still on their way.
    tested.loop.pause(1)
    tested.loop.resume()
    tested.send({})
    expect([tested.paused, tested.done]).toEqual([[], 1])
    tested.pause(2)
    expect(tested.paused).toEqual([2])
  })

  it('lets replies leave before it is acknowledged', () => {
    const order: string[] = []
    const tested = new TestedLoop({ commands: { find: { handle: () => 1 } } })
    const { postMessage } = tested.port
    tested.port.postMessage = (message) => {
      order.push('flush')
      postMessage.call(tested.port, message)
    }
    tested.control.push = (...messages) => order.push(...messages.map(({ type }) => type))
    tested.send({ name: 'find', ask: ASK })
    tested.pause(1)
    expect(order.filter((type) => type !== 'histogram')).toEqual(['flush', 'paused'])
  })

  it('holds what is skipped too', () => {
    const tested = new TestedLoop({ events: {} })
    tested.recorder.write(CELL.pause, 1)
    tested.send({ skip: true })
    expect(tested.done).toBe(0)
    tested.resume()
    expect(tested.done).toBe(1)
  })
})

describe('the turns of the loop', () => {
  it('are given to others after a thousand deliveries at the latest, in however many batches they come', async () => {
    const tested = new TestedLoop({ events: { e: () => {} } })
    // A port hands over many batches in one turn.
    for (let i = 0; i < 8; i++) tested.send(...Array.from({ length: 512 }, () => ({})))
    expect(tested.done).toBe(1023)
    for (let turn = 2; turn < 5; turn++) {
      await nextTurn()
      expect(tested.done).toBe(1023 * turn)
    }
    await nextTurn()
    expect(tested.done).toBe(8 * 512)
  })

  it('are given to others after ten milliseconds at the latest, in however many batches they come', async () => {
    const e = (): void => {
      clock.at += 0.6
    }
    const tested = new TestedLoop({ events: { e } })
    for (let i = 0; i < 16; i++) tested.send({}, {}, {}, {})
    expect(tested.done).toBe(31)
    await nextTurn()
    expect(tested.done).toBe(62)
    await nextTurn()
    expect(tested.done).toBe(64)
  })

  it('are given to others between any two handlers that are slow', async () => {
    const e = (): void => {
      clock.at += 11
    }
    const tested = new TestedLoop({ events: { e } })
    tested.send({}, {}, {})
    for (const done of [1, 2, 3]) {
      expect(tested.done).toBe(done)
      await nextTurn()
    }
  })

  it('go on in order where messages come in the meantime', async () => {
    const seen: unknown[] = []
    const tested = new TestedLoop({ events: { e: (n) => void seen.push(n) } })
    for (let i = 0; i < 3000; i++) {
      tested.send({ payload: i })
      if (i % 700 === 0) await nextTurn()
    }
    for (let i = 0; i < 8; i++) await nextTurn()
    expect(seen).toEqual(Array.from({ length: 3000 }, (_, i) => i))
  })

  it('are kept by what is resumed or ends in the meantime', async () => {
    const held = new Held()
    const tested = new TestedLoop({ events: { e: () => {}, slow: held.handle } }, 2)
    tested.send({ name: 'slow' }, ...Array.from({ length: 2000 }, () => ({})))
    const before = tested.begun
    tested.resume()
    held.end()
    await Promise.resolve()
    expect(tested.begun).toBe(before)
    await nextTurn()
    await nextTurn()
    expect(tested.done).toBe(2001)
  })
})

describe('the bell', () => {
  it('rings once when as much is done as the host waits for', () => {
    const tested = new TestedLoop({ events: { e: () => {} } })
    tested.recorder.write(CELL.wakeAt, 3)
    tested.recorder.write(CELL.waiting, 1)
    tested.send({}, {})
    expect(tested.port.bells).toBe(0)
    tested.send({}, {}, {})
    expect(tested.port.bells).toBe(1)
    expect(tested.recorder.read(CELL.waiting)).toBe(0)
  })

  it('is not rung for a host that does not wait', () => {
    const tested = new TestedLoop({ events: { e: () => {} } })
    tested.send({}, {})
    expect(tested.port.bells).toBe(0)
  })

  it('rings at the wrap', () => {
    const tested = new TestedLoop({ events: { e: () => {} } }, 1, MAX - 1)
    tested.recorder.write(CELL.wakeAt, -(2 ** 31))
    tested.recorder.write(CELL.waiting, 1)
    tested.send({})
    expect([tested.done, tested.port.bells]).toEqual([MAX, 0])
    tested.send({})
    expect([tested.done, tested.port.bells]).toEqual([-(2 ** 31), 1])
  })
})

describe('an abort', () => {
  it('reaches the handlers it names, and no others', () => {
    const contexts: Context[] = []
    const held = new Held()
    const e = (_: unknown, ctx: Context): unknown => {
      contexts.push(ctx)
      return held.handle()
    }
    const tested = new TestedLoop({ events: { e } }, 3)
    tested.send({}, {}, {})
    tested.loop.abort([2], 'enough')
    expect(contexts.map(({ signal }) => signal.aborted)).toEqual([false, true, false])
    expect(contexts[1]?.signal.reason).toMatchObject({ code: 'Aborted', message: 'enough' })
    tested.loop.abort('all', 'all of it')
    expect(contexts.map(({ signal }) => signal.aborted)).toEqual([true, true, true])
    expect(contexts[1]?.signal.reason).toMatchObject({ message: 'enough' })
  })

  it('of one that has not begun keeps it from beginning', async () => {
    const held = new Held()
    const tested = new TestedLoop({ commands: { slow: { handle: held.handle } } })
    tested.send({ name: 'slow', ask: ASK }, { name: 'slow', ask: ASK }, { name: 'slow', ask: ASK })
    tested.loop.abort([2], 'its caller stopped waiting')
    tested.loop.abort([1], 'its caller stopped waiting')
    held.end(0, 'one')
    await nextTurn()
    expect([tested.begun, tested.done, held.count]).toEqual([3, 2, 1])
    held.end(0, 'three')
    await nextTurn()
    expect(tested.replies).toEqual({ 1: 'one', 2: 'Aborted: its caller stopped waiting', 3: 'three' })
    // An ask never ends as an event does.
    expect(tested.outcomes).toEqual([])
  })

  it('of one that is done already does nothing', async () => {
    const tested = new TestedLoop({ events: { e: () => {} } })
    tested.send({})
    tested.loop.abort([1], 'late')
    tested.send({})
    await nextTurn()
    expect(tested.outcomes).toEqual([])
  })
})
