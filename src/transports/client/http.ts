/**
 * A client of a host over HTTP, with the same interface as that of the socket: calls by the routes of REST, streams as
 * server-sent events. Loads nothing but what Node has.
 */
import { type ErrorCode, HoltError, isErrorCode } from '../../model/error.ts'
import { type Clock, systemClock } from '../../platform/clock.ts'
import { type Encoding, SUPERJSON_TYPE } from '../packed.ts'
import { givenUp } from './calls.ts'
import { type CallWait, type Client, DEFAULT_TIMEOUT_MS } from './client.ts'
import { EventReader } from './event-reader.ts'
import { HttpStream } from './http-stream.ts'
import { packed, unpacked } from './packing.ts'
import { type ClientRoute, ROUTES, SOCKET_ONLY } from './routes.ts'

export interface HttpOptions {
  /** `http://127.0.0.1:8000` */
  readonly url: string
  readonly token?: string | undefined
  /** For each answer, ms; `Infinity` for none. @default 30000 */
  readonly timeoutMs?: number
  /** How values travel. @default 'json' */
  readonly encoding?: Encoding
  /** @default systemClock */
  readonly clock?: Clock
}

type Opts = Readonly<Record<string, unknown>>

interface Sent {
  readonly url: URL
  readonly method: string
  /** Null: it is all in the address. */
  readonly input: Opts | null
}

/** @throws HoltError `InvalidOption` for what is no address of HTTP; nothing is sent yet */
export function connectHttp(options: HttpOptions): Client {
  const { url, token, timeoutMs = DEFAULT_TIMEOUT_MS, encoding = 'json', clock = systemClock } = options
  const base = baseOf(url)
  const rich = encoding === 'superjson'
  const type = rich ? SUPERJSON_TYPE : 'application/json'
  const headers = { Accept: type, ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) }
  const ends = new Set<AbortController>()
  let closed = false
  const begin = (): AbortController => {
    if (closed) throw wasClosed()
    const end = new AbortController()
    ends.add(end)
    return end
  }
  return {
    async call(name, args = [], opts = {}, wait: CallWait = { timeoutMs }) {
      const { url: to, method, input } = requestOf(base, name, args, opts)
      const init = input === null ? { method } : { method, body: textOf(rich ? await packed(input) : input) }
      const own = input === null ? {} : { 'Content-Type': type }
      const { timeoutMs: ms, signal } = wait
      if (signal?.aborted === true) throw givenUp(name)
      const end = begin()
      const timer = clock.after(ms, () => end.abort(tookTooLong(base, name, ms)))
      const onAbort = (): void => end.abort(givenUp(name))
      signal?.addEventListener('abort', onAbort, { once: true })
      try {
        const res = await fetch(to, { ...init, headers: { ...headers, ...own }, signal: end.signal })
        return await answerOf(res)
      } catch (thrown) {
        throw errorOf(thrown, base)
      } finally {
        timer.cancel()
        signal?.removeEventListener('abort', onAbort)
        ends.delete(end)
      }
    },
    stream(name, args = [], opts = {}) {
      let letGo = (): void => {}
      // What it refuses before it is sent is told as what the host refuses is: by the stream.
      const open = async (): Promise<AsyncIterable<Uint8Array>> => {
        const { url: to } = requestOf(base, name, args, opts)
        const end = begin()
        const timer = clock.after(timeoutMs, () => end.abort(tookTooLong(base, name, timeoutMs)))
        letGo = () => {
          timer.cancel()
          end.abort(wasClosed())
          ends.delete(end)
        }
        const res = await fetch(to, {
          headers: { ...headers, Accept: rich ? `text/event-stream, ${type}` : 'text/event-stream' },
          signal: end.signal,
        })
        timer.cancel()
        if (!res.ok || res.body === null) await answerOf(res)
        return res.body as unknown as AsyncIterable<Uint8Array>
      }
      return new HttpStream({
        open,
        reader: new EventReader(),
        read: (value) => (rich ? unpacked(value) : value),
        errorOf: (thrown) => errorOf(thrown, base),
        onClosed: () => letGo(),
      })
    },
    close() {
      closed = true
      for (const end of ends) end.abort(wasClosed())
      ends.clear()
    },
  }
}

function baseOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || !['http:', 'https:'].includes(parsed.protocol))
    throw new HoltError('InvalidOption', `host: expected an address such as http://127.0.0.1:8000, found '${url}'`)
  return parsed.href.replace(/\/+$/, '')
}

function requestOf(base: string, name: string, args: readonly unknown[], opts: Opts): Sent {
  const route = Object.hasOwn(ROUTES, name) ? (ROUTES as Readonly<Record<string, ClientRoute>>)[name] : undefined
  if (Object.hasOwn(SOCKET_ONLY, name))
    throw new HoltError(
      'NoSuchOperation',
      `'${name}' works over the socket only: run \`holt token …\` on the host's machine`,
    )
  if (route === undefined)
    throw new HoltError(
      'NoSuchOperation',
      `'${name}' is not reachable over HTTP: use the socket, on the host's machine`,
    )
  const input: Record<string, unknown> = { ...opts }
  for (const [index, key] of route.positional.entries()) if (args[index] !== undefined) input[key] = args[index]
  const url = new URL(base + pathOf(route, input))
  if (route.verb !== 'POST') {
    for (const [key, value] of Object.entries(input)) {
      for (const one of Array.isArray(value) ? value : [value])
        if (one !== undefined) url.searchParams.append(key, String(one))
    }
    return { url, method: route.verb, input: null }
  }
  return { url, method: 'POST', input }
}

function textOf(input: unknown): string {
  try {
    return JSON.stringify(input)
  } catch (error) {
    throw new HoltError('NotCloneable', `the request cannot be written as JSON (${(error as Error).message})`)
  }
}

/** Takes what the path says out of the input. */
function pathOf({ path, agentPath }: ClientRoute, input: Record<string, unknown>): string {
  const chosen = agentPath !== undefined && input['id'] !== undefined ? agentPath : path
  return chosen.replaceAll(/\{(\w+)\}/g, (_, key: string) => {
    const value = String(input[key] ?? '')
    delete input[key]
    // A path would be shortened by these.
    if (value === '' || value === '.' || value === '..')
      throw new HoltError('InvalidInput', `${key}: expected a name, found '${value}'`)
    return encodeURIComponent(value)
  })
}

async function answerOf(res: Response): Promise<unknown> {
  const text = await res.text()
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new HoltError('NoHost', `expected an answer of a host, found '${text.slice(0, 60)}' (status ${res.status})`)
  }
  if (res.ok) return res.headers.get('content-type')?.startsWith(SUPERJSON_TYPE) ? unpacked(value) : value
  const { code, detail, details } = (value ?? {}) as Record<string, unknown>
  const known = typeof details === 'object' && details !== null ? (details as Opts) : {}
  throw new HoltError((typeof code === 'string' ? code : 'Internal') as ErrorCode, String(detail), known)
}

function errorOf(thrown: unknown, base: string): HoltError {
  if (thrown instanceof HoltError) return thrown
  const { cause, message, code: given, detail } = thrown as Error & { code?: string; detail?: string }
  if (isErrorCode(given ?? null)) return new HoltError(given as ErrorCode, detail ?? message)
  const { code, message: why } = (cause ?? {}) as { code?: string; message?: string }
  const text = `not connected: no host answers at ${base} (${why || code || message}). Does it run, with --port?`
  return new HoltError('NoHost', text, { url: base, reason: code ?? 'broken' })
}

const wasClosed = (): HoltError => new HoltError('Aborted', 'not connected: the client was closed')
const tookTooLong = (base: string, name: string, ms: number): HoltError =>
  new HoltError('Timeout', `the host at ${base} did not answer '${name}' within ${ms} ms`, { timeoutMs: ms })
