/**
 * Lines to a socket: the one writer of a connection, so lines never interleave. What is written in one turn goes out as
 * one piece. It knows how much the other side has not taken yet; the owner decides what follows from that.
 */
import type { Socket } from 'node:net'

export class LineWriter {
  readonly #socket: Socket
  readonly #onTaken: () => void
  #lines: string[] = []
  /** Length of #lines, and bytes that the platform has not taken. */
  #queued = 0
  #sent = 0
  #ending = false

  /** @param onTaken called when the other side has taken something */
  constructor(socket: Socket, onTaken: () => void) {
    this.#socket = socket
    this.#onTaken = onTaken
  }

  /** What the other side has not taken yet, in bytes (in characters where it has not been handed on). */
  get unread(): number {
    return this.#queued + this.#sent
  }

  write(line: string): void {
    if (this.#ending || !this.#socket.writable) return
    if (this.#lines.length === 0) process.nextTick(() => this.#flush())
    this.#lines.push(line)
    this.#queued += line.length + 1
  }

  /** Ends our side once all is written. */
  end(): void {
    if (this.#ending) return
    this.#flush()
    this.#ending = true
    this.#socket.end()
  }

  /** Fails, as an error of the socket, where the other side has gone altogether. */
  probe(): void {
    if (this.unread === 0 && this.#socket.writable) this.#socket.write('')
  }

  #flush(): void {
    const lines = this.#lines
    if (lines.length === 0) return
    this.#lines = []
    this.#queued = 0
    if (!this.#socket.writable) return
    const piece = Buffer.from(`${lines.join('\n')}\n`)
    this.#sent += piece.length
    this.#socket.write(piece, (error) => {
      this.#sent -= piece.length
      if (error == null) this.#onTaken()
    })
  }
}
