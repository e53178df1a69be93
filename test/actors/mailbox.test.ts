/** The mailbox: a FIFO with holes over a ring, against a plain list. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Mailbox } from '../../src/actors/mailbox.ts'

/** Pushes `m1`, `m2`, … */
function filled(count: number): Mailbox {
  const mailbox = new Mailbox()
  for (let i = 1; i <= count; i++) mailbox.push(`m${i}`, `${i}`, undefined, i)
  return mailbox
}

/** Names of what it holds, in order. */
const names = (mailbox: Mailbox): string[] => [...mailbox.positions()].map((position) => mailbox.nameAt(position))

describe('a mailbox', () => {
  it('is first in, first out, from position 1', () => {
    const mailbox = new Mailbox()
    expect([1, 2, 3].map((i) => mailbox.push(`m${i}`, '0', undefined, i))).toEqual([1, 2, 3])
    expect(names(mailbox)).toEqual(['m1', 'm2', 'm3'])
    expect([mailbox.depth, mailbox.unsent]).toEqual([3, 3])
  })

  it.each([63, 64, 65, 128, 129, 1000])('keeps every field of %i messages while its ring grows', (count) => {
    const mailbox = new Mailbox()
    for (let i = 1; i <= count; i++) mailbox.push(`m${i}`, `${i}`, { kind: 'event', from: `f${i}` }, i * 10)
    for (let i = 1; i <= count; i++) {
      expect(mailbox.letterAt(i)).toEqual({
        id: i,
        name: `m${i}`,
        body: `${i}`,
        meta: { kind: 'event', from: `f${i}` },
        at: i * 10,
      })
    }
    expect(mailbox.depth).toBe(count)
  })

  it('wraps round its ring without growing into what still waits', () => {
    const mailbox = filled(60)
    for (let i = 61; i <= 1000; i++) {
      mailbox.settleTo(i - 59)
      mailbox.push(`m${i}`, `${i}`, undefined, i)
      expect([mailbox.nameAt(i - 59), mailbox.nameAt(i)]).toEqual([`m${i - 59}`, `m${i}`])
    }
    expect(mailbox.depth).toBe(60)
  })

  it('grows where head and tail stand in the middle of the ring', () => {
    const mailbox = filled(40)
    mailbox.settleTo(31)
    for (let i = 41; i <= 200; i++) mailbox.push(`m${i}`, `${i}`, undefined, i)
    expect(names(mailbox)).toEqual(Array.from({ length: 170 }, (_, i) => `m${i + 31}`))
  })
})

describe('what is withdrawn', () => {
  it.each([
    ['at the head', 1, ['m2', 'm3']],
    ['in the middle', 2, ['m1', 'm3']],
    ['at the tail', 3, ['m1', 'm2']],
  ] as const)('%s leaves a hole that counts for nothing', (_name, position, left) => {
    const mailbox = filled(3)
    expect(mailbox.withdraw(position)?.name).toBe(`m${position}`)
    expect(names(mailbox)).toEqual(left)
    expect([mailbox.depth, mailbox.unsent]).toEqual([2, 3])
    expect(mailbox.has(position)).toBe(false)
    mailbox.settleTo(4)
    expect(mailbox.depth).toBe(0)
  })

  it('is given out once', () => {
    const mailbox = filled(2)
    expect(mailbox.withdraw(1)).toBeDefined()
    expect(mailbox.withdraw(1)).toBeUndefined()
    expect(mailbox.depth).toBe(1)
  })

  it.each([0, -1, 4, 65, 68])('is nothing at position %i, where no message is', (position) => {
    const mailbox = filled(3)
    expect(mailbox.withdraw(position)).toBeUndefined()
    expect(mailbox.letterAt(position)).toBeUndefined()
    expect(mailbox.has(position)).toBe(false)
    expect(mailbox.depth).toBe(3)
  })

  it('was settled already: nothing', () => {
    const mailbox = filled(3)
    mailbox.settleTo(3)
    expect(mailbox.withdraw(2)).toBeUndefined()
    expect(mailbox.depth).toBe(1)
  })
})

describe('what is put before all others', () => {
  it('stands at the head, below position 1 where need be', () => {
    const mailbox = filled(1)
    expect(mailbox.unshift('boot', '0', undefined, 0)).toBe(0)
    expect(mailbox.unshift('again', '0', undefined, 0)).toBe(-1)
    expect(names(mailbox)).toEqual(['again', 'boot', 'm1'])
    expect([mailbox.head, mailbox.sent, mailbox.depth]).toEqual([-1, -1, 3])
  })

  it('finds a place in a ring that is full', () => {
    const mailbox = filled(64)
    mailbox.unshift('boot', '0', undefined, 0)
    expect(names(mailbox)).toEqual(['boot', ...Array.from({ length: 64 }, (_, i) => `m${i + 1}`)])
  })
})

describe('what was handed over', () => {
  it('waits again from the oldest that is not settled, holes included', () => {
    const mailbox = filled(5)
    mailbox.sent = 5
    mailbox.withdraw(3)
    mailbox.settleTo(3)
    mailbox.rewind()
    expect([mailbox.head, mailbox.sent, mailbox.unsent, mailbox.depth]).toEqual([3, 3, 3, 2])
    expect(names(mailbox)).toEqual(['m4', 'm5'])
  })

  it('carries its own number once it stands elsewhere', () => {
    const mailbox = filled(3)
    mailbox.settleTo(3)
    const letter = mailbox.withdraw(3)!
    mailbox.settleTo(4)
    const to = mailbox.unshift(letter.name, letter.body, letter.meta, letter.at, letter.id)
    expect(to).toBe(3)
    mailbox.push('new', '0', undefined, 0)
    expect([...mailbox.positions()].map((position) => mailbox.idAt(position))).toEqual([3, 4])
  })
})

describe('holes among what waits', () => {
  it('are closed on demand: order, numbers and times stay, and who moves is told', () => {
    const mailbox = filled(6)
    mailbox.sent = 3
    for (const position of [1, 3, 4]) mailbox.withdraw(position)
    const moves: number[][] = []
    mailbox.compact((from, to) => moves.push([from, to]))
    expect(moves).toEqual([
      [5, 3],
      [6, 4],
    ])
    expect(names(mailbox)).toEqual(['m2', 'm5', 'm6'])
    expect([mailbox.head, mailbox.sent, mailbox.tail, mailbox.depth]).toEqual([1, 3, 5, 3])
    expect(mailbox.idAt(3)).toBe(5)
    expect(mailbox.letterAt(mailbox.push('m7', '0', undefined, 0))?.id).toBe(7)
  })
})

// --- against a plain list ----------------------------------------------------------------------------------------------

interface Slot {
  readonly position: number
  name: string | null
}

/** What a mailbox is: slots in order, some of them holes. */
interface Model {
  slots: Slot[]
  head: number
  sent: number
  tail: number
  next: number
}

const live = (model: Model): string[] => model.slots.flatMap(({ name }) => (name === null ? [] : [name]))

type Step = fc.Command<Model, Mailbox>

const check = (model: Model, mailbox: Mailbox): void => {
  expect(names(mailbox)).toEqual(live(model))
  expect(mailbox.depth).toBe(live(model).length)
  expect([mailbox.head, mailbox.sent, mailbox.tail]).toEqual([model.head, model.sent, model.tail])
  expect(model.slots.map(({ position }) => mailbox.letterAt(position)?.name ?? null)).toEqual(
    model.slots.map(({ name }) => name),
  )
}

const step = (text: string, run: (model: Model, mailbox: Mailbox) => void, possible = (_: Model) => true): Step => ({
  check: possible,
  run: (model, mailbox) => {
    run(model, mailbox)
    check(model, mailbox)
  },
  toString: () => text,
})

const push = (count: number): Step =>
  step(`push ${count}`, (model, mailbox) => {
    for (let i = 0; i < count; i++) {
      const name = `m${model.next++}`
      expect(mailbox.push(name, '0', undefined, 0)).toBe(model.tail)
      model.slots.push({ position: model.tail++, name })
    }
  })

const unshift = (): Step =>
  step(
    'unshift',
    (model, mailbox) => {
      const name = `m${model.next++}`
      expect(mailbox.unshift(name, '0', undefined, 0)).toBe(model.head - 1)
      model.slots.unshift({ position: --model.head, name })
      model.sent = model.head
    },
    (model) => model.sent === model.head,
  )

/** `where`: 0 is the head, 1 the tail. */
const at = (model: Model, where: number): Slot | undefined =>
  model.slots[Math.min(model.slots.length - 1, Math.floor(where * model.slots.length))]

const withdraw = (where: number): Step =>
  step(`withdraw ${where}`, (model, mailbox) => {
    const slot = at(model, where)
    expect(mailbox.withdraw(slot?.position ?? model.tail)?.name ?? null).toBe(slot?.name ?? null)
    if (slot !== undefined) slot.name = null
  })

const settle = (where: number): Step =>
  step(`settle ${where}`, (model, mailbox) => {
    const position = at(model, where)?.position ?? model.head
    mailbox.settleTo(position)
    model.slots = model.slots.filter((slot) => slot.position >= position)
    model.head = Math.max(model.head, position)
    model.sent = Math.max(model.sent, model.head)
  })

const send = (where: number): Step =>
  step(`send ${where}`, (model, mailbox) => {
    const position = (at(model, where)?.position ?? model.tail - 1) + 1
    if (position < model.sent) return
    mailbox.sent = position
    model.sent = position
  })

const rewind = (): Step =>
  step('rewind', (model, mailbox) => {
    mailbox.rewind()
    model.sent = model.head
  })

describe('a mailbox against a plain list', () => {
  it('holds the same after any operations', () => {
    const where = fc.integer({ min: 0, max: 99 }).map((percent) => percent / 100)
    const steps = fc.commands(
      [
        fc.integer({ min: 1, max: 90 }).map(push),
        fc.constant(null).map(unshift),
        where.map(withdraw),
        where.map(settle),
        where.map(send),
        fc.constant(null).map(rewind),
      ],
      { maxCommands: 40, size: 'max' },
    )
    fc.assert(
      fc.property(steps, (commands) => {
        const setup = () => ({ model: { slots: [], head: 1, sent: 1, tail: 1, next: 1 }, real: new Mailbox() })
        fc.modelRun(setup, commands)
      }),
      { numRuns: 100 },
    )
  })
})
