/** Threads that are started before they are asked for, with threads that are none: so many at once, in order, and none left over. */
import { EventEmitter } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { Ahead } from '../../src/actors/ahead.ts'

class StartedThread extends EventEmitter {
  readonly name: string
  holds = true
  alive = true

  constructor(name: string) {
    super()
    this.name = name
  }

  ref(): void {
    this.holds = true
  }

  unref(): void {
    this.holds = false
  }

  async terminate(): Promise<void> {
    this.alive = false
    this.emit('exit', 1)
  }
}

class Tested {
  readonly started: StartedThread[] = []
  refused = false
  readonly ahead = new Ahead(2, (name) => {
    if (this.refused) throw new Error('EAGAIN')
    const thread = new StartedThread(name)
    this.started.push(thread)
    return thread as unknown as Worker
  })

  expect(...names: string[]): void {
    this.ahead.expect(names.map((name) => ({ name, heapMb: 64 })))
  }

  take(name: string, heapMb = 64): StartedThread | undefined {
    return this.ahead.take({ name, heapMb }) as unknown as StartedThread | undefined
  }

  get names(): string[] {
    return this.started.map(({ name }) => name)
  }

  get alive(): string[] {
    return this.started.filter(({ alive }) => alive).map(({ name }) => name)
  }
}

describe('threads ahead', () => {
  it('are so many at once, in order; each that is taken makes room for the next', () => {
    const tested = new Tested()
    tested.expect('a', 'b', 'c', 'd')
    expect(tested.names).toEqual(['a', 'b'])
    expect(tested.take('a')).toBe(tested.started[0])
    expect(tested.names).toEqual(['a', 'b', 'c'])
    for (const name of ['b', 'c', 'd']) expect(tested.take(name)?.name).toBe(name)
    expect(tested.take('d')).toBeUndefined()
    expect(tested.names).toEqual(['a', 'b', 'c', 'd'])
  })

  it('hold the process once they are taken, and say nothing more to whoever started them', () => {
    const tested = new Tested()
    tested.expect('a')
    expect(tested.started[0]!.holds).toBe(false)
    const taken = tested.take('a')!
    expect([taken.holds, taken.listenerCount('exit'), taken.listenerCount('error')]).toEqual([true, 0, 0])
  })

  it('are not started twice for one agent, and not for one that asks before its turn', () => {
    const tested = new Tested()
    tested.expect('a', 'b', 'c')
    tested.expect('a', 'c')
    expect(tested.take('c')).toBeUndefined()
    expect(tested.names).toEqual(['a', 'b'])
    tested.take('a')
    expect(tested.names).toEqual(['a', 'b'])
  })

  it('of another heap than is asked for are ended, and so are those nobody asks for', () => {
    const tested = new Tested()
    tested.expect('a', 'b', 'c')
    expect(tested.take('a', 32)).toBeUndefined()
    tested.ahead.release('b')
    tested.ahead.release('b')
    tested.ahead.release('nobody')
    expect(tested.alive).toEqual(['c'])
  })

  it('that end by themselves are not given to anybody', () => {
    const tested = new Tested()
    tested.expect('a')
    tested.started[0]!.emit('error', new Error('of its own'))
    tested.started[0]!.emit('exit', 1)
    expect(tested.take('a')).toBeUndefined()
  })

  it('that the platform refuses are left to those who ask', () => {
    const tested = new Tested()
    tested.refused = true
    tested.expect('a', 'b')
    tested.refused = false
    expect(tested.take('a')).toBeUndefined()
    expect(tested.take('b')?.name).toBe('b')
  })

  it('end with the host, and no more are started', async () => {
    const tested = new Tested()
    tested.expect('a', 'b', 'c')
    await tested.ahead.close()
    tested.expect('d')
    expect([tested.alive, tested.names]).toEqual([[], ['a', 'b']])
  })
})
