/** What a client may send, whatever it is and however it is cut: characters, line ends, length, depth, names. */
import { describe, expect, it } from 'vitest'
import { eventually } from '../../../src/testkit/eventually.ts'
import { onSocket } from './on-socket.ts'

const ok = (result: unknown) => ({ ok: true, result })
const refusal = (message: RegExp, code = 'InvalidInput') => ({
  ok: false,
  error: { code, message: expect.stringMatching(message), details: {} },
})

describe('characters', () => {
  it('C097: arrive whole when they come one byte at a time', async () => {
    const { client } = await onSocket()
    const text = 'Zoë-中-😀-\ud800-\\u00'
    const one = client()
    await one.sendSlowly(
      Buffer.from(`${JSON.stringify({ cmd: 'echo', args: [text] })}\n{"cmd":"echo","args":["\\u4e2d"]}\n`),
    )
    expect(await one.answered(2)).toEqual([ok(text), ok('中')])
  })

  it('C098: that other readers take for a line end come back as they were', async () => {
    const { client, service } = await onSocket()
    const text = 'a\u2028b\u2029c\u0085d\re\ff\vg\u0000h\ni'
    const raw = '{"cmd":"echo","args":["\u2028\u2029\u0085"]}\n'
    const one = client().send({ cmd: 'echo', args: [text] }, raw, {
      jsonrpc: '2.0',
      id: text,
      method: 'echo',
      params: [text],
    })
    const answers = await one.answered(3)
    for (const answer of [ok(text), ok('\u2028\u2029\u0085'), { jsonrpc: '2.0', result: text, id: text }]) {
      expect(answers).toContainEqual(answer)
    }
    const follower = client().send({ cmd: 'watch' })
    await follower.answered(1)
    service.facts.next(text)
    expect((await follower.answered(2))[1]).toEqual(text)
  })

  it('that are none are refused in one line, and the connection goes on', async () => {
    const { client } = await onSocket()
    const one = client().send(Buffer.from([0x22, 0xc3, 0x28, 0x22, 0x0a, 0xff, 0xfe, 0x0a]), { cmd: 'echo', args: [1] })
    expect(await one.answered(3)).toEqual([refusal(/UTF-8/), refusal(/UTF-8/), ok(1)])
  })
})

describe('a line', () => {
  const lineOf = (bytes: number): string => {
    const empty = JSON.stringify({ cmd: 'echo', args: [''] })
    return `${JSON.stringify({ cmd: 'echo', args: ['x'.repeat(bytes - empty.length)] })}\n`
  }

  it('C100: of 1 MiB is answered; of one byte more it is refused in one line, and the connection ends', async () => {
    const { client } = await onSocket()
    const most = client().send(lineOf(1_048_576))
    expect((await most.answered(1))[0]).toMatchObject({ ok: true })
    const one = client().send({ cmd: 'echo', args: ['before'] }, lineOf(1_048_577), { cmd: 'echo', args: ['after'] })
    expect(await one.end()).toEqual([ok('before'), refusal(/at most 1048576 bytes/)])
  })

  it('C100: of a JSON-RPC client is refused in its form', async () => {
    const { client } = await onSocket({ limits: { lineBytes: 100 } })
    const one = client().send({ jsonrpc: '2.0', id: 1, method: 'echo', params: ['x'.repeat(200)] })
    expect(await one.end()).toMatchObject([{ jsonrpc: '2.0', id: null, error: { code: -32700 } }])
  })

  it('C100: without end is given up after 1 MiB: nothing more of it is kept, and others are served', async () => {
    const { client, server, clock } = await onSocket()
    const endless = client()
    const piece = Buffer.alloc(1_048_576, 'x')
    for (let n = 0; n < 200 && !endless.socket.destroyed; n++) {
      if (!endless.socket.write(piece)) await new Promise((resolve) => endless.socket.once('drain', resolve))
    }
    expect(await endless.end()).toEqual([refusal(/at most 1048576 bytes/)])
    expect(
      await client()
        .send({ cmd: 'echo', args: [1] })
        .answered(1),
    ).toEqual([ok(1)])
    clock.advance(2000)
    await eventually(() => server.connections === 1, 'the end of the client that does not end')
  })

  it('C100: that is not complete is held within one bound for all clients, and whole lines are answered all the while', async () => {
    const { client, service } = await onSocket({ limits: { lineBytes: 65_536, heldBytes: 262_144 } })
    const many = Array.from({ length: 40 }, () => client().send('x'.repeat(60_000)))
    await eventually(() => many.filter(({ ended }) => ended).length >= 36, 'the refusal of what is too much')
    for (const { ended, answers } of many) {
      if (ended) expect(answers).toEqual([refusal(/held/, 'Overloaded')])
    }
    const slow = client()
    await slow.sendSlowly(Buffer.from('{"cmd":"echo","args":[1]}\n'))
    expect(await slow.answered(1)).toEqual([ok(1)])
    expect(service.asked).toHaveLength(1)
  })

  it('that stays incomplete for 30 s is refused, and the connection ends', async () => {
    const { client, clock } = await onSocket()
    const one = client().send({ cmd: 'echo', args: [1] }, '{"cmd":"ec')
    await one.answered(1)
    clock.advance(29_000)
    one.send('ho"')
    await one.answered(1)
    await eventually(() => {
      clock.advance(1000)
      return one.ended
    }, 'the end of the connection')
    expect(one.answers).toEqual([ok(1), refusal(/half a line of 1[03] bytes/, 'Timeout')])
  })

  it('may be as long in coming as it likes once the one before is complete', async () => {
    const { client, clock } = await onSocket()
    const one = client().send({ cmd: 'echo', args: [1] })
    await one.answered(1)
    clock.advance(86_400_000)
    one.send({ cmd: 'echo', args: [2] })
    expect(await one.answered(2)).toEqual([ok(1), ok(2)])
  })
})

describe('JSON', () => {
  it.each([
    ['lists', '['.repeat(100_000)],
    ['lists, closed', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
    ['objects', '{"a":'.repeat(100_000)],
  ])('nested 100,000 deep is refused, and the connection goes on: %s', async (_, deep) => {
    const { client } = await onSocket()
    const one = client().send(`{"cmd":"echo","args":[${deep}\n`, { cmd: 'echo', args: [1] })
    expect(await one.answered(2)).toEqual([refusal(/at most 512 deep/), ok(1)])
  })

  it('may be 512 deep, and brackets in a text do not count', async () => {
    const { client } = await onSocket()
    const deep = `${'['.repeat(50)}${']'.repeat(50)}`
    const brackets = `\\"${'['.repeat(5000)}`
    const one = client().send(`{"cmd":"echo","args":[${deep}]}\n`, `{"cmd":"echo","args":["${brackets}"]}\n`)
    expect(await one.answered(2)).toEqual([ok(JSON.parse(deep)), ok(`"${'['.repeat(5000)}`)])
    const edge = (n: number): string => `{"cmd":"given","args":[${'['.repeat(n - 2)}${']'.repeat(n - 2)}]}\n`
    one.send(edge(512), edge(513))
    expect((await one.answered(4)).slice(2)).toMatchObject([{ ok: true }, { ok: false }])
  })

  it('C157: has keys and names like those of built-ins, which are names like any other', async () => {
    const { client } = await onSocket()
    const line = '{"cmd":"echo","args":[{"__proto__":{"x":1},"constructor":2,"toString":3,"length":4}]}'
    const one = client().send(
      `${line}\n`,
      '{"cmd":"__proto__"}\n',
      '{"cmd":"given","opts":{"__proto__":{"now":true}}}\n',
    )
    const [first, second] = await one.answered(3)
    expect(one.lines[0]).toBe('{"ok":true,"result":{"__proto__":{"x":1},"constructor":2,"toString":3,"length":4}}')
    expect(first).toMatchObject({ ok: true })
    expect(second).toMatchObject({ ok: false, error: { code: 'NoSuchOperation' } })
    expect(one.lines[2]).toBe('{"ok":true,"result":{"args":[],"opts":{"__proto__":{"now":true}}}}')
    expect(Reflect.get({}, 'now')).toBeUndefined()
  })
})
