/** A host as a process of its own, over the built command line; reached through its socket, ended by `kill -9`. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Client, connect } from '../../src/transports/client/client.ts'

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const UP_MS = 30_000

export class HostProcess {
  readonly #child: ChildProcess
  readonly #socket: string
  #said = ''

  constructor(fleet: string, state: string, socket: string) {
    this.#socket = socket
    const args = [CLI, 'up', fleet, '--state', state, '--socket', socket, '--log-level', 'warn']
    this.#child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-4000)
    })
  }

  get ended(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** What it last had to say. */
  get said(): string {
    return this.#said
  }

  /**
   * A client, once every agent has settled.
   * @throws Error with what the host said, where it never comes up
   */
  async client(): Promise<Client> {
    for (let waited = 0; waited < UP_MS; waited += 10) {
      if (this.ended) throw new Error(`the host ended before it was up: ${this.#said}`)
      if (existsSync(this.#socket)) {
        const client = await connect({ path: this.#socket, who: 'crash-test' }).catch(() => null)
        if (client !== null) return client
      }
      await wait(10)
    }
    throw new Error(`the host was not up after ${UP_MS} ms: ${this.#said}`)
  }

  async kill(): Promise<void> {
    if (this.ended) return
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exit
  }
}
