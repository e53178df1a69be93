/** After a death: one fate for each message that was in flight, and the rest to the next instance in order. */
import { describe, expect, it } from 'vitest'
import { describeInFlight } from '../../src/actors/aftermath.ts'
import { nextTurn } from '../../src/testkit/fake-clock.ts'
import { MortalInbox } from './mortal-inbox.ts'
import { stateOf } from './tested-inbox.ts'

const redelivering = { redeliver: 1 }

describe('what was done', () => {
  it('was handled, also where the thread had no time to say so', async () => {
    const tested = new MortalInbox().activate()
    const emitted = tested.inbox.emit('emitted', 1)
    const asked = tested.inbox.ask('asked', 1).catch((error: unknown) => error)
    tested.inbox.pump.flush()
    tested.thread.work(2)
    tested.die()
    expect(await emitted).toEqual({ fate: 'handled' })
    expect(await asked).toMatchObject({ code: 'AgentDied', details: { handled: true, deathId: 'd_1' } })
    expect(tested.succeed().thread.names).toEqual([])
    expect(tested.inbox.fates.counters).toMatchObject({ completed: 2, failed: 0 })
    expect(tested.buried).toEqual([])
  })
})

describe('what was in flight', () => {
  it('crashed: a dead letter with the death, and the fate of an emit', async () => {
    const tested = new MortalInbox().activate()
    const emitted = tested.inbox.emit('e', { n: 1 })
    tested.inbox.pump.flush()
    tested.thread.begin()
    tested.die()
    expect(await emitted).toEqual({ fate: 'crashed', reason: 'crashed', deathId: 'd_1' })
    expect(tested.deadLetters.list()).toMatchObject([
      { id: 1, reason: 'crashed', name: 'e', payload: { n: 1 }, deliveryCount: 1, deathId: 'd_1' },
    ])
    expect(tested.succeed().thread.names).toEqual([])
  })

  it('was aborted where the instance had been told to end, whatever may be delivered again', async () => {
    const tested = new MortalInbox(redelivering).activate()
    const emitted = tested.inbox.emit('e', 1)
    tested.inbox.pump.flush()
    tested.thread.begin()
    tested.die({ aborted: true })
    expect(await emitted).toMatchObject({ fate: 'aborted', deathId: 'd_1' })
    expect(tested.succeed().thread.names).toEqual([])
  })

  it('tells an ask the handler’s own error where that ended the agent, and the others of the death', async () => {
    const tested = new MortalInbox({ concurrency: 2 }).activate()
    const [own, other] = ['own', 'other'].map((name) => tested.inbox.ask(name, 1).catch((error: unknown) => error))
    tested.inbox.pump.flush()
    tested.thread.begin()
    tested.thread.begin()
    tested.die({ failedSeq: 1 })
    expect(await own).toMatchObject({ name: 'Boom', message: 'boom', fatal: true, deathId: 'd_1' })
    expect(await other).toMatchObject({ code: 'AgentDied', details: { handled: false } })
    expect((await other) as Error).toHaveProperty('message', expect.stringContaining("while it handled 'other'"))
  })

  it('is described with its number in the mailbox, before it moves', () => {
    const tested = new MortalInbox().activate()
    tested.inbox.tell('a', 1)
    void tested.inbox.ask('b', 1).catch(() => {})
    tested.inbox.pump.flush()
    tested.thread.work(1)
    tested.thread.begin()
    const remains = tested.inbox.pump.detach()
    expect(describeInFlight(tested.inbox, remains, 77)).toEqual([
      { seq: 2, name: 'b', id: 2, kind: 'ask', begunAt: 77 },
    ])
  })

  it('frees an exclusive command, also where its caller had gone', async () => {
    const tested = new MortalInbox().activate()
    tested.exclusive.add('find')
    const asked = stateOf(tested.inbox.ask('find', 1, { timeoutMs: 10 }))
    tested.inbox.pump.flush()
    tested.thread.begin()
    tested.clock.advance(10)
    expect(await asked).toBe('Timeout')
    expect(tested.inbox.asks.isHeld('find')).toBe(true)
    tested.die()
    expect(tested.inbox.asks.isHeld('find')).toBe(false)
    expect(tested.inbox.asks.late).toBe(0)
  })
})

describe('what is delivered again', () => {
  it('stands before the rest, in order, with its number, its count and its time', async () => {
    const tested = new MortalInbox(redelivering).activate()
    const emitted = ['a', 'b', 'c'].map((name) => tested.inbox.emit(name, name))
    tested.inbox.pump.flush()
    tested.thread.work(1)
    tested.thread.begin()
    const { at } = tested.inbox.mailbox.letterAt(2)!
    tested.clock.advance(500)
    tested.die()
    const { mailbox } = tested.inbox
    expect(mailbox.letterAt(mailbox.head)).toMatchObject({ id: 2, name: 'b', at, meta: { deliveries: 1, solo: false } })
    expect(tested.succeed().thread.names).toEqual(['b', 'c'])
    tested.thread.work()
    tested.flushHandled([1, 2])
    expect(await Promise.all(emitted)).toEqual([{ fate: 'handled' }, { fate: 'handled' }, { fate: 'handled' }])
  })

  it('is quarantined once it was in flight more often than that, and the rest goes on', async () => {
    const tested = new MortalInbox({ redeliver: 2 }).activate()
    const poison = tested.inbox.emit('poison', 0)
    for (let i = 1; i < 4; i++) tested.inbox.tell(`m${i}`, i)
    for (let life = 0; life < 3; life++) {
      tested.inbox.pump.flush()
      expect(tested.thread.names).toEqual(['poison', 'm1', 'm2', 'm3'])
      tested.thread.begin()
      tested.die()
      tested.succeed()
    }
    expect(await poison).toEqual({ fate: 'quarantined', reason: 'quarantined', deathId: 'd_3' })
    expect(tested.thread.names).toEqual(['m1', 'm2', 'm3'])
    expect(tested.deadLetters.list()).toMatchObject([{ id: 1, reason: 'quarantined', deliveryCount: 3 }])
  })

  it('runs alone where several were in flight, and only one that was alone is quarantined', () => {
    const tested = new MortalInbox({ redeliver: 1, concurrency: 3 }).activate()
    for (const name of ['a', 'poison', 'c', 'd']) tested.inbox.tell(name, 1)
    tested.inbox.pump.flush()
    for (let i = 0; i < 3; i++) tested.thread.begin()
    tested.die()
    tested.succeed()
    expect(tested.thread.taken.map(({ name, solo }) => [name, solo])).toEqual([
      ['a', true],
      ['poison', true],
      ['c', true],
      ['d', false],
    ])
    tested.thread.work(1)
    tested.thread.begin()
    tested.die()
    expect(tested.buried).toEqual(['quarantined poison'])
    expect(tested.succeed().thread.names).toEqual(['c', 'd'])
  })

  it('is never an ask', async () => {
    const tested = new MortalInbox(redelivering).activate()
    const asked = stateOf(tested.inbox.ask('find', 1))
    tested.inbox.pump.flush()
    tested.thread.begin()
    tested.die()
    expect(await asked).toBe('AgentDied')
    expect(tested.succeed().thread.names).toEqual([])
  })

  it('is no buffer that has moved into the dead thread: it crashed, and the host goes on', async () => {
    const tested = new MortalInbox(redelivering).activate()
    const buffer = new Uint8Array(8).buffer
    const emitted = tested.inbox.emit('moved', buffer, { transfer: [buffer] })
    tested.inbox.tell('next', 1)
    tested.inbox.pump.flush()
    tested.thread.begin()
    tested.die()
    expect(await emitted).toMatchObject({ fate: 'crashed' })
    expect(tested.succeed().thread.names).toEqual(['next'])
    expect(tested.deadLetters.list()).toMatchObject([{ reason: 'crashed', name: 'moved', payload: undefined }])
  })
})

describe('what had been handed over and not begun', () => {
  it('goes to the next instance, in order', () => {
    const tested = new MortalInbox().activate()
    for (const name of ['a', 'b', 'c']) tested.inbox.tell(name, 1)
    tested.inbox.pump.flush()
    tested.thread.begin()
    tested.die()
    expect(tested.succeed().thread.names).toEqual(['b', 'c'])
  })

  it('is lost with a buffer that had moved, and one that had not left goes on', async () => {
    const tested = new MortalInbox().activate()
    const [one, two] = [new Uint8Array([1]).buffer, new Uint8Array([2]).buffer]
    const emitted = tested.inbox.emit('moved', one, { transfer: [one] })
    tested.inbox.pump.flush()
    tested.inbox.setMode('queue', false)
    tested.inbox.tell('waits', two, { transfer: [two] })
    tested.die()
    expect(await emitted).toMatchObject({ fate: 'dropped', reason: 'transferred' })
    expect(tested.succeed().thread.payloads).toEqual([new Uint8Array([2]).buffer])
    expect(tested.inbox.fates.counters.dropped).toBe(1)
  })

  it('is not run by the next instance where it is an ask whose caller has gone', async () => {
    const tested = new MortalInbox().activate()
    tested.exclusive.add('find')
    const gone = stateOf(tested.inbox.ask('find', 1, { timeoutMs: 10 }))
    const stays = tested.inbox.ask('other', 1, { timeoutMs: 100 }).catch(() => {})
    tested.inbox.pump.flush()
    tested.clock.advance(10)
    expect(await gone).toBe('Timeout')
    tested.die()
    expect(tested.inbox.asks.isHeld('find')).toBe(false)
    expect(tested.succeed().thread.names).toEqual(['other'])
    expect(await stateOf(stays)).toBe('pending')
  })
})

describe('asks that wait where no instance is coming', () => {
  it('are told, and not run by one that comes all the same', async () => {
    const tested = new MortalInbox().activate()
    tested.inbox.setMode('queue', false)
    tested.exclusive.add('find')
    const asked = stateOf(tested.inbox.ask('find', 1))
    tested.inbox.tell('event', 1)
    tested.die({ aborted: true })
    tested.inbox.rejectAsks()
    expect(await asked).toBe('NotAccepting')
    expect([tested.inbox.asks.isHeld('find'), tested.inbox.mailbox.depth]).toEqual([false, 1])
    expect(tested.succeed().thread.names).toEqual(['event'])
  })
})

describe('the first event of an instance', () => {
  it('is before all else', () => {
    const tested = new MortalInbox()
    tested.inbox.setMode('queue', false)
    tested.inbox.tell('e', 1)
    tested.inbox.first('boot')
    expect(tested.activate().flushed().thread.names).toEqual(['boot', 'e'])
  })

  it.each([
    ['in flight', 1],
    ['not begun', 0],
  ])('is never delivered to a successor: %s', (_name, begun) => {
    const tested = new MortalInbox(redelivering)
    tested.inbox.first('boot')
    tested.activate().flushed()
    tested.inbox.tell('e', 1)
    for (let i = 0; i < begun; i++) tested.thread.begin()
    tested.die()
    // The successor has no handler for it.
    expect(tested.succeed().thread.names).toEqual(['e'])
    expect(tested.buried).toEqual(begun === 1 ? ['crashed boot'] : [])
  })

  it('is one for each, where no instance ever begins one', () => {
    const tested = new MortalInbox()
    tested.inbox.setMode('queue', false)
    tested.inbox.tell('e', 1)
    for (let life = 0; life < 5; life++) {
      tested.inbox.first('boot')
      tested.attach()
      expect(tested.inbox.mailbox.depth).toBe(2)
      tested.die()
    }
    expect(tested.inbox.mailbox.depth).toBe(1)
  })

  it('is not brought back by what is delivered again before it', async () => {
    const tested = new MortalInbox({ redeliver: 1, concurrency: 2 })
    tested.inbox.first('boot')
    tested.activate().flushed()
    tested.inbox.tell('e', 1)
    tested.inbox.pump.flush()
    tested.thread.begin()
    tested.thread.begin()
    tested.die()
    tested.inbox.first('boot')
    expect(tested.succeed().thread.names).toEqual(['boot', 'e'])
    await nextTurn()
  })
})
