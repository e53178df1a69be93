/** A host on HTTP, at a port that is free, with a token for each access; and a client that sends what it is told to. */
import { type IncomingHttpHeaders, request } from 'node:http'
import { onTestFinished } from 'vitest'
import type { Host } from '../../../src/host/host.ts'
import type { Access } from '../../../src/model/access.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import type { RestLimits } from '../../../src/transports/rest/limits.ts'
import { listenRest, type RestServer } from '../../../src/transports/rest/server.ts'
import { type FleetText, hostFleet } from '../../fleet-on-disk.ts'
import { SMALL_FLEET } from '../small-fleet.ts'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The text, as JSON. */
  readonly json: Record<string, unknown>
}

export interface Sent {
  readonly method?: string
  readonly path: string
  /** Null: none. @default that of `admin` */
  readonly token?: string | null
  readonly headers?: Readonly<Record<string, string>>
  /** A text as it is, anything else as JSON with its content type. */
  readonly body?: unknown
}

export interface RestHost {
  readonly host: Host
  readonly server: RestServer
  readonly tokens: Readonly<Record<Access, string>>
  send(sent: Sent): Promise<Answer>
  get(path: string): Promise<Answer>
  post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>
}

export interface RestSetting {
  readonly fleet?: FleetText
  readonly limits?: Partial<RestLimits>
  readonly hosts?: readonly string[]
  readonly origins?: readonly string[]
}

export async function restHost({
  fleet = SMALL_FLEET,
  limits = {},
  hosts = [],
  origins = [],
}: RestSetting = {}): Promise<RestHost> {
  const host = await hostFleet(fleet)
  const server = await listenRest({ host, address: '127.0.0.1', port: 0, hosts, origins, limits, clock: systemClock })
  onTestFinished(() => server.close())
  const make = async (access: Access): Promise<string> => (await host.tokens.create({ name: access, access })).token
  const tokens = { read: await make('read'), control: await make('control'), admin: await make('admin') }
  const send = ({ method = 'GET', path, token = tokens.admin, headers = {}, body }: Sent): Promise<Answer> =>
    exchange(server.port, { method, path, body, headers: { ...authorization(token), ...headers } })
  return {
    host,
    server,
    tokens,
    send,
    get: (path) => send({ path }),
    post: (path, body, headers = {}) => send({ method: 'POST', path, body, headers }),
  }
}

const authorization = (token: string | null): Record<string, string> =>
  token === null ? {} : { Authorization: `Bearer ${token}` }

function exchange(port: number, { method, path, headers, body }: Required<Omit<Sent, 'token'>>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
    const type: Record<string, string> = text === body ? {} : { 'Content-Type': 'application/json' }
    // Without it Node sends the body of a DELETE unframed.
    if (text !== undefined) type['Content-Length'] = String(Buffer.byteLength(text))
    const req = request({ host: '127.0.0.1', port, method, path, agent: false, headers: { ...type, ...headers } })
    req.on('response', (res) => {
      let heard = ''
      res.setEncoding('utf8').on('data', (piece: string) => {
        heard += piece
      })
      res.on('error', reject)
      res.on('end', () => resolve({ status: res.statusCode!, headers: res.headers, text: heard, json: parsed(heard) }))
    })
    req.on('error', reject)
    req.end(text)
  })
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return {}
  }
}
