/** Back-pressure: the backlog, those who wait for room in it, and the order in which they are let in. */
import { describe, expect, it } from 'vitest'
import { nextTurn } from '../../src/testkit/fake-clock.ts'
import { stateOf, TestedInbox } from './tested-inbox.ts'

/** Window and backlog full: nothing leaves before the thread has done half a window. */
function full(backlog = 8): TestedInbox {
  const tested = new TestedInbox({ window: 16, backlog }).activate()
  while (tested.inbox.hasRoom) tested.inbox.tell('e', tested.inbox.mailbox.tail)
  return tested
}

/** Does all there is until nothing comes any more. */
async function workOff(tested: TestedInbox): Promise<void> {
  for (let before = -1; before !== tested.thread.begun; ) {
    before = tested.thread.begun
    tested.thread.work()
    await nextTurn()
  }
}

describe('the backlog', () => {
  it('is full when the window and it are', () => {
    const tested = full()
    expect(tested.inbox.mailbox.depth).toBe(16 + 8)
    expect(tested.inbox.tell('e', 0)).toBe(false)
    expect(tested.buried).toEqual(['overloaded e'])
    expect(tested.inbox.fates.counters.dropped).toBe(1)
  })

  it.each([1, 3, 100])(
    'of %i does not hold back what the window has room for, though nothing has left yet',
    (backlog) => {
      const tested = new TestedInbox({ window: 4096, backlog }).activate()
      const accepted = Array.from({ length: 1000 }, (_, i) => tested.inbox.tell('e', i))
      expect(accepted).not.toContain(false)
    },
  )

  it('has room again for a producer that never yields, as the recorder shows progress', () => {
    const tested = full()
    tested.thread.work()
    expect(tested.inbox.hasRoom).toBe(true)
    expect(tested.inbox.tell('e', 0)).toBe(true)
  })
})

describe('who waits for room', () => {
  it('waits for nothing where there is some', async () => {
    expect(await stateOf(new TestedInbox().activate().inbox.room())).toBeUndefined()
  })

  it('is told when half the backlog is free', async () => {
    const tested = full()
    const room = tested.inbox.room()
    expect(await stateOf(room)).toBe('pending')
    await workOff(tested)
    expect(await stateOf(room)).toBeUndefined()
  })

  it.each([1, 3, 100])('is told with a backlog of %i, however it comes free', async (backlog) => {
    const tested = new TestedInbox({ window: 256, backlog }).activate()
    for (let i = 0; i < 5; i++) {
      while (tested.inbox.hasRoom) tested.inbox.tell('e', i)
      const room = tested.inbox.room()
      await workOff(tested)
      expect(await stateOf(room)).toBeUndefined()
    }
  })

  it('is told when the host finds progress by itself and no bell rings any more', async () => {
    const tested = full(1)
    const room = tested.inbox.room()
    // The bell is lost on purpose: an ask makes the host look first.
    tested.thread.onBell(() => {})
    tested.thread.work()
    void tested.inbox.ask('find', 1).catch(() => {})
    await nextTurn()
    expect(await stateOf(room)).toBeUndefined()
  })

  it('is told when the whereabouts of the agent change', async () => {
    const tested = full()
    const room = tested.inbox.room()
    tested.inbox.setMode('queue', false)
    expect(await stateOf(room)).toBeUndefined()
  })
})

describe('an emit that waits for room', () => {
  it('is never overtaken by a tell', async () => {
    const tested = full()
    const emitted = tested.inbox.emit('emitted', 0)
    expect(tested.inbox.tell('late', 0)).toBe(false)
    tested.thread.work(9)
    // Room there is, but the emit has not been let in yet.
    expect(tested.inbox.tell('later', 0)).toBe(true)
    await workOff(tested)
    expect(tested.thread.names.filter((name) => name !== 'e')).toEqual(['emitted', 'later'])
    expect(await stateOf(emitted)).toBe('pending')
  })

  it.each([1, 2, 8])('keeps its place among others, with a backlog of %i', async (backlog) => {
    const tested = full(backlog)
    const before = tested.inbox.mailbox.tail - 1
    for (let i = 0; i < 50; i++) void tested.inbox.emit(`emit${i}`, i)
    await workOff(tested)
    expect(tested.thread.names.slice(before)).toEqual(Array.from({ length: 50 }, (_, i) => `emit${i}`))
  })

  it('does not hold back an ask, which has a deadline', async () => {
    const tested = full(2)
    void tested.inbox.emit('emit1', 0)
    void tested.inbox.emit('emit2', 0)
    tested.inbox.mailbox.withdraw(1)
    const asked = tested.inbox.ask('find', 1)
    expect(await stateOf(asked)).toBe('Overloaded')
    await workOff(tested)
    expect(tested.thread.names.slice(-2)).toEqual(['emit1', 'emit2'])
  })

  it('is queued where the agent is paused meanwhile, in order, within the capacity', async () => {
    const tested = new TestedInbox({ window: 16, backlog: 1, capacity: 2 }).activate()
    while (tested.inbox.hasRoom) tested.inbox.tell('e', 0)
    const emitted = [1, 2, 3].map((i) => tested.inbox.emit(`emit${i}`, i))
    tested.inbox.setMode('queue', false)
    expect(await Promise.all(emitted)).toEqual([
      { fate: 'queued', reason: 'it is away' },
      { fate: 'queued', reason: 'it is away' },
      { fate: 'dropped', reason: 'overflow' },
    ])
    expect(tested.buried).toEqual(['overflow emit3'])
  })

  it('is told where the agent ends meanwhile', async () => {
    const tested = full()
    const emitted = tested.inbox.emit('e', 0)
    tested.inbox.setMode('ignore', false)
    expect(await emitted).toEqual({ fate: 'ignored', reason: 'not_accepting' })
  })

  it('does not nest: thousands are let in one after the other', async () => {
    // Of a window of 4 each message is a batch of its own, which leaves at once and makes room for the next.
    const tested = new TestedInbox({ window: 4, backlog: 1 }).activate()
    while (tested.inbox.hasRoom) tested.inbox.tell('e', 0)
    for (let i = 0; i < 5000; i++) void tested.inbox.emit('e', i)
    // The thread keeps up: all of them find room in one go.
    const { post } = tested.thread
    tested.thread.post = (message, transfer) => {
      post.call(tested.thread, message, transfer)
      tested.thread.work()
    }
    tested.thread.work()
    tested.inbox.pump.flush()
    expect(tested.thread.taken).toHaveLength(5005)
  })
})

describe('an event with a time to live', () => {
  it('refuses a time to live that is none', async () => {
    const tested = new TestedInbox().activate()
    for (const ttlMs of [Number.NaN, -1]) {
      expect(() => tested.inbox.tell('e', 1, { ttlMs })).toThrow(`ttlMs: expected a number from 0, found ${ttlMs}`)
      await expect(tested.inbox.emit('e', 1, { ttlMs })).rejects.toMatchObject({ code: 'InvalidOption' })
    }
    expect(tested.inbox.mailbox.depth).toBe(0)
  })

  it('expires before it is handed over', async () => {
    const tested = new TestedInbox().activate()
    tested.inbox.setMode('queue', false)
    tested.inbox.tell('late', 1, { ttlMs: 10 })
    tested.inbox.tell('soon', 2, { ttlMs: 11 })
    tested.clock.advance(10)
    tested.inbox.setMode('deliver', false)
    await nextTurn()
    expect(tested.thread.names).toEqual(['soon'])
    expect(tested.thread.taken.at(-1)?.expires).toBe(tested.clock.now() + 1)
    expect(tested.buried).toEqual(['expired late'])
  })

  it.each([16, 4096])('that is over at once settles its emit, with a window of %i', async (window) => {
    const tested = new TestedInbox({ window }).activate()
    const emitted = Array.from({ length: 300 }, () => tested.inbox.emit('e', 1, { ttlMs: 0 }))
    for (let i = 0; i < 40; i++) {
      tested.thread.work()
      await nextTurn()
    }
    expect(new Set((await Promise.all(emitted)).map(({ fate }) => fate))).toEqual(new Set(['expired']))
  })

  it('does not end by a step of the wall clock', async () => {
    const tested = new TestedInbox().activate()
    tested.inbox.tell('e', 1, { ttlMs: 10 })
    tested.clock.stepWall(7_200_000)
    await nextTurn()
    expect(tested.thread.names).toEqual(['e'])
  })
})
