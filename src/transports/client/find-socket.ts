/**
 * Which socket a client is to speak to: the one it is told, `$HOLT_UDS_PATH`, or that of the fleet in the present folder
 * or above it.
 */
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { HoltError } from '../../model/error.ts'
import { socketFor } from '../uds/fleet-socket.ts'
import { checkPath } from '../uds/socket-path.ts'

export interface Asked {
  /** What the caller was told: `--socket`. */
  readonly socket?: string | undefined
  /** @default the present folder */
  readonly cwd?: string
  /** @default that of the process */
  readonly env?: Readonly<Record<string, string | undefined>>
}

export interface Found {
  readonly path: string
  readonly by: 'option' | 'env' | 'fleet'
  /** The folder of the fleet, where it led there. */
  readonly fleetDir: string | null
}

const FLEET_FILE = 'holt.yml'

/** @throws HoltError `NoHost` where nothing leads to a socket; `InvalidOption` for a path that can be none */
export function findSocket({ socket, cwd = process.cwd(), env = process.env }: Asked = {}): Found {
  if (socket !== undefined) return { path: checkPath(resolve(cwd, socket)), by: 'option', fleetDir: null }
  const set = env['HOLT_UDS_PATH']
  if (set !== undefined && set !== '') return { path: checkPath(resolve(cwd, set)), by: 'env', fleetDir: null }
  const fleetDir = fleetAt(resolve(cwd))
  if (fleetDir !== null) return { path: socketFor(fleetDir, env), by: 'fleet', fleetDir }
  throw new HoltError(
    'NoHost',
    `expected --socket, HOLT_UDS_PATH or a folder with a ${FLEET_FILE} to find a host by, found none of them at ${cwd} or above`,
    { cwd },
  )
}

/** The nearest folder with a fleet, from here upwards. */
function fleetAt(dir: string): string | null {
  if (existsSync(join(dir, FLEET_FILE))) return dir
  const above = dirname(dir)
  return above === dir ? null : fleetAt(above)
}
