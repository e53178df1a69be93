/** The inbox: what becomes of tell, emit and ask, wherever the agent is and whatever its overflow policy. */
import { describe, expect, it } from 'vitest'
import type { MailboxOptions } from '../../src/model/agent-options.ts'
import { type Acceptance, OVERFLOWS, type Overflow } from '../../src/model/mailbox-policy.ts'
import { nextTurn } from '../../src/testkit/fake-clock.ts'
import { stateOf, TestedInbox } from './tested-inbox.ts'

const MODES: readonly Acceptance[] = ['deliver', 'queue', 'ignore']
const SENDS = ['tell', 'emit', 'ask'] as const
type Send = (typeof SENDS)[number]

/** What one more message comes to. */
interface End {
  /** What the sender is told: a value, a fate, or an error's code. */
  readonly told: unknown
  readonly buried?: string
  readonly dropped?: number
  readonly ignored?: number
  readonly received?: number
}

const ACCEPTED: Readonly<Record<Send, Readonly<Record<'deliver' | 'queue', unknown>>>> = {
  tell: { deliver: true, queue: true },
  emit: { deliver: 'pending', queue: { fate: 'queued', reason: 'it is away' } },
  ask: { deliver: 'pending', queue: 'pending' },
}
const IGNORED: Readonly<Record<Send, End>> = {
  tell: { told: false, buried: 'not_accepting new', ignored: 1 },
  emit: { told: { fate: 'ignored', reason: 'not_accepting' }, buried: 'not_accepting new', ignored: 1 },
  ask: { told: 'NotAccepting' },
}
const dropped = (told: unknown, reason: string): End => ({ told, buried: `${reason} new`, dropped: 1 })
const OVERLOADED: Readonly<Record<Send, End>> = {
  tell: dropped(false, 'overloaded'),
  emit: { told: 'pending' },
  ask: dropped('Overloaded', 'overloaded'),
}
const DROPPED: Readonly<Record<Send, End>> = {
  tell: dropped(false, 'overflow'),
  emit: dropped({ fate: 'dropped', reason: 'overflow' }, 'overflow'),
  ask: dropped('Overloaded', 'overflow'),
}
const GIVEN_BACK: Readonly<Record<Send, End>> = {
  tell: { told: false },
  emit: { told: 'Overloaded' },
  ask: { told: 'Overloaded' },
}

/** The table of docs/semantics.md, "Where the agent is". */
function expected(mode: Acceptance, send: Send, overflow: Overflow, isFull: boolean): End {
  if (mode === 'ignore') return IGNORED[send]
  if (!isFull) return { told: ACCEPTED[send][mode], received: 1 }
  if (mode === 'deliver') return OVERLOADED[send]
  if (overflow === 'drop-newest') return DROPPED[send]
  if (overflow === 'reject') return GIVEN_BACK[send]
  return { told: ACCEPTED[send].queue, buried: 'overflow old', dropped: 1, received: 1 }
}

/** An inbox in this mode, with room for no more where it is to be full. */
function standing(mode: Acceptance, overflow: Overflow, isFull: boolean): TestedInbox {
  const tested = new TestedInbox({ capacity: 3, window: 16, backlog: 4, overflow }).activate()
  if (mode === 'deliver' && isFull) while (tested.inbox.hasRoom) tested.inbox.tell('old', 1)
  if (mode === 'deliver') return tested
  tested.inbox.setMode(mode, false)
  if (mode === 'queue' && isFull) for (let i = 0; i < 3; i++) tested.inbox.tell('old', 1)
  return tested
}

const sendOne = (tested: TestedInbox, send: Send): unknown => {
  if (send === 'tell') return tested.inbox.tell('new', 1)
  return send === 'emit' ? tested.inbox.emit('new', 1) : tested.inbox.ask('new', 1)
}

describe.each(MODES)('where it is to %s', (mode) => {
  describe.each(OVERFLOWS)('with overflow %s', (overflow) => {
    describe.each([
      ['is room', false],
      ['is none', true],
    ])('and there %s', (_room, isFull) => {
      it.each(SENDS)('%s ends as the table says', async (send) => {
        const tested = standing(mode, overflow, isFull)
        const before = { ...tested.inbox.fates.counters }
        const told = await stateOf(Promise.resolve(sendOne(tested, send)))
        const after = tested.inbox.fates.counters
        expect({
          told,
          buried: tested.buried,
          dropped: after.dropped - before.dropped,
          ignored: after.ignored - before.ignored,
          // An emit that waits is let in as soon as this turn's batch has left.
          received: Math.min(1, after.received - before.received),
        }).toEqual({
          dropped: 0,
          ignored: 0,
          received: 0,
          ...expected(mode, send, overflow, isFull),
          buried: [expected(mode, send, overflow, isFull).buried ?? []].flat(),
        })
      })
    })
  })
})

describe('the capacity', () => {
  const paused = (options: Partial<MailboxOptions> = {}): TestedInbox => {
    const tested = new TestedInbox(options).activate()
    tested.inbox.setMode('queue', false)
    return tested
  }
  const tellNumbers = ({ inbox }: TestedInbox, count: number): boolean[] =>
    Array.from({ length: count }, (_, i) => inbox.tell(`m${i + 1}`, i + 1))

  it('lets 256 of 300 wait and drops 44, by default the newest', () => {
    const tested = paused()
    expect(tellNumbers(tested, 300).filter((accepted) => accepted)).toHaveLength(256)
    expect(tested.inbox.mailbox.depth).toBe(256)
    expect(tested.inbox.fates.counters).toMatchObject({ received: 256, dropped: 44, ignored: 0 })
    expect(tested.buried).toEqual(Array.from({ length: 44 }, (_, i) => `overflow m${257 + i}`))
  })

  it('drops the 44 oldest with drop-oldest', () => {
    const tested = paused({ overflow: 'drop-oldest' })
    expect(tellNumbers(tested, 300)).not.toContain(false)
    expect(tested.inbox.mailbox.depth).toBe(256)
    expect(tested.inbox.fates.counters).toMatchObject({ received: 300, dropped: 44 })
    expect(tested.buried).toEqual(Array.from({ length: 44 }, (_, i) => `overflow m${1 + i}`))
  })

  it('is no drop with reject: what does not fit is given back', () => {
    const tested = paused({ overflow: 'reject' })
    expect(tellNumbers(tested, 300).filter((accepted) => !accepted)).toHaveLength(44)
    expect(tested.inbox.fates.counters).toMatchObject({ received: 256, dropped: 0 })
    expect(tested.buried).toEqual([])
  })

  it.each(OVERFLOWS)('does not count what was accepted while it was ACTIVE, with %s', (overflow) => {
    const tested = new TestedInbox({ capacity: 2, overflow }).activate()
    for (let i = 1; i <= 5; i++) tested.inbox.tell(`before${i}`, i)
    tested.inbox.setMode('queue', false)
    expect([tested.inbox.tell('a', 1), tested.inbox.tell('b', 1)]).toEqual([true, true])
    tested.inbox.tell('c', 1)
    expect(tested.inbox.mailbox.depth).toBe(7)
    expect(tested.buried.filter((letter) => letter.includes('before'))).toEqual([])
  })

  it.each(OVERFLOWS)('is there in full though window and backlog were full before, with %s', (overflow) => {
    const tested = new TestedInbox({ capacity: 3, window: 16, backlog: 4, overflow }).activate()
    while (tested.inbox.tell('before', 0));
    tested.inbox.setMode('queue', false)
    expect([1, 2, 3].map((i) => tested.inbox.tell('e', i))).toEqual([true, true, true])
    expect(tested.inbox.hasRoom).toBe(false)
    expect(tested.inbox.mailbox.depth).toBe(16 + 4 + 3)
  })

  it.each(OVERFLOWS)('does not grow with each absence where nothing is done in between, with %s', (overflow) => {
    const tested = new TestedInbox({ capacity: 3, window: 16, backlog: 4, overflow }).activate()
    for (let i = 0; i < 10; i++) {
      tested.inbox.setMode('deliver', false)
      while (tested.inbox.hasRoom) tested.inbox.tell('before', 0)
      tested.inbox.setMode('queue', false)
      for (let j = 0; j < 5; j++) tested.inbox.tell('e', j)
    }
    expect(tested.inbox.mailbox.depth).toBe(16 + 4 + 3)
    expect(tested.inbox.hasRoom).toBe(false)
  })

  it('is free again once what waited has been handed over', async () => {
    const tested = paused({ capacity: 1 })
    tested.inbox.tell('a', 1)
    tested.inbox.setMode('deliver', false)
    await nextTurn()
    tested.inbox.setMode('queue', false)
    expect(tested.inbox.tell('b', 1)).toBe(true)
    expect(tested.inbox.tell('c', 1)).toBe(false)
  })

  it('is the backlog during a planned hand-over', () => {
    const tested = new TestedInbox({ capacity: 1, backlog: 3 }).activate()
    tested.inbox.setMode('queue', true)
    expect([1, 2, 3, 4].map((i) => tested.inbox.tell('e', i))).toEqual([true, true, true, false])
  })

  it('keeps its count over a restart that comes back paused', () => {
    const tested = paused({ capacity: 2 })
    tested.inbox.tell('a', 1)
    tested.inbox.setMode('ignore', false)
    tested.inbox.setMode('queue', false)
    expect([tested.inbox.tell('b', 1), tested.inbox.tell('c', 1)]).toEqual([true, false])
  })

  it('holds over any length with drop-oldest: the last 256 wait, and finding the oldest stays cheap', () => {
    const tested = paused({ overflow: 'drop-oldest' })
    const looked = { at: 0 }
    const { mailbox } = tested.inbox
    const bodyAt = mailbox.bodyAt.bind(mailbox)
    mailbox.bodyAt = (position) => {
      looked.at++
      return bodyAt(position)
    }
    tellNumbers(tested, 10_256)
    expect(looked.at).toBeLessThan(10 * 10_256)
    expect([...mailbox.positions()].map((position) => mailbox.nameAt(position))).toEqual(
      Array.from({ length: 256 }, (_, i) => `m${10_001 + i}`),
    )
  })

  it('is freed by an ask that gives up while it waits', async () => {
    const tested = paused({ capacity: 1 })
    const gone = stateOf(tested.inbox.ask('slow', 1, { timeoutMs: 10 }))
    expect(tested.inbox.hasRoom).toBe(false)
    tested.clock.advance(10)
    expect(await gone).toBe('Timeout')
    expect([tested.inbox.mailbox.depth, tested.inbox.hasRoom, tested.inbox.tell('e', 1)]).toEqual([0, true, true])
  })

  it('tells an ask that is dropped for a newer message', async () => {
    const tested = paused({ capacity: 1, overflow: 'drop-oldest' })
    tested.exclusive.add('find')
    const oldest = tested.inbox.ask('find', 1)
    const state = stateOf(oldest)
    expect(tested.inbox.tell('e', 1)).toBe(true)
    expect(await state).toBe('Overloaded')
    expect(tested.inbox.asks.isHeld('find')).toBe(false)
    expect(tested.buried).toEqual(['overflow find'])
  })
})

describe('a payload', () => {
  it.each(['deliver', 'queue'] as const)('is what it was at the call, where it is to %s', async (mode) => {
    const tested = new TestedInbox().activate()
    tested.inbox.setMode(mode, false)
    const small = { n: 1 }
    const large = { text: 'x'.repeat(2000), n: 1 }
    tested.inbox.tell('small', small)
    void tested.inbox.emit('large', large)
    void tested.inbox.ask('ask', small).catch(() => {})
    small.n = large.n = 2
    tested.inbox.setMode('deliver', false)
    await nextTurn()
    expect(tested.thread.payloads).toEqual([{ n: 1 }, { text: large.text, n: 1 }, { n: 1 }])
  })

  it.each(MODES)('that cannot be copied is refused at the call, where it is to %s', async (mode) => {
    const tested = new TestedInbox().activate()
    tested.inbox.setMode(mode, false)
    const bad = { deep: { call: () => 1 } }
    expect(() => tested.inbox.tell('e', bad)).toThrow("field 'deep.call'")
    await expect(tested.inbox.emit('e', bad)).rejects.toMatchObject({ code: 'NotCloneable' })
    await expect(tested.inbox.ask('e', bad)).rejects.toMatchObject({ code: 'NotCloneable' })
    expect(tested.inbox.fates.counters).toMatchObject({ received: 0, dropped: 0, ignored: 0 })
    expect(tested.inbox.asks.size).toBe(0)
  })

  it('moves where it is to be transferred', async () => {
    const tested = new TestedInbox().activate()
    const buffer = new Uint8Array([1, 2, 3]).buffer
    tested.inbox.tell('e', { buffer }, { transfer: [buffer] })
    expect(buffer.byteLength).toBe(0)
    await nextTurn()
    expect(tested.thread.payloads).toEqual([{ buffer: new Uint8Array([1, 2, 3]).buffer }])
  })
})

describe('the sender', () => {
  it('is kept with what becomes a dead letter', () => {
    const tested = new TestedInbox()
    tested.inbox.tell('e', 1, undefined, 'other')
    expect(tested.deadLetters.list()).toMatchObject([{ from: 'other', reason: 'not_accepting', payload: 1 }])
  })
})
