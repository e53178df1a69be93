/** Dead letters: a bounded ring, told without flooding. */
import { describe, expect, it } from 'vitest'
import { DeadLetters, type DeadMessage } from '../../src/actors/dead-letters.ts'
import type { DeadLetter } from '../../src/model/message.ts'
import { FakeClock } from '../../src/testkit/fake-clock.ts'

const letter = (id: number, more: Partial<DeadMessage> = {}): DeadMessage => ({
  id,
  reason: 'not_accepting',
  kind: 'event',
  name: `m${id}`,
  body: { n: id },
  deliveryCount: 0,
  ...more,
})

class TestedDeadLetters {
  readonly clock = new FakeClock()
  readonly facts: unknown[] = []
  readonly watched: (() => DeadLetter)[] = []
  readonly letters = new DeadLetters(
    'a',
    this.clock,
    (kind, data, subject) => void this.facts.push({ kind, ...(data as object), ...subject }),
    (_agent, _message, read) => this.watched.push(read),
  )

  add(from: number, to: number): void {
    for (let id = from; id <= to; id++) this.letters.add(letter(id))
  }
}

const fact = (name: string, count: number) => ({
  kind: 'message.dead_letter',
  agent: 'a',
  reason: 'not_accepting',
  name,
  count,
})

describe('the ring', () => {
  it.each([0, 1, 255, 256, 257, 512, 1000])('holds the last 256 of %i, the newest at the end', (count) => {
    const tested = new TestedDeadLetters()
    tested.add(1, count)
    const kept = Math.min(256, count)
    expect(tested.letters.list().map(({ id }) => id)).toEqual(
      Array.from({ length: kept }, (_, i) => count - kept + 1 + i),
    )
  })

  it('keeps all that is known, with the payload as a copy of its own and the time by the wall', () => {
    const tested = new TestedDeadLetters()
    tested.letters.add(letter(7, { from: 'b', deathId: 'd_1', deliveryCount: 2, kind: 'ask', reason: 'crashed' }))
    const expected = {
      id: 7,
      agent: 'a',
      at: tested.clock.wall(),
      reason: 'crashed',
      kind: 'ask',
      name: 'm7',
      payload: { n: 7 },
      from: 'b',
      deliveryCount: 2,
      deathId: 'd_1',
    }
    expect(tested.letters.list()).toEqual([expected])
    expect(tested.watched.map((read) => read())).toEqual([expected])
    expect(tested.letters.list()[0]?.payload).not.toBe(tested.letters.list()[0]?.payload)
  })

  it('names the addressee where it is another', () => {
    const tested = new TestedDeadLetters()
    tested.letters.add(letter(1, { to: 'nobody', reason: 'no_such_agent' }))
    expect(tested.letters.list()).toMatchObject([{ agent: 'nobody' }])
  })
})

describe('what is told', () => {
  it('is the first five one by one, then a summary every ten seconds', () => {
    const tested = new TestedDeadLetters()
    tested.add(1, 5)
    expect(tested.facts).toEqual([1, 2, 3, 4, 5].map((i) => fact(`m${i}`, 1)))
    expect(tested.clock.timers).toBe(0)
    tested.add(6, 105)
    expect(tested.facts).toHaveLength(5)
    tested.clock.advance(9999)
    expect(tested.facts).toHaveLength(5)
    tested.clock.advance(1)
    expect(tested.facts.slice(5)).toEqual([fact('m105', 100)])
    tested.clock.advance(60_000)
    expect(tested.facts).toHaveLength(6)
    tested.add(106, 106)
    tested.clock.advance(10_000)
    expect(tested.facts.slice(6)).toEqual([fact('m106', 1)])
  })

  it('stays few for a million, with one timer', () => {
    const clock = new FakeClock()
    const told: number[] = []
    const letters = new DeadLetters(
      'a',
      clock,
      (_kind, data) => void told.push((data as { count: number }).count),
      () => {},
    )
    const one = letter(1)
    for (let i = 0; i < 1_000_000; i++) letters.add(one)
    expect([told, clock.timers]).toEqual([[1, 1, 1, 1, 1], 1])
    clock.advance(10_000)
    expect(told.slice(5)).toEqual([999_995])
    expect(letters.list()).toHaveLength(256)
  })

  it('is summed up at the end, and no timer is left', () => {
    const tested = new TestedDeadLetters()
    tested.add(1, 8)
    tested.letters.close()
    expect(tested.facts.slice(5)).toEqual([fact('m8', 3)])
    expect(tested.clock.timers).toBe(0)
    tested.letters.close()
    expect(tested.facts).toHaveLength(6)
  })

  it('sets no timer after the end', () => {
    const tested = new TestedDeadLetters()
    tested.letters.close()
    tested.add(1, 10)
    expect(tested.clock.timers).toBe(0)
    expect(tested.letters.list()).toHaveLength(10)
  })

  it('does not follow the wall clock', () => {
    const tested = new TestedDeadLetters()
    tested.add(1, 6)
    tested.clock.stepWall(7_200_000)
    tested.clock.advance(9999)
    expect(tested.facts).toHaveLength(5)
  })
})
