/** How a loop ends, by order and by its own wish: what runs, the stop hooks, and what is still to be posted come first. */
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { CELL } from '../../src/model/flight-recorder.ts'
import { nextTurn } from '../../src/testkit/fake-clock.ts'
import type { Context } from '../../src/thread/role.ts'
import { Held, TestedLoop } from './tested-loop.ts'

/** The way out of the thread, which this one is not to take. */
const endThread = vi.hoisted(() => vi.fn())
vi.mock('../../src/thread/end.ts', () => ({ endThread }))

const ASK = 1e12

beforeEach(() => void endThread.mockClear())

describe('the end', () => {
  it('waits for what runs, runs the stop hooks from the last to the first, posts what is left, and exits', async () => {
    const held = new Held()
    const order: string[] = []
    const stops = ['first', 'second'].map((name) => () => void order.push(name))
    const tested = new TestedLoop({ commands: { slow: { handle: held.handle } }, stops })
    tested.send({ name: 'slow', ask: ASK }, { name: 'slow', ask: ASK })
    tested.recorder.write(CELL.pause, 1)
    tested.loop.stop()
    await nextTurn()
    expect([order, endThread.mock.calls]).toEqual([[], []])
    held.end(0, 'done')
    await nextTurn()
    expect(order).toEqual(['second', 'first'])
    expect(endThread.mock.calls).toEqual([[0]])
    expect(tested.replies).toEqual({ 1: 'done' })
    expect([tested.begun, tested.done]).toEqual([1, 1])
    expect(tested.control.some(({ type }) => type === 'ending')).toBe(false)
  })

  it.each([true, false])(
    'by its own wish comes when its handler has ended, and is said to be normal',
    async (isAsync) => {
      const held = new Held()
      const e = (_: unknown, ctx: Context): unknown => {
        ctx.stop()
        return isAsync ? held.handle() : undefined
      }
      const tested = new TestedLoop({ events: { e } })
      tested.send({}, {})
      if (isAsync) {
        await nextTurn()
        expect(endThread).not.toHaveBeenCalled()
        held.end()
      }
      await nextTurn()
      await nextTurn()
      expect(tested.control).toContainEqual({ type: 'ending', cause: 'normal' })
      expect(endThread.mock.calls).toEqual([[0]])
      expect([tested.begun, tested.done]).toEqual([1, 1])
    },
  )

  it('is a crash where a stop hook throws, and the others run all the same', async () => {
    const order: string[] = []
    const boom = new Error('boom')
    const stops = [
      () => void order.push('first'),
      () => {
        throw boom
      },
    ]
    const tested = new TestedLoop({ stops })
    tested.dies = false
    tested.recorder.write(CELL.pause, 1)
    tested.loop.stop()
    await nextTurn()
    expect(order).toEqual(['first'])
    expect(tested.fatals).toEqual([{ error: boom, seq: undefined }])
  })
})
