/**
 * `holt/client`: a host as a program sees it, over its socket or over HTTP, by the same interface. Streams come back by
 * themselves; calls do not: whoever asked is told that the connection has gone, and connects again.
 */
import type { Observable } from 'rxjs'
import { HoltError } from '../../model/error.ts'
import type { Fact, FactKind } from '../../model/fact.ts'
import type { AgentSnapshot, FleetSnapshot } from '../../model/snapshot.ts'
import { type Clock, systemClock } from '../../platform/clock.ts'
import { type Random, systemRandom } from '../../platform/random.ts'
import { Ending } from '../../streams/ending.ts'
import { reconnecting, refreshed, type Source } from '../../streams/reconnecting.ts'
import type { HostCalls } from './calls-of-host.ts'
import { type Client, connect as connectSocket, DEFAULT_TIMEOUT_MS } from './client.ts'
import { findSocket } from './find-socket.ts'
import { connectHttp } from './http.ts'
import { type AgentMethods, agentMethodsOf, callerOf, type HostCaller } from './methods.ts'

export type { Fact, FactKind } from '../../model/fact.ts'
export type { AgentSnapshot, FleetSnapshot } from '../../model/snapshot.ts'
export type { HostCalls, HostStreams } from './calls-of-host.ts'
export type { AgentMethods, HostCaller, HostMethods, Wait } from './methods.ts'
export type { Stream } from './stream.ts'
export { HoltError }

export interface HostOptions {
  /** Path of the socket. @default where the CLI looks for one: $HOLT_UDS_PATH, else that of the fleet in the present folder */
  readonly socket?: string
  /** In place of a socket: `http://127.0.0.1:8000`. */
  readonly url?: string
  /** For `url`. */
  readonly token?: string
  /** Longest wait for the connection and for each answer, ms; `Infinity` for none. @default 30000 */
  readonly timeoutMs?: number
  /** Who calls, as the host records it; over HTTP it is the name of the token. @default 'client' */
  readonly who?: string
  /** @default systemClock */
  readonly clock?: Clock
  /** For the wait before a stream comes back. @default systemRandom */
  readonly random?: Random
}

export interface FactsOptions {
  readonly id?: string
  /** Those after this seq, from the log on. Without it from where the host is when it is first reached. */
  readonly since?: number
  readonly kinds?: readonly FactKind[]
}

export interface AgentClient extends AgentMethods {
  /** As it stands, at once and after each fact about it. */
  readonly snapshot$: Observable<AgentSnapshot>
}

export interface HostClient extends HostCaller {
  /** Comes back from its cursor after a cut; a `stream.gap` says where the log had no more. */
  facts(options?: FactsOptions): Observable<Fact>
  readonly facts$: Observable<Fact>
  /** As the fleet stands, at once and after each fact. After a cut it is looked at anew: the newest is never missed. */
  readonly fleet$: Observable<FleetSnapshot>
  agent(id: string): AgentClient
}

/** @throws HoltError `NoHost` where nobody listens at the socket; `InvalidOption` */
export async function connect(options: HostOptions = {}): Promise<HostClient> {
  const { socket, url, token, timeoutMs = DEFAULT_TIMEOUT_MS, who = 'client', clock = systemClock } = options
  if (url !== undefined && socket !== undefined)
    throw new HoltError('InvalidOption', 'expected socket or url, found both')
  if (url === undefined && token !== undefined)
    throw new HoltError('InvalidOption', 'token: expected with url alone; the socket takes none')
  const path = url === undefined ? findSocket({ socket }).path : ''
  const open = async (): Promise<Client> =>
    url === undefined
      ? connectSocket({ path, timeoutMs, who, clock, encoding: 'superjson' })
      : connectHttp({ url, token, timeoutMs, clock, encoding: 'superjson' })
  return hostClient(await open(), { open, timeoutMs, clock, random: options.random ?? systemRandom })
}

interface Ways {
  /** Another connection. */
  readonly open: () => Promise<Client>
  readonly timeoutMs: number
  readonly clock: Clock
  readonly random: Random
}

function hostClient(client: Client, ways: Ways): HostClient {
  const caller = callerOf(client, { timeoutMs: ways.timeoutMs, byName: true })
  const streams = new Streams(ways)
  return {
    ...caller,
    facts: (options = {}) => streams.facts(options),
    facts$: streams.facts({}),
    fleet$: streams.kept({}, 'status', []) as Observable<FleetSnapshot>,
    agent: (id) => ({
      ...agentMethodsOf(caller, id),
      snapshot$: streams.kept({ id }, 'get', [id]) as Observable<AgentSnapshot>,
    }),
    close() {
      streams.close()
      caller.close()
    },
  }
}

/** What no waiting mends. */
const FATAL: ReadonlySet<string> = new Set([
  ...['InvalidInput', 'InvalidOption', 'NoSuchAgent', 'NoSuchOperation', 'Unauthorized', 'Forbidden', 'BadRequest'],
])

/** That the cursor is of another log, whose facts are told from their beginning. It stands before all numbers. */
const isNewLog = ({ kind, seq, data }: Fact): boolean => kind === 'stream.gap' && seq === 0 && 'since' in data

/** Those that come back. Each has connections of its own, so that none waits for another. */
class Streams {
  readonly #ways: Ways
  readonly #ending = new Ending()
  #closed = false

  constructor(ways: Ways) {
    this.#ways = ways
  }

  facts(options: FactsOptions, onOpened?: () => void): Observable<Fact> {
    return this.#ending.until(() => this.#followed(options, onOpened))
  }

  /** What a call answers, at first, after each fact, and after each cut. */
  kept(of: FactsOptions, name: string, args: readonly unknown[]): Observable<unknown> {
    const { clock, random } = this.#ways
    return refreshed(
      (changed) => this.facts(of, changed),
      async (signal) => {
        const client = await this.#fresh(signal)
        return client.call(name, args).finally(() => client.close())
      },
      { after: (ms, call) => clock.after(ms, call), random, isFatal: (error) => this.#isFatal(error) },
    )
  }

  close(): void {
    this.#closed = true
    this.#ending.end()
  }

  #followed({ since, ...rest }: FactsOptions, onOpened?: () => void): Observable<Fact> {
    // Where the host was at first: a cut before the first fact then loses none.
    let begin = since
    const { clock, random } = this.#ways
    return reconnecting<Fact>({
      since,
      open: async (cursor, signal) => {
        const client = await this.#fresh(signal)
        const close = (): void => client.close()
        try {
          begin ??= ((await client.call('summary')) as HostCalls['summary']['output']).cursor
        } catch (error) {
          close()
          throw error
        }
        const stream = client.stream('watch', [], { ...rest, since: cursor ?? begin }) as Source<Fact>
        return { opened: stream.opened, close, [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator]() }
      },
      // A gap has the number of the last fact that is missing: it is told once, though the stream is cut right behind it.
      seqOf: ({ seq }) => (seq === 0 ? null : seq),
      isNewLog,
      isFatal: (error) => this.#isFatal(error),
      after: (ms, call) => clock.after(ms, call),
      random,
      ...(onOpened === undefined ? {} : { onOpened }),
    })
  }

  #isFatal(error: unknown): boolean {
    return this.#closed || (error instanceof HoltError && FATAL.has(error.code))
  }

  /** Closed by the signal too, so that what it is asked then is given up. */
  async #fresh(signal: AbortSignal): Promise<Client> {
    if (this.#closed) throw new HoltError('Aborted', 'not connected: the client was closed')
    const client = await this.#ways.open()
    if (signal.aborted) client.close()
    else signal.addEventListener('abort', () => client.close(), { once: true })
    return client
  }
}
