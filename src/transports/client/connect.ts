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

export type { Fact, FactKind } from '../../model/fact.ts'
export type { AgentSnapshot, FleetSnapshot } from '../../model/snapshot.ts'
export type { HostCalls } from './calls-of-host.ts'
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

export interface Wait {
  /** @default that of the connection */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

export interface FactsOptions {
  readonly id?: string
  /** Those after this seq, from the log on. Without it from where the host is when it is first reached. */
  readonly since?: number
  readonly kinds?: readonly FactKind[]
}

export interface AgentClient {
  /** As it stands, at once and after each fact about it. */
  readonly snapshot$: Observable<AgentSnapshot>
  emit(event: string, payload?: unknown, wait?: Wait): Promise<HostCalls['emit']['output']>
  ask(command: string, payload?: unknown, wait?: Wait): Promise<unknown>
}

export interface HostClient {
  /** @throws HoltError of the host; `Timeout`; `Aborted` by the signal or after `close`; `NoHost`: not connected */
  call<K extends keyof HostCalls>(
    name: K,
    ...rest: Readonly<Record<never, never>> extends HostCalls[K]['input']
      ? [input?: HostCalls[K]['input'], wait?: Wait]
      : [input: HostCalls[K]['input'], wait?: Wait]
  ): Promise<HostCalls[K]['output']>
  /** Comes back from its cursor after a cut; a `stream.gap` says where the log had no more. */
  facts(options?: FactsOptions): Observable<Fact>
  readonly facts$: Observable<Fact>
  /** As the fleet stands, at once and after each fact. */
  readonly fleet$: Observable<FleetSnapshot>
  agent(id: string): AgentClient
  /** Ends the connection and every stream; calls that are waited for reject with `Aborted`. */
  close(): void
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
  return new Connected(await open(), open, { timeoutMs, clock, random: options.random ?? systemRandom })
}

interface Ways {
  readonly timeoutMs: number
  readonly clock: Clock
  readonly random: Random
}

/** What no waiting mends. */
const FATAL: ReadonlySet<string> = new Set([
  ...['InvalidInput', 'InvalidOption', 'NoSuchAgent', 'NoSuchOperation', 'Unauthorized', 'Forbidden', 'BadRequest'],
])

const isMarker = (fact: Fact): boolean => fact.kind === 'stream.gap'

class Connected implements HostClient {
  readonly facts$: Observable<Fact>
  readonly fleet$: Observable<FleetSnapshot>
  readonly #client: Client
  readonly #open: () => Promise<Client>
  readonly #ways: Ways
  readonly #ending = new Ending()
  #closed = false

  constructor(client: Client, open: () => Promise<Client>, ways: Ways) {
    this.#client = client
    this.#open = open
    this.#ways = ways
    this.facts$ = this.facts()
    this.fleet$ = this.#kept({}, 'status', []) as Observable<FleetSnapshot>
  }

  call<K extends keyof HostCalls>(name: K, input: object = {}, wait: Wait = {}): Promise<HostCalls[K]['output']> {
    const { timeoutMs = this.#ways.timeoutMs, signal } = wait
    if (signal?.aborted === true) return Promise.reject(aborted(name))
    const answer = this.#client.call(name, [], given(input), { timeoutMs }) as Promise<HostCalls[K]['output']>
    if (signal === undefined) return answer
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(aborted(name))
      signal.addEventListener('abort', onAbort, { once: true })
      answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
    })
  }

  facts(options: FactsOptions = {}): Observable<Fact> {
    return this.#facts(options)
  }

  agent(id: string): AgentClient {
    return {
      snapshot$: this.#kept({ id }, 'get', [id]) as Observable<AgentSnapshot>,
      emit: (event, payload, wait) => this.call('emit', { id, event, payload }, wait),
      ask: (command, payload, wait) =>
        this.call('ask', { id, command, payload, ...(wait?.timeoutMs ? { timeoutMs: wait.timeoutMs } : {}) }, wait),
    }
  }

  close(): void {
    this.#closed = true
    this.#ending.end()
    this.#client.close()
  }

  #facts(options: FactsOptions, onOpened?: () => void): Observable<Fact> {
    return this.#ending.until(() => this.#followed(options, onOpened))
  }

  #followed({ since, ...rest }: FactsOptions, onOpened?: () => void): Observable<Fact> {
    // Where the host was at first: a cut before the first fact then loses none.
    let begin = since
    const { clock, random } = this.#ways
    return reconnecting<Fact>({
      since,
      open: async (cursor) => {
        const client = await this.#fresh()
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
      seqOf: (fact) => (isMarker(fact) ? null : fact.seq),
      isNewLog: (fact) => {
        const { since: told, missed } = fact.data as { since?: number; missed?: number }
        return isMarker(fact) && told !== undefined && missed === 0
      },
      isFatal: (error) => this.#isFatal(error),
      after: clock.after,
      random,
      ...(onOpened === undefined ? {} : { onOpened }),
    })
  }

  #kept(of: FactsOptions, name: string, args: readonly unknown[]): Observable<unknown> {
    return refreshed(
      (changed) => this.#facts(of, changed),
      async () => {
        const client = await this.#fresh()
        return client.call(name, args).finally(() => client.close())
      },
      { after: this.#ways.clock.after, random: this.#ways.random, isFatal: (error) => this.#isFatal(error) },
    )
  }

  #isFatal(error: unknown): boolean {
    return this.#closed || (error instanceof HoltError && FATAL.has(error.code))
  }

  #fresh(): Promise<Client> {
    if (this.#closed) throw new HoltError('Aborted', 'not connected: the client was closed')
    return this.#open()
  }
}

/** What is undefined was not given. */
const given = (input: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))

const aborted = (name: string): HoltError =>
  new HoltError('Aborted', `'${name}' was given up by its signal; the host may have done it`)
