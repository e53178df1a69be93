/**
 * Looking into the thread of one instance: CPU profiles, which the thread takes itself when it is told to, and heap
 * snapshots, which the platform takes. Each question is settled once, by its answer or by the end of the instance; time
 * is the caller's affair. Owned by `instance.ts`.
 */
import type { Readable } from 'node:stream'
import { HoltError } from '../model/error.ts'
import type { FromThread, ToThread } from '../model/wire.ts'
import type { Thread } from './spawn.ts'

interface Waiting {
  readonly resolve: (profile: string) => void
  readonly reject: (error: HoltError) => void
}

export class Inspection {
  readonly #agent: string
  readonly #post: (message: ToThread) => void
  readonly #thread: () => Thread | null
  readonly #waiting = new Map<number, Waiting>()
  #last = 0
  #over = false

  constructor(agent: string, post: (message: ToThread) => void, thread: () => Thread | null) {
    this.#agent = agent
    this.#post = post
    this.#thread = thread
  }

  /** Begins a profile, resolving with nothing; or ends it, resolving with its JSON. A busy thread answers when it turns. */
  profile(on: boolean): Promise<string> {
    const n = ++this.#last
    const answer = this.#wait(n)
    this.#post({ type: 'profile', n, on })
    return answer
  }

  /** The snapshot as it is being taken; the thread stands still meanwhile. */
  heap(): Promise<Readable> {
    const n = ++this.#last
    const thread = this.#thread()
    if (thread?.getHeapSnapshot === undefined) return Promise.reject(this.#gone())
    const ended = this.#wait(n).then(() => Promise.reject(this.#gone()))
    const taken = thread.getHeapSnapshot().finally(() => this.#waiting.delete(n))
    return Promise.race([taken, ended])
  }

  take({ n, profile, error }: Extract<FromThread, { type: 'profiled' }>): void {
    const waiting = this.#waiting.get(n)
    this.#waiting.delete(n)
    if (error === undefined) waiting?.resolve(profile ?? '')
    else waiting?.reject(new HoltError('Internal', `agent '${this.#agent}' could not be profiled: ${error}`))
  }

  /** The instance has ended. */
  end(): void {
    this.#over = true
    for (const { reject } of this.#waiting.values()) reject(this.#gone())
    this.#waiting.clear()
  }

  #wait(n: number): Promise<string> {
    if (this.#over) return Promise.reject(this.#gone())
    return new Promise((resolve, reject) => this.#waiting.set(n, { resolve, reject }))
  }

  #gone(): HoltError {
    return new HoltError('AgentDied', `the instance of agent '${this.#agent}' ended while it was looked into`)
  }
}
