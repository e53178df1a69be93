/** `traceparent` between host and thread: a column that is there only where some message of the batch has one. */
import { describe, expect, it } from 'vitest'
import { metaOf, metaOfAsk } from '../../src/actors/mailbox.ts'
import { Outbound } from '../../src/actors/outbound.ts'
import { FlightRecorder } from '../../src/model/flight-recorder.ts'
import type { Fate } from '../../src/model/message.ts'
import { AWAITED } from '../../src/model/wire.ts'
import { nextTurn } from '../../src/testkit/fake-clock.ts'
import { Outbox } from '../../src/thread/outbox.ts'
import { KeptPort } from '../thread/tested-loop.ts'
import { MortalInbox } from './mortal-inbox.ts'
import { TestedInbox } from './tested-inbox.ts'

const ONE = `00-${'1'.repeat(32)}-${'a'.repeat(16)}-01`
const TWO = `00-${'2'.repeat(32)}-${'b'.repeat(16)}-00`

const clock = { now: () => 0 }

describe('what a message carries', () => {
  it('is nothing where it belongs to no trace, or to one that cannot be read', () => {
    for (const options of [undefined, {}, { traceparent: 'rubbish' }, { traceparent: 7 as never }])
      expect(metaOf(options, undefined, false, clock)).toBeUndefined()
    expect(metaOfAsk(5, { traceparent: ONE.toUpperCase() }, undefined)).toEqual({ kind: 'ask', deadline: 5 })
  })

  it('is its traceparent where it has one', () => {
    expect(metaOf({ traceparent: ONE }, undefined, false, clock)).toEqual({ kind: 'event', traceparent: ONE })
    expect(metaOfAsk(5, { traceparent: ONE }, 'b')).toEqual({ kind: 'ask', deadline: 5, from: 'b', traceparent: ONE })
  })
})

describe('a batch', () => {
  it('has no column of traces where nothing in it is traced', async () => {
    const { inbox, thread } = new TestedInbox().activate()
    inbox.tell('plain', 1)
    inbox.tell('ttl', 2, { ttlMs: 50 })
    inbox.tell('invalid', 3, { traceparent: 'rubbish' })
    void inbox.ask('asked', 4).catch(() => {})
    await nextTurn()
    expect(thread.batches).toHaveLength(1)
    expect(Object.keys(thread.batches[0]!)).not.toContain('traces')
    inbox.asks.close()
  })

  it('has one with every cell where one message in it is', async () => {
    const { inbox, thread } = new TestedInbox().activate()
    inbox.tell('plain', 1)
    inbox.tell('traced', 2, { traceparent: ONE })
    inbox.tell('plain', 3)
    void inbox.ask('asked', 4, { traceparent: TWO }).catch(() => {})
    await nextTurn()
    expect(thread.batches.map(({ traces }) => traces)).toEqual([['', ONE, '', TWO]])
    inbox.asks.close()
  })
})

describe('a trace', () => {
  it('outlives a death: what waited and what is delivered again keep it', () => {
    const tested = new MortalInbox({ redeliver: 1 }).activate()
    tested.inbox.tell('again', 1, { traceparent: ONE })
    tested.inbox.tell('waits', 2, { traceparent: TWO })
    tested.flushed().thread.begin()
    tested.die()
    tested.succeed()
    // What was in flight runs alone, and comes first.
    expect(tested.thread.batches.map(({ traces }) => traces)).toEqual([[ONE, TWO]])
  })

  it('is handed over from a durable mailbox, and not written down', async () => {
    const { inbox, journal, thread } = new TestedInbox({ durable: true }).activate()
    inbox.tell('traced', 1, { traceparent: ONE })
    await nextTurn()
    expect(thread.batches.map(({ traces }) => traces)).toEqual([[ONE]])
    // In memory alone: the next host does not know it.
    expect(JSON.stringify([...journal.waiting.values()])).not.toContain(ONE)
  })
})

describe('who wants to know the fate of an event', () => {
  it('is told of it, though its sender only tells; beside the one who waits for it', async () => {
    const { inbox, thread } = new TestedInbox().activate()
    const fates: unknown[] = []
    const note = (fate: Fate): void => void fates.push(fate)
    expect(inbox.tell('told', 1, {}, undefined, note)).toBe(true)
    const emitted = inbox.emit('emitted', 2, {}, undefined, note)
    inbox.tell('plain', 3)
    await nextTurn()
    expect(thread.batches.map(({ asks }) => asks)).toEqual([[AWAITED, AWAITED, 0]])
    thread.work(3)
    inbox.onFlush({ type: 'flush', handled: [1, 2] })
    expect(fates).toEqual([{ fate: 'handled' }, { fate: 'handled' }])
    expect(await emitted).toEqual({ fate: 'handled' })
  })

  it('is told where it is refused, and at a later delivery', () => {
    const tested = new MortalInbox({ redeliver: 1 }).activate()
    const fates: string[] = []
    tested.inbox.tell('again', 1, {}, undefined, ({ fate }) => void fates.push(fate))
    tested.flushed().thread.begin()
    tested.die()
    expect(fates).toEqual([])
    tested.succeed().thread.begin()
    tested.die()
    expect(new Set(fates)).toEqual(new Set(['quarantined']))
    tested.inbox.setMode('ignore', false)
    tested.inbox.tell('refused', 1, {}, undefined, ({ fate }) => void fates.push(fate))
    expect(fates.at(-1)).toBe('ignored')
  })
})

describe('what a thread sends', () => {
  const sent = async (send: (outbox: Outbox) => void) => {
    const port = new KeptPort()
    send(new Outbox('a', FlightRecorder.create(1).recorder, port.asPort()))
    await nextTurn()
    return port.flushes.map(({ sends }) => sends!)
  }

  it('has no column of traces where nothing of it is traced', async () => {
    const [sends] = await sent((outbox) => {
      outbox.tell('b', 'e', 1)
      void outbox.emit('b', 'e', 1)
    })
    expect(Object.keys(sends!)).not.toContain('traces')
  })

  it('has one with every cell where some of it is', async () => {
    const [sends] = await sent((outbox) => {
      outbox.tell('b', 'e', 1)
      outbox.tell('b', 'e', 1, undefined, ONE)
      void outbox.emit('b', 'e', 1)
      void outbox.ask('b', 'c', 1, 99, TWO)
    })
    expect(sends!.traces).toEqual(['', ONE, '', TWO])
  })

  it('is routed with its own trace', async () => {
    const { inbox } = new TestedInbox()
    const [sends] = await sent((outbox) => {
      outbox.tell('b', 'told', 1)
      outbox.tell('b', 'told', 1, undefined, ONE)
      void outbox.emit('b', 'emitted', 1, undefined, ONE)
      void outbox.ask('b', 'asked', 1, 99, TWO)
    })
    const routed: unknown[] = []
    const router = {
      tell: (_: string, _to: string, name: string, _payload: unknown, options: unknown) => {
        routed.push([name, options])
        return true
      },
      emit: async (_: string, _to: string, name: string, _payload: unknown, options: unknown) => {
        routed.push([name, options])
        return { fate: 'handled' as const }
      },
      ask: async (_: string, _to: string, name: string, _payload: unknown, options: unknown) => {
        routed.push([name, options])
      },
      request: async () => {},
      now: () => 0,
    }
    new Outbound({ id: 'a', inbox }, router, () => {}).take(sends!, FlightRecorder.create(1).recorder)
    expect(routed).toEqual([
      ['told', undefined],
      ['told', { traceparent: ONE }],
      ['emitted', { traceparent: ONE }],
      ['asked', { timeoutMs: 99, traceparent: TWO }],
    ])
  })
})
