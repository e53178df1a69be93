/**
 * Warm spares: booted, empty threads that wait for their first message, so that a restart need not wait for one to
 * start. Kept by heap size, since a thread's limits are fixed at its creation. A spare keeps no process alive. Threads that
 * are expected to be asked for come first, see {@link Ahead}.
 */
import { availableParallelism } from 'node:os'
import type { Worker } from 'node:worker_threads'
import type { Clock } from '../platform/clock.ts'
import { Ahead, type Expected } from './ahead.ts'
import { spawnThread, type Thread, type Threads } from './spawn.ts'

/** A size whose spares end by themselves so often in a row, soon after they were started, is given up. */
const MAX_FAILURES = 3
/** One that lived so long was sound: what ended it says nothing of the next. */
const SOUND_MS = 1000
/** From taking a spare to starting another. A boot from a spare takes a few ms, and is not to share the processor. */
const REFILL_MS = 50

interface Shelf {
  readonly threads: Set<Worker>
  /** In a row. */
  failures: number
}

export class Spares implements Threads {
  readonly #perSize: number
  readonly #clock: Clock
  readonly #shelves = new Map<number, Shelf>()
  readonly #ahead = new Ahead(availableParallelism(), spawnThread)
  /** Threads of agents that have not ended, by the agent. */
  readonly #taken = new Map<Thread, string>()
  /** Since the first {@link fill}; before that the fleet is starting, and nothing is to share the processor with it. */
  #open = false
  #closed = false

  /** @param perSize threads kept for each heap size that is asked for */
  constructor(perSize: number, clock: Clock) {
    this.#perSize = perSize
    this.#clock = clock
  }

  take(name: string, heapMb: number): Thread {
    const thread = this.#take(name, heapMb)
    this.#taken.set(thread, name)
    thread.once('exit', () => void this.#taken.delete(thread))
    return thread
  }

  /** Those that a spare waits for need no other. */
  expect(agents: Iterable<Expected>): void {
    this.#ahead.expect([...agents].filter(({ heapMb }) => !this.#shelves.get(heapMb)?.threads.size))
  }

  release(name: string): void {
    this.#ahead.release(name)
  }

  /** Agents that have a thread, also one that was given up and is fenced. */
  running(): string[] {
    return [...new Set(this.#taken.values())]
  }

  #take(name: string, heapMb: number): Worker {
    if (this.#perSize === 0) return this.#ahead.take({ name, heapMb }) ?? spawnThread(name, heapMb)
    // Later: first the boot, then what the next one of this size will need.
    if (this.#open) this.#clock.after(REFILL_MS, () => this.fill([heapMb]))
    const expected = this.#ahead.take({ name, heapMb })
    if (expected !== undefined) return expected
    const { threads } = this.#shelf(heapMb)
    const [spare] = threads
    if (spare === undefined) return spawnThread(name, heapMb)
    threads.delete(spare)
    spare.removeAllListeners()
    spare.ref()
    return spare
  }

  /** Starts what is missing, also for sizes that have not been asked for yet. */
  fill(sizes: Iterable<number>): void {
    this.#open = true
    for (const heapMb of new Set(sizes)) {
      const shelf = this.#shelf(heapMb)
      while (!this.#closed && shelf.threads.size < this.#perSize && shelf.failures < MAX_FAILURES)
        this.#add(heapMb, shelf)
    }
  }

  /** How many are kept now. */
  get size(): number {
    let count = 0
    for (const { threads } of this.#shelves.values()) count += threads.size
    return count
  }

  async close(): Promise<void> {
    this.#closed = true
    const all = [...this.#shelves.values()].flatMap(({ threads }) => [...threads])
    this.#shelves.clear()
    await Promise.all([this.#ahead.close(), ...all.map((thread) => thread.terminate())])
  }

  #shelf(heapMb: number): Shelf {
    let shelf = this.#shelves.get(heapMb)
    if (shelf === undefined) {
      shelf = { threads: new Set(), failures: 0 }
      this.#shelves.set(heapMb, shelf)
    }
    return shelf
  }

  #add(heapMb: number, shelf: Shelf): void {
    let spare: Worker
    try {
      spare = spawnThread('spare', heapMb)
    } catch {
      shelf.failures = MAX_FAILURES
      return
    }
    const startedAt = this.#clock.now()
    spare.unref()
    // Its exit follows and is what counts; unheard, the error would end the process.
    spare.on('error', () => {})
    spare.once('exit', () => {
      if (!shelf.threads.delete(spare)) return
      shelf.failures = this.#clock.now() - startedAt < SOUND_MS ? shelf.failures + 1 : 0
      this.fill([heapMb])
    })
    shelf.threads.add(spare)
  }
}
