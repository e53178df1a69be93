/**
 * Whom the server lets speak at all, by the headers that a browser sets and a page cannot: a name that merely resolves
 * to this machine is refused (DNS rebinding), and so is a page of another origin. Pure. An address cannot be rebound, so
 * every address is right.
 */
import { isIP } from 'node:net'
import { HoltError } from '../../model/error.ts'

export interface Doors {
  /** Names under which it may be called, beside addresses and `localhost`; lower case. */
  readonly hosts: readonly string[]
  /** Origins whose pages may call it, as browsers write them: `https://example.org`. */
  readonly origins: readonly string[]
}

interface Asked {
  readonly host?: string | undefined
  readonly origin?: string | undefined
}

/** @throws HoltError `WrongHost`, `Forbidden` */
export function checkDoors({ host, origin }: Asked, { hosts, origins }: Doors): void {
  const name = host === undefined ? '' : nameOf(host)
  if (!isLocal(name) && !hosts.includes(name)) {
    throw new HoltError(
      'WrongHost',
      `Host: expected an address, localhost${hosts.map((one) => `, ${one}`).join('')}, found '${(host ?? '').slice(0, 80)}'. ` +
        'To allow it: --allow-host NAME',
    )
  }
  if (origin === undefined || origins.includes(origin)) return
  throw new HoltError(
    'Forbidden',
    `Origin: pages of '${origin.slice(0, 80)}' may not call this host. To allow them: --cors ORIGIN`,
  )
}

/** What browsers ask before they send what a page could not send by itself. */
export const corsHeaders = (origin: string): Record<string, string> => ({
  'Access-Control-Allow-Origin': origin,
  'Access-Control-Expose-Headers': 'ETag, Retry-After, Idempotency-Replayed',
  Vary: 'Origin',
})

export const preflightHeaders = (methods: readonly string[]): Record<string, string> => ({
  'Access-Control-Allow-Methods': methods.join(', '),
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, If-Match, Idempotency-Key, Last-Event-ID, traceparent',
  'Access-Control-Max-Age': '600',
})

const isLocal = (name: string): boolean => name === 'localhost' || isIP(name) !== 0

/** Without port and brackets; empty for what is none. */
function nameOf(host: string): string {
  const [, bracketed, plain] = /^(?:\[([0-9a-f:.]+)\]|([\w.-]+))(?::\d{1,5})?$/i.exec(host) ?? []
  return (bracketed ?? plain ?? '').toLowerCase().replace(/\.$/, '')
}
