/** The line form of the socket: a request a line, an answer a line. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../../../src/testkit/eventually.ts'
import { onSocket } from './on-socket.ts'

const ok = (result: unknown) => ({ ok: true, result })
const refusal = (code: string, message: unknown = expect.any(String)) => ({
  ok: false,
  error: { code, message, details: expect.any(Object) },
})

describe('a request in line form', () => {
  it('is answered by one line', async () => {
    const { client } = await onSocket()
    const one = client().send({ cmd: 'given', args: ['greeter', null], opts: { reason: 'x' } })
    expect(await one.answered(1)).toEqual([ok({ args: ['greeter', null], opts: { reason: 'x' } })])
  })

  it('says who calls, or that it came over the socket', async () => {
    const { client } = await onSocket()
    const one = client().send({ cmd: 'who', who: 'me' }, { cmd: 'who' })
    expect(await one.answered(2)).toEqual([ok('me'), ok('socket')])
  })

  it('is answered by null where there is nothing to say', async () => {
    const { client } = await onSocket()
    expect(await client().send({ cmd: 'echo' }).answered(1)).toEqual([ok(null)])
  })

  it('that fails is answered with code, message and details, and no stack', async () => {
    const { client } = await onSocket()
    const one = client().send({ cmd: 'refuse' }, { cmd: 'bug' }, { cmd: 'statsu' }, { cmd: 'constructor' })
    expect(await one.answered(4)).toEqual([
      { ok: false, error: { code: 'AgentBusy', message: 'restart holds it', details: { holder: 'restart' } } },
      refusal('Internal'),
      refusal('NoSuchOperation'),
      refusal('NoSuchOperation'),
    ])
    expect(one.lines.join()).not.toMatch(/stack|\.ts:/)
  })

  it.each([
    ['a text', '"status"', /expected \{"cmd":…\}, found 'status'/],
    ['a number', '7', /found 7/],
    ['null', 'null', /found null/],
    ['no cmd', '{}', /cmd: expected the name of an operation, found nothing/],
    ['a number as cmd', '{"cmd":0}', /cmd: .*found 0/],
    ['args that are no list', '{"cmd":"echo","args":{"0":1}}', /args: expected a list, found an object/],
    ['opts that are no object', '{"cmd":"echo","opts":[1]}', /opts: expected an object, found a list/],
    ['a who without end', JSON.stringify({ cmd: 'echo', who: 'x'.repeat(257) }), /who: .*256/],
    [
      'a key it does not have',
      '{"cmd":"echo","opt":{"dryRun":true}}',
      /the keys cmd, args, opts, who, encoding, found 'opt'/,
    ],
    ['no JSON', 'status', /expected a line of JSON, found 'status'/],
    ['half of it', '{"cmd":"echo"', /expected a line of JSON/],
    ['cmd behind a prototype', '{"__proto__":{"cmd":"echo"}}', /cmd: .*found nothing/],
  ])('that is wrong is refused in its turn, and the connection goes on: %s', async (_, line, message) => {
    const { client } = await onSocket()
    const one = client().send({ cmd: 'echo', args: [1] }, `${line}\n`, { cmd: 'echo', args: [2] })
    expect(await one.answered(3)).toEqual([ok(1), refusal('InvalidInput', expect.stringMatching(message)), ok(2)])
  })

  it('may be blank, end with CR LF, or begin with a byte order mark', async () => {
    const { client } = await onSocket()
    const one = client().send('\n \r\n\t\n{"cmd":"echo","args":[1]}\r\n', '\ufeff{"cmd":"echo","args":[2]}\n')
    expect(await one.answered(2)).toEqual([ok(1), ok(2)])
  })
})

describe('requests of one connection in line form', () => {
  it('are begun one after the other and answered in their order', async () => {
    const { client, service } = await onSocket()
    const one = client().send({ cmd: 'hold' }, { cmd: 'echo', args: [2] }, '[broken\n'.slice(1), {
      cmd: 'soon',
      args: [4],
    })
    await eventually(() => service.held.length === 1, 'the first in work')
    const other = client().send({ cmd: 'echo', args: ['other'] })
    expect(await other.answered(1)).toEqual([ok('other')])
    expect(service.names).toEqual(['hold', 'echo'])
    expect(one.lines).toEqual([])
    service.held[0]!(1)
    expect(await one.answered(4)).toEqual([ok(1), ok(2), refusal('InvalidInput'), ok(4)])
  })
})

describe('a stream in line form', () => {
  it('answers ok, then a value a line, until the client goes', async () => {
    const { client, service } = await onSocket()
    const one = client().send({ cmd: 'watch' })
    await eventually(() => service.open === 1, 'a subscription')
    service.facts.next({ seq: 1 })
    service.facts.next({ seq: 2 })
    expect(await one.answered(3)).toEqual([ok(null), { seq: 1 }, { seq: 2 }])
    one.socket.destroy()
    await eventually(() => service.open === 0, 'the end of the subscription')
  })

  it('takes the connection: a later line is told so among the values', async () => {
    const { client, service } = await onSocket()
    const one = client().send({ cmd: 'watch' }, { cmd: 'echo', args: [1] })
    await one.answered(2)
    service.facts.next({ seq: 1 })
    expect(await one.answered(3)).toEqual([
      ok(null),
      refusal('InvalidCommand', expect.stringContaining("'watch'")),
      { seq: 1 },
    ])
  })

  it('that ends, or fails, ends the connection', async () => {
    const { client } = await onSocket()
    expect(await client().send({ cmd: 'brief' }).end()).toEqual([ok(null), 1, 2])
    expect(await client().send({ cmd: 'broken' }).end()).toEqual([ok(null), refusal('AgentDied', 'it died')])
  })

  it('that cannot be opened is refused, and the connection goes on', async () => {
    const { client } = await onSocket()
    const one = client().send({ cmd: 'shut' }, { cmd: 'echo', args: [1] })
    expect(await one.answered(2)).toEqual([refusal('NoSuchAgent'), ok(1)])
  })

  it('goes on for a client that has ended its own side, and ends when it goes altogether', async () => {
    const { client, service, clock, server } = await onSocket()
    const one = client().send({ cmd: 'watch' })
    one.socket.end()
    await one.answered(1)
    service.facts.next({ seq: 1 })
    expect(await one.answered(2)).toEqual([ok(null), { seq: 1 }])
    expect(one.ended).toBe(false)
    one.socket.destroy()
    await eventually(() => {
      clock.advance(1000)
      return service.open === 0 && server.connections === 0
    }, 'the end of the subscription, though no value was sent')
  })
})
