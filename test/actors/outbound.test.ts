/** What a thread sends to other agents: routed in order, answered together, its credit given back. */
import { describe, expect, it } from 'vitest'
import { Outbound, type Router } from '../../src/actors/outbound.ts'
import { HoltError } from '../../src/model/error.ts'
import { CELL, FlightRecorder } from '../../src/model/flight-recorder.ts'
import type { AskOptions, Fate } from '../../src/model/message.ts'
import { encodePayload } from '../../src/model/payload.ts'
import type { Answers, Sends } from '../../src/model/wire.ts'
import { nextTurn } from '../../src/testkit/fake-clock.ts'
import { TestedInbox } from './tested-inbox.ts'

class TestedOutbound implements Router {
  readonly calls: string[] = []
  readonly posted: Answers[] = []
  readonly recorder = FlightRecorder.create(1).recorder
  readonly outbound = new Outbound({ id: 'a', inbox: new TestedInbox().inbox }, this, (answers) =>
    this.posted.push(answers),
  )
  answer: (name: string) => Promise<unknown> = async (name) => `reply to ${name}`

  now(): number {
    return 1000
  }

  tell(from: string, to: string, name: string, payload: unknown): boolean {
    this.calls.push(`${from} tells ${to} ${name} ${JSON.stringify(encodePayload(payload))}`)
    return true
  }

  async emit(from: string, to: string, name: string): Promise<Fate> {
    this.calls.push(`${from} emits ${to} ${name}`)
    return { fate: 'handled' }
  }

  ask(from: string, to: string, name: string, _payload: unknown, { timeoutMs }: AskOptions): Promise<unknown> {
    this.calls.push(`${from} asks ${to} ${name} within ${timeoutMs}`)
    return this.answer(name)
  }

  async request(from: string, name: string): Promise<unknown> {
    this.calls.push(`${from} requests ${name}`)
    return this.answer(name)
  }

  take(sends: Sends): void {
    this.outbound.take(sends, this.recorder)
  }
}

const asks = (names: readonly string[], due = 1500): Sends => ({
  count: names.length,
  to: 'b',
  names,
  ids: names.map((_, i) => i + 1),
  due: names.map(() => due),
  text: JSON.stringify(names.map(() => 0)),
})

describe('what a thread sends', () => {
  it('is routed in order, by what it wants', () => {
    const tested = new TestedOutbound()
    tested.take({
      count: 3,
      to: ['b', 'c', 'b'],
      names: ['x', 'y', 'z'],
      ids: [0, 1, 2],
      due: [0, 0, 1250],
      text: '[1,2,3]',
    })
    expect(tested.calls).toEqual(['a tells b x 1', 'a emits c y', 'a asks b z within 250'])
  })

  it('is all tells where no column says otherwise', () => {
    const tested = new TestedOutbound()
    tested.take({ count: 2, to: 'b', names: ['x', 'y'], text: '[1,2]' })
    expect(tested.calls).toEqual(['a tells b x 1', 'a tells b y 2'])
    expect(tested.posted).toEqual([])
  })

  it('gives its credit back as it is taken', () => {
    const tested = new TestedOutbound()
    tested.take({ count: 2, to: 'b', names: ['x', 'y'], text: '[1,2]' })
    tested.take(asks(['find']))
    expect(tested.recorder.read(CELL.sendsTaken)).toBe(3)
  })
})

describe('answers', () => {
  it('of one turn go back together', async () => {
    const tested = new TestedOutbound()
    tested.take(asks(['one', 'two']))
    await nextTurn()
    expect(tested.posted).toEqual([{ type: 'answers', ids: [1, 2], text: '["reply to one","reply to two"]' }])
  })

  it('carry errors with their codes', async () => {
    const tested = new TestedOutbound()
    tested.answer = async (name) => {
      if (name === 'bad') throw new HoltError('NoSuchAgent', 'nobody', { agent: 'b' })
      return 1
    }
    tested.take(asks(['good', 'bad']))
    await nextTurn()
    expect(tested.posted).toMatchObject([
      { ids: [1, 2], errors: [[1, { code: 'NoSuchAgent', message: 'nobody', data: { details: { agent: 'b' } } }]] },
    ])
  })

  it('are a time-out where the deadline had passed on the way: nobody is asked', async () => {
    const tested = new TestedOutbound()
    tested.take(asks(['late'], 1000))
    await nextTurn()
    expect(tested.calls).toEqual([])
    expect(tested.posted).toMatchObject([{ ids: [1], errors: [[0, { code: 'Timeout' }]] }])
  })

  it('come in the order in which they are there', async () => {
    const tested = new TestedOutbound()
    const ends = new Map<string, (value: unknown) => void>()
    tested.answer = (name) => new Promise((resolve) => ends.set(name, resolve))
    tested.take(asks(['one', 'two']))
    ends.get('two')?.(2)
    await nextTurn()
    ends.get('one')?.(1)
    await nextTurn()
    expect(tested.posted.map(({ ids }) => ids)).toEqual([[2], [1]])
  })
})
