/** Payloads are copied at the call, in and out; what cannot be copied is refused there, by the name of the field. */
import { describe, expect, it } from 'vitest'
import type { AgentRef } from '../../src/actors/ref.ts'
import { hostFleet, role } from '../fleet-on-disk.ts'

const ECHO = role(
  `events: { async keep(payload) { await null; kept.push(payload) } },
   commands: {
    kept: { handle: () => kept },
    echo: { handle: (payload) => payload },
    reply: { handle: (kind) => BAD[kind]() },
    tell: { async handle(kind, ctx) { return caught(() => ctx.tell('sink', 'keep', { deep: [BAD[kind]()] })) } },
    ask: { async handle(kind, ctx) { return caught(() => ctx.ask('sink', 'echo', { deep: [BAD[kind]()] })) } },
    emit: { async handle(kind, ctx) { return caught(() => ctx.emit('sink', 'keep', { deep: [BAD[kind]()] })) } },
    after: { async handle(kind, ctx) { return caught(() => ctx.after(0, 'keep', { deep: [BAD[kind]()] })) } },
    mutate: { async handle(_, ctx) {
      const payload = { n: 1, list: [1] }
      ctx.tell('sink', 'keep', payload)
      payload.n = 2
      payload.list.push(2)
    } },
    buffers: { handle() {
      const small = Buffer.from('hello')
      const first = Buffer.from('x', 'base64')
      return { small, after: Buffer.from('again').toString(), first }
    } },
  }`,
  `
const kept: unknown[] = []
class Private { #secret = 1; method() { return this.#secret } }
const BAD: Record<string, () => unknown> = {
  method: () => ({ f() {} }),
  proxy: () => new Proxy({ seen: 1 }, {}),
  instance: () => new Private(),
  weakMap: () => new WeakMap(),
  promise: () => Promise.resolve(1),
  symbol: () => Symbol('s'),
}
async function caught(work: () => unknown) {
  try { return { answered: await work() } } catch (e: any) { return { code: e.code, message: e.message, field: e.details?.field } }
}
`,
)

const start = async (): Promise<{ agent: AgentRef; sink: AgentRef }> => {
  const host = await hostFleet({ agents: { sink: { role: ECHO }, agent: { role: ECHO } } })
  return { agent: host.agent('agent'), sink: host.agent('sink') }
}

describe('what cannot be copied is refused at the call', () => {
  const bad: [string, unknown, string][] = [
    ['a function', { a: { b: [{ f() {} }] } }, 'a.b[0].f'],
    ['a symbol', { s: Symbol('x') }, 's'],
    ['a promise', { later: Promise.resolve(1) }, 'later'],
    [
      'a getter that throws',
      {
        get x() {
          throw new Error('no')
        },
      },
      'x',
    ],
    ['a weak map', { list: [1, new WeakMap()] }, 'list[1]'],
  ]

  it.each(bad)('tell, emit and ask of a program, with %s, name the field', async (_, payload, field) => {
    const { sink } = await start()
    const refusal = { code: 'NotCloneable', details: { field } }
    const tell = (): boolean => sink.tell('keep', payload)
    expect(tell).toThrow(`field '${field}' (`)
    await expect((async () => tell())()).rejects.toMatchObject(refusal)
    await expect(sink.emit('keep', payload)).rejects.toMatchObject(refusal)
    await expect(sink.ask('echo', payload)).rejects.toMatchObject(refusal)
    expect(await sink.ask('kept')).toEqual([])
    expect(sink.snapshot()).toMatchObject({ tasks: { received: 1 }, mailbox: { dropped: 0, depth: 0 } })
  })

  it.each(['method', 'weakMap', 'promise', 'symbol'])(
    'tell, emit, ask and after of an agent, with a %s, name the field',
    async (kind) => {
      const { agent } = await start()
      const field = `deep[0]${kind === 'method' ? '.f' : ''}`
      for (const way of ['tell', 'emit', 'ask', 'after'])
        expect(await agent.ask(way, kind), way).toMatchObject({ code: 'NotCloneable', field })
      expect(agent.deaths()).toEqual([])
    },
  )

  it.each(['method', 'weakMap', 'promise', 'symbol'])(
    'C010 a reply with a %s is an error of the ask, with the reason, and no death',
    async (kind) => {
      const { agent } = await start()
      // A promise that is returned is awaited, as everywhere.
      if (kind === 'promise') expect(await agent.ask('reply', kind)).toBe(1)
      else
        await expect(agent.ask('reply', kind)).rejects.toMatchObject({
          code: 'NotCloneable',
          message: expect.stringMatching(/^reply could not be cloned: ./),
        })
      expect(agent.deaths()).toEqual([])
    },
  )

  it('C010 a class instance arrives as its plain fields, a proxy as what it shows', async () => {
    const { agent } = await start()
    expect(await agent.ask('reply', 'instance')).toEqual({})
    expect(await agent.ask('reply', 'proxy')).toEqual({ seen: 1 })
  })
})

describe('what was sent is what the sender had at that moment', () => {
  it('a program that changes its object after tell', async () => {
    const { sink } = await start()
    const payload = { n: 1, list: [1], day: new Date(0) }
    sink.tell('keep', payload)
    payload.n = 2
    payload.list.push(2)
    payload.day.setFullYear(2000)
    const large = { text: 'x'.repeat(2000), n: 1 }
    sink.tell('keep', large)
    large.n = 2
    expect(await sink.ask('kept')).toEqual([
      { n: 1, list: [1], day: new Date(0) },
      { text: 'x'.repeat(2000), n: 1 },
    ])
  })

  it('an agent that changes its object after tell', async () => {
    const { agent, sink } = await start()
    await agent.ask('mutate')
    expect(await sink.ask('kept')).toEqual([{ n: 1, list: [1] }])
  })

  it('C026 a small buffer carries its own bytes, and later buffers work', async () => {
    const { agent, sink } = await start()
    const pooled = Buffer.from('hello')
    expect(pooled.buffer.byteLength).toBeGreaterThan(5)
    const back = (await sink.ask('echo', { pooled })) as { pooled: Uint8Array }
    expect(back.pooled.buffer.byteLength).toBe(5)
    expect(Buffer.from(back.pooled).toString()).toBe('hello')
    expect(pooled.toString()).toBe('hello')
    expect(Buffer.from('eA==', 'base64').toString()).toBe('x')
    const reply = (await agent.ask('buffers')) as { small: Uint8Array; after: string }
    expect(reply.small.buffer.byteLength).toBe(5)
    expect(reply.after).toBe('again')
  })

  it('what is nested thousands deep is refused or arrives, and harms nobody', async () => {
    const { sink, agent } = await start()
    for (const depth of [100, 2000, 8000, 100_000]) {
      let deep: unknown[] = []
      for (let i = 0; i < depth; i++) deep = [deep]
      const outcome = await sink.ask('keep-not', deep).catch((error: { code: string }) => error.code)
      expect(['NotCloneable', 'NoSuchCommand']).toContain(outcome)
    }
    expect(await agent.ask('echo', 1)).toBe(1)
    expect(await sink.ask('echo', 1)).toBe(1)
  })
})
