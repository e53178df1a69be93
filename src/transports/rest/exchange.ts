/**
 * One request to a route, from its token to its answer: who asks, whether they may, what they ask, and under which key;
 * then the operation is run, or its stream opened. Whatever is thrown on the way becomes a problem.
 */
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Host } from '../../host/host.ts'
import { ACCESSES, type Access, allows, type TokenView } from '../../model/access.ts'
import { ERRORS, HoltError, isErrorCode } from '../../model/error.ts'
import type { Clock } from '../../platform/clock.ts'
import { answerError } from '../dispatch.ts'
import type { Caller } from '../operation.ts'
import type { Prepared, Service } from '../service.ts'
import { EventStream, STREAM_HEADERS } from './event-stream.ts'
import { resumed, snapshotText, textsOf } from './events.ts'
import { formFor, readBody } from './form.ts'
import type { IdempotencyKeys } from './idempotency.ts'
import type { RestLimits } from './limits.ts'
import { problemReply } from './problem.ts'
import type { RateLimit } from './rate.ts'
import { type Reply, send } from './reply.ts'
import { readBytes } from './request-body.ts'
import { etagOf, inputOf, type Route, type Said } from './routes.ts'

export interface ExchangeDeps {
  readonly host: Host
  readonly services: Readonly<Record<Access, Service>>
  readonly clock: Clock
  readonly limits: RestLimits
  readonly rate: RateLimit
  readonly keys: IdempotencyKeys
  /** Those that are open. */
  readonly streams: Set<EventStream>
}

/** A request and where its answer goes. */
export interface Exchange {
  readonly route: Route
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly params: Said['params']
  readonly query: Said['query']
  /** What every answer to this caller bears. */
  readonly headers: Readonly<Record<string, string>>
}

type Headers = IncomingMessage['headers']

export async function answer(exchange: Exchange, deps: ExchangeDeps): Promise<void> {
  const { req, res, headers } = exchange
  try {
    const token = admit(req.headers, exchange.route.operation.access, deps)
    if (exchange.route.operation.kind === 'stream') openStream(exchange, token, deps)
    else reply(exchange, await call(exchange, token, deps))
  } catch (error) {
    const problem = problemReply(error, req.headers['if-match'] !== undefined)
    send(res, { ...problem, headers: { ...problem.headers, ...headers } }, req.method === 'HEAD')
  }
}

/** @throws HoltError `Unauthorized`, `RateLimited`, `Forbidden` */
export function admit({ authorization }: Headers, needed: Access, { host, rate }: ExchangeDeps): TokenView {
  const [, secret] = /^Bearer +([\w.~+/=-]+)$/i.exec(authorization ?? '') ?? []
  const token = secret === undefined ? null : host.tokens.check(secret)
  if (token === null) {
    const found = authorization === undefined ? 'no token' : 'one that is unknown, revoked or expired'
    throw new HoltError('Unauthorized', `Authorization: expected 'Bearer' and a token, found ${found}`)
  }
  rate.take(token.id)
  if (allows(token.access, needed)) return token
  throw new HoltError('Forbidden', `this takes ${needed} access, and the token '${token.name}' has ${token.access}`, {
    needs: needed,
    has: token.access,
  })
}

function reply({ req, res, headers }: Exchange, { status, headers: own, body }: Reply): void {
  send(res, { status, headers: { ...own, ...headers }, body }, req.method === 'HEAD')
}

async function call(exchange: Exchange, token: TokenView, deps: ExchangeDeps): Promise<Reply> {
  const { route, req } = exchange
  if (route.verb === 'GET') return run(prepare(exchange, token, undefined, deps), exchange)
  const bytes = await readBytes(req, deps.limits.bodyBytes)
  const key = req.headers['idempotency-key']
  const prepared = prepare(exchange, token, bytes, deps)
  if (key === undefined) return run(prepared, exchange)
  const scope = `${token.id} ${route.verb} ${req.url?.split('?')[0]}`
  const earlier = deps.keys.begin(scope, String(key), printOf(req, bytes))
  if (earlier !== null) return { ...earlier, headers: { ...earlier.headers, 'Idempotency-Replayed': 'true' } }
  let done: Reply | null = null
  try {
    done = await run(prepared, exchange)
    return done
  } catch (error) {
    // It was done and failed, which is its answer; what may succeed by itself later may be tried again.
    if (!isRetryable(error)) done = problemReply(error, req.headers['if-match'] !== undefined)
    throw error
  } finally {
    deps.keys.settle(scope, String(key), done)
  }
}

function isRetryable(error: unknown): boolean {
  const { code } = answerError(error)
  return isErrorCode(code) && ERRORS[code].retryable
}

const printOf = ({ url = '', headers }: IncomingMessage, bytes: Uint8Array): string =>
  createHash('sha256')
    .update(JSON.stringify([url, headers['content-type'], headers.accept, headers['if-match']]))
    .update(bytes)
    .digest('base64')

/** @throws HoltError as the input is wrong */
function prepare(
  { route, req, params, query }: Exchange,
  token: TokenView,
  bytes: Uint8Array | undefined,
  { services, limits }: ExchangeDeps,
): Prepared {
  const body = bytes === undefined ? undefined : readBody(bytes, req.headers['content-type'], limits.depth)
  const input = inputOf(route, { params, query, body, ifMatch: req.headers['if-match'] })
  return services[token.access].prepare(route.operation.name, { input }, { ...callerOf(token), ...traced(req) })
}

const callerOf = ({ name, id }: TokenView): Caller => ({ who: name, tokenId: id })

function traced({ headers }: IncomingMessage): Pick<Caller, 'traceparent'> {
  const traceparent = textOf(headers['traceparent'])
  return traceparent === undefined ? {} : { traceparent }
}

async function run(prepared: Prepared, { req }: Exchange): Promise<Reply> {
  if (prepared.kind !== 'call') throw new Error('a stream is not answered at once')
  const form = formFor(req.headers.accept)
  const value = await prepared.run()
  const etag = etagOf(value)
  const headers = { 'Content-Type': form.type, Vary: 'Accept', ...(etag === undefined ? {} : { ETag: etag }) }
  return { status: 200, headers, body: form.write(value) }
}

function openStream(exchange: Exchange, token: TokenView, deps: ExchangeDeps): void {
  const { route, req, res, headers } = exchange
  const { host, services, streams, limits, clock } = deps
  const { name } = route.operation
  const form = formFor(req.headers.accept)
  const watching = name === 'watch'
  const asked: Said = { params: exchange.params, query: exchange.query, ifMatch: req.headers['if-match'] }
  const lastEventId = req.headers['last-event-id']
  const { said, snapshot } = watching ? resumed(asked, textOf(lastEventId)) : { said: asked, snapshot: false }
  const input = inputOf(route, said)
  if (req.method === 'HEAD') {
    services[token.access].prepare(name, { input }, callerOf(token))
    res.writeHead(200, { ...STREAM_HEADERS, ...headers })
    res.end()
    return
  }
  if (streams.size >= limits.streams) {
    throw new HoltError('Overloaded', `${limits.streams} streams are open already, as many as there may be`)
  }
  const allowed = (): boolean => host.tokens.holds(token.id)
  const stream = new EventStream(res, { clock, log: host.log, limits, allowed }, () => streams.delete(stream))
  const caller: Caller = { ...callerOf(token), pace: stream.pace }
  const prepared = services[token.access].prepare(name, { input }, caller)
  if (prepared.kind !== 'stream') throw new Error('an answer is no stream')
  const first = snapshot && input['since'] === undefined ? snapshotText(host, input['id'], form) : null
  const source = prepared.open()
  streams.add(stream)
  stream.open(headers)
  if (first !== null) stream.send(first)
  stream.follow(source, textsOf(name, form))
}

const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header

/** One service for each access, so that each door is as wide as its token says. */
export const servicesBy = (make: (most: Access) => Service): Readonly<Record<Access, Service>> =>
  Object.fromEntries(ACCESSES.map((access) => [access, make(access)])) as Record<Access, Service>
