/**
 * A client of a host's socket: calls, which share a connection and are answered as they end, and streams, which have
 * one each. Errors of the host arrive as they left: code, message, details. Used by the CLI.
 */
import { HoltError } from '../../model/error.ts'
import { type Clock, systemClock } from '../../platform/clock.ts'
import type { Encoding } from '../packed.ts'
import { Calls } from './calls.ts'
import { openChannel } from './channel.ts'
import { packed, unpacked } from './packing.ts'
import { HostStream, type Stream } from './stream.ts'

export interface ConnectOptions {
  readonly path: string
  /** Longest wait for the connection and for each answer, ms; `Infinity` for none. @default 30000 */
  readonly timeoutMs?: number
  /** Who calls, as the host records it. @default 'client' */
  readonly who?: string
  /** How values travel: `superjson` keeps dates, maps, sets, bigints and errors as they are. @default 'json' */
  readonly encoding?: Encoding
  /** @default systemClock */
  readonly clock?: Clock
}

type Opts = Readonly<Record<string, unknown>>

/** For one answer. */
export interface CallWait {
  readonly timeoutMs: number
  /** Gives it up; the host may have done it. */
  readonly signal?: AbortSignal
}

export interface Client {
  /**
   * Calls an operation by name.
   * @throws HoltError of the host; `Timeout`; `Aborted` by the signal; `NoHost` when the host is lost before it has answered
   */
  call(name: string, args?: readonly unknown[], opts?: Opts, wait?: CallWait): Promise<unknown>
  /** Follows a stream operation, from now on: it need not be read to begin. */
  stream(name: string, args?: readonly unknown[], opts?: Opts): Stream
  /** Ends every connection; what is still waited for is rejected with `Aborted`. */
  close(): void
}

export const DEFAULT_TIMEOUT_MS = 30_000

/** @throws HoltError `NoHost` where nobody listens at the path, saying why; `InvalidOption` */
export async function connect(options: ConnectOptions): Promise<Client> {
  const { path, timeoutMs = DEFAULT_TIMEOUT_MS, who = 'client', encoding = 'json', clock = systemClock } = options
  const calls = new Calls(path, clock)
  const channel = await openChannel(
    {
      path,
      clock,
      onMessage: (message) => calls.take(message),
      onTold: () => calls.settle(),
      onLost: (error) => calls.lose(error),
    },
    timeoutMs,
  )
  const streams = new Set<Stream>()
  let closed = false
  const rich = encoding === 'superjson'
  const request = async (method: string, params: readonly unknown[], opts: Opts) => ({
    ...{ method, who, encoding },
    params: await packed(params),
    opts: await packed(opts),
  })
  const read = (value: unknown): unknown => (rich ? unpacked(value) : value)
  return {
    async call(name, args = [], opts = {}, wait: CallWait = { timeoutMs }) {
      const message = rich ? await request(name, args, opts) : { method: name, params: args, opts, who }
      return read(await calls.call(channel, message, wait))
    },
    stream(name, args = [], opts = {}) {
      const stream = new HostStream(
        { path, clock, timeoutMs, read, onClosed: () => void streams.delete(stream) },
        rich ? request(name, args, opts) : { method: name, params: args, opts, who },
      )
      if (closed) stream.close()
      else streams.add(stream)
      return stream
    },
    close() {
      closed = true
      for (const stream of [...streams]) stream.close()
      channel.close(new HoltError('Aborted', 'not connected: the client was closed'))
    },
  }
}
