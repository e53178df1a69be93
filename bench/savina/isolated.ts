/** Worlds in which each actor has a thread: bare workers whose messages the main thread relays, and Holt. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { type BenchAgent, type BenchHost, withHost } from '../holt.ts'
import type { World } from './works.ts'

/** What actors have told, in order, and who waits for more. */
export class Told {
  readonly #values: unknown[] = []
  #waiting: ((value: unknown) => void) | null = null

  add(value: unknown): void {
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting === null) this.#values.push(value)
    else waiting(value)
  }

  next(): Promise<unknown> {
    if (this.#values.length > 0) return Promise.resolve(this.#values.shift())
    return new Promise((resolve) => {
      this.#waiting = resolve
    })
  }
}

type Letter = readonly [to: string, message: unknown]

/** No bound, no accounting, nobody looks after a thread that dies. What is sent in one turn is one message to a thread. */
export class RawWorld implements World {
  readonly #threads: Worker[] = []
  readonly #told = new Told()
  readonly #waiting = new Map<Worker, unknown[]>()
  #byName = new Map<string, Worker>()

  async start(actors: Readonly<Record<string, string>>): Promise<void> {
    const names = Object.keys(actors)
    while (this.#threads.length < names.length) this.#threads.push(await this.#open())
    this.#byName = new Map(names.map((name, index) => [name, this.#threads[index]!]))
    await Promise.all(
      names.map(async (name) => {
        const worker = this.#byName.get(name)!
        const ready = once(worker, 'message')
        worker.postMessage({ become: actors[name] })
        await ready
      }),
    )
  }

  send(to: string, message: unknown): void {
    const worker = this.#byName.get(to)!
    const waiting = this.#waiting.get(worker)
    if (waiting !== undefined) waiting.push(message)
    else this.#waiting.set(worker, [message])
    if (this.#waiting.size === 1 && waiting === undefined) process.nextTick(() => this.#flush())
    if (waiting?.length === 256) this.#flush()
  }

  told(): Promise<unknown> {
    return this.#told.next()
  }

  async stop(): Promise<void> {
    await Promise.all(this.#threads.map((worker) => worker.terminate()))
  }

  #flush(): void {
    for (const [worker, messages] of this.#waiting) worker.postMessage(messages)
    this.#waiting.clear()
  }

  async #open(): Promise<Worker> {
    const worker = new Worker(new URL('../peers/savina-worker.mjs', import.meta.url), { execArgv: [] })
    worker.on('message', (letters: readonly Letter[] | 'ready') => {
      if (letters === 'ready') return
      for (const [to, message] of letters) {
        if (to === 'main') this.#told.add(message)
        else this.send(to, message)
      }
    })
    await once(worker, 'online')
    return worker
  }
}

interface SavinaHost extends BenchHost {
  readonly output$: { subscribe(next: (line: { text: string; data?: unknown }) => void): unknown }
}

class HoltWorld implements World {
  readonly #host: SavinaHost
  readonly #told = new Told()
  readonly #agents: string[] = []
  #byName = new Map<string, BenchAgent>()

  constructor(host: SavinaHost) {
    this.#host = host
    host.output$.subscribe(({ text, data }) => {
      if (text === 'told') this.#told.add(data)
    })
  }

  async start(actors: Readonly<Record<string, string>>): Promise<void> {
    const names = Object.keys(actors)
    while (this.#agents.length < names.length) {
      const id = `actor-${this.#agents.length}`
      await this.#host.spawn('actors', { agent: 'agents/actor', id })
      this.#agents.push(id)
    }
    const ids = Object.fromEntries(names.map((name, index) => [name, this.#agents[index]!]))
    this.#byName = new Map(names.map((name) => [name, this.#host.agent(ids[name]!)]))
    await Promise.all(names.map((name) => this.#byName.get(name)!.ask('become', { kind: actors[name], ids })))
  }

  send(to: string, message: unknown): void | Promise<void> {
    const agent = this.#byName.get(to)!
    if (!agent.hasRoom) return agent.room().then(() => this.send(to, message))
    if (!agent.tell('m', message)) throw new Error(`tell was refused by '${to}', with room`)
  }

  told(): Promise<unknown> {
    return this.#told.next()
  }

  async stop(): Promise<void> {}
}

export const withHolt = <T>(work: (world: World) => Promise<T>): Promise<T> =>
  withHost('savina', (host: SavinaHost) => work(new HoltWorld(host)))
