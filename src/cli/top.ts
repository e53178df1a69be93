/**
 * `holt top`: the fleet as a live table with keys, until `q`, Ctrl-C or a signal. Everything with an effect is here: it
 * samples, calls and draws; what is known and what a key means is in `top-state.ts`, how it looks in `format/top.ts`.
 * Without a terminal, or with `--json`, it prints one moment and ends.
 */
import { HoltError } from '../model/error.ts'
import type { FleetSnapshot } from '../model/snapshot.ts'
import { type Clock, systemClock, type Timer } from '../platform/clock.ts'
import type { Client } from '../transports/client/client.ts'
import { callerOf, type HostCaller } from '../transports/client/methods.ts'
import { EXIT } from './exit.ts'
import { answerLines } from './format/answer.ts'
import { frame, onceLines } from './format/top.ts'
import type { Run } from './invocation.ts'
import type { Key, Screen } from './screen.ts'
import { actionOf, begun, moved, resorted, sampled, type TopCommand, type TopState } from './top-state.ts'

/** From one answer to the next question. */
const SAMPLE_EVERY_MS = 500
const ANSWER_MS = 5000
/** Commands wait for what an agent is at, for as long as its manifest allows. */
const COMMAND_MS = 120_000
/** The one line for an outcome is cut when it is drawn, to the width of then. */
const UNCUT = { width: 1000, colour: false }

export const top: Run = async ({ client, io, options, print }) => {
  const connection = await client()
  // The first answer comes before the screen: an error is then told as by every other command.
  const fleet = await connection.status()
  const screen = options.json === true ? undefined : await io.screen?.()
  if (screen === undefined) {
    await print(fleet, (look) => onceLines(fleet, look))
    return undefined
  }
  const { socket, host, token, tokenFile, timeoutMs = ANSWER_MS } = options
  const connect = (): Promise<Client> =>
    io.connect({
      socket,
      ...(host === undefined ? {} : { host }),
      ...(token === undefined ? {} : { token }),
      ...(tokenFile === undefined ? {} : { tokenFile }),
      timeoutMs,
    })
  // Its own: it may be lost, and made anew.
  connection.close()
  return new LiveTop({ screen, clock: systemClock, client: await connect(), connect, timeoutMs }, fleet).run()
}

export interface LiveParts {
  readonly screen: Screen
  readonly clock: Clock
  readonly client: Client
  /** Anew, after the host was lost. */
  connect(): Promise<Client>
  /** How long an answer is waited for. @default 5000 */
  readonly timeoutMs?: number
}

/** One run on a terminal. */
export class LiveTop {
  readonly #parts: LiveParts
  #client: HostCaller | undefined
  #state: TopState
  #timer: Timer | undefined
  #end: ((exit: number) => void) | undefined

  constructor(parts: LiveParts, fleet: FleetSnapshot) {
    this.#parts = parts
    this.#client = this.#caller(parts.client)
    this.#state = begun(fleet)
  }

  /** Until it is told to end; the terminal is given back whatever happens. @returns the exit code */
  async run(): Promise<number> {
    const { screen } = this.#parts
    try {
      return await new Promise<number>((resolve) => {
        this.#end = resolve
        screen.open({
          key: (key) => this.#key(key),
          resize: () => this.#draw(),
          end: (exit) => this.#finish(exit),
        })
        this.#draw()
        this.#sampleLater()
      })
    } finally {
      this.#end = undefined
      this.#timer?.cancel()
      screen.close()
      this.#client?.close()
    }
  }

  #finish(exit: number): void {
    const end = this.#end
    this.#end = undefined
    this.#timer?.cancel()
    end?.(exit)
  }

  #become(state: TopState): void {
    this.#state = state
    this.#draw()
  }

  #draw(): void {
    const { screen } = this.#parts
    if (this.#end !== undefined) screen.draw(frame(this.#state, screen.size()))
  }

  #sampleLater(): void {
    if (this.#end === undefined) return
    this.#timer = this.#parts.clock.after(SAMPLE_EVERY_MS, () => void this.#sample())
  }

  /** Never rejects. The next one is asked for when this one has ended, so that a slow host is asked less. */
  async #sample(): Promise<void> {
    const { timeoutMs = ANSWER_MS } = this.#parts
    try {
      const client = await this.#connected()
      const fleet = await client.status({ timeoutMs })
      if (this.#end !== undefined) this.#become(sampled(this.#state, fleet))
    } catch (error) {
      if (this.#end !== undefined) this.#lose(error)
    }
    this.#sampleLater()
  }

  #caller(client: Client): HostCaller {
    return callerOf(client, { timeoutMs: this.#parts.timeoutMs ?? ANSWER_MS })
  }

  async #connected(): Promise<HostCaller> {
    if (this.#client !== undefined) return this.#client
    const client = this.#caller(await this.#parts.connect())
    // It came when nobody waited any more.
    if (this.#end === undefined) client.close()
    else this.#client = client
    return client
  }

  #lose(error: unknown): void {
    // A refusal comes over a connection that is well; commands that wait on it shall not be lost.
    if (error instanceof HoltError && (error.code === 'NoHost' || error.code === 'Timeout')) {
      this.#client?.close()
      this.#client = undefined
    }
    this.#become({ ...this.#state, lost: sentence(error) })
  }

  #key(key: Key): void {
    const action = actionOf(key)
    if (action === undefined || this.#end === undefined) return
    if (action.type === 'quit') this.#finish(EXIT.done)
    else if (action.type === 'sort') this.#become(resorted(this.#state))
    else if (action.type === 'move') this.#become(moved(this.#state, action.by))
    else void this.#command(action.name)
  }

  /** Never rejects. */
  async #command(name: TopCommand): Promise<void> {
    const id = this.#state.selected
    if (id === null) return this.#say('there is no agent', true)
    const client = this.#client
    if (client === undefined) return this.#say(`${name} ${id}: not connected`, true)
    this.#say(`${name} ${id} …`, false)
    try {
      const answer = await client[name](id, { timeoutMs: COMMAND_MS })
      const [first = ''] = answerLines(answer, this.#parts.clock.wall(), UNCUT)
      this.#say(`${name}: ${first}`, false)
    } catch (error) {
      this.#say(`${name} ${id}: ${sentence(error)}`, true)
    }
  }

  #say(text: string, bad: boolean): void {
    if (this.#end !== undefined) this.#become({ ...this.#state, said: { text, bad } })
  }
}

const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error))
