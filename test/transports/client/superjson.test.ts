/** Values that JSON does not have, through the client and back: as they left, or refused by name. */
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connect as connectPlain } from '../../../src/transports/client/client.ts'
import { connect, type HostClient } from '../../../src/transports/client/connect.ts'
import { serve } from '../../../src/transports/serve.ts'
import { role } from '../../fleet-on-disk.ts'
import { restHost } from '../rest/rest-host.ts'
import { onSocket, ownFolder } from '../uds/on-socket.ts'

const FLEET = {
  agents: { hand: { role: role("commands: { echo: { summary: 'the same', handle: (value) => value } }") } },
}

async function client(mode: 'socket' | 'url'): Promise<HostClient> {
  const { host, server, tokens } = await restHost({ fleet: FLEET })
  const socket = join(ownFolder(), 's')
  const served = await serve(host, { socket })
  onTestFinished(() => served.close())
  const made = await connect(mode === 'socket' ? { socket } : { url: server.url, token: tokens.admin })
  onTestFinished(() => made.close())
  return made
}

const KEYED: unknown = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}')

describe.each(['socket', 'url'] as const)('by %s', (mode) => {
  it('values arrive as they left, there and back', async () => {
    const holt = await client(mode)
    for (const value of [
      { at: new Date(5), never: new Date(7), map: new Map<unknown, unknown>([[1n, new Set(['a', Number.NaN])]]) },
      [undefined, -0, Number.NEGATIVE_INFINITY, 2n ** 70n, /a/gi],
      { bytes: new Uint8Array([1, 2]), json: { meta: 1 } },
      { json: 1, meta: { values: ['Date'] } },
      KEYED,
      null,
      'text',
    ])
      expect(await holt.agent('hand').ask('echo', value)).toEqual(value)
    const failed = await holt.agent('hand').ask('echo', new TypeError('bad', { cause: new Date(1) }))
    expect(failed).toBeInstanceOf(Error)
    expect(failed).toMatchObject({ name: 'TypeError', message: 'bad', cause: new Date(1) })
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(await holt.agent('hand').ask('echo')).toBeUndefined()
    expect(await holt.agent('hand').emit('nothing-of-the-kind', { at: new Date(0) })).toHaveProperty('fate')
  })

  it('what cannot be carried is refused, and the field named', async () => {
    const holt = await client(mode)
    class Own {}
    for (const [payload, field] of [
      [{ deep: [{ f: () => 1 }] }, 'payload.deep.0.f'],
      [{ s: Symbol('s') }, 'payload.s'],
      [{ own: new Own() }, 'payload.own'],
      [{ at: new Date(0), more: KEYED }, 'payload.more'],
    ] as const)
      await expect(holt.agent('hand').ask('echo', payload)).rejects.toMatchObject({
        code: 'NotCloneable',
        message: expect.stringContaining(`${field}: `),
      })
  })
})

it('is plain JSON for who did not ask, and refuses what is no superjson', async () => {
  const { server, client: raw } = await onSocket()
  const plain = await connectPlain({ path: server.path })
  onTestFinished(() => plain.close())
  expect(await plain.call('echo', [{ json: 1, meta: 2 }])).toEqual({ json: 1, meta: 2 })
  const asked = async (text: string): Promise<unknown> => (await raw().send(`${text}\n`).answered(1))[0]
  expect(
    await asked(
      '{"cmd":"echo","encoding":"superjson","args":{"json":["1970-01-01T00:00:00.000Z"],"meta":{"values":{"0":["Date"]}}}}',
    ),
  ).toEqual({
    ok: true,
    result: { json: '1970-01-01T00:00:00.000Z', meta: expect.objectContaining({ values: ['Date'] }) },
  })
  for (const bad of [
    '{"cmd":"echo","encoding":"xml"}',
    '{"cmd":"echo","encoding":"superjson","args":[1]}',
    '{"cmd":"echo","encoding":"superjson","args":{"json":[{"__proto__":{"a":1}}],"meta":{"values":{"0.a":["Date"]}}}}',
    '{"cmd":"echo","encoding":"superjson","args":{"json":[{}],"meta":{"values":{"0.__proto__.a":["Date"]}}}}',
    '{"cmd":"echo","encoding":"superjson","args":{"json":[1],"meta":{"values":{"0":["class","X"]}}}}',
    '{"cmd":"echo","encoding":"superjson","args":{"json":[1],"meta":7}}',
  ])
    expect({ bad, answer: await asked(bad) }).toMatchObject({ answer: { ok: false, error: { code: 'InvalidInput' } } })
})
