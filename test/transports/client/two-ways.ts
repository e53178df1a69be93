/** One host, and a client of it by socket or by HTTP: straight, or behind a relay that cuts. All of it ends with the test. */
import { createServer, connect as dial, type NetConnectOpts, type Socket } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Host } from '../../../src/host/host.ts'
import { connect, type HostClient, type HostOptions } from '../../../src/transports/client/connect.ts'
import { type Served, serve } from '../../../src/transports/serve.ts'
import type { FleetText } from '../../fleet-on-disk.ts'
import { type RestHost, restHost } from '../rest/rest-host.ts'
import { ownFolder } from '../uds/on-socket.ts'

export const MODES = ['socket', 'url'] as const
export type Mode = (typeof MODES)[number]

export interface Way {
  readonly host: Host
  readonly rest: RestHost
  readonly served: Served
  /** How the host is reached. */
  readonly to: HostOptions
  readonly client: HostClient
}

export interface WaySetting {
  readonly fleet?: FleetText
  readonly options?: Partial<HostOptions>
}

export async function reached(mode: Mode, setting: WaySetting = {}): Promise<Way> {
  const way = await hosted(mode, setting)
  return { ...way, client: await connected({ ...way.to, ...setting.options }) }
}

export async function connected(options: HostOptions): Promise<HostClient> {
  const client = await connect(options)
  onTestFinished(() => client.close())
  return client
}

async function hosted(mode: Mode, { fleet }: WaySetting): Promise<Omit<Way, 'client'>> {
  const rest = await restHost(fleet === undefined ? {} : { fleet })
  const socket = join(ownFolder(), 's')
  const served = await serve(rest.host, { socket })
  onTestFinished(() => served.close())
  const to = mode === 'socket' ? { socket } : { url: rest.server.url, token: rest.tokens.admin }
  return { host: rest.host, rest, served, to }
}

export interface Relay {
  readonly options: HostOptions
  /** Connections that are open. */
  readonly size: number
  /** Cuts every connection; how many there were. */
  cut(): number
  /** While it is shut, whoever connects is cut at once. */
  shut: boolean
  /** How many have connected, shut or not. */
  readonly dialled: number
}

export interface CutWay extends Way {
  readonly relay: Relay
}

export async function behindRelay(mode: Mode, setting: WaySetting = {}): Promise<CutWay> {
  const way = await hosted(mode, setting)
  const relay = await relayTo(way.to)
  return { ...way, relay, client: await connected({ ...relay.options, ...setting.options }) }
}

/** Passes bytes on between a client and a host. */
export async function relayTo({ socket, url, token }: HostOptions): Promise<Relay> {
  const open = new Set<Socket>()
  const at = url === undefined ? null : new URL(url)
  const to: NetConnectOpts = at === null ? { path: socket! } : { host: at.hostname, port: Number(at.port) }
  let dialled = 0
  const server = createServer((near) => {
    dialled++
    near.on('error', () => {})
    if (relay.shut) return void near.destroy()
    const far = dial(to)
    open.add(near)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => {})
      one.on('close', () => {
        open.delete(near)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  const path = join(ownFolder(), 'r')
  await new Promise<void>((resolve) =>
    at === null ? server.listen(path, resolve) : server.listen(0, '127.0.0.1', resolve),
  )
  const { port } = server.address() as { readonly port: number }
  const relay = {
    shut: false,
    options: at === null ? { socket: path } : { url: `http://127.0.0.1:${port}`, token: token! },
    get size() {
      return open.size
    },
    get dialled() {
      return dialled
    },
    cut() {
      const { size } = open
      for (const one of open) one.destroy()
      return size
    },
  }
  onTestFinished(() => {
    server.close()
    relay.cut()
  })
  return relay
}
