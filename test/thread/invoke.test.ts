/** One delivery, from the table of handlers to its end: a reply, a fate, or a death. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { HoltError } from '../../src/model/error.ts'
import { CELL } from '../../src/model/flight-recorder.ts'
import { AWAITED } from '../../src/model/wire.ts'
import { monotonicMs } from '../../src/platform/clock.ts'
import { nextTurn } from '../../src/testkit/fake-clock.ts'
import { CommandError, type Context, type Schema } from '../../src/thread/role.ts'
import { Held, TestedLoop, ThreadEnded } from './tested-loop.ts'

const ASK = 1e12

beforeEach(() => void vi.spyOn(process, 'hrtime').mockReturnValue([1, 0]))
afterEach(() => void vi.restoreAllMocks())

/** Accepts numbers, as a schema of any library would. */
const numbers = (isAsync: boolean): Schema<number> => ({
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => {
      const result =
        typeof value === 'number'
          ? { value: value + 1 }
          : { issues: [{ message: 'no number', path: ['a', { key: 'b' }] }, { message: 'wrong' }] }
      return isAsync ? Promise.resolve(result) : result
    },
  },
})

const boom = (): never => {
  throw new Error('boom')
}
/** The same fault, thrown at once or later. */
const ways = [
  ['at once', (error: () => unknown) => () => raise(error())],
  ['later', (error: () => unknown) => async () => raise(error())],
] as const
const raise = (error: unknown): never => {
  throw error
}

describe('an event', () => {
  it('of a name that no role handles is ignored, with its payload sent back', async () => {
    const tested = new TestedLoop({ commands: { find: { handle: () => 1 } } })
    for (const name of ['unknown', 'find', 'constructor', '__proto__']) tested.send({ name, payload: { n: 1 } })
    await nextTurn()
    expect(tested.outcomes).toEqual([
      '1 ignored unknown',
      '2 ignored find',
      '3 ignored constructor',
      '4 ignored __proto__',
    ])
    expect(tested.port.flushes[0]?.outcomes?.[0]?.payload).toEqual({ n: 1 })
    expect([tested.done, tested.fatals]).toEqual([4, []])
  })

  it('says that it was handled only where its sender waits for that', async () => {
    const tested = new TestedLoop({ events: { e: () => 'a value nobody asked for' } })
    tested.send({}, { ask: AWAITED }, {})
    await nextTurn()
    expect(tested.port.posted).toEqual([{ type: 'flush', handled: [2] }])
  })

  it('is not begun past its time to live', async () => {
    const seen: unknown[] = []
    const tested = new TestedLoop({ events: { e: (n) => void seen.push(n) } })
    const now = monotonicMs()
    tested.send({ payload: 1, expires: now }, { payload: 2, expires: now + 1 }, { payload: 3 })
    await nextTurn()
    expect(seen).toEqual([2, 3])
    expect(tested.outcomes).toEqual(['1 expired e'])
    expect(tested.done).toBe(3)
  })

  it('that was withdrawn is passed over without a word', async () => {
    const tested = new TestedLoop({ events: {} })
    tested.send({ skip: true }, { skip: true, ask: ASK })
    await nextTurn()
    expect([tested.done, tested.port.posted]).toEqual([2, []])
  })
})

describe('a command', () => {
  it('of a name that no role answers to is told so, with those there are', async () => {
    const tested = new TestedLoop({
      events: { e: () => {} },
      commands: { find: { handle: () => 1 }, list: { handle: () => 1 } },
    })
    for (const name of ['fnd', 'e', 'constructor']) tested.send({ name, ask: ASK })
    await nextTurn()
    const text = (name: string) => `NoSuchCommand: agent 'a' has no command '${name}'. Commands: find, list`
    expect(tested.replies).toEqual({ 1: text('fnd'), 2: text('e'), 3: text('constructor') })
  })

  it.each([
    ['at once', () => ({ n: 1 })],
    ['later', async () => ({ n: 1 })],
  ])('replies with what its handler returns %s', async (_when, handle) => {
    const tested = new TestedLoop({ commands: { find: { handle } } })
    tested.send({ name: 'find', ask: ASK })
    await nextTurn()
    expect([tested.replies, tested.done]).toEqual([{ 1: { n: 1 } }, 1])
  })

  it('replies with nothing where there is nothing', async () => {
    const tested = new TestedLoop({ commands: { find: { handle: () => undefined } } })
    tested.send({ name: 'find', ask: ASK })
    await nextTurn()
    expect(tested.replies).toEqual({ 1: undefined })
    expect(Object.keys(tested.replies)).toEqual(['1'])
  })

  it('whose reply cannot be copied says so, and the agent goes on', async () => {
    const tested = new TestedLoop({ commands: { find: { handle: () => ({ deep: { call: boom } }) } } })
    tested.send({ name: 'find', ask: ASK }, { name: 'find', ask: ASK })
    await nextTurn()
    expect(tested.replies[1]).toMatch(/^NotCloneable: reply could not be cloned: field 'deep.call'/)
    expect([tested.done, tested.fatals]).toEqual([2, []])
  })

  it.each([false, true])('gets its input as the schema made it (async: %s)', async (isAsync) => {
    const tested = new TestedLoop({ commands: { find: { input: numbers(isAsync) as never, handle: (n) => n } } })
    tested.send({ name: 'find', ask: ASK, payload: 1 })
    await nextTurn()
    expect(tested.replies).toEqual({ 1: 2 })
  })

  it.each([false, true])(
    'is not run with an input that does not fit (async: %s), and names the fields',
    async (isAsync) => {
      const handle = vi.fn()
      const tested = new TestedLoop({ commands: { find: { input: numbers(isAsync) as never, handle } } })
      tested.send({ name: 'find', ask: ASK, payload: 'x' })
      await nextTurn()
      expect(tested.replies).toEqual({ 1: "InvalidInput: input of 'find': a.b: no number; wrong" })
      expect(handle).not.toHaveBeenCalled()
      expect([tested.fatals, tested.done]).toEqual([[], 1])
    },
  )

  it.each(ways)('answers with a CommandError thrown %s, of whatever bundle', async (_when, fault) => {
    class CommandErrorOfAnotherBundle extends Error {
      override readonly name = 'CommandError'
      readonly code = 'Taken'
    }
    const tested = new TestedLoop({
      commands: {
        own: { handle: fault(() => new CommandError('not now', 'Later')) },
        other: { handle: fault(() => new CommandErrorOfAnotherBundle('taken')) },
      },
    })
    tested.send({ name: 'own', ask: ASK }, { name: 'other', ask: ASK })
    await nextTurn()
    expect(tested.replies).toEqual({ 1: 'Later: not now', 2: 'Taken: taken' })
    expect([tested.fatals, tested.recorder.read(CELL.failed)]).toEqual([[], 2])
  })
})

describe('a throw', () => {
  it('ends the thread, with the delivery that did it in flight', () => {
    const tested = new TestedLoop({ events: { ok: () => {}, e: boom } })
    expect(() => tested.send({ name: 'ok' }, {}, { name: 'ok' })).toThrow(ThreadEnded)
    expect(tested.fatals).toMatchObject([{ error: { message: 'boom' }, seq: 2 }])
    expect([tested.begun, tested.done]).toEqual([2, 1])
    expect(tested.recorder.inFlight()).toEqual([2])
  })

  it.each(ways)('%s, of anything at all, is told with its delivery', async (_when, fault) => {
    for (const thrown of [null, undefined, Symbol('s'), 7, Object.freeze({ name: 'CommandError' })]) {
      const tested = new TestedLoop({ commands: { find: { handle: fault(() => thrown) } } })
      tested.dies = false
      tested.send({ name: 'find', ask: ASK })
      await nextTurn()
      expect(tested.fatals).toEqual([{ error: thrown, seq: 1 }])
    }
  })

  it('of an InvalidInput that another agent answered with is no answer about this one’s own input', async () => {
    const tested = new TestedLoop({
      commands: { find: { handle: () => raise(new HoltError('InvalidInput', "input of 'other': wrong")) } },
    })
    expect(() => tested.send({ name: 'find', ask: ASK })).toThrow(ThreadEnded)
    expect(tested.fatals).toMatchObject([{ error: { code: 'InvalidInput' }, seq: 1 }])
  })

  it.each(ways)('%s in a role that goes on is an answer for an ask and counted for an event', async (_when, fault) => {
    const handle = fault(() => new TypeError('boom'))
    const tested = new TestedLoop({ events: { e: handle }, commands: { find: { handle } }, continues: true })
    tested.send({}, { ask: AWAITED })
    await nextTurn()
    tested.send({ name: 'find', ask: ASK }, {})
    for (let i = 0; i < 4; i++) await nextTurn()
    expect(tested.outcomes).toEqual(['1 failed e', '2 failed e', '4 failed e'])
    expect(tested.replies).toEqual({ 3: 'TypeError: boom' })
    expect([tested.fatals, tested.done, tested.recorder.read(CELL.failed)]).toEqual([[], 4, 4])
  })
})

describe('a handler that was aborted', () => {
  const aborting = async (kind: 'events' | 'commands', end: (held: Held) => void): Promise<TestedLoop> => {
    const held = new Held()
    const handlers = kind === 'events' ? { events: { e: held.handle } } : { commands: { e: { handle: held.handle } } }
    const tested = new TestedLoop(handlers)
    tested.send({ ask: kind === 'events' ? AWAITED : ASK })
    tested.loop.abort([1], 'enough')
    end(held)
    await nextTurn()
    return tested
  }

  it('and throws is no crash: an event is aborted, an ask rejects', async () => {
    const thrown = (held: Held): void => held.fail(0, new Error('whatever'))
    const event = await aborting('events', thrown)
    expect([event.outcomes, event.fatals]).toEqual([['1 aborted e'], []])
    const ask = await aborting('commands', thrown)
    expect([ask.replies, ask.outcomes, ask.fatals]).toEqual([{ 1: 'Aborted: enough' }, [], []])
  })

  it('and ends well was handled', async () => {
    const well = (held: Held): void => held.end(0, 'done')
    expect((await aborting('events', well)).port.flushes).toEqual([{ type: 'flush', handled: [1] }])
    expect((await aborting('commands', well)).replies).toEqual({ 1: 'done' })
  })
})

describe('the context', () => {
  it('knows whom it serves and until when', () => {
    const seen: unknown[] = []
    const look = (_: unknown, ctx: Context): void => {
      seen.push([ctx.agent, ctx.instance, ctx.epoch, ctx.deadline, ctx.remainingMs])
    }
    const tested = new TestedLoop({ events: { e: look }, commands: { c: { handle: look } } })
    const due = monotonicMs() + 250
    tested.send({ payload: 1 }, { name: 'c', ask: due }, { name: 'c', ask: due - 300 })
    expect(seen).toEqual([
      ['a', 'i', 1, null, Number.POSITIVE_INFINITY],
      ['a', 'i', 1, due, 250],
      ['a', 'i', 1, due - 300, 0],
    ])
  })

  it('never asks others for longer than its own caller waits', async () => {
    const asks = (_: unknown, ctx: Context): void => {
      void ctx.ask('b', 'find', 1, { timeoutMs: 5000 })
      void ctx.ask('b', 'find', 1, { timeoutMs: 100 })
    }
    const tested = new TestedLoop({ commands: { c: { handle: asks } } })
    const due = monotonicMs() + 250
    tested.send({ name: 'c', ask: due })
    await nextTurn()
    expect(tested.port.flushes[0]?.sends?.due).toEqual([due, due - 150])
  })
})

describe('what is measured', () => {
  it('is the first delivery after a wait and every sixteenth while behind, by handler', () => {
    const tested = new TestedLoop({ events: { e: () => {}, other: () => {} } })
    tested.send(...Array.from({ length: 40 }, (_, i) => ({ name: i === 16 ? 'other' : 'e' })))
    const histograms = tested.control.filter((message) => message.type === 'histogram')
    expect(histograms.map(({ handler, histogram }) => [handler, histogram.count])).toEqual([
      ['e', 2],
      ['other', 1],
    ])
  })
})
