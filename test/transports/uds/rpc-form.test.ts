/** JSON-RPC 2.0 on the socket, by its specification. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../../../src/testkit/eventually.ts'
import { onSocket } from './on-socket.ts'

const rpc = (method: string, id?: unknown, params?: unknown, more: object = {}) => ({
  jsonrpc: '2.0',
  method,
  ...(params === undefined ? {} : { params }),
  ...(id === undefined ? {} : { id }),
  ...more,
})
const result = (id: unknown, value: unknown) => ({ jsonrpc: '2.0', result: value, id })
const failure = (id: unknown, code: number, data: object = {}) => ({
  jsonrpc: '2.0',
  error: { code, message: expect.any(String), data: expect.objectContaining(data) },
  id,
})
const facts = (subscription: number, value: unknown) => ({
  jsonrpc: '2.0',
  method: 'facts',
  params: { subscription, value },
})

describe('a request of JSON-RPC', () => {
  it('has params by position, with opts and who beside them, or by name', async () => {
    const { client } = await onSocket()
    const one = client()
    one.send(rpc('given', 1, ['a', 2], { opts: { now: true } }))
    one.send(rpc('given', 2, { id: 'a', __proto__: null }))
    one.send(rpc('given', 3), rpc('who', 4, [], { who: 'me' }), rpc('who', 5))
    expect(await one.answered(5)).toEqual([
      result(1, { args: ['a', 2], opts: { now: true } }),
      result(2, { input: { id: 'a' } }),
      result(3, { args: [], opts: {} }),
      result(4, 'me'),
      result(5, 'socket'),
    ])
  })

  it.each([[0], [-7], [1.5], ['a'], [''], [null], [Number.MAX_SAFE_INTEGER]])(
    'has the id %j again in its answer',
    async (id) => {
      const { client } = await onSocket()
      expect(
        await client()
          .send(rpc('echo', id, ['x']))
          .answered(1),
      ).toEqual([result(id, 'x')])
    },
  )

  it('without an id is done and not answered', async () => {
    const { client, service } = await onSocket()
    const one = client().send(rpc('echo'), rpc('refuse'), rpc('nothing'), rpc('watch'), rpc('echo', 1, ['x']))
    expect(await one.answered(1)).toEqual([result(1, 'x')])
    expect(service.names).toEqual(['echo', 'refuse', 'nothing', 'watch', 'echo'])
    expect(service.open).toBe(0)
  })

  it('is answered as it ends, not as it came', async () => {
    const { client, service } = await onSocket()
    const one = client().send(rpc('hold', 'slow'), rpc('echo', 'fast', [1]))
    expect(await one.answered(1)).toEqual([result('fast', 1)])
    service.held[0]!('at last')
    expect(await one.answered(2)).toEqual([result('fast', 1), result('slow', 'at last')])
  })

  it.each([
    ['broken JSON', '{"jsonrpc":"2.0","method', failure(null, -32700, { code: 'InvalidInput' })],
    ['a broken batch', '[{"jsonrpc":"2.0"', failure(null, -32700)],
    ['an empty batch', '[]', failure(null, -32600)],
    ['another version', '{"jsonrpc":"1.0","method":"echo","id":1}', failure(1, -32600)],
    ['a method that is no text', '{"jsonrpc":"2.0","method":1,"params":"bar"}', failure(null, -32600)],
    ['no method', '{"jsonrpc":"2.0","id":3}', failure(3, -32600)],
    ['an id that is an object', '{"jsonrpc":"2.0","method":"echo","id":{}}', failure(null, -32600)],
    ['an id that is not exact', '{"jsonrpc":"2.0","method":"echo","id":12345678901234567890}', failure(null, -32600)],
    ['params that are a text', '{"jsonrpc":"2.0","method":"echo","params":"x","id":4}', failure(4, -32600)],
    [
      'opts beside params by name',
      '{"jsonrpc":"2.0","method":"echo","params":{},"opts":{"a":1},"id":5}',
      failure(5, -32600),
    ],
    ['an unknown method', '{"jsonrpc":"2.0","method":"rpc.x","id":6}', failure(6, -32601, { code: 'NoSuchOperation' })],
    [
      'an input that does not fit',
      '{"jsonrpc":"2.0","method":"fields","id":7}',
      failure(7, -32602, { code: 'InvalidInput' }),
    ],
    ['a bug', '{"jsonrpc":"2.0","method":"bug","id":8}', failure(8, -32603, { code: 'Internal' })],
    [
      'a refusal',
      '{"jsonrpc":"2.0","method":"refuse","id":9}',
      failure(9, -32000, { code: 'AgentBusy', details: { holder: 'restart' } }),
    ],
  ])('that is wrong has its code, and the connection goes on: %s', async (_, line, expected) => {
    const { client } = await onSocket()
    const one = client().send(`${line}\n`)
    expect(await one.answered(1)).toEqual([expected])
    one.send(rpc('echo', 'after', [1]))
    expect((await one.answered(2))[1]).toEqual(result('after', 1))
  })

  it('shares the socket with the line form; what cannot be told apart is answered in the form of the last', async () => {
    const { client } = await onSocket()
    const one = client().send({ cmd: 'echo', args: [1] }, 'nonsense\n')
    await one.answered(2)
    one.send(rpc('echo', 2, [2]))
    await one.answered(3)
    one.send('nonsense\n')
    const answers = await one.answered(4)
    expect(answers).toMatchObject([{ ok: true }, { ok: false }, result(2, 2), { jsonrpc: '2.0', id: null }])
  })
})

describe('a batch', () => {
  it('is answered whole, with what is wrong in it, and nothing for notifications', async () => {
    const { client, service } = await onSocket()
    const one = client().send([rpc('hold', 1), rpc('echo', 2, ['b']), rpc('echo'), 1, rpc('nothing', 'c')])
    await eventually(() => service.held.length === 1, 'the slow one in work')
    expect(one.lines).toEqual([])
    service.held[0]!('a')
    expect(await one.answered(1)).toEqual([
      [result(1, 'a'), result(2, 'b'), failure(null, -32600), failure('c', -32601)],
    ])
  })

  it('of notifications gets no answer', async () => {
    const { client } = await onSocket()
    const one = client().send([rpc('echo'), rpc('refuse')], rpc('echo', 1, ['x']))
    expect(await one.answered(1)).toEqual([result(1, 'x')])
  })

  it('that is too large is refused as one', async () => {
    const { client, service } = await onSocket({ limits: { batch: 3 } })
    const one = client().send([rpc('echo', 1), rpc('echo', 2), rpc('echo', 3)])
    one.send([1, 2, 3, 4])
    const answers = await one.answered(2)
    expect(answers).toContainEqual(failure(null, -32600))
    expect(answers.find((answer) => Array.isArray(answer))).toHaveLength(3)
    expect(service.asked).toHaveLength(3)
  })
})

describe('a subscription', () => {
  it('is answered with its number, and its values follow as notifications', async () => {
    const { client, service } = await onSocket()
    const one = client().send(rpc('watch', 'w'), rpc('watch', 'v'))
    expect(await one.answered(2)).toEqual([result('w', { subscription: 1 }), result('v', { subscription: 2 })])
    service.facts.next({ seq: 1 })
    one.send(rpc('echo', 1, ['between']))
    expect(await one.answered(5)).toEqual([
      expect.anything(),
      expect.anything(),
      facts(1, { seq: 1 }),
      facts(2, { seq: 1 }),
      result(1, 'between'),
    ])
  })

  it.each([
    ['by position', [1]],
    ['by name', { subscription: 1 }],
  ])('ends by unsubscribe, %s, and nothing comes after the answer', async (_, params) => {
    const { client, service } = await onSocket()
    const one = client().send(rpc('watch', 'w'))
    await one.answered(1)
    one.send(rpc('unsubscribe', 'u', params))
    expect((await one.answered(2))[1]).toEqual(result('u', true))
    expect(service.open).toBe(0)
    service.facts.next({ seq: 1 })
    one.send(rpc('unsubscribe', 'again', params))
    expect((await one.answered(3))[2]).toEqual(failure('again', -32602))
  })

  it('whose stream ends or fails is told so, and the connection goes on', async () => {
    const { client } = await onSocket()
    const one = client().send(rpc('brief', 'b'))
    expect((await one.answered(4)).slice(1)).toEqual([
      facts(1, 1),
      facts(1, 2),
      { jsonrpc: '2.0', method: 'end', params: { subscription: 1 } },
    ])
    one.send(rpc('broken', 'c'), rpc('echo', 1, ['x']))
    expect((await one.answered(7)).slice(4)).toEqual([
      result('c', { subscription: 2 }),
      {
        jsonrpc: '2.0',
        method: 'end',
        params: { subscription: 2, error: expect.objectContaining({ code: 'AgentDied' }) },
      },
      result(1, 'x'),
    ])
  })

  it('in a batch begins once the batch is answered', async () => {
    const { client, service } = await onSocket()
    const one = client().send([rpc('brief', 1), rpc('hold', 2)])
    await eventually(() => service.held.length === 1, 'the slow one in work')
    service.held[0]!('x')
    expect(await one.answered(4)).toEqual([
      [result(1, { subscription: 1 }), result(2, 'x')],
      facts(1, 1),
      facts(1, 2),
      expect.objectContaining({ method: 'end' }),
    ])
  })

  it('is one of so many, and no more', async () => {
    const { client, service } = await onSocket({ limits: { subscriptions: 2 } })
    const one = client().send(rpc('watch', 1), rpc('watch', 2), rpc('watch', 3))
    expect((await one.answered(3))[2]).toEqual(failure(3, -32000, { code: 'Overloaded' }))
    expect(service.open).toBe(2)
  })

  it('ends with its client, also one that goes before it is answered', async () => {
    const { client, service, server } = await onSocket()
    const one = client().send([rpc('watch', 1), rpc('hold', 2)])
    await eventually(() => service.held.length === 1, 'the batch in work')
    one.socket.destroy()
    await eventually(() => {
      service.held[0]!('x')
      return server.connections === 0
    }, 'the end of the connection')
    expect(service.open).toBe(0)
  })
})
