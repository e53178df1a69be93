/** A host on a socket: the table of operations over the wire, and how both end together. */
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Host } from '../../src/host/host.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { type Client, connect } from '../../src/transports/client/client.ts'
import { findSocket } from '../../src/transports/client/find-socket.ts'
import { type Served, serve } from '../../src/transports/serve.ts'
import { hostFleet } from '../fleet-on-disk.ts'
import { Gate } from '../gate.ts'
import { HAND } from '../host/hand.ts'
import { RawClient } from './raw-client.ts'
import { ownFolder } from './uds/on-socket.ts'

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

async function served(socket?: string): Promise<{ host: Host; served: Served & { socket: string }; client: Client }> {
  const host = await hostFleet({ agents: { hand: { role: HAND } } })
  const at = await serve(host, { socket: socket ?? join(ownFolder(), 's') })
  const client = await connect({ path: at.socket, who: 'me' })
  onTestFinished(async () => {
    client.close()
    await at.close()
  })
  return { host, served: at, client }
}

describe('a host on a socket', () => {
  it('is commanded over it, in both forms, and records who did', async () => {
    const { host, client, served: at } = await served()
    expect(await client.call('pause', ['hand'], { reason: 'to see' })).toMatchObject({
      phase: 'PAUSED',
      reason: 'to see',
    })
    expect(host.agent('hand').snapshot()).toMatchObject({ status: 'Paused', pausedBy: 'me' })
    const raw = new RawClient(at.socket).send({ cmd: 'resume', args: ['hand'] }, { cmd: 'ask', args: ['hand', 'ping'] })
    expect(await raw.answered(2)).toMatchObject([
      { ok: true, result: { phase: 'ACTIVE' } },
      { ok: true, result: 'pong' },
    ])
    raw.send({ jsonrpc: '2.0', id: 1, method: 'get', params: { id: 'hand' } })
    expect((await raw.answered(3))[2]).toMatchObject({ id: 1, result: { id: 'hand', status: 'Running' } })
    raw.send({ cmd: 'pause', args: ['hnad'] }, { cmd: 'pause' })
    expect((await raw.answered(5)).slice(3)).toMatchObject([
      { error: { code: 'NoSuchAgent', message: expect.stringContaining("'hand'") } },
      { error: { code: 'InvalidInput', message: expect.stringContaining('id: expected string, found nothing') } },
    ])
    raw.socket.destroy()
  })

  it('is watched over it', async () => {
    const { client } = await served()
    const stream = client.stream('watch', ['hand'])
    await stream.opened
    await client.call('pause', ['hand'])
    const kinds: unknown[] = []
    for await (const fact of stream) {
      kinds.push(Reflect.get(fact as object, 'kind'))
      if (kinds.includes('agent.command')) break
    }
    expect(kinds).toContain('agent.phase')
  })

  it('takes the socket with it when it ends; followers have the last facts, and the shutdown is answered', async () => {
    const { host, client, served: at } = await served()
    const stream = client.stream('watch')
    await stream.opened
    const ended = client.call('shutdown')
    const kinds: unknown[] = []
    for await (const fact of stream) kinds.push(Reflect.get(fact as object, 'kind'))
    expect(kinds.at(-1)).toBe('host.stopped')
    expect(await ended).toMatchObject({ killed: [], stuck: [] })
    await host.shutdown()
    expect(exists(at.socket)).toBe(false)
    await at.close()
    await expect(connect({ path: at.socket })).rejects.toMatchObject({ code: 'NoHost' })
  })

  it('leaves it without ending, and what is asked is answered first', async () => {
    const { host, client, served: at } = await served()
    const gate = new Gate()
    const asked = client.call('ask', ['hand', 'ping'])
    expect(await asked).toBe('pong')
    host.agent('hand').tell('hold', gate.cells)
    await eventually(() => gate.reached === 1, 'a handler at the gate')
    const pausing = client.call('pause', ['hand'])
    await eventually(() => host.agent('hand').phase === 'PAUSING', 'PAUSING')
    const closed = at.close()
    gate.open()
    expect(await pausing).toMatchObject({ phase: 'PAUSED' })
    await closed
    expect(exists(at.socket)).toBe(false)
    expect(host.agent('hand').phase).toBe('PAUSED')
  })

  it('is found by clients in the folder of its fleet', async () => {
    const run = ownFolder()
    const before = { run: process.env['XDG_RUNTIME_DIR'], uds: process.env['HOLT_UDS_PATH'] }
    process.env['XDG_RUNTIME_DIR'] = run
    delete process.env['HOLT_UDS_PATH']
    onTestFinished(() => {
      for (const [key, value] of [
        ['XDG_RUNTIME_DIR', before.run],
        ['HOLT_UDS_PATH', before.uds],
      ] as const) {
        if (value === undefined) delete process.env[key]
        else process.env[key] = value
      }
    })
    const host = await hostFleet({ agents: { hand: { role: HAND } } })
    const at = await serve(host, { socket: true })
    expect(findSocket({ cwd: join(host.fleetDir, 'agents') })).toEqual({
      path: at.socket,
      by: 'fleet',
      fleetDir: host.fleetDir,
    })
    expect(at.socket.startsWith(`${run}/holt/`)).toBe(true)
    const second = serve(host, { socket: true })
    await expect(second).rejects.toThrow(new RegExp(`is in use: host h.* answers there \\(process ${process.pid}\\)`))
    await at.close()
    process.env['HOLT_UDS_PATH'] = join(run, 'env.sock')
    const named = await serve(host, { socket: true })
    expect(named.socket).toBe(join(run, 'env.sock'))
    await named.close()
  })
})
