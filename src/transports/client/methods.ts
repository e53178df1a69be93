/**
 * Every operation as a method of its name, typed: `host.pause('hand', { now: true })`. Made from the table of routes, so
 * that none is left out; over whichever connection is handed in. Used by programs through `connect.ts`, and by the CLI.
 */
import type { HostCalls, HostStreams } from './calls-of-host.ts'
import type { Client } from './client.ts'
import { ROUTES, SOCKET_ONLY } from './routes.ts'
import type { Stream } from './stream.ts'

/** How long the answer to one call is waited for. */
export interface Wait {
  /** @default that of the connection */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

type Routes = typeof ROUTES
type Positional = { readonly [K in keyof Routes]: Routes[K]['positional'] } & typeof SOCKET_ONLY

/** What words are called where an editor shows them. */
interface Words<T> {
  id: [id: T]
  event: [event: T]
  command: [command: T]
  payload: [payload: T]
  letter: [letter: T]
  source: [source: T]
  name: [name: T]
}
type Nothing = Readonly<Record<never, never>>
type IsOptional<I, K extends keyof I> = Nothing extends Pick<I, K> ? true : false
type Word<I, K extends keyof I & keyof Words<unknown>> =
  IsOptional<I, K> extends true ? Partial<Words<I[K]>[K]> : Words<I[K]>[K]
type WordsOf<I, P extends readonly unknown[]> = P extends readonly [
  infer K extends keyof I & keyof Words<unknown>,
  ...infer More,
]
  ? [...Word<I, K>, ...WordsOf<I, More>]
  : []

/** What is undefined was not given. */
type Loose<T> = { readonly [K in keyof T]: IsOptional<T, K> extends true ? T[K] | undefined : T[K] }
type OptionsOf<I, P extends readonly unknown[]> = Loose<Omit<I, P[number] & string>>
type Given<I, P extends readonly unknown[], More> =
  Nothing extends OptionsOf<I, P>
    ? [...WordsOf<I, P>, options?: OptionsOf<I, P> & More]
    : [...WordsOf<I, P>, options: OptionsOf<I, P> & More]

type Call<I, P extends readonly unknown[], O> = (...given: Given<I, P, Wait>) => Promise<O>
type Follow<I, P extends readonly unknown[], O> = (...given: Given<I, P, unknown>) => Stream<O>
type Rest<P extends readonly unknown[]> = P extends readonly [unknown, ...infer R] ? R : []

/**
 * The words of the operation, then its options and how long to wait: `timeoutMs`, `signal`. Where the operation has a time
 * of its own (`ask`, `shutdown`: `timeoutMs`; `drain`: `deadlineMs`) the host keeps to it, and its answer is waited for
 * 5 s longer.
 */
export type HostMethods = {
  readonly [K in keyof HostCalls]: Call<HostCalls[K]['input'], Positional[K], HostCalls[K]['output']>
} & {
  /** On a connection of its own, until that ends: what comes back by itself is `facts$`. */
  readonly [K in keyof HostStreams]: Follow<HostStreams[K]['input'], Positional[K], HostStreams[K]['output']>
}

/** Operations on one agent: those whose first word is its id. */
type OfAgent = {
  [K in keyof Routes]: Routes[K]['positional'] extends readonly ['id', ...unknown[]] ? K : never
}[keyof Routes]

/** Those of {@link HostMethods} that are about one agent, without its id. */
export type AgentMethods = {
  readonly [K in OfAgent & keyof HostCalls]: Call<
    Omit<HostCalls[K]['input'], 'id'>,
    Rest<Positional[K]>,
    HostCalls[K]['output']
  >
} & {
  readonly [K in OfAgent & keyof HostStreams]: Follow<
    Omit<HostStreams[K]['input'], 'id'>,
    Rest<Positional[K]>,
    HostStreams[K]['output']
  >
}

/** What every client has: the methods, and a call by name with the input as one object. */
export interface HostCaller extends HostMethods {
  /** @throws HoltError of the host; `Timeout`; `Aborted` by the signal or after `close`; `NoHost`: not connected */
  call<K extends keyof HostCalls>(
    name: K,
    ...given: Nothing extends HostCalls[K]['input']
      ? [input?: HostCalls[K]['input'], wait?: Wait]
      : [input: HostCalls[K]['input'], wait?: Wait]
  ): Promise<HostCalls[K]['output']>
  /** Ends the connection and every stream; calls that are waited for reject with `Aborted`. */
  close(): void
}

type Opts = Readonly<Record<string, unknown>>

const POSITIONAL: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(Object.entries(ROUTES).map(([name, { positional }]) => [name, positional])),
  ...SOCKET_ONLY,
}
const STREAMS: ReadonlySet<string> = new Set<keyof HostStreams>(['watch', 'logs'])

/** Which field says how long the host takes, where it is told. */
const TAKES: Readonly<Record<string, string>> = {
  ask: 'timeoutMs',
  shutdown: 'timeoutMs',
  drain: 'deadlineMs',
} satisfies Partial<Record<keyof HostCalls, string>>
/** What a host needs to answer that a time was up, beyond that time. */
const SLACK_MS = 5000

export interface CallerOptions {
  /** For each answer, where a call says nothing else. */
  readonly timeoutMs: number
  /** Sends words by name, so that a refusal of the client itself names the field as the host would. @default by position */
  readonly byName?: true
}

export function callerOf(client: Client, { timeoutMs, byName }: CallerOptions): HostCaller {
  const call = (name: string, args: readonly unknown[], opts: Opts, wait: Wait): Promise<unknown> => {
    const { signal } = wait
    const patience = wait.timeoutMs ?? timeoutMs
    return client.call(name, args, opts, { timeoutMs: patience, ...(signal === undefined ? {} : { signal }) })
  }
  const methods = Object.entries(POSITIONAL).map(([name, positional]) => {
    const method = (...given: unknown[]): unknown => {
      const words = given.slice(0, positional.length)
      const options = definedOf(given[positional.length])
      const [told, wait] = waitOf(name, options, timeoutMs)
      const args = byName === true ? [] : wordsOf(words)
      const opts = byName === true ? { ...namedOf(positional, words), ...told } : told
      return STREAMS.has(name) ? client.stream(name, args, opts) : call(name, args, opts, wait)
    }
    return [name, method]
  })
  return {
    ...Object.fromEntries(methods),
    call: (name: string, input: object = {}, wait: Wait = {}) => call(name, [], definedOf(input), wait),
    close: () => client.close(),
  } as HostCaller
}

/** @param id goes before the words of each */
export const agentMethodsOf = (caller: HostMethods, id: string): AgentMethods => {
  const ofAgent = Object.entries(ROUTES).filter(([, { positional }]) => (positional as readonly string[])[0] === 'id')
  const methods = ofAgent.map(([name]) => {
    const method = Reflect.get(caller, name) as (...given: unknown[]) => unknown
    return [name, (...given: unknown[]) => method(id, ...given)]
  })
  return Object.fromEntries(methods) as AgentMethods
}

/** A word that was left out at the end was not given. */
function wordsOf(given: readonly unknown[]): readonly unknown[] {
  return given.slice(0, given.findLastIndex((word) => word !== undefined) + 1)
}

const namedOf = (positional: readonly string[], words: readonly unknown[]): Opts =>
  definedOf(Object.fromEntries(positional.map((key, index) => [key, words[index]])))

const definedOf = (options: unknown): Opts =>
  Object.fromEntries(Object.entries(options ?? {}).filter(([, value]) => value !== undefined))

/** What of the options the host is told, and how long its answer is waited for. */
function waitOf(name: string, { signal, ...options }: Opts, timeoutMs: number): [opts: Opts, wait: Wait] {
  const aborts = signal === undefined ? {} : { signal: signal as AbortSignal }
  const key = TAKES[name]
  const takes = key === undefined ? undefined : options[key]
  if (key === 'timeoutMs') return [options, { ...aborts, timeoutMs: patienceFor(name, takes, timeoutMs) }]
  const { timeoutMs: own, ...rest } = options
  return [rest, { ...aborts, timeoutMs: (own as number | undefined) ?? patienceFor(name, takes, timeoutMs) }]
}

/** An ask is over when its time is; the end of a host goes on until all has ended. */
function patienceFor(name: string, takes: unknown, timeoutMs: number): number {
  if (typeof takes !== 'number') return timeoutMs
  return name === 'ask' ? takes + SLACK_MS : Math.max(timeoutMs, takes + SLACK_MS)
}
