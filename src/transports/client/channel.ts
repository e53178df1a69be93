/**
 * One connection to a host: messages out, messages in, and exactly one end. What comes is not trusted to be from a host
 * of ours: a web server, half a line or nothing at all must come out as an error that says what was found.
 */
import { connect, type Socket } from 'node:net'
import { type ErrorCode, HoltError } from '../../model/error.ts'
import type { Clock } from '../../platform/clock.ts'
import { LIMITS } from '../uds/limits.ts'
import { LineReader } from '../uds/line-reader.ts'
import { checkPath } from '../uds/socket-path.ts'
import { lost, refusedBy } from './refused.ts'

/** A message of the other side that is a JSON object, and no more is known of it. */
export type Incoming = Readonly<Record<string, unknown>>

export interface ChannelDeps {
  readonly path: string
  readonly clock: Clock
  /** @throws HoltError where it makes no sense; the channel is lost then */
  readonly onMessage: (message: Incoming) => void
  /** All messages that came together have been told. */
  readonly onTold: () => void
  /** Nothing comes any more. Called once. */
  readonly onLost: (error: HoltError) => void
}

/** Longest line of a host: the status of a large fleet is long. */
const MAX_LINE_BYTES = 256 * 1_048_576
const SHOWN_BYTES = 60

/** @throws HoltError `NoHost` where nobody listens; `InvalidOption` for a path that can be none */
export async function openChannel(deps: ChannelDeps, timeoutMs: number): Promise<Channel> {
  const path = checkPath(deps.path)
  const socket = connect({ path })
  await new Promise<void>((resolve, reject) => {
    const timer = deps.clock.after(timeoutMs, () => {
      socket.destroy()
      reject(new HoltError('Timeout', `the host at ${path} did not take a client in within ${timeoutMs} ms`, { path }))
    })
    socket.once('error', (error) => {
      timer.cancel()
      reject(refusedBy(path, error))
    })
    socket.once('connect', () => {
      timer.cancel()
      resolve()
    })
  })
  socket.removeAllListeners('error')
  return new Channel(socket, { ...deps, path })
}

export class Channel {
  readonly #socket: Socket
  readonly #deps: ChannelDeps
  readonly #reader = new LineReader(MAX_LINE_BYTES)
  #over = false

  constructor(socket: Socket, deps: ChannelDeps) {
    this.#socket = socket
    this.#deps = deps
    socket.on('data', (piece: Buffer) => this.#onData(piece))
    socket.on('end', () => this.#onEnd())
    socket.on('error', (error) => this.#lose(lost(deps.path, `the connection broke (${error.message})`, 'broken')))
    socket.on('close', () => this.#onEnd())
  }

  /** @throws HoltError `InvalidInput` for what a host would refuse unread; `NotCloneable` for what is no JSON */
  send(message: Readonly<Record<string, unknown>>): void {
    const line = Buffer.from(`${toLine(message)}\n`)
    if (line.length - 1 > LIMITS.lineBytes) {
      const text = `expected a request of at most ${LIMITS.lineBytes} bytes, found one of ${line.length - 1}`
      throw new HoltError('InvalidInput', text)
    }
    if (!this.#over) this.#socket.write(line)
  }

  /** Half a line that has come, for a message; empty where there is none. */
  get half(): string {
    return this.#reader.held === 0 ? '' : shown(this.#reader.peek(SHOWN_BYTES))
  }

  /** Reads no more until `resume`: the host sees that it is not read. */
  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  close(error: HoltError): void {
    this.#lose(error)
  }

  #onData(piece: Buffer): void {
    if (this.#over) return
    this.#reader.push(piece)
    try {
      for (let line = this.#reader.next(); line !== null && !this.#over; line = this.#reader.next()) this.#tell(line)
    } catch (error) {
      this.#lose(error as HoltError)
      return
    }
    if (this.#reader.overlong)
      this.#lose(lost(this.#deps.path, 'what answers there sends a line without end', 'overlong'))
    if (!this.#over) this.#deps.onTold()
  }

  #tell(line: Buffer): void {
    const message = parse(line)
    if (message === null) {
      throw lost(
        this.#deps.path,
        `expected an answer of a host, found '${shown(line.subarray(0, SHOWN_BYTES))}'`,
        'stranger',
      )
    }
    // A host that has no time even for the request says so in the other form of the protocol.
    if (message['ok'] === false) throw errorOf(message['error'])
    this.#deps.onMessage(message)
  }

  #onEnd(): void {
    const { half } = this
    const text =
      half === ''
        ? 'the host closed the connection before it had answered in full'
        : `the connection was closed in the middle of a line ('${half}')`
    this.#lose(lost(this.#deps.path, text, 'closed'))
  }

  #lose(error: HoltError): void {
    if (this.#over) return
    this.#over = true
    this.#reader.clear()
    this.#socket.destroy()
    this.#deps.onLost(error)
  }
}

/** What a host answered in place of a result, with the code it gave: a newer host may have more of them. */
export function errorOf(error: unknown): HoltError {
  const { code, message, details } = (typeof error === 'object' && error !== null ? error : {}) as Incoming
  const known = typeof details === 'object' && details !== null ? (details as Incoming) : {}
  return new HoltError((typeof code === 'string' ? code : 'Internal') as ErrorCode, String(message), known)
}

function toLine(message: Readonly<Record<string, unknown>>): string {
  try {
    return JSON.stringify(message)
  } catch (error) {
    throw new HoltError('NotCloneable', `the request cannot be written as JSON (${(error as Error).message})`)
  }
}

function parse(line: Buffer): Incoming | null {
  try {
    const value: unknown = JSON.parse(line.toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Incoming) : null
  } catch {
    return null
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const shown = (bytes: Buffer): string => bytes.toString().replaceAll(/[\u0000-\u001f\u007f]/g, ' ')
