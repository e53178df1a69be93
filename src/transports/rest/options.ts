/** What a host may be served over HTTP with, checked at the door. */
import { isIP } from 'node:net'
import { HoltError } from '../../model/error.ts'
import { REST_LIMITS } from './limits.ts'

export interface RestOptions {
  /** 0: any that is free. @default 8000 */
  readonly port?: number
  /** Address or name to listen at. Others than this machine reach it where it is no loopback one. @default '127.0.0.1' */
  readonly address?: string
  /** Names under which it may be called, beside addresses, `localhost` and `address`. @default none */
  readonly allowHosts?: readonly string[]
  /** Origins whose pages may call it. @default none */
  readonly corsOrigins?: readonly string[]
  /** Requests of one token a second; twice as many at once. @default 1000 */
  readonly requestsPerSecond?: number
}

export interface CheckedRest {
  readonly port: number
  readonly address: string
  readonly hosts: readonly string[]
  readonly origins: readonly string[]
  readonly perSecond: number
}

export const DEFAULT_PORT = 8000
const MAX_PORT = 65_535
const NAME = /^[a-z0-9]([\w.-]*[a-z0-9])?$/i

/** @throws HoltError `InvalidOption` */
export function checkRest(options: RestOptions): CheckedRest {
  const { port = DEFAULT_PORT, address = '127.0.0.1', allowHosts = [], corsOrigins = [] } = options
  const { requestsPerSecond = REST_LIMITS.perSecond } = options
  if (!Number.isInteger(port) || port < 0 || port > MAX_PORT) throw wrong('port', `a port from 0 to ${MAX_PORT}`, port)
  if (isIP(address) === 0 && !NAME.test(address)) throw wrong('address', 'an address or a name', address)
  for (const name of allowHosts) if (!NAME.test(name)) throw wrong('allowHosts', 'names like holt.example.org', name)
  for (const origin of corsOrigins)
    if (!isOrigin(origin)) throw wrong('corsOrigins', 'origins like https://example.org', origin)
  if (!Number.isFinite(requestsPerSecond) || requestsPerSecond < 1)
    throw wrong('requestsPerSecond', 'a number from 1', requestsPerSecond)
  const hosts = [...allowHosts, ...(isIP(address) === 0 ? [address] : [])].map((name) => name.toLowerCase())
  return { port, address, hosts, origins: corsOrigins, perSecond: requestsPerSecond }
}

/** Whether nobody but this machine reaches it. */
export const isLoopback = (address: string): boolean =>
  address === 'localhost' || address === '::1' || (isIP(address) === 4 && address.startsWith('127.'))

function isOrigin(text: string): boolean {
  try {
    return new URL(text).origin === text
  } catch {
    return false
  }
}

const wrong = (option: string, expected: string, found: unknown): HoltError =>
  new HoltError('InvalidOption', `rest.${option}: expected ${expected}, found '${String(found)}'`, { option })
