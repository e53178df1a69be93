/**
 * Threads that are started before they are asked for. A thread takes tens of ms to come up and nothing in it is the agent's
 * until its first message, so that the order in which agents start is kept while their threads come up side by side. So
 * many at a time as there are processors; each that is taken makes room for the next.
 */
import type { Worker } from 'node:worker_threads'

/** An agent that is about to ask for a thread. */
export interface Expected {
  readonly name: string
  readonly heapMb: number
}

interface Entry extends Expected {
  /** Null: not started yet. */
  thread: Worker | null
}

export class Ahead {
  readonly #atOnce: number
  readonly #start: (name: string, heapMb: number) => Worker
  /** In the order in which they will ask. */
  readonly #entries = new Map<string, Entry>()
  #closed = false

  /** @param atOnce threads that are up or coming up, and not taken yet */
  constructor(atOnce: number, start: (name: string, heapMb: number) => Worker) {
    this.#atOnce = atOnce
    this.#start = start
  }

  expect(agents: Iterable<Expected>): void {
    for (const agent of agents) {
      if (!this.#entries.has(agent.name)) this.#entries.set(agent.name, { ...agent, thread: null })
    }
    this.#advance()
  }

  /** The thread that was started for this agent, if there is one and it fits. */
  take({ name, heapMb }: Expected): Worker | undefined {
    const entry = this.#entries.get(name)
    if (entry?.thread == null || entry.heapMb !== heapMb) {
      this.release(name)
      return undefined
    }
    const { thread } = entry
    this.#entries.delete(name)
    thread.removeAllListeners()
    thread.ref()
    this.#advance()
    return thread
  }

  /** It does not ask after all. */
  release(name: string): void {
    const entry = this.#entries.get(name)
    if (entry === undefined) return
    this.#entries.delete(name)
    void entry.thread?.terminate()
    this.#advance()
  }

  async close(): Promise<void> {
    this.#closed = true
    const all = [...this.#entries.values()]
    this.#entries.clear()
    await Promise.all(all.map(({ thread }) => thread?.terminate()))
  }

  #advance(): void {
    if (this.#closed) return
    let count = 0
    for (const entry of this.#entries.values()) {
      if (count === this.#atOnce) return
      count++
      if (entry.thread === null && !this.#begin(entry)) return
    }
  }

  /** False where the platform refuses; whoever asks then is told by the thread it does not get. */
  #begin(entry: Entry): boolean {
    let thread: Worker
    try {
      thread = this.#start(entry.name, entry.heapMb)
    } catch {
      return false
    }
    entry.thread = thread
    thread.unref()
    // Its exit follows and is what counts; unheard, the error would end the process.
    thread.on('error', () => {})
    thread.once('exit', () => {
      if (this.#entries.get(entry.name) === entry) this.#entries.delete(entry.name)
    })
    return true
  }
}
