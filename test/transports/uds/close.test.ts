/** The end of a server: what is asked is answered, what waits is told, nothing is left. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../../../src/testkit/eventually.ts'
import { RawClient } from '../raw-client.ts'
import { onSocket } from './on-socket.ts'

const ok = (result: unknown) => ({ ok: true, result })

describe('closing', () => {
  it('takes no new clients and answers what is in work', async () => {
    const { server, service, client } = await onSocket()
    const one = client().send({ cmd: 'hold' }, { cmd: 'soon', args: [2] })
    const quiet = client().send({ cmd: 'echo', args: [1] })
    await quiet.answered(1)
    await eventually(() => service.held.length === 1, 'a request in work')
    const closed = server.close()
    expect(await quiet.end()).toEqual([ok(1)])
    const late = new RawClient(server.path)
    await eventually(() => late.closed, 'a refusal')
    expect(late.error).toMatchObject({ code: 'ENOENT' })
    service.held[0]!('at last')
    expect(await one.end()).toEqual([ok('at last'), ok(2)])
    for (const { socket } of [one, quiet]) socket.end()
    await closed
    expect(server.connections).toBe(0)
  })

  it('cuts what has not ended within the grace', async () => {
    const { server, service, client, clock } = await onSocket()
    client().send({ cmd: 'hold' })
    const deaf = client().send({ cmd: 'text', args: [4_000_000] })
    deaf.socket.pause()
    await eventually(() => service.asked.length === 2, 'two requests in work')
    const closed = server.close()
    clock.advance(2000)
    await closed
    expect(server.connections).toBe(0)
    expect(clock.timers).toBe(0)
  })

  it('ends streams: in line form with the connection, in JSON-RPC with a word', async () => {
    const { server, service, client } = await onSocket()
    const line = client().send({ cmd: 'watch' })
    const rpc = client().send({ jsonrpc: '2.0', id: 1, method: 'watch' })
    await line.answered(1)
    await rpc.answered(1)
    const closed = server.close()
    expect(await line.end()).toEqual([ok(null)])
    expect((await rpc.end())[1]).toMatchObject({
      method: 'end',
      params: { subscription: 1, error: { code: 'ShuttingDown' } },
    })
    expect(service.open).toBe(0)
    for (const { socket } of [line, rpc]) socket.end()
    await closed
  })

  it('lets streams come to their own end where that is near', async () => {
    const { server, service, client } = await onSocket()
    const rpc = client().send({ jsonrpc: '2.0', id: 1, method: 'watch' })
    await rpc.answered(1)
    const closed = server.close('await')
    service.facts.next('the last')
    service.facts.complete()
    expect((await rpc.end()).slice(1)).toEqual([
      { jsonrpc: '2.0', method: 'facts', params: { subscription: 1, value: 'the last' } },
      { jsonrpc: '2.0', method: 'end', params: { subscription: 1 } },
    ])
    rpc.socket.end()
    await closed
  })

  it('opens no stream that was asked for before and comes to its turn after', async () => {
    const { server, service, client } = await onSocket()
    const one = client().send({ cmd: 'hold' }, { cmd: 'watch' })
    await eventually(() => service.held.length === 1, 'a request in work')
    const closed = server.close()
    service.held[0]!(1)
    expect(await one.end()).toMatchObject([ok(1), { ok: false, error: { code: 'ShuttingDown' } }])
    one.socket.end()
    await closed
  })

  it('is done once, however often it is asked for', async () => {
    const { server } = await onSocket()
    expect(server.close()).toBe(server.close('await'))
    await server.close()
  })
})
