/** What a socket server bears with: clients that leave, do not read, ask for too much, or are too many. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../../../src/testkit/eventually.ts'
import { onSocket } from './on-socket.ts'

const ok = (result: unknown) => ({ ok: true, result })
const MIB = 1_048_576

describe('a client that leaves', () => {
  it('C101: while it is answered harms nobody, 500 times', async () => {
    const { client, server, service } = await onSocket()
    const follower = client().send({ cmd: 'watch' })
    await follower.answered(1)
    for (let n = 0; n < 500; n++) {
      const leaver = client().send(
        n % 2 === 0 ? { cmd: 'text', args: [300_000] } : { jsonrpc: '2.0', id: n, method: 'watch' },
      )
      const asked = service.asked.length
      await eventually(() => service.asked.length > asked || leaver.lines.length > 0, 'the request in work')
      leaver.socket.destroy()
      service.facts.next({ seq: n })
    }
    await eventually(() => server.connections === 1 && service.open === 1, 'the end of all but the follower')
    const answers = await follower.answered(501)
    expect(answers.slice(1)).toEqual(Array.from({ length: 500 }, (_, seq) => ({ seq })))
  })

  it('C101: before its request has been answered leaves nothing behind', async () => {
    const { client, server, service } = await onSocket()
    const leaver = client().send({ cmd: 'hold' }, { cmd: 'echo', args: [1] })
    await eventually(() => service.held.length === 1, 'the request in work')
    leaver.socket.destroy()
    service.held[0]!('x'.repeat(MIB))
    await eventually(() => server.connections === 0, 'the end of the connection')
    expect(service.names).toEqual(['hold', 'echo'])
  })
})

describe('a client that ends its own side', () => {
  it('C107: has its answers, then the server ends its own; 1,000 times nothing is left open', async () => {
    const { client, server } = await onSocket()
    for (let round = 0; round < 10; round++) {
      const all = Array.from({ length: 100 }, () => {
        const one = client().send({ cmd: 'text', args: [10_000] }, { cmd: 'soon', args: [1] })
        one.socket.end()
        return one
      })
      for (const one of all) expect((await one.end()).at(-1)).toEqual(ok(1))
    }
    await eventually(() => server.connections === 0, 'no connection')
  })

  it('C107: waits for a slow answer', async () => {
    const { client, service, server } = await onSocket()
    const one = client().send({ cmd: 'hold' }, { jsonrpc: '2.0', id: 1, method: 'hold' })
    one.socket.end()
    await eventually(() => service.held.length === 2, 'two requests in work')
    expect(one.ended).toBe(false)
    service.held[0]!('a')
    service.held[1]!('b')
    expect(await one.end()).toHaveLength(2)
    await eventually(() => one.closed && server.connections === 0, 'no connection')
  })

  it('need not end its last line', async () => {
    const { client } = await onSocket()
    const one = client().send('{"cmd":"echo","args":[1]}\n{"cmd":"echo","args":[2]}')
    one.socket.end()
    expect(await one.end()).toEqual([ok(1), ok(2)])
    const cut = client().send('{"cmd":"echo","args":[1]')
    cut.socket.end()
    expect(await cut.end()).toMatchObject([{ ok: false, error: { code: 'InvalidInput' } }])
  })
})

describe('a client that does not read', () => {
  it('is cut once too much of a stream waits for it, and the log says so; others have all of it', async () => {
    const { client, service, server, log } = await onSocket()
    const follower = client().send({ cmd: 'watch' })
    const deaf = client().send({ cmd: 'watch' })
    deaf.socket.pause()
    await eventually(() => service.open === 2, 'two subscriptions')
    const text = 'x'.repeat(100_000)
    for (let n = 0; n < 120; n++) {
      service.facts.next(text)
      await follower.answered(n + 2)
    }
    await eventually(() => server.connections === 1 && service.open === 1, 'the end of the one that does not read')
    expect(log).toEqual(['a client of the socket was cut: it does not read its answers'])
    expect(follower.lines).toHaveLength(121)
  })

  it('has no more of its requests begun until it reads', async () => {
    const { client, service } = await onSocket()
    const deaf = client()
    deaf.socket.pause()
    for (let n = 0; n < 200; n++) deaf.send({ cmd: 'text', args: [200_000] })
    await client().send({ cmd: 'echo' }).answered(1)
    await eventually(() => service.asked.length > 5, 'the first requests')
    const begun = service.asked.length
    await client().send({ cmd: 'soon' }).answered(1)
    expect(begun).toBeLessThan(20)
    deaf.socket.resume()
    expect(await deaf.answered(200)).toHaveLength(200)
  })

  it('is cut where requests that were begun together answer with too much', async () => {
    const { client, service, server, log } = await onSocket({ limits: { unreadAnswerBytes: 2 * MIB } })
    const deaf = client()
    deaf.socket.pause()
    for (let id = 0; id < 8; id++) deaf.send({ jsonrpc: '2.0', id, method: 'hold' })
    await eventually(() => service.held.length === 8, 'eight requests in work')
    for (const answer of service.held) answer('x'.repeat(MIB))
    await eventually(() => server.connections === 0, 'the end of it')
    expect(log).toHaveLength(1)
  })
})

describe('a client that asks for much', () => {
  it('has so many requests in work, then is not read until one is answered', async () => {
    const { client, service } = await onSocket({ limits: { inWork: 8 } })
    const one = client()
    for (let id = 0; id < 50; id++) one.send({ jsonrpc: '2.0', id, method: 'hold' })
    await eventually(() => service.held.length === 8, 'eight in work')
    await client().send({ cmd: 'soon' }).answered(1)
    expect(service.held).toHaveLength(8)
    for (let n = 0; n < 50; n++) {
      await eventually(() => service.held.length > n, 'the next in work')
      expect(service.held.length - n).toBeLessThanOrEqual(8)
      service.held[n]!(n)
    }
    expect(await one.answered(50)).toHaveLength(50)
  })

  it('has so many bytes of requests in work', async () => {
    const { client, service } = await onSocket({ limits: { inWorkBytes: 100_000 } })
    const one = client()
    for (let id = 0; id < 20; id++) one.send({ jsonrpc: '2.0', id, method: 'hold', params: ['x'.repeat(30_000)] })
    await eventually(() => service.held.length === 4, 'four in work')
    await client().send({ cmd: 'soon' }).answered(1)
    expect(service.held).toHaveLength(4)
    for (let n = 0; n < 20; n++) {
      await eventually(() => service.held.length > n, 'the next in work')
      service.held[n]!(n)
    }
    expect(await one.answered(20)).toHaveLength(20)
  })
})

describe('many clients', () => {
  it('are all answered, and leave nothing behind: 1,000 at a time', async () => {
    const { client, server, clock } = await onSocket()
    const timers = clock.timers
    const all = Array.from({ length: 1000 }, (_, n) => client().send({ cmd: 'soon', args: [n] }))
    for (const [n, one] of all.entries()) expect(await one.answered(1)).toEqual([ok(n)])
    expect(server.connections).toBe(1000)
    for (const { socket } of all) socket.destroy()
    await eventually(() => server.connections === 0, 'no connection')
    expect(clock.timers).toBe(timers)
  })

  it('C109: over the bound are told so and let go; when others leave there is room again', async () => {
    const { client, server, clock, log } = await onSocket({ limits: { connections: 3 } })
    const three = Array.from({ length: 3 }, () => client().send({ cmd: 'echo', args: [1] }))
    for (const one of three) await one.answered(1)
    for (let n = 0; n < 300; n++) {
      const more = client().send({ cmd: 'echo', args: [1] })
      expect(await more.end()).toMatchObject([{ ok: false, error: { code: 'Overloaded' } }])
      more.socket.destroy()
    }
    expect(log).toEqual(['a client was turned away: the socket has 3 already, as many as it may'])
    three[0]!.socket.end()
    await eventually(() => server.connections === 2, 'room')
    expect(
      await client()
        .send({ cmd: 'echo', args: [2] })
        .answered(1),
    ).toEqual([ok(2)])
    clock.advance(1000)
    await client().send({ cmd: 'echo' }).end()
    expect(log).toHaveLength(2)
  })
})
