/**
 * The REST server: Node's own, with Hono behind two doors. What is refused here has not been read: connections past the
 * limit, headers that are too slow, too large or broken, names and origins that are not ours.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { Host } from '../../host/host.ts'
import { type ErrorCode, HoltError } from '../../model/error.ts'
import { type Clock, systemClock } from '../../platform/clock.ts'
import { serviceOf } from '../service.ts'
import { restApp } from './app.ts'
import { directGets } from './direct.ts'
import { checkDoors, type Doors } from './doors.ts'
import type { EventStream } from './event-stream.ts'
import { servicesBy } from './exchange.ts'
import { IdempotencyKeys } from './idempotency.ts'
import { REST_LIMITS, type RestLimits } from './limits.ts'
import { problemReply } from './problem.ts'
import { RateLimit } from './rate.ts'
import { SAFE_HEADERS, send } from './reply.ts'

export interface RestServerOptions extends Doors {
  readonly host: Host
  readonly address: string
  /** 0: any that is free. */
  readonly port: number
  readonly clock?: Clock
  readonly limits?: Partial<RestLimits>
}

export interface RestServer {
  readonly url: string
  readonly port: number
  /** Streams that are open. */
  readonly streams: number
  /** Takes no more, ends streams, lets requests in work answer within a grace, then cuts what is left. */
  close(): Promise<void>
}

/** @throws the error of `listen`, as `EADDRINUSE` */
export async function listenRest(options: RestServerOptions): Promise<RestServer> {
  const { host, address, port, hosts, origins, clock = systemClock } = options
  const limits = { ...REST_LIMITS, ...options.limits }
  const streams = new Set<EventStream>()
  const now = (): number => clock.now()
  const services = servicesBy((most) => serviceOf(host, { over: 'rest', most }))
  const deps = {
    host,
    services,
    clock,
    limits,
    streams,
    rate: new RateLimit(limits, now),
    keys: new IdempotencyKeys(limits, now),
  }
  const app = restApp(deps, origins)
  const direct = directGets(deps)
  const listener = getRequestListener((request, env) => app.fetch(request, env), {
    // An embedded server leaves the globals of the program alone.
    overrideGlobalObjects: false,
    errorHandler: (error) => unreadable(error),
  })
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headersTimeoutMs,
      requestTimeout: limits.requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: limits.lookMs,
    },
    (req, res) => {
      if (!refuseAtDoor(req, res, { hosts, origins }) && !direct(req, res)) void listener(req, res)
    },
  )
  server.maxConnections = limits.connections
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => refuseBroken(error, socket))
  await listening(server, address, port)
  const at = server.address() as AddressInfo
  let closed: Promise<void> | null = null
  return {
    url: `http://${at.family === 'IPv6' ? `[${at.address}]` : at.address}:${at.port}`,
    port: at.port,
    get streams() {
      return streams.size
    },
    close() {
      closed ??= close(server, streams, clock, limits.graceMs)
      return closed
    },
  }
}

/** Whether it was refused. */
function refuseAtDoor(req: IncomingMessage, res: ServerResponse, doors: Doors): boolean {
  try {
    const { host, origin } = req.headers
    checkDoors({ host, origin }, doors)
    return false
  } catch (error) {
    send(res, problemReply(error))
    return true
  }
}

/** What Hono's server cannot make a request of, as a path that is none. */
function unreadable(error: unknown): Response {
  const why = error instanceof Error ? error.message : String(error)
  const { status, headers, body } = problemReply(new HoltError('BadRequest', `the request cannot be read: ${why}`))
  return new Response(body, { status, headers: { ...SAFE_HEADERS, ...headers } })
}

const BROKEN: Readonly<Record<string, readonly [status: string, code: ErrorCode, text: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'BadRequest', 'the headers are larger than they may be'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'Timeout', 'the request did not come in time'],
}

/** What is no HTTP, or did not come in time: one answer by hand, then the end. */
function refuseBroken(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [status, code, text] = BROKEN[error.code ?? ''] ?? ['400 Bad Request', 'BadRequest', 'this is no HTTP request']
  const { headers, body } = problemReply(new HoltError(code, text))
  const problem = JSON.stringify({ ...JSON.parse(body), status: Number(status.slice(0, 3)) })
  const lines = [`HTTP/1.1 ${status}`, `Content-Type: ${headers['Content-Type']}`, 'Connection: close']
  socket.end(`${lines.join('\r\n')}\r\nContent-Length: ${Buffer.byteLength(problem)}\r\n\r\n${problem}`, () =>
    socket.destroy(),
  )
}

const listening = (server: Server, host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: 1024 }, () => {
      server.off('error', reject)
      // Out of descriptors, mostly: the platform drops that client and goes on.
      server.on('error', () => {})
      resolve()
    })
  })

async function close(server: Server, streams: Set<EventStream>, clock: Clock, graceMs: number): Promise<void> {
  const ended = new Promise<void>((resolve) => server.close(() => resolve()))
  for (const stream of [...streams]) stream.end(null)
  server.closeIdleConnections()
  // A connection that becomes idle meanwhile would stay for its keep-alive.
  const idle = clock.every(50, () => server.closeIdleConnections())
  const cut = clock.after(graceMs, () => server.closeAllConnections())
  await ended
  idle.cancel()
  cut.cancel()
}
