import { describe, expect, it } from 'vitest'
import { stateOf, TestedInbox } from './tested-inbox.ts'

/** Positions between the oldest and the newest message, holes included: what the ring has to hold. */
const span = ({ inbox }: TestedInbox): number => inbox.mailbox.tail - inbox.mailbox.head

describe('holes in the mailbox of an agent that is away', () => {
  it('do not grow with what drop-oldest evicts, behind messages that came before', () => {
    const tested = new TestedInbox({ capacity: 4, overflow: 'drop-oldest' }).activate()
    tested.inbox.tell('before', 0)
    tested.inbox.setMode('queue', false)
    for (let n = 1; n <= 10_000; n++) tested.inbox.tell('n', n)
    expect(tested.inbox.mailbox.depth).toBe(5)
    expect(span(tested)).toBeLessThan(256)
    tested.inbox.setMode('deliver', false)
    tested.inbox.pump.flush()
    expect(tested.thread.names).toEqual(['before', 'n', 'n', 'n', 'n'])
  })

  it('do not grow with asks that nobody waits for any more, and those that wait keep their caller', async () => {
    const tested = new TestedInbox({ capacity: 4 }).activate()
    tested.inbox.setMode('queue', false)
    const caller = new AbortController()
    const timesOut: Promise<unknown>[] = []
    for (let n = 0; n < 500; n++) {
      timesOut.push(stateOf(tested.inbox.ask('late', n, { timeoutMs: 1 })))
      tested.clock.advance(2)
    }
    expect(new Set(await Promise.all(timesOut))).toEqual(new Set(['Timeout']))
    const first = tested.inbox.ask('first', 1, { timeoutMs: 60_000, signal: caller.signal })
    const second = tested.inbox.ask('second', 2, { timeoutMs: 60_000 })
    tested.inbox.mailbox.compact((from, to) => tested.inbox.asks.move(from, to))
    expect(span(tested)).toBe(2)
    caller.abort()
    expect(await stateOf(first)).toBe('Aborted')
    tested.inbox.setMode('deliver', false)
    tested.inbox.pump.flush()
    expect(tested.inbox.mailbox.depth).toBe(1)
    tested.inbox.onFlush({
      type: 'flush',
      replies: { seqs: [tested.inbox.pump.seqOf(tested.inbox.mailbox.tail - 1)!], text: '["yes"]' },
    })
    expect(await stateOf(second)).toBe('yes')
  })
})
