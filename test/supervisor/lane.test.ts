/** A lane: what is up ends in reverse, what is to run starts in order, and a change of plan gets in between any two steps. */
import { describe, expect, it } from 'vitest'
import { nextTurn } from '../../src/testkit/fake-clock.ts'
import { TestedLane } from './tested-lane.ts'

describe('the order', () => {
  it('is the reverse for what ends, then that of the start', async () => {
    const tested = new TestedLane('abcd')
    tested.fell('b')
    tested.add(0, '~d', 'b', '~c')
    expect(await tested.after(0)).toEqual(['end d', 'end c', 'start b (restart)'])
    expect(await tested.after(0)).toEqual(['start c (along)'])
    expect(await tested.after(0)).toEqual(['start d (along)'])
    expect(await tested.after(60_000)).toEqual([])
  })

  it('waits for each end before the next, and for the last before the first start', async () => {
    const tested = new TestedLane('abc')
    tested.fell('a')
    tested.slow('c')
    tested.slow('b')
    tested.add(0, 'a', '~b', '~c')
    expect(await tested.after(0)).toEqual(['end c'])
    tested.ended('c')
    expect(await tested.quiet()).toEqual(['c ended', 'end b'])
    tested.ended('b')
    expect(await tested.quiet()).toEqual(['b ended'])
    expect(await tested.after(0)).toEqual(['start a (restart)'])
  })

  it('waits for each start to settle before the next', async () => {
    const tested = new TestedLane('ab', { up: false })
    tested.boot('a')
    tested.add(0, '+a', '+b')
    expect(await tested.quiet()).toEqual(['start a (start, fresh)'])
    tested.booted('a')
    expect(await tested.quiet()).toEqual(['start b (start, fresh)'])
  })

  it('leaves alone what is up already where it starts with its supervisor', async () => {
    const tested = new TestedLane('abc')
    tested.fell('b')
    tested.add(0, '+a', '+b', '+c')
    expect((await tested.quiet()).filter((line) => line.startsWith('end'))).toEqual([])
    expect(tested.children.map(({ id }) => tested.of(id).phase)).toEqual(['ACTIVE', 'ACTIVE', 'ACTIVE'])
  })

  it('leaves children out that are not of its plan', async () => {
    const tested = new TestedLane('abc')
    tested.fell('b')
    tested.add(0, 'b')
    await tested.after(0)
    expect([tested.of('a').phase, tested.of('c').phase]).toEqual(['ACTIVE', 'ACTIVE'])
    expect(tested.times).toEqual(new Map([['b', 0]]))
  })
})

describe("one that is ending by another's word", () => {
  it('is started once it has ended, and those after it then; whoever asks is not held', async () => {
    const tested = new TestedLane('abc')
    tested.of('a').phase = 'STOPPING'
    tested.fell('b')
    tested.add(0, '+a', '+b', '+c')
    await tested.lane.settled()
    expect(await tested.after(60_000)).toEqual([])
    tested.ended('a')
    expect((await tested.quiet()).slice(0, 3)).toEqual(['a ended', 'start a (start, fresh)', 'start b (start, fresh)'])
  })

  it('is not waited for when it is taken out', async () => {
    const tested = new TestedLane('ab')
    tested.of('a').phase = 'STOPPING'
    tested.fell('b')
    tested.add(0, '+a', '+b')
    expect(await tested.quiet()).toEqual([])
    tested.lane.remove('a')
    expect(await tested.quiet()).toEqual(['start b (start, fresh)'])
  })
})

describe('one that is ended and does not come back', () => {
  it('is not started, and keeps nobody waiting', async () => {
    const tested = new TestedLane('abc')
    tested.fell('a')
    tested.add(0, 'a', '-b', '~c')
    await tested.after(0)
    await tested.after(0)
    expect(await tested.after(60_000)).toEqual([])
    expect(['a', 'b', 'c'].map((id) => tested.of(id).phase)).toEqual(['ACTIVE', 'STOPPED', 'ACTIVE'])
    expect(tested.lane.has('b')).toBe(false)
  })

  it('does not come back by a second death either', async () => {
    const tested = new TestedLane('abc')
    tested.fell('a')
    tested.slow('c')
    tested.add(1000, 'a', '-b', '~c')
    await tested.quiet()
    tested.add(2000, '~b', 'c')
    tested.ended('c')
    await tested.after(2000)
    await tested.after(0)
    expect(['a', 'b', 'c'].map((id) => tested.of(id).phase)).toEqual(['ACTIVE', 'STOPPED', 'ACTIVE'])
  })
})

describe('the time', () => {
  it('that is latest holds for all where they wait together', async () => {
    const tested = new TestedLane('abc', { together: true })
    for (const id of 'abc') tested.fell(id)
    tested.add(0, '~a', '~c')
    tested.add(4000, 'b')
    expect(tested.times).toEqual(new Map([...'abc'].map((id) => [id, 4000])))
    expect(await tested.after(3999)).toEqual([])
    expect(await tested.after(1)).toEqual(['start a (along)'])
    expect(await tested.after(0)).toEqual(['start b (restart)'])
    expect(await tested.after(0)).toEqual(['start c (along)'])
  })

  it('of an earlier one holds for those after it, where they do not', async () => {
    const tested = new TestedLane('abc')
    for (const id of 'abc') tested.fell(id)
    tested.add(0, '~a', '~c')
    tested.add(4000, 'b')
    expect(tested.times).toEqual(
      new Map([
        ['a', 0],
        ['b', 4000],
        ['c', 4000],
      ]),
    )
    expect(await tested.after(0)).toEqual(['start a (along)'])
    expect(await tested.after(3999)).toEqual([])
    expect(await tested.after(1)).toEqual(['start b (restart)'])
    expect(await tested.after(0)).toEqual(['start c (along)'])
  })

  it('that is later holds where a child is planned twice', async () => {
    const tested = new TestedLane('a')
    tested.fell('a')
    tested.add(4000, 'a')
    tested.add(1000, '~a')
    expect(tested.lane.dueAt('a')).toBe(4000)
    expect(await tested.after(3999)).toEqual([])
    // It died, and so its restart counts, whatever its sibling did.
    expect(await tested.after(1)).toEqual(['start a (restart)'])
  })

  it('of a restart goes through the clock, also at once: nothing happens without it', async () => {
    const tested = new TestedLane('ab')
    tested.fell('a')
    tested.fell('b')
    tested.add(0, 'a', '~b')
    expect(await tested.quiet()).toEqual([])
    expect(tested.clock.timers).toBe(1)
    expect(await tested.after(0)).toEqual(['start a (restart)'])
    expect(await tested.quiet()).toEqual([])
    expect(await tested.after(0)).toEqual(['start b (along)'])
  })

  it('is asked for of nothing that is not planned', () => {
    const tested = new TestedLane('ab')
    tested.add(0, '-a')
    expect([tested.lane.dueAt('a'), tested.lane.dueAt('b')]).toEqual([null, null])
  })
})

describe('a change of plan', () => {
  it('releases the others at once, when the one they wait for is taken out', async () => {
    const tested = new TestedLane('abc', { together: true })
    for (const id of 'abc') tested.fell(id)
    tested.add(0, '~a', '~c')
    tested.add(60_000, 'b')
    expect(await tested.after(1000)).toEqual([])
    tested.lane.remove('b')
    expect(tested.times.get('a')).toBe(0)
    expect(await tested.after(0)).toEqual(['start a (along)'])
    expect(await tested.after(0)).toEqual(['start c (along)'])
    expect(tested.of('b').phase).toBe('STOPPED')
    expect(tested.clock.timers).toBe(0)
  })

  it('C058 gets in between two starts', async () => {
    const tested = new TestedLane('abc')
    for (const id of 'abc') tested.fell(id)
    tested.add(0, 'a', '~b', '~c')
    expect(await tested.after(0)).toEqual(['start a (restart)'])
    tested.lane.remove('b')
    expect(await tested.after(0)).toEqual(['start c (along)'])
    expect(tested.of('b').phase).toBe('STOPPED')
  })

  it('C058 gets in while one boots, and while one waits', async () => {
    const tested = new TestedLane('ab')
    tested.fell('a')
    tested.fell('b')
    tested.boot('a')
    tested.add(0, 'a', '~b')
    expect(await tested.after(0)).toEqual(['start a (restart)'])
    tested.lane.clear()
    tested.booted('a')
    expect(await tested.after(60_000)).toEqual([])
    expect(tested.times.get('b')).toBe(null)
    tested.fell('a')
    tested.add(5000, 'a')
    await tested.quiet()
    tested.lane.clear()
    expect(await tested.after(60_000)).toEqual([])
    expect(tested.times.get('a')).toBe(null)
    expect(tested.clock.timers).toBe(0)
  })

  it('is looked for once more just before a start', async () => {
    const tested = new TestedLane('ab')
    tested.fell('a')
    tested.fell('b')
    tested.add(1000, 'a', '~b')
    await tested.quiet()
    tested.unwanted.add('a')
    expect(await tested.after(1000)).toEqual([])
    expect(await tested.after(0)).toEqual(['start b (along)'])
    expect(tested.times.get('a')).toBe(null)
  })

  it('takes in one more while the others end', async () => {
    const tested = new TestedLane('abc')
    tested.fell('b')
    tested.slow('c')
    tested.add(0, 'b', '~c')
    expect(await tested.after(0)).toEqual(['end c'])
    tested.fell('a')
    tested.add(0, 'a')
    expect(await tested.after(0)).toEqual(['end c'])
    tested.ended('c')
    expect(await tested.quiet()).toEqual(['c ended'])
    expect(await tested.after(0)).toEqual(['start a (restart)'])
    expect(await tested.after(0)).toEqual(['start b (restart)'])
    expect(await tested.after(0)).toEqual(['start c (along)'])
  })

  it('forgets what is a child no more', async () => {
    const tested = new TestedLane('ab')
    tested.fell('b')
    tested.add(1000, 'b')
    tested.children = tested.children.slice(0, 1)
    expect(await tested.after(60_000)).toEqual([])
    expect(tested.lane.has('b')).toBe(false)
  })
})

describe('a thread that cannot be ended', () => {
  it('holds the plan until it has ended after all', async () => {
    const tested = new TestedLane('ab')
    tested.fell('a')
    tested.slow('b')
    tested.add(0, 'a', '~b')
    expect(await tested.after(0)).toEqual(['end b'])
    tested.stubborn.get('b')!.answer(false)
    expect(await tested.after(60_000)).toEqual([])
    tested.ended('b')
    expect(await tested.quiet()).toEqual(['b ended'])
    expect(await tested.after(0)).toEqual(['start a (restart)'])
    expect(await tested.after(0)).toEqual(['start b (along)'])
  })

  it('does not hold those who change it', async () => {
    const tested = new TestedLane('ab')
    tested.fell('a')
    tested.slow('b')
    tested.add(0, 'a', '~b')
    await tested.after(0)
    tested.stubborn.get('b')!.answer(false)
    await tested.quiet()
    await tested.lane.settled()
    tested.lane.remove('b')
    expect((await tested.after(0)).filter((line) => line.startsWith('start'))).toEqual(['start a (restart)'])
  })
})

describe('settled', () => {
  const isSettled = async (tested: TestedLane): Promise<boolean> => {
    let settled = false
    void tested.lane.settled().then(() => {
      settled = true
    })
    await nextTurn()
    return settled
  }

  it('is at once where there is no plan, and where the plan waits for its time', async () => {
    const tested = new TestedLane('a')
    expect(await isSettled(tested)).toBe(true)
    tested.fell('a')
    tested.add(5000, 'a')
    expect(await isSettled(tested)).toBe(true)
    expect(await tested.after(5000)).toEqual(['start a (restart)'])
    expect(await isSettled(tested)).toBe(true)
  })

  it('is not while one ends or boots', async () => {
    const tested = new TestedLane('ab')
    tested.fell('a')
    tested.slow('b')
    tested.boot('a')
    tested.add(0, 'a', '~b')
    expect(await isSettled(tested)).toBe(false)
    tested.ended('b')
    await tested.after(0)
    expect(await isSettled(tested)).toBe(false)
    tested.booted('a')
    expect(await isSettled(tested)).toBe(true)
  })

  it('is not yet in the moment in which a waiting plan has been changed', async () => {
    const tested = new TestedLane('a', { up: false })
    tested.boot('a')
    tested.add(60_000, 'a')
    await tested.quiet()
    // As an operator's start of the supervisor does.
    tested.lane.remove('a')
    tested.add(0, '+a')
    expect(await isSettled(tested)).toBe(false)
    expect(await tested.quiet()).toEqual(['start a (start, fresh)'])
    tested.booted('a')
    expect(await isSettled(tested)).toBe(true)
  })

  it('is told to all who asked', async () => {
    const tested = new TestedLane('a', { up: false })
    tested.boot('a')
    tested.add(0, '+a')
    const told: number[] = []
    for (const n of [1, 2]) void tested.lane.settled().then(() => told.push(n))
    await tested.quiet()
    expect(told).toEqual([])
    tested.booted('a')
    await tested.quiet()
    expect(told).toEqual([1, 2])
  })
})
