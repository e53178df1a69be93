/** Who is let in, and how far: tokens, names and origins, slow and broken clients, rates, and the audit log. */
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { eventually } from '../../../src/testkit/eventually.ts'
import { FakeClock } from '../../../src/testkit/fake-clock.ts'
import { checkDoors } from '../../../src/transports/rest/doors.ts'
import { RateLimit } from '../../../src/transports/rest/rate.ts'
import { restHost } from './rest-host.ts'

describe('tokens', () => {
  it('are asked for everywhere but where there is nothing to see', async () => {
    const { send, tokens } = await restHost()
    for (const path of ['/healthz', '/readyz', '/openapi.json']) {
      expect((await send({ path, token: null })).status).toBe(200)
    }
    for (const path of ['/', '/agents', '/events', '/metrics']) {
      const refused = await send({ path, token: null })
      expect(refused).toMatchObject({ status: 401, json: { code: 'Unauthorized' } })
      expect(refused.headers['www-authenticate']).toContain('Bearer')
    }
    const bad = [
      '',
      'x',
      tokens.admin.slice(0, -1),
      `${tokens.admin}0`,
      tokens.admin.replace(/.$/, (c) => (c === '0' ? '1' : '0')),
    ]
    for (const token of bad) expect((await send({ path: '/agents', token })).status).toBe(401)
    expect((await send({ path: '/metrics', token: tokens.read })).text).toContain('process_cpu')
  })

  it('open as much as they say', async () => {
    const { send, tokens } = await restHost()
    const pause = { method: 'POST', path: '/agents/hand/pause' }
    expect((await send({ path: '/agents', token: tokens.read })).status).toBe(200)
    expect(await send({ ...pause, token: tokens.read })).toMatchObject({
      status: 403,
      json: { code: 'Forbidden', details: { needs: 'control', has: 'read' } },
    })
    expect((await send({ ...pause, token: tokens.control })).status).toBe(200)
    const install = { method: 'POST', path: '/catalog', body: { source: '/nowhere' } }
    expect((await send({ ...install, token: tokens.control })).status).toBe(403)
    for (const path of ['/tokens', '/token', '/tokenCreate']) expect((await send({ path })).status).toBe(404)
  })

  it('end when they are revoked, or their time is up', async () => {
    const { send, host } = await restHost()
    const { token, id } = await host.tokens.create({ name: 'short', expiresInMs: 1 })
    await eventually(async () => (await send({ path: '/', token })).status === 401, 'it has expired')
    const other = await host.tokens.create({ name: 'other' })
    expect((await send({ path: '/', token: other.token })).status).toBe(200)
    await host.tokens.revoke(other.id)
    expect((await send({ path: '/', token: other.token })).status).toBe(401)
    expect(host.tokens.list().find((one) => one.id === id)).not.toHaveProperty('hash')
    await expect(host.tokens.revoke('t_0')).rejects.toMatchObject({ code: 'NoSuchToken' })
  })

  it('may make so many requests, each for itself', async () => {
    const { send, tokens } = await restHost({ limits: { perSecond: 1, burst: 2 } })
    const read = () => send({ path: '/', token: tokens.read })
    const statuses = [(await read()).status, (await read()).status]
    const refused = await read()
    expect([...statuses, refused.status]).toEqual([200, 200, 429])
    expect(refused.headers['retry-after']).toBe('1')
    expect((await send({ path: '/', token: tokens.admin })).status).toBe(200)
  })
})

describe('the rate', () => {
  it('is so many a second, and so many at once', () => {
    const clock = new FakeClock()
    const rate = new RateLimit({ perSecond: 10, burst: 5 }, () => clock.now())
    const taken = (): number => {
      for (let count = 0; ; count++) {
        try {
          rate.take('t')
        } catch {
          return count
        }
      }
    }
    expect(taken()).toBe(5)
    clock.advance(200)
    expect(taken()).toBe(2)
    clock.advance(3_600_000)
    expect(taken()).toBe(5)
  })
})

describe('names and origins', () => {
  const doors = { hosts: ['holt.example.org'], origins: ['https://ops.example.org'] }
  const check = (host: string | undefined, origin?: string) => () => checkDoors({ host, origin }, doors)

  it.each([
    '127.0.0.1:8000',
    'localhost',
    'LOCALHOST:1',
    '[::1]:8000',
    '10.0.0.7',
    'holt.example.org',
    'holt.example.org.:80',
  ])('C125 lets in what is called %s', (host) => expect(check(host)).not.toThrow())

  it.each([
    'evil.example',
    '127.0.0.1.evil.example:8000',
    'localhost.evil.example',
    '',
    'a b',
    '[::1',
    'x@localhost',
    undefined,
  ])('C125 refuses what is called %s', (host) => expect(check(host)).toThrow('Host: expected'))

  it.each(['null', 'http://evil.example', 'http://localhost:3000', 'https://ops.example.org.evil.example'])(
    'C125 refuses pages of %s',
    (origin) => expect(check('localhost', origin)).toThrow('Origin: pages of'),
  )

  it('C125 are checked before anything is read: nothing has happened', async () => {
    const { send, host } = await restHost()
    const pause = { method: 'POST', path: '/agents/hand/pause' }
    expect((await send({ ...pause, headers: { Host: 'evil.example' } })).status).toBe(421)
    expect((await send({ ...pause, headers: { Origin: 'http://evil.example' } })).status).toBe(403)
    expect((await send({ path: '/events', headers: { Origin: 'null' } })).status).toBe(403)
    expect((await send({ ...pause, headers: { 'Content-Type': 'text/plain' }, body: '{}' })).status).toBe(415)
    expect((await send({ ...pause, token: null })).status).toBe(401)
    expect(host.agent('hand').snapshot().status).toBe('Running')
  })

  it('let pages in that were allowed, and no others', async () => {
    const { send } = await restHost({ origins: doors.origins })
    const Origin = doors.origins[0]!
    const asked = await send({ method: 'OPTIONS', path: '/agents/hand/pause', token: null, headers: { Origin } })
    expect(asked.status).toBe(204)
    expect(asked.headers).toMatchObject({
      'access-control-allow-origin': Origin,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': expect.stringContaining('Authorization'),
    })
    expect((await send({ path: '/agents', headers: { Origin } })).headers['access-control-allow-origin']).toBe(Origin)
    expect((await send({ path: '/agents', headers: { Origin: 'http://evil.example' } })).status).toBe(403)
    expect((await send({ path: '/agents' })).headers['access-control-allow-origin']).toBeUndefined()
    expect((await send({ path: '/agents' })).headers['set-cookie']).toBeUndefined()
  })
})

describe('clients that are slow or speak no HTTP', () => {
  /** What the server said before it closed. */
  const said = (port: number, text: string): Promise<string> =>
    new Promise((resolve) => {
      let heard = ''
      const socket = connect(port, '127.0.0.1', () => socket.write(text))
      socket.setEncoding('utf8').on('data', (piece: string) => {
        heard += piece
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve(heard))
    })

  it('are cut when their headers or their body take too long', async () => {
    const { server, get } = await restHost({ limits: { headersTimeoutMs: 50, requestTimeoutMs: 100, lookMs: 20 } })
    const [headers, body] = await Promise.all([
      said(server.port, 'GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: '),
      said(server.port, 'POST /shutdown HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{'),
    ])
    expect(headers).toContain('408 Request Timeout')
    expect(headers).toContain('"code":"Timeout"')
    expect(body).toMatch(/^HTTP\/1\.1 (?:401|408) /)
    expect((await get('/healthz')).status).toBe(200)
  })

  it('C124 are told so, once', async () => {
    const { server, get } = await restHost()
    const twice = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}'
    for (const text of ['hello\r\n\r\n', twice, 'GET  HTTP/9\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n']) {
      expect(await said(server.port, text)).toMatch(/^HTTP\/1\.1 (?:400|421) /)
    }
    const large = `GET / HTTP/1.1\r\nHost: localhost\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`
    expect(await said(server.port, large)).toMatch(/^HTTP\/1\.1 431 /)
    expect((await get('/healthz')).status).toBe(200)
  })
})

describe('the audit log', () => {
  it('has who wrote what to whom and what came of it, and no payload', async () => {
    const { post, get, host } = await restHost()
    const lines: [Record<string, unknown>, string][] = []
    host.log.info = ((data: Record<string, unknown>, text: string) =>
      void lines.push([data, text])) as typeof host.log.info
    await get('/agents')
    await post('/agents/hand/pause')
    await post('/agents/hand/ask', { command: 'png', payload: 'my secret' })
    const audit = lines.filter(([data]) => data['kind'] === 'audit')
    expect(audit).toMatchObject([
      [
        {
          who: 'admin',
          tokenId: expect.stringMatching(/^t_/),
          operation: 'pause',
          target: 'hand',
          result: 'done',
          over: 'rest',
        },
        "admin: pause of 'hand': done",
      ],
      [{ operation: 'ask', target: 'hand', result: expect.any(String) }, expect.any(String)],
    ])
    expect(JSON.stringify(audit)).not.toContain('my secret')
  })
})
