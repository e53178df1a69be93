/** Asks: each settles exactly once, by whatever comes first; deadlines by a clock that nobody can set. */
import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Asks, askTimeoutMs } from '../../src/actors/asks.ts'
import { FakeClock, nextTurn } from '../../src/testkit/fake-clock.ts'
import { stateOf, TestedInbox } from './tested-inbox.ts'

class TestedAsks {
  readonly clock = new FakeClock()
  readonly abandoned: [number, string][] = []
  readonly asks = new Asks('a', this.clock, (position, why) => this.abandoned.push([position, why]))

  add(
    position: number,
    timeoutMs = 100,
    options: { exclusive?: boolean; signal?: AbortSignal } = {},
  ): Promise<unknown> {
    const { exclusive = false, signal } = options
    return this.asks.add(position, 'find', timeoutMs, this.clock.now() + timeoutMs, exclusive, signal)
  }
}

describe('the time-out of an ask', () => {
  it('is five seconds where none is given', () => {
    expect(askTimeoutMs(undefined)).toBe(5000)
    expect(askTimeoutMs({})).toBe(5000)
  })

  it.each([0.5, 1, 2_147_483_647])('may be %d ms', (timeoutMs) => {
    expect(askTimeoutMs({ timeoutMs })).toBe(timeoutMs)
  })

  it.each([
    ['30 days', 30 * 24 * 3600 * 1000],
    ['2^31 ms', 2 ** 31],
    ['1e15', 1e15],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['NaN', Number.NaN],
    ['nothing', 0],
    ['less than nothing', -1],
    ['a text', '5000' as unknown as number],
  ])('is refused at %s, saying what was expected and what was found', (_name, timeoutMs) => {
    expect(() => askTimeoutMs({ timeoutMs })).toThrow(
      `timeoutMs: expected a number above 0 and up to 2147483647, found ${timeoutMs}`,
    )
    expect(() => askTimeoutMs({ timeoutMs })).toThrow(expect.objectContaining({ code: 'InvalidOption' }))
  })

  it('that is refused leaves nothing behind', async () => {
    const { inbox, clock } = new TestedInbox().activate()
    await expect(inbox.ask('find', 1, { timeoutMs: Number.POSITIVE_INFINITY })).rejects.toThrow('found Infinity')
    expect([inbox.mailbox.depth, inbox.asks.size, clock.timers]).toEqual([0, 0, 0])
  })
})

describe('an ask', () => {
  it('settles with its reply', async () => {
    const tested = new TestedAsks()
    const reply = tested.add(1)
    tested.asks.reply(1, { found: 3 })
    expect(await reply).toEqual({ found: 3 })
    expect([tested.asks.size, tested.asks.late]).toEqual([0, 0])
  })

  it('rejects at its deadline, naming agent, command and time', async () => {
    const tested = new TestedAsks()
    const state = tested.add(1).catch((error: unknown) => error)
    tested.clock.advance(99)
    expect(tested.asks.size).toBe(1)
    tested.clock.advance(1)
    expect(await state).toMatchObject({
      code: 'Timeout',
      message: "agent 'a' did not reply to 'find' within 100 ms",
      details: { agent: 'a', command: 'find', timeoutMs: 100 },
    })
    expect(tested.abandoned).toEqual([[1, 'its caller stopped waiting']])
  })

  it.each([7_200_000, -7_200_000])('keeps its deadline while the wall clock steps by %i ms', async (stepMs) => {
    const tested = new TestedAsks()
    const state = stateOf(tested.add(1))
    tested.clock.stepWall(stepMs)
    tested.clock.advance(99)
    expect(tested.asks.size).toBe(1)
    tested.clock.stepWall(-2 * stepMs)
    tested.clock.advance(1)
    expect(await state).toBe('Timeout')
  })

  it('rejects when its caller aborts it, with the caller’s reason', async () => {
    const tested = new TestedAsks()
    const controller = new AbortController()
    const state = tested.add(1, 100, { signal: controller.signal }).catch((error: unknown) => error)
    controller.abort('enough')
    expect(await state).toMatchObject({ code: 'Aborted', cause: 'enough' })
    expect(tested.abandoned).toEqual([[1, 'aborted by the caller']])
  })

  it('lets go of its caller’s signal once it has settled', async () => {
    const tested = new TestedAsks()
    const controller = new AbortController()
    const reply = tested.add(1, 100, { signal: controller.signal })
    tested.asks.reply(1, 'done')
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    controller.abort()
    expect(await reply).toBe('done')
    expect(tested.abandoned).toEqual([])
  })

  it('that is aborted already is not sent', async () => {
    const { inbox } = new TestedInbox().activate()
    const asked = inbox.ask('find', 1, { signal: AbortSignal.abort('enough') })
    await expect(asked).rejects.toMatchObject({ code: 'Aborted', cause: 'enough' })
    expect(inbox.mailbox.depth).toBe(0)
  })
})

describe('the timer', () => {
  it('is one for many asks, and fires for the earliest first', async () => {
    const tested = new TestedAsks()
    const settled: number[] = []
    const waits = [500, 300, 100, 400, 200, 1000, 100]
    for (const [i, timeoutMs] of waits.entries()) {
      void tested.add(i + 1, timeoutMs).catch(() => settled.push(timeoutMs))
      expect(tested.clock.timers).toBe(1)
    }
    for (const expected of [100, 200, 300, 400, 500, 1000]) {
      tested.clock.advance(100)
      await nextTurn()
      if (expected !== 1000) expect(Math.max(...settled)).toBe(expected)
    }
    tested.clock.advance(400)
    await nextTurn()
    expect(settled).toEqual([100, 100, 200, 300, 400, 500, 1000])
    expect(tested.clock.timers).toBe(0)
  })

  it('is not set anew for one ask after another', async () => {
    const tested = new TestedAsks()
    for (let i = 1; i <= 100; i++) {
      void tested.add(i, 100)
      tested.asks.reply(i, i)
      expect(tested.clock.timers).toBe(1)
    }
    tested.clock.advance(100)
    expect(tested.clock.timers).toBe(0)
  })

  it('is not left behind', () => {
    const tested = new TestedAsks()
    void tested.add(1).catch(() => {})
    tested.asks.close()
    expect(tested.clock.timers).toBe(0)
  })

  it('that fires a little early does not end an ask early', () => {
    const tested = new TestedAsks()
    void tested.add(1, 100).catch(() => {})
    void tested.add(2, 100.7).catch(() => {})
    tested.clock.advance(100)
    expect([tested.asks.has(1), tested.asks.has(2)]).toEqual([false, true])
    tested.clock.advance(1)
    expect(tested.asks.size).toBe(0)
  })
})

describe('a late reply', () => {
  it('is counted and goes to nobody', async () => {
    const tested = new TestedAsks()
    const first = stateOf(tested.add(1))
    tested.clock.advance(100)
    expect(await first).toBe('Timeout')
    const second = tested.add(2, 200)
    tested.asks.reply(1, 'late, for the first')
    expect([tested.asks.late, tested.asks.size]).toEqual([1, 1])
    tested.asks.reply(2, 'for the second')
    expect(await second).toBe('for the second')
    tested.asks.fail(1, new Error('later still'))
    expect(tested.asks.late).toBe(2)
  })

  it('never meets another ask of the same number while its instance lives', async () => {
    const tested = new TestedInbox({ window: 16 }).activate()
    const numbers = new Set<number>()
    for (let i = 0; i < 100; i++) {
      const state = stateOf(tested.inbox.ask('find', i, { timeoutMs: 10 }))
      tested.inbox.pump.flush()
      tested.clock.advance(10)
      expect(await state).toBe('Timeout')
      tested.thread.work()
    }
    for (const { seq } of tested.thread.taken) numbers.add(seq)
    expect(numbers.size).toBe(tested.thread.taken.length)
  })
})

describe('an exclusive command', () => {
  it('is held from acceptance until its handler has ended, whoever waits', async () => {
    const tested = new TestedInbox().activate()
    tested.exclusive.add('find')
    const first = stateOf(tested.inbox.ask('find', 1, { timeoutMs: 10 }))
    expect(await stateOf(tested.inbox.ask('find', 2))).toBe('CommandBusy')
    tested.inbox.pump.flush()
    tested.thread.begin()
    tested.clock.advance(10)
    expect(await first).toBe('Timeout')
    expect(tested.aborted).toEqual([1])
    expect(await stateOf(tested.inbox.ask('find', 3))).toBe('CommandBusy')
    tested.inbox.onFlush({ type: 'flush', replies: { seqs: [1], text: '["late"]' } })
    expect(await stateOf(tested.inbox.ask('find', 4))).toBe('pending')
    expect(tested.inbox.asks.late).toBe(1)
  })

  it('is free again when the ask that held it is withdrawn', async () => {
    const tested = new TestedInbox()
    tested.exclusive.add('find')
    tested.inbox.setMode('queue', false)
    const first = stateOf(tested.inbox.ask('find', 1, { timeoutMs: 10 }))
    tested.clock.advance(10)
    expect(await first).toBe('Timeout')
    expect(await stateOf(tested.inbox.ask('find', 2))).toBe('pending')
    expect(tested.inbox.mailbox.depth).toBe(1)
  })

  it('is not held by a call that was refused', async () => {
    const tested = new TestedInbox({ capacity: 1, overflow: 'reject' })
    tested.exclusive.add('find')
    tested.inbox.setMode('queue', false)
    tested.inbox.tell('e', 1)
    expect(await stateOf(tested.inbox.ask('find', 1))).toBe('Overloaded')
    expect(tested.inbox.asks.isHeld('find')).toBe(false)
  })

  it('does not disturb another one', async () => {
    const tested = new TestedInbox().activate()
    for (const name of ['a', 'b']) tested.exclusive.add(name)
    const states = ['a', 'b', 'c', 'c'].map((name) => stateOf(tested.inbox.ask(name, 1)))
    expect(await Promise.all(states)).toEqual(['pending', 'pending', 'pending', 'pending'])
  })
})

describe('an ask whose caller has gone', () => {
  it('of three, the second while it waits and then the first while it runs, lets the third run', async () => {
    const tested = new TestedInbox({ window: 16 }).activate()
    const [first, second] = [new AbortController(), new AbortController()]
    const states = [first, second].map(({ signal }) => stateOf(tested.inbox.ask('slow', 1, { signal })))
    const third = tested.inbox.ask('slow', 3)
    tested.inbox.pump.flush()
    tested.thread.begin()
    second.abort()
    first.abort()
    expect(await Promise.all(states)).toEqual(['Aborted', 'Aborted'])
    expect(tested.aborted).toEqual([2, 1])
    tested.thread.end(1)
    tested.thread.work()
    tested.inbox.onFlush({ type: 'flush', replies: { seqs: [1, 2, 3], text: '[1,2,3]' } })
    expect(await third).toBe(3)
    expect(tested.inbox.mailbox.depth).toBe(0)
  })
})

// --- in any order ----------------------------------------------------------------------------------------------------

const EVENTS = ['reply', 'fail', 'timeout', 'abort', 'death', 'ended'] as const
const FIRST: Readonly<Record<(typeof EVENTS)[number], string | null>> = {
  reply: 'reply',
  fail: 'boom',
  timeout: 'Timeout',
  abort: 'Aborted',
  death: 'died',
  ended: null,
}

describe('an ask in any order of ends', () => {
  it('settles exactly once, with the first, and holds its command no longer than its handler', async () => {
    const events = fc.array(fc.constantFrom(...EVENTS), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(events, fc.boolean(), async (order, exclusive) => {
        const tested = new TestedAsks()
        const controller = new AbortController()
        const told: unknown[] = []
        const ask = tested.add(1, 100, { exclusive, signal: controller.signal })
        void ask.then(
          (value) => told.push(value),
          (error: { code?: string; message: string }) => told.push(error.code ?? error.message),
        )
        for (const event of order) {
          if (event === 'reply') tested.asks.reply(1, 'reply')
          if (event === 'fail') tested.asks.fail(1, new Error('boom'))
          if (event === 'timeout') tested.clock.advance(100)
          if (event === 'abort') controller.abort()
          if (event === 'ended') tested.asks.ended(1)
          if (event === 'death') {
            tested.asks.failWhere(
              () => true,
              () => new Error('died'),
            )
          }
          await nextTurn()
        }
        const ends = order.map((event) => FIRST[event]).filter((end) => end !== null)
        expect(told).toEqual(ends.slice(0, 1))
        const handlerEnded = order.some((event) => event !== 'timeout' && event !== 'abort')
        expect(tested.asks.isHeld('find')).toBe(exclusive && !handlerEnded)
        const given = order.filter((event) => event === 'timeout' || event === 'abort').length
        expect(tested.abandoned).toHaveLength(ends[0] === 'Timeout' || ends[0] === 'Aborted' ? 1 : 0)
        expect(tested.abandoned.length).toBeLessThanOrEqual(given)
      }),
      { numRuns: 200 },
    )
  })
})
