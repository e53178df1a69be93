/** Streams of a state: every value in order, or the newest once a turn. */
import { take } from 'rxjs'
import { describe, expect, it } from 'vitest'
import { createEveryState, createLatestState } from '../../src/streams/state.ts'
import { heldTurns } from './held-turns.ts'

function setUp() {
  const turns = heldTurns()
  const reported: unknown[] = []
  return { turns, reported, options: { schedule: turns.schedule, onObserverError: (e: unknown) => reported.push(e) } }
}

const boom = new Error('boom')

describe('every state', () => {
  it('starts with the present value, then gives each in order, even many of one turn', () => {
    const { turns, options } = setUp()
    const phase = createEveryState('IDLE', options)
    const seen: string[] = []
    phase.set('BOOTING')
    phase.stream$.subscribe((value) => seen.push(value))
    expect(seen).toEqual(['BOOTING'])
    for (const value of ['ACTIVE', 'PAUSING', 'PAUSED', 'RESUMING', 'ACTIVE']) phase.set(value)
    turns.settle()
    expect(seen).toEqual(['BOOTING', 'ACTIVE', 'PAUSING', 'PAUSED', 'RESUMING', 'ACTIVE'])
  })

  it('leaves none of 50 000 changes of one turn out', () => {
    const { turns, options } = setUp()
    const state = createEveryState(0, options)
    let last = -1
    state.stream$.subscribe((value) => {
      expect(value).toBe(++last)
    })
    for (let i = 1; i < 50_000; i++) state.set(i)
    turns.settle()
    expect(last).toBe(49_999)
  })

  it('takes equal neighbours for one', () => {
    const { turns, options } = setUp()
    const state = createEveryState('a', options)
    const seen: string[] = []
    state.stream$.subscribe((value) => seen.push(value))
    for (const value of ['a', 'b', 'b', 'a']) state.set(value)
    turns.settle()
    expect(seen).toEqual(['a', 'b', 'a'])
  })

  it('neither loses nor doubles a change made within the first next', () => {
    const { turns, options } = setUp()
    const state = createEveryState(0, options)
    const seen: number[] = []
    state.stream$.subscribe((value) => {
      seen.push(value)
      if (value < 3) state.set(value + 1)
    })
    turns.settle()
    expect(seen).toEqual([0, 1, 2, 3])
  })

  it('cuts off an observer that throws at the first value or later, and no other', () => {
    const { turns, reported, options } = setUp()
    const state = createEveryState(0, options)
    const seen: number[] = []
    for (const at of [0, 1]) {
      state.stream$.subscribe((value) => {
        if (value === at) throw boom
      })
    }
    state.stream$.subscribe((value) => seen.push(value))
    state.set(1)
    state.set(2)
    turns.settle()
    expect(seen).toEqual([0, 1, 2])
    expect(reported).toEqual([boom, boom])
  })

  it('completes after the last value; who comes later gets that value and completion', () => {
    const { turns, options } = setUp()
    const state = createEveryState('a', options)
    const seen: string[] = []
    const observer = { next: (value: string) => seen.push(value), complete: () => seen.push('done') }
    state.stream$.subscribe(observer)
    state.set('b')
    state.close()
    turns.settle()
    state.stream$.subscribe(observer)
    expect(seen).toEqual(['a', 'b', 'done', 'b', 'done'])
  })

  it('is done with a subscriber that takes only the first value', () => {
    const { turns, options } = setUp()
    const state = createEveryState('a', options)
    state.stream$.pipe(take(1)).subscribe()
    state.set('b')
    expect(turns.waiting).toBe(0)
  })
})

describe('the latest state', () => {
  /** A number that the test changes, and how often it was read. */
  function counter(same?: (a: number, b: number) => boolean) {
    const { turns, reported, options } = setUp()
    const box = { value: 0, reads: 0 }
    const state = createLatestState(
      () => {
        box.reads++
        return box.value
      },
      same === undefined ? options : { ...options, same },
    )
    return { box, state, turns, reported }
  }

  it('costs nothing while nobody listens', () => {
    const { box, state, turns } = counter()
    for (let i = 0; i < 1000; i++) state.touch()
    expect([box.reads, turns.waiting]).toEqual([0, 0])
  })

  it('starts with the present value, then gives the last of a burst once', () => {
    const { box, state, turns } = counter()
    const seen: number[] = []
    state.stream$.subscribe((value) => seen.push(value))
    for (let i = 1; i <= 1000; i++) {
      box.value = i
      state.touch()
    }
    expect(turns.settle()).toBe(1)
    expect(seen).toEqual([0, 1000])
    expect(box.reads).toBe(2)
  })

  it('is read once a turn for all subscribers', () => {
    const { box, state, turns } = counter()
    for (let i = 0; i < 10; i++) state.stream$.subscribe()
    box.reads = 0
    box.value = 1
    state.touch()
    turns.settle()
    expect(box.reads).toBe(1)
  })

  it('gives nothing that is the same by the comparison handed in', () => {
    const { box, state, turns } = counter((a, b) => a % 10 === b % 10)
    const seen: number[] = []
    state.stream$.subscribe((value) => seen.push(value))
    for (const value of [10, 20, 21, 31, 30]) {
      box.value = value
      state.touch()
      turns.settle()
    }
    expect(seen).toEqual([0, 21, 30])
  })

  it('gives a late subscriber the present at once and does not repeat it', () => {
    const { box, state, turns } = counter()
    const early: number[] = []
    const late: number[] = []
    state.stream$.subscribe((value) => early.push(value))
    box.value = 1
    state.touch()
    state.stream$.subscribe((value) => late.push(value))
    turns.settle()
    expect([early, late]).toEqual([[0, 1], [1]])
  })

  it('cuts off an observer that throws, and no other', () => {
    const { box, state, turns, reported } = counter()
    const seen: number[] = []
    state.stream$.subscribe((value) => {
      if (value === 1) throw boom
    })
    state.stream$.subscribe((value) => seen.push(value))
    for (const value of [1, 2]) {
      box.value = value
      state.touch()
      turns.settle()
    }
    expect(seen).toEqual([0, 1, 2])
    expect(reported).toEqual([boom])
  })

  it('may be touched and left within next', () => {
    const { box, state, turns } = counter()
    const seen: number[] = []
    const subscription = state.stream$.subscribe((value) => {
      seen.push(value)
      if (value === 2) return subscription.unsubscribe()
      box.value++
      state.touch()
    })
    turns.settle()
    expect(seen).toEqual([0, 1, 2])
    state.touch()
    expect(turns.waiting).toBe(0)
  })

  it('gives the last value before it completes; who comes later gets it and completion', () => {
    const { box, state, turns } = counter()
    const seen: (number | 'done')[] = []
    const observer = { next: (value: number) => seen.push(value), complete: () => seen.push('done') }
    state.stream$.subscribe(observer)
    box.value = 7
    state.touch()
    state.close()
    turns.settle()
    state.stream$.subscribe(observer)
    expect(seen).toEqual([0, 7, 'done', 7, 'done'])
  })
})
