/** `holt/client` in front of a real host, by socket and by HTTP: typed calls, and streams whose connection is cut. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { waitMs } from '../../../src/streams/reconnecting.ts'
import { eventually } from '../../../src/testkit/eventually.ts'
import type { Fact } from '../../../src/transports/client/connect.ts'
import { ROUTES, SOCKET_ONLY } from '../../../src/transports/client/routes.ts'
import { OPERATIONS } from '../../../src/transports/operations.ts'
import { behindRelay, MODES } from './two-ways.ts'

const CUTS = 50

it('knows every operation, as the table has it', () => {
  const table = OPERATIONS.flatMap(({ name, rest, positional }) =>
    rest === null ? [] : [[name, { ...rest, positional }] as const],
  )
  expect(ROUTES).toEqual(Object.fromEntries(table))
  const others = OPERATIONS.flatMap(({ name, rest, positional }) =>
    rest === null ? [[name, positional] as const] : [],
  )
  expect(SOCKET_ONLY).toEqual(Object.fromEntries(others))
})

it('waits longer after each failure, up to a bound, half of it by chance', () => {
  expect([0, 1, 2, 20].map((n) => waitMs(n, 100, 1000, 0))).toEqual([50, 100, 200, 500])
  expect(waitMs(20, 100, 1000, 1)).toBe(1000)
})

describe.each(MODES)('a client by %s', (mode) => {
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
    const { host, client, relay } = await behindRelay(mode)
    const seen: Fact[] = []
    const told = client.facts({ since: 0 }).subscribe((fact) => void seen.push(fact))
    onTestFinished(() => told.unsubscribe())
    for (let cuts = 0; cuts < CUTS; cuts++) {
      const before = seen.length
      await host.command('hand', cuts % 2 === 0 ? 'pause' : 'resume', { by: 'test' })
      // Half of the cuts come while it is told something.
      if (cuts % 2 === 0) await eventually(() => seen.length > before, 'a fact')
      relay.cut()
    }
    await eventually(() => seen.at(-1)?.seq === host.cursor, 'the newest fact')
    const seqs = seen.map(({ seq }) => seq)
    expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, n) => seqs[0]! + n))
    expect(seen.filter(({ kind }) => kind === 'stream.gap')).toEqual([])
  }, 60_000)

  it('tells how an agent stands, at first and after each change', async () => {
    const { host, client, relay } = await behindRelay(mode)
    const seen: string[] = []
    const told = client.agent('hand').snapshot$.subscribe(({ admission }) => void seen.push(admission))
    onTestFinished(() => told.unsubscribe())
    await eventually(() => seen.length > 0, 'a snapshot')
    relay.cut()
    await host.command('hand', 'pause', { by: 'test' })
    await eventually(() => seen.at(-1) === 'cordoned', 'the change')
  })
})
