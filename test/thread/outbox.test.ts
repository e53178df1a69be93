/** What leaves a thread: columns posted together, credit for messages to others, and answers to what was asked. */
import { describe, expect, it } from 'vitest'
import { CELL, FlightRecorder } from '../../src/model/flight-recorder.ts'
import { nameIn } from '../../src/model/name-column.ts'
import { type BodyColumn, readColumn } from '../../src/model/payload-column.ts'
import { nextTurn } from '../../src/testkit/fake-clock.ts'
import { Outbox } from '../../src/thread/outbox.ts'
import { KeptPort } from './tested-loop.ts'

const CREDIT = 16_384

class TestedOutbox {
  readonly recorder = FlightRecorder.create(1).recorder
  readonly port = new KeptPort()
  readonly outbox = new Outbox('a', this.recorder, this.port.asPort())

  get sends(): string[] {
    return this.port.flushes.flatMap(({ sends }) =>
      Array.from({ length: sends?.count ?? 0 }, (_, index) => nameIn(sends!.names, index)),
    )
  }

  /** The host takes all there is. */
  take(): void {
    this.recorder.write(CELL.sendsTaken, this.sends.length)
  }

  answer(
    column: { ids: number[]; errors?: [number, { name: string; message: string; code?: string }][] },
    values: unknown[],
  ) {
    const body: BodyColumn = { text: JSON.stringify(values) }
    this.outbox.onAnswers({ type: 'answers', ...column, ...body })
  }
}

describe('what is posted', () => {
  it('is one message a turn, with the columns that are needed and no others', async () => {
    const { outbox, port } = new TestedOutbox()
    outbox.reply(3, { found: 1 })
    outbox.fail(4, { name: 'Boom', message: 'boom' })
    outbox.handled(5)
    outbox.outcome({ seq: 6, fate: 'ignored', name: 'e', payload: 1 })
    outbox.tell('b', 'hello', [1])
    expect(port.posted).toEqual([])
    await nextTurn()
    expect(port.posted).toEqual([
      {
        type: 'flush',
        outcomes: [{ seq: 6, fate: 'ignored', name: 'e', payload: 1 }],
        handled: [5],
        replies: { seqs: [3, 4], text: '[{"found":1},0]', errors: [[1, { name: 'Boom', message: 'boom' }]] },
        sends: { count: 1, to: 'b', names: 'hello', text: '[[1]]' },
      },
    ])
    outbox.handled(7)
    await nextTurn()
    expect(port.posted.slice(1)).toEqual([{ type: 'flush', handled: [7] }])
  })

  it('leaves at once when 256 wait', () => {
    const { outbox, port } = new TestedOutbox()
    for (let i = 1; i <= 600; i++) outbox.reply(i, i)
    expect(port.flushes.map(({ replies }) => replies?.seqs.length)).toEqual([256, 256])
    outbox.flush()
    expect(port.flushes.map(({ replies }) => replies?.seqs.length)).toEqual([256, 256, 88])
  })

  it('is nothing where nothing waits', async () => {
    const { outbox, port } = new TestedOutbox()
    outbox.flush()
    outbox.handled(1)
    outbox.flush()
    outbox.flush()
    await nextTurn()
    expect(port.posted).toHaveLength(1)
  })

  it('is told in the recorder while it waits: what was done before has been posted', () => {
    const { outbox, recorder } = new TestedOutbox()
    recorder.write(CELL.done, 4)
    expect(recorder.unflushed()).toBe(0)
    outbox.reply(5, 1)
    recorder.write(CELL.done, 5)
    outbox.reply(6, 1)
    recorder.write(CELL.done, 6)
    expect(recorder.unflushed()).toBe(2)
    outbox.flush()
    expect(recorder.unflushed()).toBe(0)
  })

  it('is a reply as it was when it was given', () => {
    const { outbox, port } = new TestedOutbox()
    const reply = { n: 1 }
    outbox.reply(1, reply)
    reply.n = 2
    outbox.flush()
    expect(readColumn(port.flushes[0]!.replies!)).toEqual([{ n: 1 }])
  })

  it('is no reply that cannot be copied, and the others are', () => {
    const { outbox, port } = new TestedOutbox()
    outbox.reply(1, 'one')
    expect(() => outbox.reply(2, { call: () => 1 })).toThrow("field 'call'")
    outbox.reply(3, 'three')
    outbox.flush()
    expect(port.flushes[0]?.replies).toEqual({ seqs: [1, 3], text: '["one","three"]' })
  })
})

describe('outbound credit', () => {
  const spent = (): TestedOutbox => {
    const tested = new TestedOutbox()
    for (let i = 0; i < CREDIT; i++) tested.outbox.tell('b', 'e', i)
    expect(tested.recorder.read(CELL.sendsDropped)).toBe(0)
    return tested
  }

  it('that is spent refuses a tell, and counts it', () => {
    const tested = spent()
    expect([tested.outbox.tell('b', 'e', 0), tested.outbox.tell('b', 'e', 0)]).toEqual([false, false])
    expect(tested.recorder.read(CELL.sendsDropped)).toBe(2)
    tested.recorder.add(CELL.sendsTaken, 1)
    expect([tested.outbox.tell('b', 'e', 0), tested.outbox.tell('b', 'e', 0)]).toEqual([true, false])
  })

  it('is waited for by emits and asks, in order', async () => {
    const tested = spent()
    for (let i = 0; i < 5; i++)
      void (i % 2 === 0 ? tested.outbox.emit('b', `m${i}`, 0) : tested.outbox.ask('b', `m${i}`, 0, 9))
    await nextTurn()
    tested.outbox.flush()
    expect(tested.sends).toHaveLength(CREDIT)
    tested.recorder.add(CELL.sendsTaken, 2)
    await nextTurn()
    expect(tested.sends.slice(CREDIT)).toEqual(['m0', 'm1'])
    tested.recorder.add(CELL.sendsTaken, 100)
    await nextTurn()
    expect(tested.sends.slice(CREDIT)).toEqual(['m0', 'm1', 'm2', 'm3', 'm4'])
  })

  it('is waited for no more when the thread ends: all there is leaves, in order', async () => {
    const tested = spent()
    for (let i = 0; i < 600; i++) void tested.outbox.emit('b', `m${i}`, 0)
    await nextTurn()
    tested.outbox.close()
    await nextTurn()
    expect(tested.sends.slice(CREDIT)).toEqual(Array.from({ length: 600 }, (_, i) => `m${i}`))
  })

  it('that comes back lets in those who wait before a tell', async () => {
    const tested = spent()
    void tested.outbox.emit('b', 'emitted', 0)
    tested.recorder.add(CELL.sendsTaken, 100)
    expect(tested.outbox.tell('b', 'overtakes', 0)).toBe(false)
    await nextTurn()
    expect(tested.outbox.tell('b', 'follows', 0)).toBe(true)
    await nextTurn()
    expect(tested.sends.slice(CREDIT)).toEqual(['emitted', 'follows'])
  })

  it('holds over the wrap of the numbers', () => {
    const tested = new TestedOutbox()
    tested.recorder.write(CELL.sendsTaken, -1)
    for (let i = 0; i < CREDIT - 1; i++) tested.outbox.tell('b', 'e', 0)
    expect(tested.recorder.read(CELL.sendsDropped)).toBe(0)
    expect(tested.outbox.tell('b', 'e', 0)).toBe(false)
  })
})

describe('what was asked of others', () => {
  it('carries an id and when it is due, 0 for what wants no answer or has no end', async () => {
    const { outbox, port } = new TestedOutbox()
    outbox.tell('b', 'told', 0)
    void outbox.emit('c', 'emitted', 0)
    void outbox.ask('d', 'asked', 0, 7000)
    await nextTurn()
    expect(port.flushes[0]?.sends).toEqual({
      count: 3,
      to: ['b', 'c', 'd'],
      names: ['told', 'emitted', 'asked'],
      ids: [0, 1, 2],
      due: [0, 0, 7000],
      text: '[0,0,0]',
    })
  })

  it('is answered by id, in any order, with a value or an error', async () => {
    const tested = new TestedOutbox()
    const [one, two, three] = [1, 2, 3].map((i) => tested.outbox.ask('b', 'find', i, 9000))
    tested.answer({ ids: [3, 1], errors: [[0, { name: 'NoSuchAgent', message: 'nobody', code: 'NoSuchAgent' }]] }, [
      0,
      'one',
    ])
    await expect(three).rejects.toMatchObject({ code: 'NoSuchAgent', message: 'nobody' })
    expect(await one).toBe('one')
    tested.answer({ ids: [2, 2, 77] }, ['two', 'again', 'nobody asked'])
    expect(await two).toBe('two')
  })

  it('is refused at the call where it cannot be copied', () => {
    const { outbox } = new TestedOutbox()
    for (const send of ['tell', 'emit'] as const)
      expect(() => outbox[send]('b', 'e', () => 1)).toThrow('the payload itself')
  })
})
