/** The shelf of warm spares, with threads that are none: taken, filled up again, given up, and left behind at the end. */
import { EventEmitter } from 'node:events'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { Spares } from '../../src/actors/spares.ts'
import { FakeClock } from '../../src/testkit/fake-clock.ts'

const started = vi.hoisted(() => ({ threads: [] as StartedThread[], refused: false }))

vi.mock('../../src/actors/spawn.ts', () => ({
  spawnThread: (name: string, heapMb: number) => {
    if (started.refused) throw new Error('EAGAIN')
    const thread = new StartedThread(name, heapMb)
    started.threads.push(thread)
    return thread
  },
}))

class StartedThread extends EventEmitter {
  readonly name: string
  readonly heapMb: number
  /** It keeps the process alive. */
  holds = true
  alive = true

  constructor(name: string, heapMb: number) {
    super()
    this.name = name
    this.heapMb = heapMb
  }

  ref(): void {
    this.holds = true
  }

  unref(): void {
    this.holds = false
  }

  async terminate(): Promise<void> {
    this.end(1)
  }

  /** It comes up, and ends by itself. */
  end(code: number, error?: unknown): void {
    this.emit('online')
    this.alive = false
    if (error !== undefined) this.emit('error', error)
    this.emit('exit', code)
  }
}

class TestedSpares {
  readonly clock = new FakeClock()
  readonly spares: Spares

  constructor(perSize: number) {
    this.spares = new Spares(perSize, this.clock)
  }

  take(heapMb: number): StartedThread {
    return this.spares.take('agent', heapMb) as unknown as StartedThread
  }

  /** Past the moment at which what was taken is replaced. */
  refill(): void {
    this.clock.advance(1000)
  }
}

/** Heap sizes of the spares that wait. */
const waiting = (): number[] =>
  started.threads.filter(({ alive, holds }) => alive && !holds).map(({ heapMb }) => heapMb)

beforeEach(() => {
  started.threads = []
  started.refused = false
})

describe('spares', () => {
  it('of none a fleet has none: each thread is started when it is asked for', () => {
    const tested = new TestedSpares(0)
    tested.spares.fill([64, 64])
    expect(tested.take(64)).toMatchObject({ name: 'agent', holds: true })
    tested.refill()
    expect([tested.spares.size, waiting(), tested.clock.timers]).toEqual([0, [], 0])
  })

  it('are so many for each size, whatever number of agents has it', () => {
    const tested = new TestedSpares(2)
    tested.spares.fill([64, 64, 64, 16])
    expect(waiting()).toEqual([64, 64, 16, 16])
    expect(tested.spares.size).toBe(4)
    tested.spares.fill([64, 16])
    expect(tested.spares.size).toBe(4)
  })

  it('are taken by size, the oldest first, and hold the process from then on', () => {
    const tested = new TestedSpares(2)
    tested.spares.fill([64, 16])
    const [first, second] = started.threads
    expect(tested.take(64)).toBe(first)
    expect(tested.take(64)).toBe(second)
    expect([first!.holds, second!.holds]).toEqual([true, true])
    expect(waiting()).toEqual([16, 16])
    expect(started.threads).toHaveLength(4)
  })

  it('are started again a while after one was taken, also where there was none of that size', () => {
    const tested = new TestedSpares(1)
    tested.spares.fill([64])
    tested.take(64)
    tested.take(32)
    expect(waiting()).toEqual([])
    tested.refill()
    expect(waiting().sort()).toEqual([32, 64])
  })

  it('are none before the first fill: a fleet that starts is not to share the processor with them', () => {
    const tested = new TestedSpares(1)
    tested.take(64)
    tested.refill()
    expect([tested.spares.size, tested.clock.timers]).toEqual([0, 0])
  })

  it('say nothing more to the shelf once they are taken', () => {
    const tested = new TestedSpares(1)
    tested.spares.fill([64])
    const taken = tested.take(64)
    // Its own end is listened to, to know what still runs.
    expect(['exit', 'error', 'online'].map((event) => taken.listenerCount(event))).toEqual([1, 0, 0])
    expect(tested.spares.running()).toHaveLength(1)
    tested.refill()
    taken.emit('exit', 1)
    expect(tested.spares.running()).toEqual([])
    expect(tested.spares.size).toBe(1)
    expect(started.threads).toHaveLength(2)
  })
})

describe('a spare that ends by itself', () => {
  it('is replaced, whatever it ended of', () => {
    const tested = new TestedSpares(1)
    tested.spares.fill([64])
    started.threads[0]!.end(1, new Error('of its own'))
    expect(waiting()).toEqual([64])
    expect(started.threads).toHaveLength(2)
  })

  it('soon after its start three times in a row is given up, though each came up first', () => {
    const tested = new TestedSpares(1)
    tested.spares.fill([64, 16])
    for (let n = 0; n < 10; n++) started.threads.findLast(({ heapMb }) => heapMb === 64)!.end(1)
    expect(started.threads.filter(({ heapMb }) => heapMb === 64)).toHaveLength(3)
    tested.spares.fill([64])
    // The other size goes on, and agents of this one are started cold.
    expect(waiting()).toEqual([16])
    expect(tested.take(64)).toMatchObject({ name: 'agent', alive: true })
    tested.refill()
    expect(waiting()).toEqual([16])
  })

  it('after it has lived for a while counts for nothing', () => {
    const tested = new TestedSpares(1)
    tested.spares.fill([64])
    for (let n = 0; n < 10; n++) {
      tested.clock.advance(n % 3 === 2 ? 1000 : 999)
      started.threads.at(-1)!.end(1)
    }
    expect(waiting()).toEqual([64])
  })

  it('that cannot be started at all is given up at once, and nobody is told', () => {
    const tested = new TestedSpares(3)
    started.refused = true
    expect(() => tested.spares.fill([64])).not.toThrow()
    started.refused = false
    tested.spares.fill([64])
    expect(started.threads).toEqual([])
    expect(tested.take(64)).toMatchObject({ name: 'agent' })
  })
})

describe('the end', () => {
  it('ends all that wait, and starts no more', async () => {
    const tested = new TestedSpares(2)
    tested.spares.fill([64, 16])
    const taken = tested.take(64)
    await tested.spares.close()
    expect(started.threads.filter(({ alive }) => alive)).toEqual([taken])
    tested.refill()
    tested.spares.fill([64])
    expect(tested.spares.size).toBe(0)
    expect(started.threads).toHaveLength(4)
  })
})
