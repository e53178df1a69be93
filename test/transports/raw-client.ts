/** A client that sends what it is told to, byte by byte if need be, and keeps what comes back. */
import { connect, type Socket } from 'node:net'
import { eventually } from '../../src/testkit/eventually.ts'

export class RawClient {
  readonly socket: Socket
  /** Whole lines that came. */
  readonly lines: string[] = []
  /** What came of a line that is not whole. */
  half = ''
  readonly #utf8 = new TextDecoder()
  /** The other side has ended. */
  ended = false
  closed = false
  error: NodeJS.ErrnoException | null = null

  constructor(path: string) {
    this.socket = connect({ path, allowHalfOpen: true })
    this.socket.on('data', (piece: Buffer) => {
      const [first = '', ...more] = this.#utf8.decode(piece, { stream: true }).split('\n')
      this.half += first
      for (const start of more) {
        this.lines.push(this.half)
        this.half = start
      }
    })
    this.socket.on('end', () => {
      this.ended = true
    })
    this.socket.on('error', (error) => {
      this.error = error
    })
    this.socket.on('close', () => {
      this.closed = true
    })
  }

  get answers(): unknown[] {
    return this.lines.map((line) => JSON.parse(line))
  }

  /** A value becomes a line; a text or bytes are sent as they are. */
  send(...parts: readonly unknown[]): this {
    for (const part of parts) {
      const bytes = typeof part === 'string' || Buffer.isBuffer(part) ? part : `${JSON.stringify(part)}\n`
      this.socket.write(bytes)
    }
    return this
  }

  /** Sends these bytes one at a time, each in a write of its own. */
  async sendSlowly(bytes: Buffer): Promise<void> {
    for (const byte of bytes) {
      await new Promise((resolve) => this.socket.write(Buffer.of(byte), resolve))
    }
  }

  /** Resolves with all answers once there are this many. */
  async answered(count: number): Promise<unknown[]> {
    await eventually(
      () => this.lines.length >= count,
      () => `${count} answers, there are ${this.lines.length}: ${this.lines.join().slice(0, 200)}`,
    )
    return this.answers
  }

  /** Resolves once the other side has ended. */
  async end(): Promise<unknown[]> {
    await eventually(
      () => this.ended || this.closed,
      () => `the end, after ${this.lines.length} lines`,
    )
    return this.answers
  }
}
