/** A small table of operations for tests of the wire: what a transport makes of a request, not what a host does. */
import { Observable, Subject } from 'rxjs'
import { HoltError } from '../../src/model/error.ts'
import type { Caller } from '../../src/transports/operation.ts'
import type { Given, Prepared, Service } from '../../src/transports/service.ts'

export interface Prepare {
  readonly name: string
  readonly given: Given
  readonly caller: Caller
}

const call = (run: () => unknown): Prepared => ({ kind: 'call', run })
const stream = (open: () => Observable<unknown>): Prepared => ({ kind: 'stream', open })

export class PlayedService implements Service {
  /** Everything that was asked for, in the order in which it was begun. */
  readonly asked: Prepare[] = []
  /** What `watch` gives out. */
  readonly facts = new Subject<unknown>()
  /** Calls of `hold` that wait, oldest first: call one to answer it. */
  readonly held: ((value: unknown) => void)[] = []
  /** Subscriptions to `endless` and `watch` that are open. */
  open = 0

  prepare(name: string, given: Given, caller: Caller): Prepared {
    this.asked.push({ name, given, caller })
    const first = 'input' in given ? Object.values(given.input)[0] : given.args[0]
    switch (name) {
      case 'echo':
        return call(() => first)
      case 'given':
        return call(() => given)
      case 'who':
        return call(() => caller.who)
      case 'status':
        return call(() => ({ host: { id: 'h1', pid: process.pid } }))
      case 'soon':
        return call(() => new Promise((resolve) => setImmediate(() => resolve(first))))
      case 'hold':
        return call(() => new Promise((resolve) => this.held.push(resolve)))
      case 'text':
        return call(() => 'x'.repeat(Number(first)))
      case 'refuse':
        return call(() => Promise.reject(new HoltError('AgentBusy', 'restart holds it', { holder: 'restart' })))
      case 'bug':
        return call(() => Reflect.get(undefined as unknown as object, 'nothing'))
      case 'watch':
        return stream(() => this.#counted(this.facts))
      case 'brief':
        return stream(
          () =>
            new Observable((observer) => {
              for (const value of [1, 2]) observer.next(value)
              observer.complete()
            }),
        )
      case 'broken':
        return stream(() => new Observable((observer) => observer.error(new HoltError('AgentDied', 'it died'))))
      case 'shut':
        return stream(() => {
          throw new HoltError('NoSuchAgent', "there is no agent 'x'")
        })
      case 'fields':
        throw new HoltError('InvalidInput', 'id: expected string, found nothing')
      default:
        throw new HoltError('NoSuchOperation', `there is no operation '${name}'`, { operation: name })
    }
  }

  /** The names of what was asked for. */
  get names(): string[] {
    return this.asked.map(({ name }) => name)
  }

  #counted(source: Observable<unknown>): Observable<unknown> {
    return new Observable((observer) => {
      this.open++
      const subscription = source.subscribe(observer)
      return () => {
        this.open--
        subscription.unsubscribe()
      }
    })
  }
}
