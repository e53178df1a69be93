/** What the two forms of the protocol are handed of the connection they speak on. */
import type { Service } from '../service.ts'
import type { Limits } from './limits.ts'

export interface Link {
  readonly service: Service
  readonly limits: Limits
  /** False: it takes no more requests and begins no more streams. */
  readonly open: boolean
  /** False: too much of what was written waits to be read; `goOn` is called when that changes. */
  readonly isRead: boolean
  /** Writes a line that answers a request. */
  answer(line: string): void
  /** Writes a line of a stream; a client that leaves too many unread is cut. */
  value(line: string): void
  /** A request with a line of this many bytes is in work. */
  begin(bytes: number): void
  settle(bytes: number): void
  /** A stream has ended: there may be nothing left to do. */
  streamEnded(): void
  /** Takes no more requests, answers those in work, then ends the connection. */
  finish(): void
}
