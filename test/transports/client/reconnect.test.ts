/** `holt/client` in front of a real host, by socket and by HTTP: typed calls, and streams whose connection is cut. */
import { createServer, connect as dial, type NetConnectOpts, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Host } from '../../../src/host/host.ts'
import { waitMs } from '../../../src/streams/reconnecting.ts'
import { eventually } from '../../../src/testkit/eventually.ts'
import { connect, type Fact, type HostClient } from '../../../src/transports/client/connect.ts'
import { ROUTES } from '../../../src/transports/client/routes.ts'
import { OPERATIONS } from '../../../src/transports/operations.ts'
import { serve } from '../../../src/transports/serve.ts'
import { restHost } from '../rest/rest-host.ts'
import { ownFolder } from '../uds/on-socket.ts'

const CUTS = 50

interface Way {
  readonly host: Host
  readonly client: HostClient
  /** Cuts every connection; how many there were. */
  cut(): number
}

/** A host behind a relay that cuts. */
async function behindRelay(mode: 'socket' | 'url'): Promise<Way> {
  const { host, server, tokens } = await restHost()
  const folder = ownFolder()
  const socket = join(folder, 's')
  const served = await serve(host, { socket })
  onTestFinished(() => served.close())
  const relayed = new Set<Socket>()
  const to: NetConnectOpts = mode === 'socket' ? { path: socket } : { host: '127.0.0.1', port: server.port }
  const relay = createServer((near) => {
    const far = dial(to)
    relayed.add(near)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => {})
      one.on('close', () => {
        relayed.delete(near)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  const path = join(folder, 'r')
  await new Promise<void>((resolve) => {
    if (mode === 'socket') relay.listen(path, resolve)
    else relay.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => void relay.close())
  const cut = (): number => {
    const { size } = relayed
    for (const one of relayed) one.destroy()
    return size
  }
  onTestFinished(() => void cut())
  const address = relay.address() as { port: number }
  const client = await connect(
    mode === 'socket' ? { socket: path } : { url: `http://127.0.0.1:${address.port}`, token: tokens.admin },
  )
  onTestFinished(() => client.close())
  return { host, client, cut }
}

it('knows every operation that REST has, as the table has it', () => {
  const table = OPERATIONS.flatMap(({ name, rest, positional }) =>
    rest === null ? [] : [[name, { ...rest, positional }] as const],
  )
  expect(ROUTES).toEqual(Object.fromEntries(table))
})

it('waits longer after each failure, up to a bound, half of it by chance', () => {
  expect([0, 1, 2, 20].map((n) => waitMs(n, 100, 1000, 0))).toEqual([50, 100, 200, 500])
  expect(waitMs(20, 100, 1000, 1)).toBe(1000)
})

describe.each(['socket', 'url'] as const)('a client by %s', (mode) => {
  it('calls by name, and has errors of the host with their code', async () => {
    const { client } = await behindRelay(mode)
    expect((await client.call('status')).agents.map(({ id }) => id)).toContain('hand')
    expect((await client.call('get', { id: 'hand' })).id).toBe('hand')
    await expect(client.call('get', { id: 'nobody' })).rejects.toMatchObject({ code: 'NoSuchAgent' })
    const given = AbortSignal.abort()
    await expect(client.call('status', {}, { signal: given })).rejects.toMatchObject({ code: 'Aborted' })
    client.close()
    await expect(client.call('status')).rejects.toThrow(/not connected/)
  })

  it(`has every fact once, in order, though it is cut ${CUTS} times`, async () => {
    const { host, client, cut } = await behindRelay(mode)
    const seen: Fact[] = []
    const told = client.facts({ since: 0 }).subscribe((fact) => void seen.push(fact))
    onTestFinished(() => told.unsubscribe())
    for (let cuts = 0; cuts < CUTS; cuts++) {
      const before = seen.length
      await host.command('hand', cuts % 2 === 0 ? 'pause' : 'resume', { by: 'test' })
      // Half of the cuts come while it is told something.
      if (cuts % 2 === 0) await eventually(() => seen.length > before, 'a fact')
      cut()
    }
    await eventually(() => seen.at(-1)?.seq === host.cursor, 'the newest fact')
    const seqs = seen.map(({ seq }) => seq)
    expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, n) => seqs[0]! + n))
    expect(seen.filter(({ kind }) => kind === 'stream.gap')).toEqual([])
  }, 60_000)

  it('tells how an agent stands, at first and after each change', async () => {
    const { host, client, cut } = await behindRelay(mode)
    const seen: string[] = []
    const told = client.agent('hand').snapshot$.subscribe(({ admission }) => void seen.push(admission))
    onTestFinished(() => told.unsubscribe())
    await eventually(() => seen.length > 0, 'a snapshot')
    cut()
    await host.command('hand', 'pause', { by: 'test' })
    await eventually(() => seen.at(-1) === 'cordoned', 'the change')
  })
})
