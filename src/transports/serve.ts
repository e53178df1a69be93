/**
 * Puts a host on a socket, and on HTTP where that is asked for. For programs that embed one, and for `holt up`. What it is
 * served by ends with the host: the file of the socket is gone by the time `shutdown` resolves, and requests in work,
 * `shutdown` itself among them, are still answered.
 */
import { resolve } from 'node:path'
import type { Host } from '../host/host.ts'
import { describeError, HoltError } from '../model/error.ts'
import { ensureToken } from './rest/first-token.ts'
import { REST_LIMITS } from './rest/limits.ts'
import { type CheckedRest, checkRest, isLoopback, type RestOptions } from './rest/options.ts'
import { listenRest, type RestServer } from './rest/server.ts'
import { serviceOf } from './service.ts'
import { makeFolders, socketFor } from './uds/fleet-socket.ts'
import { openGroupSocket } from './uds/group-socket.ts'
import { listen, type UdsServer } from './uds/server.ts'

export interface ServeOptions {
  /**
   * A path; or true for `$HOLT_UDS_PATH`, and where that is not set, the one at which clients look for this fleet.
   * @default no socket
   */
  readonly socket?: string | true
  /** A group of the machine, by name or number, whose members may look over a socket of their own. @default nobody may */
  readonly socketGroup?: string
  /** @default no HTTP */
  readonly rest?: RestOptions
}

export interface Served {
  /** Where clients reach it; null: it has none. */
  readonly socket: string | null
  /** Where members of the group reach it, to look. */
  readonly groupSocket: string | null
  readonly rest: Pick<RestServer, 'url' | 'port' | 'streams'> | null
  /** Resolves once every client has its answers or has been cut. A second call gets the same. */
  close(): Promise<void>
}

/** @throws HoltError `InvalidOption` where there can be no socket, or no port, saying what is in the way */
export async function serve(
  host: Host,
  options: ServeOptions & { readonly socket: string | true },
): Promise<Served & { readonly socket: string }>
export async function serve(host: Host, options: ServeOptions): Promise<Served>
export async function serve(host: Host, { socket, socketGroup, rest }: ServeOptions): Promise<Served> {
  const checked = rest === undefined ? null : checkRest(rest)
  const opened: { close(): Promise<void> }[] = []
  const keep = <T extends { close(): Promise<void> }>(one: T): T => {
    opened.push(one)
    return one
  }
  let uds: UdsServer | null = null
  let group: UdsServer | null = null
  let http: RestServer | null = null
  try {
    // First what may fail for another's sake: a client of the socket is not to be cut because a port is taken.
    if (checked !== null) http = keep(await openRest(host, checked))
    if (socket !== undefined) {
      const service = serviceOf(host, { over: 'socket', most: 'admin' })
      uds = keep(await listen({ path: pathOf(host, socket), service, log: host.log }))
    }
    if (socketGroup !== undefined) group = keep(await openGroupSocket(host, socketGroup))
  } catch (error) {
    await Promise.all(opened.map((one) => one.close()))
    throw error
  }
  if (uds !== null) host.reachableAt(uds.path)
  const takeBack = host.onClose(() => {
    void uds?.close('await')
    void group?.close('await')
    void http?.close()
  })
  return {
    socket: uds?.path ?? null,
    groupSocket: group?.path ?? null,
    rest: http,
    async close() {
      takeBack()
      host.reachableAt(null)
      await Promise.all(opened.map((one) => one.close()))
    },
  }
}

async function openRest(host: Host, { perSecond, ...options }: CheckedRest): Promise<RestServer> {
  const { address, port } = options
  const limits = { perSecond, burst: perSecond * (REST_LIMITS.burst / REST_LIMITS.perSecond) }
  let server: RestServer
  try {
    server = await listenRest({ host, ...options, limits })
  } catch (error) {
    throw noPort(address, port, error)
  }
  if (!isLoopback(address)) {
    host.log.warn(
      { kind: 'rest.open', address },
      `other machines reach ${server.url}, and tokens go there in the clear: put a proxy with TLS before it`,
    )
  }
  try {
    await ensureToken(host)
    return server
  } catch (error) {
    await server.close()
    throw error
  }
}

/** The platform does not say who holds a port. */
function noPort(address: string, port: number, error: unknown): HoltError {
  const { code, message } = describeError(error)
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} of ${address} is taken, by another fleet maybe. Choose one with --port N, or say --no-rest`,
    EACCES: `port ${port} of ${address} is for the system alone. Choose one from 1024 on with --port N, or say --no-rest`,
    EADDRNOTAVAIL: `${address} is no address of this machine. Choose another with --listen HOST:PORT`,
    ENOTFOUND: `${address} is no name of this machine. Choose another with --listen HOST:PORT`,
  }
  return new HoltError(
    'InvalidOption',
    `rest: ${why[code ?? ''] ?? `cannot listen at ${address}:${port} (${message})`}`,
    {
      option: 'rest',
      reason: code ?? null,
    },
  )
}

function pathOf({ fleetDir }: Host, socket: string | true): string {
  if (socket !== true) return resolve(socket)
  const set = process.env['HOLT_UDS_PATH']
  if (set !== undefined && set !== '') return resolve(set)
  const path = socketFor(fleetDir)
  makeFolders(path)
  return path
}
