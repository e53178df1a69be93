/**
 * Puts a host on a socket. For programs that embed one, and for `holt up`. The socket ends with the host: its file is
 * gone by the time `shutdown` resolves, and requests in work, `shutdown` itself among them, are still answered.
 */
import { resolve } from 'node:path'
import type { Host } from '../host/host.ts'
import { serviceOf } from './service.ts'
import { makeFolders, socketFor } from './uds/fleet-socket.ts'
import { listen } from './uds/server.ts'

export interface ServeOptions {
  /** A path; or true for `$HOLT_UDS_PATH`, and where that is not set, the one at which clients look for this fleet. */
  readonly socket: string | true
}

export interface Served {
  /** Where clients reach it. */
  readonly socket: string
  /** Resolves once every client has its answers or has been cut. A second call gets the same. */
  close(): Promise<void>
}

/** @throws HoltError `InvalidOption` where there can be no socket, saying what is in the way */
export async function serve(host: Host, { socket }: ServeOptions): Promise<Served> {
  const server = await listen({ path: pathOf(host, socket), service: serviceOf(host), log: host.log })
  host.reachableAt(server.path)
  const takeBack = host.onClose(() => void server.close('await'))
  return {
    socket: server.path,
    close() {
      takeBack()
      host.reachableAt(null)
      return server.close()
    },
  }
}

function pathOf({ fleetDir }: Host, socket: string | true): string {
  if (socket !== true) return resolve(socket)
  const set = process.env['HOLT_UDS_PATH']
  if (set !== undefined && set !== '') return resolve(set)
  const path = socketFor(fleetDir)
  makeFolders(path)
  return path
}
