/** Spans: one a message, from its call to its fate, and one an ask; their parents, and what no tracer costs. */
import * as api from '@opentelemetry/api'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { createHost } from '../../src/host/boot.ts'
import type { HostOptions } from '../../src/host/options.ts'
import type { AgentObject } from '../../src/manifest/agent-manifest.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, hostFleet, NO_BUDGET, role } from '../fleet-on-disk.ts'
import { registeredTracer } from './tracer.ts'

const { spans, spanOf } = registeredTracer()

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const PARENT = `00-${TRACE}-${SPAN}-01`

const WORKER = role(
  `events: {
    fine() {},
    die() { throw new Error('as told') },
    hang(_, ctx) { return new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))) },
    async on(to, ctx) { await ctx.emit(to[0], to.length > 1 ? 'on' : 'fine', to.slice(1)) },
  },
  commands: {
    own: { handle: (_, ctx) => ctx.traceparent ?? 'none' },
    leak: { handle() { throw new CommandError('refused for ' + process.env.PASSWORD) } },
    hang: { handle: () => new Promise(() => {}) },
    refuse: { handle() { throw new CommandError('not today', 'NotToday') } },
    die: { handle() { throw new TypeError('as told') } },
    through: { handle: (to, ctx) => ctx.ask(to, 'own') },
    instance: { handle: (_, ctx) => ctx.instance },
  }`,
)
/** What it does at its start belongs to no message. */
const STARTER = role(`events: { boot(_, ctx) { ctx.tell('c', 'fine') } }`)
const GOES_ON = role(`onError: 'continue', events: { fail() { throw new Error('it failed') } }`)

const fleet = (manifest: Partial<AgentObject> = {}, options: Partial<HostOptions> = {}) =>
  hostFleet(
    {
      agents: {
        a: { role: WORKER, manifest: { ...AT_ONCE, ...manifest }, files: { '.env': 'PASSWORD=hunter2hunter2' } },
        b: { role: WORKER, manifest: AT_ONCE },
        c: { role: WORKER, manifest: AT_ONCE },
        starter: { role: STARTER, manifest: { ...AT_ONCE, autostart: false } },
        goes: { role: GOES_ON, manifest: AT_ONCE },
      },
      supervisor: NO_BUDGET,
    },
    { tracing: api, ...options },
  )

/** All that were begun have ended by then. */
const ended = (count: number) =>
  eventually(
    () => spans().length >= count,
    () => `${count} spans, not ${spans().length}`,
  )

describe('an event', () => {
  it('has one span of kind CONSUMER, from its call to its fate', async () => {
    const host = await fleet()
    const instance = await host.agent('a').ask('instance')
    expect(await host.agent('a').emit('fine')).toEqual({ fate: 'handled' })
    expect(spanOf('fine a')).toMatchObject({
      kind: 'CONSUMER',
      parent: undefined,
      error: undefined,
      attributes: {
        'messaging.system.name': 'holt',
        'messaging.operation.type': 'process',
        'messaging.operation.name': 'fine',
        'messaging.destination.name': 'a',
        'holt.agent': 'a',
        'holt.fate': 'handled',
        'holt.instance': instance,
      },
    })
  })

  it('that is told has one too, with the fate that nobody else is told of', async () => {
    const host = await fleet()
    expect(host.agent('a').tell('fine')).toBe(true)
    expect(host.agent('a').tell('unheard')).toBe(true)
    expect(host.agent('goes').tell('fail')).toBe(true)
    await ended(3)
    expect(spanOf('fine a')).toMatchObject({ error: undefined, attributes: { 'holt.fate': 'handled' } })
    expect(spanOf('unheard a')).toMatchObject({
      error: 'no_handler',
      attributes: { 'holt.fate': 'ignored', 'holt.reason': 'no_handler', 'error.type': 'ignored' },
    })
    expect(spanOf('fail goes')).toMatchObject({
      error: 'the handler failed: it failed',
      attributes: { 'holt.fate': 'handled', 'error.type': 'handler_error' },
    })
  })

  it('that crashed says so, with its death; what waited is handled by the next instance', async () => {
    const host = await fleet()
    const first = await host.agent('a').ask('instance')
    host.agent('a').tell('die')
    host.agent('a').tell('fine')
    await ended(3)
    const { attributes, error } = spanOf('die a')
    expect(error).toBe('crashed')
    expect(attributes).toMatchObject({
      'holt.fate': 'crashed',
      'holt.death_id': host.agent('a').deaths()[0]!.id,
      'holt.instance': first,
    })
    expect(spanOf('fine a').attributes['holt.instance']).toBe(host.agent('a').snapshot().instance!.id)
  })

  it('that is delivered again has one span over all of it', async () => {
    const host = await fleet({ mailbox: { redeliver: 2 } })
    expect(await host.agent('a').emit('die')).toMatchObject({ fate: 'quarantined' })
    expect(host.agent('a').deaths()).toHaveLength(3)
    expect(spanOf('die a')).toMatchObject({ error: 'quarantined', attributes: { 'holt.fate': 'quarantined' } })
  })

  it('ends as its message does: aborted, refused, given back, expired, purged, and with the host', async () => {
    const host = await fleet({ mailbox: { capacity: 2, overflow: 'reject' } })
    const a = host.agent('a')
    a.tell('hang')
    await a.pause({ now: true })
    const expired = a.emit('late', undefined, { ttlMs: 0 })
    a.tell('purged')
    expect(a.tell('given back')).toBe(false)
    await expect(a.emit('refused')).rejects.toMatchObject({ code: 'Overloaded' })
    expect(host.purge('a')).toEqual({ purged: 2 })
    expect(await expired).toMatchObject({ fate: 'queued' })
    await host.agent('b').stop()
    host.agent('b').tell('nobody')
    expect(() => a.tell('uncloneable', () => {})).toThrow()
    a.tell('left')
    await host.shutdown()
    const fates = Object.fromEntries(
      spans().map(({ name, attributes }) => [name, attributes['holt.fate'] ?? attributes['error.type']]),
    )
    expect(fates).toEqual({
      'hang a': 'aborted',
      'late a': 'dropped',
      'purged a': 'dropped',
      'given back a': 'dropped',
      'refused a': 'Overloaded',
      'nobody b': 'ignored',
      'uncloneable a': 'NotCloneable',
      'left a': 'aborted',
    })
    expect(spans().every(({ error }) => error !== undefined)).toBe(true)
  })

  it('whose time has passed says so', async () => {
    const host = await fleet()
    await host.agent('a').pause()
    host.agent('a').tell('late', undefined, { ttlMs: 0 })
    await host.agent('a').resume()
    await ended(1)
    expect(spanOf('late a')).toMatchObject({ error: 'expired', attributes: { 'holt.fate': 'expired' } })
  })

  it('sent by the clock is a trace of its own, also where the host was opened within a span', async () => {
    await api.trace.getTracer('test').startActiveSpan('opening', async (span) => {
      await fleet({ schedules: [{ id: 'often', everyMs: 20, event: 'fine' }] })
      span.end()
    })
    await ended(4)
    const sent = spans().filter(({ name }) => name === 'fine a')
    expect(sent.map(({ parent }) => parent)).toEqual(sent.map(() => undefined))
    expect(new Set(sent.map(({ traceId }) => traceId)).size).toBe(sent.length)
  })

  it('that is not taken twice has no second span', async () => {
    const host = await fleet({ mailbox: { durable: true } })
    await host.agent('a').emit('fine', undefined, { messageId: 'm-1' })
    expect(await host.agent('a').emit('fine', undefined, { messageId: 'm-1' })).toMatchObject({ reason: 'duplicate' })
    expect(host.agent('a').tell('fine', undefined, { messageId: 'm-1' })).toBe(true)
    expect(spanOf('fine a').attributes['messaging.message.id']).toBe('m-1')
  })
})

describe('an ask', () => {
  it('has one span: CLIENT where the program asks, SERVER where a call from elsewhere goes on', async () => {
    const host = await fleet()
    const instance = await host.agent('a').ask('instance')
    expect(spanOf('a/instance')).toMatchObject({
      kind: 'CLIENT',
      parent: undefined,
      error: undefined,
      attributes: {
        'rpc.system.name': 'holt',
        'rpc.method': 'a/instance',
        'holt.agent': 'a',
        'holt.instance': instance,
      },
    })
    await host.agent('a').ask('through', 'b', { traceparent: PARENT })
    expect(spanOf('a/through')).toMatchObject({ kind: 'SERVER', traceId: TRACE, parent: SPAN })
    expect(spanOf('b/own')).toMatchObject({
      kind: 'SERVER',
      traceId: TRACE,
      parent: spanOf('a/through').spanId,
      attributes: { 'holt.from': 'a' },
    })
  })

  it.each([
    ['an answer that is an error', 'refuse', {}, 'NotToday|CommandError', 'not today'],
    ['a command that there is not', 'nothing', {}, 'NoSuchCommand', "no command 'nothing'"],
    ['a death', 'die', {}, 'TypeError', 'as told'],
    ['a time-out', 'hang', { timeoutMs: 1 }, 'Timeout', 'did not reply'],
    ['an option that is wrong', 'own', { timeoutMs: -1 }, 'InvalidOption', 'timeoutMs'],
    ['a text with a secret in it', 'leak', {}, 'CommandError', 'refused for [redacted]'],
    ['a caller that gave up', 'own', { signal: AbortSignal.abort() }, 'Aborted', 'aborted'],
  ])('that ends in %s has that as its status', async (_, command, options, type, text) => {
    const host = await fleet()
    await expect(host.agent('a').ask(command, undefined, options)).rejects.toThrow()
    const { error, attributes } = spanOf(`a/${command}`)
    expect(error).toContain(text)
    expect(attributes['error.type']).toMatch(new RegExp(`^(${type})$`))
  })
})

describe('a trace', () => {
  it('is one from a by b to c, over three threads, each the child of the one before', async () => {
    const host = await fleet()
    await host.agent('a').emit('on', ['b', 'c'], { traceparent: PARENT })
    const chain = [spanOf('on a'), spanOf('on b'), spanOf('fine c')]
    expect(new Set(chain.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]))
    expect(chain.map(({ parent }) => parent)).toEqual([SPAN, chain[0]!.spanId, chain[1]!.spanId])
  })

  it('begins with the active span of the program; the handler has the span of its own message', async () => {
    const host = await fleet()
    const tracer = api.trace.getTracer('test')
    const own = await tracer.startActiveSpan('program', async (span) => {
      const reply = await host.agent('a').ask('own')
      span.end()
      return reply
    })
    const { spanId, traceId } = spanOf('program')
    expect(spanOf('a/own')).toMatchObject({ parent: spanId, traceId })
    expect(own).toBe(`00-${traceId}-${spanOf('a/own').spanId}-01`)
  })

  it('that is not recorded goes on as such, and leaves no span', async () => {
    const host = await fleet()
    const unsampled = `00-${TRACE}-${SPAN}-00`
    host.agent('a').tell('fine', undefined, { traceparent: unsampled })
    const own = await host.agent('a').ask('through', 'b', { traceparent: unsampled })
    expect(own).toMatch(new RegExp(`^00-${TRACE}-(?!${SPAN})[0-9a-f]{16}-00$`))
    await host.shutdown()
    expect(spans()).toEqual([])
  })

  it('ignores a traceparent that is wrong', async () => {
    const host = await fleet()
    await host.agent('a').emit('fine', undefined, { traceparent: PARENT.toUpperCase() })
    expect(spanOf('fine a')).toMatchObject({ parent: undefined, kind: 'CONSUMER' })
    expect(spanOf('fine a').traceId).not.toBe(TRACE)
  })

  it('is not that in which the host was opened, nor an agent started', async () => {
    const tracer = api.trace.getTracer('test')
    const host = await tracer.startActiveSpan('opening', async (span) => {
      const opened = await fleet()
      await opened.agent('starter').start()
      span.end()
      return opened
    })
    await host.agent('b').ask('own')
    await ended(3)
    expect(spanOf('b/own').parent).toBeUndefined()
    expect(spanOf('fine c')).toMatchObject({ parent: undefined, attributes: { 'holt.from': 'starter' } })
  })
})

describe('a tracer', () => {
  const broken = (part: Partial<Record<'startSpan' | 'end' | 'spanContext' | 'active', true>>) => {
    const fail = (): never => {
      throw new Error('the tracer is broken')
    }
    const real = api.trace.getTracer('test')
    const startSpan = (...args: Parameters<api.Tracer['startSpan']>): api.Span => {
      if (part.startSpan) fail()
      const span = real.startSpan(...args)
      if (part.end) span.end = fail
      if (part.spanContext) span.spanContext = fail
      return span
    }
    return {
      trace: {
        getTracer: () => ({ startSpan }),
        setSpanContext: api.trace.setSpanContext,
        deleteSpan: api.trace.deleteSpan,
      },
      context: {
        active: part.active ? fail : () => api.context.active(),
        bind: <T>(context: api.Context, target: T) => api.context.bind(context, target),
      },
    }
  }

  it.each(['startSpan', 'end', 'spanContext', 'active'] as const)(
    'whose %s throws harms nobody, and is told of once',
    async (part) => {
      const warnings: unknown[] = []
      const log = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line)) })
      const host = await fleet({}, { tracing: broken({ [part]: true }) as unknown as typeof api, log })
      const a = host.agent('a')
      expect(a.tell('fine')).toBe(true)
      expect(await a.emit('on', ['b'], { traceparent: PARENT })).toEqual({ fate: 'handled' })
      expect(await a.ask('instance')).toBe(a.snapshot().instance!.id)
      await expect(a.ask('refuse')).rejects.toThrow('not today')
      expect(warnings).toHaveLength(1)
      expect(warnings[0]).toMatchObject({ msg: expect.stringContaining('the tracer has failed') })
      // Where there is no span, what was given is handed on.
      if (part !== 'end') expect(await a.ask('own', undefined, { traceparent: PARENT })).toBe(PARENT)
    },
  )

  it('is refused where it is none', async () => {
    for (const tracing of [null, {}, { trace: api.trace }, 'yes'])
      await expect(createHost({ fleet: { children: [] }, tracing: tracing as never })).rejects.toMatchObject({
        code: 'InvalidOption',
        message: expect.stringContaining("tracing: expected the module '@opentelemetry/api'"),
      })
  })

  it('that is not there leaves no span, and the messages as they are', async () => {
    const host = await hostFleet({ agents: { a: { role: WORKER, manifest: AT_ONCE } } })
    expect(await host.agent('a').ask('own')).toBe('none')
    expect(await host.agent('a').ask('own', undefined, { traceparent: PARENT })).toBe(PARENT)
    host.agent('a').tell('fine')
    await host.shutdown()
    expect(spans()).toEqual([])
  })
})
