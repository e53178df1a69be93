/** What a thread says of its deliveries, and what the inbox makes of it. */
import { describe, expect, it } from 'vitest'
import type { Outcome } from '../../src/model/wire.ts'
import { stateOf, TestedInbox } from './tested-inbox.ts'

/** One event handed over, begun and done, with the promise of its fate. */
function handled(tested: TestedInbox): Promise<unknown> {
  const fate = tested.inbox.emit('e', { n: 1 }, undefined, 'sender')
  tested.inbox.pump.flush()
  tested.thread.work()
  return fate
}

const say = (tested: TestedInbox, outcome: Omit<Outcome, 'seq' | 'name'>): void =>
  tested.inbox.onFlush({ type: 'flush', outcomes: [{ seq: 1, name: 'e', ...outcome }] })

describe('an event that came to its thread', () => {
  it('was handled where the thread says so', async () => {
    const tested = new TestedInbox().activate()
    const fate = handled(tested)
    tested.inbox.onFlush({ type: 'flush', handled: [1] })
    expect(await fate).toEqual({ fate: 'handled' })
    expect(tested.inbox.mailbox.depth).toBe(0)
  })

  it('was handled where its role goes on after an error, which is its reason and no dead letter', async () => {
    const tested = new TestedInbox().activate()
    const fate = handled(tested)
    say(tested, { fate: 'failed', error: { name: 'Boom', message: 'boom' } })
    expect(await fate).toEqual({ fate: 'handled', reason: 'the handler failed: boom' })
    expect(tested.buried).toEqual([])
  })

  it.each([
    ['ignored', 'no_handler', 'ignored'],
    ['expired', 'expired', null],
    ['aborted', 'aborted', null],
  ] as const)('was %s: a dead letter %s, with its payload and its sender', async (fate, reason, counter) => {
    const tested = new TestedInbox().activate()
    const promised = handled(tested)
    say(tested, { fate, payload: { n: 1 } })
    expect(await promised).toEqual({ fate, reason })
    expect(tested.deadLetters.list()).toMatchObject([{ id: 1, reason, kind: 'event', name: 'e', payload: { n: 1 } }])
    expect(tested.inbox.fates.counters).toMatchObject({ dropped: 0, ignored: counter === 'ignored' ? 1 : 0 })
  })

  it('settles once, whatever is said again', async () => {
    const tested = new TestedInbox().activate()
    const fate = handled(tested)
    tested.inbox.onFlush({ type: 'flush', handled: [1, 1] })
    say(tested, { fate: 'failed' })
    expect(await fate).toEqual({ fate: 'handled' })
  })
})

describe('replies', () => {
  it('go each to its own ask, in any order, with values and errors', async () => {
    const tested = new TestedInbox().activate()
    const asks = [1, 2, 3].map((n) => tested.inbox.ask('find', n))
    const states = asks.map((ask) => ask.catch((error: unknown) => error))
    tested.inbox.pump.flush()
    tested.thread.work()
    tested.inbox.onFlush({
      type: 'flush',
      replies: {
        seqs: [3, 1, 2],
        text: '["three",0,0]',
        rich: [new Map([[1, 2]])],
        richAt: [1],
        errors: [[2, { name: 'Later', message: 'not now', code: 'Later', data: { after: 5 } }]],
      },
    })
    const [one, two, three] = await Promise.all(states)
    expect([one, three]).toEqual([new Map([[1, 2]]), 'three'])
    expect(two).toMatchObject({ name: 'Later', message: 'not now', code: 'Later', after: 5 })
    expect(tested.inbox.asks.size).toBe(0)
  })

  it('to a caller that has gone are late, and no dead letters', async () => {
    const tested = new TestedInbox().activate()
    const state = stateOf(tested.inbox.ask('find', 1, { timeoutMs: 10 }))
    tested.inbox.pump.flush()
    tested.thread.work()
    tested.clock.advance(10)
    expect(await state).toBe('Timeout')
    const error = { name: 'Aborted', message: 'its caller stopped waiting', code: 'Aborted' }
    tested.inbox.onFlush({ type: 'flush', replies: { seqs: [1], text: '[0]', errors: [[0, error]] } })
    expect([tested.inbox.asks.late, tested.buried]).toEqual([1, []])
  })
})
