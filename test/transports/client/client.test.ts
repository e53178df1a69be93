/** The client of the socket against a real server, and against what is none. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HoltError } from '../../../src/model/error.ts'
import { eventually } from '../../../src/testkit/eventually.ts'
import { FakeClock } from '../../../src/testkit/fake-clock.ts'
import { type Client, type ConnectOptions, connect } from '../../../src/transports/client/client.ts'
import { type OnSocket, onSocket, ownFolder, type Setting } from '../uds/on-socket.ts'

async function connected(
  options: Partial<ConnectOptions> = {},
  setting: Setting = {},
): Promise<OnSocket & { caller: Client }> {
  const on = await onSocket(setting)
  const client = await connect({ path: on.server.path, clock: new FakeClock(), ...options })
  onTestFinished(() => client.close())
  return { ...on, caller: client }
}

async function take(source: AsyncIterable<unknown>, count: number): Promise<unknown[]> {
  const values: unknown[] = []
  for await (const value of source) {
    values.push(value)
    if (values.length === count) break
  }
  return values
}

const errorOf = (promise: Promise<unknown>): Promise<HoltError> =>
  promise.then(
    (value) => {
      throw new Error(`expected an error, got ${JSON.stringify(value)}`)
    },
    (error: HoltError) => error,
  )

describe('a call', () => {
  it('sends arguments, options and who calls, and resolves with the result', async () => {
    const { caller } = await connected({ who: 'me' })
    expect(await caller.call('given', ['a', { b: [null] }], { reason: 'x' })).toEqual({
      args: ['a', { b: [null] }],
      opts: { reason: 'x' },
    })
    expect(await caller.call('who')).toBe('me')
    expect(await caller.call('echo')).toBeNull()
  })

  it('rejects with the error of the host: code, message, details', async () => {
    const { caller } = await connected()
    const error = await errorOf(caller.call('refuse'))
    expect(error).toBeInstanceOf(HoltError)
    expect(error).toMatchObject({
      name: 'AgentBusy',
      code: 'AgentBusy',
      message: 'restart holds it',
      details: { holder: 'restart' },
    })
    expect(await errorOf(caller.call('statsu'))).toMatchObject({ code: 'NoSuchOperation' })
    expect(await errorOf(caller.call('fields'))).toMatchObject({ code: 'InvalidInput' })
  })

  it('shares its connection with others, and each has its own answer', async () => {
    const { caller, service, server } = await connected()
    const slow = caller.call('hold')
    const fast = await Promise.all(Array.from({ length: 100 }, (_, n) => caller.call('soon', [n])))
    expect(fast).toEqual(Array.from({ length: 100 }, (_, n) => n))
    service.held[0]!('slow')
    expect(await slow).toBe('slow')
    expect(server.connections).toBe(1)
  })

  it('carries texts with line ends of any kind', async () => {
    const { caller } = await connected()
    const text = 'a\u2028b\u2029c\u0085d\re\ff\ng 中😀\ud800'
    expect(await caller.call('echo', [text])).toBe(text)
  })

  it('has answers longer than a request may be', async () => {
    const { caller } = await connected()
    expect(await caller.call('text', [5_000_000])).toHaveLength(5_000_000)
  })

  it('that is too long, or no JSON, is refused before it is sent', async () => {
    const { caller, service } = await connected()
    expect(await errorOf(caller.call('echo', ['x'.repeat(1_048_576)]))).toMatchObject({ code: 'InvalidInput' })
    expect(await errorOf(caller.call('echo', [1n]))).toMatchObject({ code: 'NotCloneable' })
    expect(await caller.call('echo', [1])).toBe(1)
    expect(service.asked).toHaveLength(1)
  })

  it('that is not answered in time rejects; its late answer disturbs nobody', async () => {
    const clock = new FakeClock()
    const { caller, service } = await connected({ clock, timeoutMs: 5000 })
    const slow = errorOf(caller.call('hold'))
    const patient = caller.call('hold', [], {}, { timeoutMs: Number.POSITIVE_INFINITY })
    await eventually(() => service.held.length === 2, 'two requests in work')
    clock.advance(5000)
    expect(await slow).toMatchObject({ code: 'Timeout', message: expect.stringMatching(/'hold' within 5000 ms/) })
    service.held[0]!('late')
    expect(await caller.call('echo', [1])).toBe(1)
    service.held[1]!('patient')
    expect(await patient).toBe('patient')
  })

  it('rejects when the client is closed, and after', async () => {
    const { caller, service, server } = await connected()
    const one = errorOf(caller.call('hold'))
    await eventually(() => service.held.length === 1, 'a request in work')
    caller.close()
    expect(await one).toMatchObject({ code: 'Aborted' })
    expect(await errorOf(caller.call('echo'))).toMatchObject({ code: 'Aborted' })
    service.held[0]!(1)
    await eventually(() => server.connections === 0, 'no connection')
  })

  it('rejects when the host goes', async () => {
    const { caller, service, server, clock } = await connected()
    const one = errorOf(caller.call('hold'))
    await eventually(() => service.held.length === 1, 'a request in work')
    const closed = server.close()
    clock.advance(2000)
    await closed
    expect(await one).toMatchObject({ code: 'NoHost', details: { reason: 'closed' } })
    expect(await errorOf(connect({ path: server.path }))).toMatchObject({ code: 'NoHost' })
  })

  it('that finds the host full is told so', async () => {
    const { server } = await connected({}, { limits: { connections: 1 } })
    const second = await connect({ path: server.path, clock: new FakeClock() })
    onTestFinished(() => second.close())
    expect(await errorOf(second.call('echo'))).toMatchObject({ code: 'Overloaded' })
  })
})

describe('a stream', () => {
  it('has every value from the moment it is open, in order, though nobody reads yet', async () => {
    const { caller, service } = await connected()
    const stream = caller.stream('watch')
    await stream.opened
    for (let seq = 0; seq < 5000; seq++) service.facts.next({ seq })
    const values = await take(stream, 5000)
    expect(values).toEqual(Array.from({ length: 5000 }, (_, seq) => ({ seq })))
    await eventually(() => service.open === 0, 'the end of the subscription, once the loop is left')
  })

  it('ends when the host ends it', async () => {
    const { caller } = await connected()
    expect(await take(caller.stream('brief'), Number.POSITIVE_INFINITY)).toEqual([1, 2])
  })

  it('throws what ended it, and what kept it from opening', async () => {
    const { caller } = await connected()
    expect(await errorOf(take(caller.stream('broken'), 1))).toMatchObject({ code: 'AgentDied', message: 'it died' })
    const shut = caller.stream('shut')
    expect(await errorOf(shut.opened)).toMatchObject({ code: 'NoSuchAgent' })
    expect(await errorOf(take(shut, 1))).toMatchObject({ code: 'NoSuchAgent' })
    expect(await take(shut, 1)).toEqual([])
  })

  it('throws when the host is gone, after the values that came', async () => {
    const { caller, service, server, clock } = await connected()
    const stream = caller.stream('watch')
    await stream.opened
    service.facts.next(1)
    const closed = server.close()
    const values: unknown[] = []
    const error = await errorOf(
      (async () => {
        for await (const value of stream) values.push(value)
      })(),
    )
    expect(error).toMatchObject({ code: 'ShuttingDown' })
    expect(values).toEqual([1])
    clock.advance(2000)
    await closed
  })

  it('that is not read slows nothing else, and is cut by the host in the end', async () => {
    const { caller, service, log } = await connected()
    const deaf = caller.stream('watch')
    await deaf.opened
    const text = 'x'.repeat(10_000)
    for (let n = 0; n < 2500; n++) {
      service.facts.next(text)
      if (n % 10 === 0) await caller.call('soon')
    }
    await eventually(() => service.open === 0, 'the end of the subscription')
    expect(log).toHaveLength(1)
    expect(await errorOf(take(deaf, Number.POSITIVE_INFINITY))).toMatchObject({ code: 'NoHost' })
  })

  it('that is closed while it is waited for ends', async () => {
    const { caller, server } = await connected()
    const stream = caller.stream('watch')
    await stream.opened
    const reading = take(stream, 1)
    caller.close()
    expect(await reading).toEqual([])
    await eventually(() => server.connections === 0, 'no connection')
  })

  it('that is closed before it is open leaves nothing behind', async () => {
    const { caller, server } = await connected()
    const stream = caller.stream('watch')
    stream.close()
    expect(await errorOf(stream.opened)).toMatchObject({ code: 'Aborted' })
    await eventually(() => server.connections === 1, 'the connection of the client alone')
  })
})

describe('where no host is', () => {
  it('C091: says that there is no socket, where, and how to start one', async () => {
    const path = join(ownFolder(), 's')
    const error = await errorOf(connect({ path }))
    expect(error).toMatchObject({ code: 'NoHost', details: { path, reason: 'ENOENT' } })
    expect(error.message).toContain(path)
    expect(error.message).toContain('holt up')
  })

  it('says that the host of a stale socket has ended', async () => {
    const path = join(ownFolder(), 's')
    writeFileSync(path, '')
    const error = await errorOf(connect({ path }))
    expect(error).toMatchObject({ code: 'NoHost', message: expect.stringContaining('it is no socket') })
  })

  it('C089: says whose a socket is that may not be opened, and what to do', async () => {
    const folder = join(ownFolder(), 'shut')
    mkdirSync(folder)
    const { server } = await onSocket({ path: join(folder, 's') })
    chmodSync(folder, 0o000)
    chmodSync(join(folder, '..'), 0o755)
    const root = process.getuid?.() === 0
    if (root) process.seteuid?.(4242)
    const error = await errorOf(connect({ path: server.path })).finally(() => {
      if (root) process.seteuid?.(0)
      chmodSync(folder, 0o700)
    })
    expect(error).toMatchObject({ code: 'NoHost', details: { reason: 'EACCES' } })
    // Where the folder of temporary files is private, it is that one.
    expect(error.message).toMatch(root ? /belongs to user 0 .*you are user 4242/ : /shut is yours, and its mode 0 /)
  })

  it('refuses a path that would be cut', async () => {
    expect(await errorOf(connect({ path: `/tmp/${'x'.repeat(200)}` }))).toMatchObject({ code: 'InvalidOption' })
  })
})

describe('C110: a stranger at the socket', () => {
  /** Does this with each client, once it has sent something. */
  async function stranger(
    act: (socket: Socket) => void,
  ): Promise<{ client: Client; clock: FakeClock; heard: () => number }> {
    const path = join(ownFolder(), 's')
    let heard = 0
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => {
        heard++
        act(socket)
      })
    })
    await new Promise<void>((resolve) => server.listen(path, resolve))
    const clock = new FakeClock()
    const client = await connect({ path, clock, timeoutMs: 1000 })
    onTestFinished(() => {
      client.close()
      server.close()
    })
    return { client, clock, heard: () => heard }
  }

  it.each([
    ['accepts and closes', (socket: Socket) => void socket.end(), /closed the connection before it had answered/],
    ['breaks off', (socket: Socket) => void socket.destroy(), /closed the connection|broke/],
    [
      'sends half a line and closes',
      (socket: Socket) => void socket.end('{"jsonrpc":"2.0","id":1,"res'),
      /in the middle of a line \('\{"jsonrpc"/,
    ],
    [
      'sends HTML',
      (socket: Socket) => void socket.write('<!DOCTYPE html>\n<html>\n'),
      /expected an answer of a host, found '<!DOCTYPE html>'/,
    ],
    ['sends another kind of JSON', (socket: Socket) => void socket.write('[]\n'), /expected an answer of a host/],
    [
      'answers a question that was not asked',
      (socket: Socket) => void socket.write('{"jsonrpc":"2.0","id":7,"result":1}\n'),
      /expected one answer to each request/,
    ],
    [
      'sends a second value after the answer',
      (socket: Socket) => void socket.write('{"jsonrpc":"2.0","id":1,"result":1}\n{"x":1}\n'),
      /expected one answer to each request, found '\{"x":1\}'/,
    ],
    [
      'answers twice',
      (socket: Socket) =>
        void socket.write('{"jsonrpc":"2.0","id":1,"result":1}\n{"jsonrpc":"2.0","id":1,"result":2}\n'),
      /expected one answer/,
    ],
  ])('that %s is told apart at once', async (_, act, message) => {
    const { client } = await stranger(act)
    const stream = client.stream('watch')
    expect(await errorOf(client.call('status'))).toMatchObject({
      code: 'NoHost',
      message: expect.stringMatching(message),
    })
    // Later calls need not wait to be told the same.
    expect(await errorOf(client.call('status'))).toMatchObject({ code: 'NoHost' })
    stream.close()
  })

  it.each([
    ['nothing', '', /did not answer 'status' within 1000 ms$/],
    ['half a line', '<html', /half a line came: '<html'/],
  ])('that sends %s is given up when time is up', async (_, text, message) => {
    const { client, clock, heard } = await stranger((socket) => void socket.write(text))
    const call = errorOf(client.call('status'))
    const reading = errorOf(take(client.stream('watch'), 1))
    await eventually(() => heard() === 2, 'two requests')
    await eventually(() => {
      clock.advance(500)
      return clock.timers === 0
    }, 'the time-outs')
    expect(await call).toMatchObject({ code: 'Timeout' })
    if (text === '') expect((await call).message).toMatch(message)
    expect(await reading).toMatchObject({ code: 'Timeout' })
  })

  it.each([
    ['no stream', '{"jsonrpc":"2.0","id":1,"result":{"subscription":1}}\n{"x":1}\n'],
    ['values of no kind', '{"jsonrpc":"2.0","id":1,"result":{"subscription":1}}\n{"jsonrpc":"2.0","method":"facts"}\n'],
  ])('that sends %s is told apart by who reads it', async (_, text) => {
    const { client } = await stranger((socket) => void socket.write(text))
    expect(await errorOf(take(client.stream('watch'), 1))).toMatchObject({
      code: 'NoHost',
      message: expect.stringMatching(/expected values of a stream/),
    })
  })

  it('that answers with an error of another protocol is passed on', async () => {
    const { client } = await stranger((socket) =>
      socket.write('{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}\n'),
    )
    expect(await errorOf(client.call('status'))).toMatchObject({ message: 'Method not found' })
  })
})
