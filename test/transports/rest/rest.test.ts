/** The table of operations over HTTP: statuses, forms, conditions and keys, with a real host behind it. */
import superjson from 'superjson'
import { describe, expect, it } from 'vitest'
import { ERRORS } from '../../../src/model/error.ts'
import { eventually } from '../../../src/testkit/eventually.ts'
import { role } from '../../fleet-on-disk.ts'
import { restHost } from './rest-host.ts'

const SUPERJSON = 'application/vnd.holt.superjson+json'
const PROBLEM = 'application/problem+json'

describe('over HTTP', () => {
  it('looks, commands and sends', async () => {
    const { get, post, host } = await restHost()
    expect((await get('/')).json).toMatchObject({ name: 'holt', counts: { Running: 2 } })
    expect((await get('/agents/hand')).json).toMatchObject({ id: 'hand', phase: 'ACTIVE' })
    expect((await get('/dead-letters?limit=1')).json).toEqual([])
    expect(await post('/agents/hand/pause', { reason: 'to see' })).toMatchObject({
      status: 200,
      json: { phase: 'PAUSED', pausedBy: 'admin', reason: 'to see' },
    })
    expect(host.agent('hand').snapshot()).toMatchObject({ status: 'Paused', pausedBy: 'admin' })
    expect((await post('/agents/hand/resume')).json).toMatchObject({ phase: 'ACTIVE' })
    expect((await post('/agents/hand/ask', { command: 'ping' })).json).toBe('pong')
    expect((await post('/agents/hand/events', { event: 'note', payload: 1 })).json).toMatchObject({ fate: 'handled' })
  })

  it('has an answer for each thing that is wrong, in one form', async () => {
    const { send, get, post } = await restHost()
    const wrong = [
      [await get('/agents/hnad'), 404, 'NoSuchAgent', "'hand'"],
      [await get('/agentz'), 404, 'NoSuchOperation', "'/agents'"],
      [await send({ method: 'PUT', path: '/agents/hand' }), 405, 'MethodNotAllowed', 'GET, HEAD'],
      [await post('/agents/hand/resume'), 409, 'InvalidCommand', 'Valid commands: '],
      [await get('/dead-letters?limit=zero'), 422, 'InvalidInput', 'limit: expected number'],
      [await get('/dead-letters?limit=1&limit=2'), 422, 'InvalidInput', 'limit: given twice'],
      [await get('/dead-letters?lmit=1'), 422, 'InvalidInput', "did you mean 'limit'?"],
      [await post('/agents/hand/ask', { command: 'png' }), 404, 'NoSuchCommand', 'png'],
      [await post('/agents/hand/pause?now=true'), 422, 'InvalidInput', 'expected in the body'],
      [await post('/agents/hand/pause', { id: 'hand' }), 422, 'InvalidInput', 'id: given twice'],
    ] as const
    for (const [answer, status, code, text] of wrong) {
      expect(answer).toMatchObject({
        status,
        json: { status, code, title: ERRORS[code].text, type: `urn:holt:error:${code}` },
      })
      expect(answer.headers['content-type']).toBe(PROBLEM)
      expect(answer.json['detail']).toContain(text)
    }
    expect((await send({ method: 'DELETE', path: '/agents/hand/ask' })).headers.allow).toBe('POST')
  })

  it.each<[string, Record<string, string>, unknown, number]>([
    ['broken JSON', { 'Content-Type': 'application/json' }, '{"command":', 400],
    ['no JSON object', { 'Content-Type': 'application/json' }, '[1]', 422],
    ['a number for a name', {}, { command: 7 }, 422],
    ['nothing at all', { 'Content-Type': 'application/json' }, undefined, 422],
    [
      'a key with the name of a built-in',
      { 'Content-Type': 'application/json' },
      '{"command":"ping","__proto__":{"x":1}}',
      422,
    ],
    ['a form', { 'Content-Type': 'application/x-www-form-urlencoded' }, 'command=ping', 415],
    ['plain text, which a page can send by itself', { 'Content-Type': 'text/plain' }, '{"command":"ping"}', 415],
    ['another charset', { 'Content-Type': 'application/json; charset=latin1' }, '{}', 415],
    ['too much', { 'Content-Type': 'application/json' }, `"${'x'.repeat(1_048_576)}"`, 413],
    ['nesting without end', { 'Content-Type': 'application/json' }, '['.repeat(100_000), 400],
    ['a byte order mark, which is fine', { 'Content-Type': 'application/json' }, '\ufeff{"command":"ping"}', 200],
    ['something else as superjson', { 'Content-Type': SUPERJSON }, '{"command":"ping"}', 400],
  ])('C124 answers %s as the client’s own fault', async (_what, headers, body, status) => {
    const { post } = await restHost()
    const answer = await post('/agents/hand/ask', body, headers)
    expect(answer.status).toBe(status)
    if (status !== 200) expect(answer.json['status']).toBe(status)
    expect((await post('/agents/hand/ask', { command: 'ping' })).json).toBe('pong')
  })

  it('speaks superjson where that is asked for', async () => {
    const echo = role('commands: { echo: { handle: (x) => x }, map: { handle: () => new Map([["a", 1n]]) } }')
    const { post, send } = await restHost({ fleet: { agents: { hand: { role: echo } } } })
    const at = new Date(0)
    const answer = await send({
      method: 'POST',
      path: '/agents/hand/ask',
      headers: { 'Content-Type': SUPERJSON, Accept: SUPERJSON },
      body: superjson.stringify({ command: 'echo', payload: { at, set: new Set([1n]) } }),
    })
    expect(answer.headers['content-type']).toBe(SUPERJSON)
    expect(superjson.parse(answer.text)).toEqual({ at, set: new Set([1n]) })
    expect((await post('/agents/hand/ask', { command: 'map' })).json).toEqual({ a: '1' })
  })

  it('C127 marks a cycle in plain JSON', async () => {
    const circular = role('commands: { own: { handle: () => { const x: any = { n: 1 }; x.self = x; return x } } }')
    const { post } = await restHost({ fleet: { agents: { hand: { role: circular } } } })
    expect((await post('/agents/hand/ask', { command: 'own' })).json).toEqual({ n: 1, self: '[circular]' })
  })

  it('commits only where nobody else has meanwhile: ETag, If-Match, dryRun', async () => {
    const { get, post, host } = await restHost()
    const { etag } = (await get('/agents/hand')).headers
    expect(etag).toMatch(/^"\d+"$/)
    const dry = await post('/agents/hand/pause?dryRun=true', undefined, { 'If-Match': etag! })
    expect(dry.status).toBe(200)
    expect(host.agent('hand').snapshot().status).toBe('Running')
    const done = await post('/agents/hand/pause', undefined, { 'If-Match': etag! })
    expect(done).toMatchObject({ status: 200, json: { phase: 'PAUSED' } })
    expect(done.headers.etag).not.toBe(etag)
    expect(await post('/agents/hand/resume', undefined, { 'If-Match': etag! })).toMatchObject({
      status: 412,
      json: { code: 'GenerationMismatch' },
    })
    expect((await post('/agents/hand/resume', { ifGeneration: 0 })).status).toBe(409)
    expect((await post('/agents/hand/resume', undefined, { 'If-Match': 'seven' })).status).toBe(400)
    expect((await post('/agents/hand/mailbox/purge', undefined, { 'If-Match': etag! })).status).toBe(400)
    expect((await post('/agents/hand/resume', undefined, { 'If-Match': '*' })).status).toBe(200)
  })

  it('does a write under an idempotency key once', async () => {
    const counter = role(
      'commands: { next: { handle: () => ++count }, fail: { handle: () => { throw new CommandError("no " + ++count) } } }',
      'let count = 0',
    )
    const { post, send, tokens } = await restHost({ fleet: { agents: { hand: { role: counter } } } })
    const ask = (command: string, key: string) => post('/agents/hand/ask', { command }, { 'Idempotency-Key': key })
    expect((await ask('next', 'a')).json).toBe(1)
    const again = await ask('next', 'a')
    expect(again.json).toBe(1)
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(await ask('fail', 'a')).toMatchObject({ status: 422, json: { code: 'KeyReused' } })
    expect((await ask('fail', 'b')).json['detail']).toBe('no 2')
    expect((await ask('fail', 'b')).json['detail']).toBe('no 2')
    expect((await ask('next', 'c')).json).toBe(3)
    const other = {
      method: 'POST',
      path: '/agents/hand/ask',
      token: tokens.control,
      headers: { 'Idempotency-Key': 'a' },
    }
    expect((await send({ ...other, body: { command: 'next' } })).json).toBe(4)
    expect((await ask('next', ' ')).status).toBe(400)
    expect((await ask('next', 'ä')).status).toBe(400)
  })

  it('refuses a second request under a key while the first is in work', async () => {
    const slow = role(
      'commands: { slow: { handle: () => new Promise((resolve) => { go = resolve }) } }, events: { go() { go("done") } }',
      'let go: any',
    )
    const manifest = { mailbox: { concurrency: 2 } }
    const { post, host } = await restHost({ fleet: { agents: { hand: { role: slow, manifest } } } })
    const ask = () => post('/agents/hand/ask', { command: 'slow' }, { 'Idempotency-Key': 'k' })
    const first = ask()
    await eventually(() => host.mailbox('hand').inFlight.length === 1, 'the first is in work')
    expect(await ask()).toMatchObject({ status: 409, json: { code: 'KeyInUse' } })
    await host.agent('hand').emit('go')
    expect((await first).json).toBe('done')
    expect((await ask()).headers['idempotency-replayed']).toBe('true')
  })

  it('answers HEAD as GET, without the body', async () => {
    const { send } = await restHost()
    const head = await send({ method: 'HEAD', path: '/agents/hand' })
    expect(head).toMatchObject({ status: 200, text: '' })
    expect(head.headers.etag).toBeDefined()
    expect(await send({ method: 'HEAD', path: '/events' })).toMatchObject({ status: 200, text: '' })
  })

  it('is ready once the fleet has settled, and refuses to command one that ends', async () => {
    const { get, post, host } = await restHost()
    expect((await get('/readyz')).json).toEqual({ status: 'ready' })
    const ended = host.shutdown()
    expect((await get('/readyz')).status).toBe(503)
    const refused = await post('/agents/hand/pause')
    expect(refused).toMatchObject({ status: 503, json: { code: 'ShuttingDown' } })
    expect(refused.headers['retry-after']).toBe('1')
    await ended
  })
})
