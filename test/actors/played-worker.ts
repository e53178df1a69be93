/** A worker that is no thread: the test plays what runs in it, over the real ports. */
import { EventEmitter } from 'node:events'
import type { MessagePort } from 'node:worker_threads'
import {
  type DataFromThread,
  type DataToThread,
  type FromThread,
  type Init,
  type RoleInfo,
  type ToThread,
  WIRE_VERSION,
} from '../../src/model/wire.ts'
import { prove } from '../../src/platform/proof.ts'

export class PlayedWorker extends EventEmitter {
  readonly control: ToThread[] = []
  /** What came over the data port. */
  readonly data: DataToThread[] = []
  roles: readonly RoleInfo[] = []
  #init: Init | null = null
  #heard: () => void = () => {}

  /** The host says something; the thread proves itself and loads, as a good one does. */
  postMessage(message: ToThread): void {
    this.control.push(message)
    if (message.type === 'init') {
      this.#init = message
      this.#port.on('message', (received: DataToThread) => {
        this.data.push(received)
        this.#heard()
      })
      this.#say({ type: 'proof', version: WIRE_VERSION, proof: prove(message) })
    }
    if (message.type === 'load') this.#say({ type: 'ready', roles: this.roles })
  }

  async terminate(): Promise<number> {
    setImmediate(() => this.exit(1))
    return 1
  }

  exit(code: number): void {
    this.emit('exit', code)
    this.#port.close()
  }

  /** The thread posts on its data port. */
  post(message: DataFromThread): void {
    this.#port.postMessage(message)
  }

  /** Resolves with the next message on the data port, or the first that came already. */
  async next(): Promise<DataToThread> {
    while (this.data.length === 0) {
      await new Promise<void>((resolve) => {
        this.#heard = resolve
      })
    }
    return this.data.shift()!
  }

  /** As with a thread, nothing is heard in the turn in which it is said. */
  #say(message: FromThread): void {
    setImmediate(() => this.emit('message', message))
  }

  get #port(): MessagePort {
    if (this.#init === null) throw new Error('the thread has not been started')
    return this.#init.data
  }
}
