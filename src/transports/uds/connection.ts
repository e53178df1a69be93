/**
 * One client: reads its lines, hands them to the form they are in, bounds what is in work and what is unread, and ends.
 *
 *     open ──► finishing ──► ending ──► gone
 *               │             └ our side is ended; what still comes is thrown away until the client ends or time is up
 *               └ takes no more requests; those in work are answered
 *
 * A client that has ended its own side stays open until it has its answers, or goes. It must not outlive its socket:
 * every stream is ended with it.
 */
import type { Socket } from 'node:net'
import { HoltError } from '../../model/error.ts'
import type { Clock, Timer } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { Service } from '../service.ts'
import type { Limits } from './limits.ts'
import { LineForm } from './line-form.ts'
import { LineReader } from './line-reader.ts'
import { LineWriter } from './line-writer.ts'
import type { Link } from './link.ts'
import { looksLikeRpc, readMessage } from './request.ts'
import { RpcForm, rpcErrorLine } from './rpc-form.ts'

export interface ConnectionDeps {
  readonly service: Service
  readonly limits: Limits
  readonly clock: Clock
  readonly log: Logger
  /** Bytes of incomplete lines, of all connections. */
  readonly held: { bytes: number }
  readonly onGone: (connection: Connection) => void
}

/** Of an overlong line, to tell which form it was in. */
const SNIFFED_BYTES = 256
/** The part of what may be held of all incomplete lines that one client may hold when that is used up. */
const MUCH = 1 / 1024

export class Connection implements Link {
  readonly service: Service
  readonly limits: Limits
  readonly #socket: Socket
  readonly #deps: ConnectionDeps
  readonly #reader: LineReader
  readonly #writer: LineWriter
  readonly #lines = new LineForm(this)
  readonly #rpc = new RpcForm(this)
  #state: 'open' | 'finishing' | 'ending' | 'gone' = 'open'
  #inputEnded = false
  /** The client has spoken JSON-RPC last: what cannot be read is answered in that form. */
  #speaksRpc = false
  #inWork = 0
  #inWorkBytes = 0
  #held = 0
  #heardAt: number
  #linger: Timer | null = null

  constructor(socket: Socket, deps: ConnectionDeps) {
    this.service = deps.service
    this.limits = deps.limits
    this.#socket = socket
    this.#deps = deps
    this.#reader = new LineReader(deps.limits.lineBytes)
    this.#writer = new LineWriter(socket, () => {
      this.#lines.goOn()
      this.#pump()
    })
    this.#heardAt = deps.clock.now()
    socket.on('data', (piece: Buffer) => this.#onData(piece))
    socket.on('end', () => this.#onEnd())
    // The socket closes after it; a client that leaves while it is answered is nothing to speak of.
    socket.on('error', () => {})
    socket.on('close', () => this.#onClose())
  }

  // --- Link --------------------------------------------------------------------------------------------------------

  get open(): boolean {
    return this.#state === 'open'
  }

  get isRead(): boolean {
    return this.#state === 'gone' || this.#writer.unread <= this.limits.unreadBytes
  }

  answer(line: string): void {
    this.#write(line, this.limits.unreadAnswerBytes)
  }

  value(line: string): void {
    this.#write(line, this.limits.unreadValueBytes)
  }

  begin(bytes: number): void {
    this.#inWork++
    this.#inWorkBytes += bytes
  }

  settle(bytes: number): void {
    this.#inWork--
    this.#inWorkBytes -= bytes
    this.#pump()
  }

  streamEnded(): void {
    this.#endIfDone()
  }

  finish(): void {
    if (this.#state === 'open') this.#state = 'finishing'
    this.#hold(0)
    this.#endIfDone()
  }

  // --- told by the server ------------------------------------------------------------------------------------------

  /** Looks for what time has run out on. */
  sweep(): void {
    if (this.#inputEnded && this.#streams > 0) this.#writer.probe()
    if (this.#state !== 'open' || this.#held === 0 || !this.#hasRoom) return
    const { incompleteMs } = this.limits
    if (this.#deps.clock.now() - this.#heardAt < incompleteMs) return
    this.#refuse(
      'Timeout',
      `half a line of ${this.#held} bytes, and then nothing for ${incompleteMs} ms: a line ends with LF`,
    )
  }

  /** Answers what is in work, then ends. @param streams whether streams end now, or are let come to their own end */
  close(streams: 'end' | 'await'): void {
    if (streams === 'end') {
      this.#lines.endStreams()
      this.#rpc.endStreams(new HoltError('ShuttingDown', 'the socket is being closed'))
    }
    this.finish()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  // -----------------------------------------------------------------------------------------------------------------

  get #streams(): number {
    return this.#lines.streams + this.#rpc.streams
  }

  get #hasRoom(): boolean {
    const { inWork, inWorkBytes } = this.limits
    return this.#inWork < inWork && this.#inWorkBytes < inWorkBytes && this.isRead
  }

  #onData(piece: Buffer): void {
    if (this.#state !== 'open') return
    this.#heardAt = this.#deps.clock.now()
    this.#reader.push(piece)
    this.#pump()
  }

  #onEnd(): void {
    this.#inputEnded = true
    this.#pump()
    // Has it gone altogether, or does it only have nothing more to say?
    if (this.#streams > 0) this.#writer.probe()
  }

  #onClose(): void {
    this.#state = 'gone'
    this.#hold(0)
    this.#linger?.cancel()
    this.#lines.endStreams()
    this.#rpc.endStreams(new HoltError('Aborted', 'the client has gone'))
    // What it asked for before it left is done.
    this.#lines.goOn()
    this.#deps.onGone(this)
  }

  /** Takes the lines there is room for; reads on or not; ends when all is done. */
  #pump(): void {
    while (this.#state === 'open' && this.#hasRoom) {
      const line = this.#reader.next()
      if (line !== null) this.#take(line)
      else {
        this.#onNoLine()
        break
      }
    }
    // Not while the last requests are in work either: there would be no end to what is thrown away.
    const reads = this.#state === 'ending' || (this.#state === 'open' && this.#hasRoom)
    if (!reads) this.#socket.pause()
    else if (this.#socket.isPaused()) this.#socket.resume()
    this.#endIfDone()
  }

  #take(line: Buffer): void {
    const message = readMessage(line, this.limits)
    if (message === null) return
    if (message.form !== null) this.#speaksRpc = message.form !== 'line'
    if (message.form === 'batch') this.#rpc.takeBatch(message.requests, line.length)
    else if (message.form === 'rpc') this.#rpc.take(message.request, line.length)
    else if (message.form === 'line') this.#lines.take(message.request, line.length)
    else if (this.#speaksRpc) this.#rpc.take(message.request, line.length)
    else this.#lines.take(message.request, line.length)
  }

  /** What is held is no whole line, or the last one of a client that has ended its side: that needs no LF. */
  #onNoLine(): void {
    const { lineBytes, heldBytes } = this.limits
    if (this.#reader.overlong) {
      this.#refuse('InvalidInput', `expected a line of at most ${lineBytes} bytes, found a longer one`)
      return
    }
    if (this.#inputEnded && this.#reader.held > 0) {
      this.#take(this.#reader.rest())
      return
    }
    this.#hold(this.#reader.held)
    // Only those that hold much of it: others go on as before.
    if (this.#deps.held.bytes > heldBytes && this.#held > heldBytes * MUCH) {
      this.#refuse('Overloaded', 'too much is held of lines that are not complete: send whole lines, or shorter ones')
    }
  }

  /** Counts what is held of an incomplete line; nothing is, once no more is taken. */
  #hold(bytes: number): void {
    this.#deps.held.bytes += bytes - this.#held
    this.#held = bytes
    if (this.#state !== 'open') this.#reader.clear()
  }

  /** One error line after the answers that are due, then the end. */
  #refuse(code: 'InvalidInput' | 'Timeout' | 'Overloaded', text: string): void {
    const error = new HoltError(code, text)
    this.#lines.endStreams()
    this.#rpc.endStreams(error)
    const asRpc = this.#speaksRpc || looksLikeRpc(this.#reader.peek(SNIFFED_BYTES).toString('latin1'))
    if (asRpc) this.answer(rpcErrorLine(error, null, code === 'InvalidInput' ? -32700 : undefined))
    else this.#lines.take(error, 0)
    this.finish()
  }

  #write(line: string, most: number): void {
    if (this.#state === 'gone' || this.#state === 'ending' || this.#socket.destroyed) return
    if (this.#writer.unread <= most) {
      this.#writer.write(line)
      return
    }
    this.#deps.log.warn({ unread: this.#writer.unread }, 'a client of the socket was cut: it does not read its answers')
    this.#socket.destroy()
  }

  #endIfDone(): void {
    const nothingMore =
      this.#state === 'finishing' || (this.#state === 'open' && this.#inputEnded && this.#reader.held === 0)
    if (!nothingMore || this.#inWork > 0 || this.#streams > 0) return
    this.#state = 'ending'
    this.#writer.end()
    this.#socket.resume()
    this.#linger = this.#deps.clock.after(this.limits.graceMs, () => this.#socket.destroy())
  }
}
