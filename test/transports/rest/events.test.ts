/** Streams over HTTP: cursors, gaps, snapshots, heartbeats, clients that stall or go, and the end of the host. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { createConnection, type Socket } from 'node:net'
import superjson from 'superjson'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Fact } from '../../../src/model/fact.ts'
import { eventually } from '../../../src/testkit/eventually.ts'
import type { RestHost } from './rest-host.ts'
import { restHost } from './rest-host.ts'

interface Event {
  readonly id?: string
  readonly event?: string
  readonly data?: string
}

class EventClient {
  text = ''
  ended = false
  readonly #req: ClientRequest
  res: IncomingMessage | null = null

  constructor({ server, tokens }: RestHost, path: string, headers: Record<string, string> = {}) {
    const { port } = server
    this.#req = request({
      ...{ host: '127.0.0.1', port, path, agent: false },
      headers: { Authorization: `Bearer ${tokens.read}`, ...headers },
    })
    this.#req.on('response', (res) => {
      this.res = res
      res.setEncoding('utf8').on('data', (piece: string) => {
        this.text += piece
      })
      res.on('end', () => {
        this.ended = true
      })
      res.on('error', () => {})
    })
    this.#req.on('error', () => {})
    this.#req.end()
    onTestFinished(() => this.cut())
  }

  get events(): Event[] {
    return this.text
      .split('\n\n')
      .slice(0, -1)
      .map((block) => Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2))) as Event)
      .filter(({ event }) => event !== undefined)
  }

  get facts(): Fact[] {
    return this.events.filter(({ id }) => id !== undefined).map(({ data }) => JSON.parse(data!) as Fact)
  }

  get last(): string {
    return this.events.at(-1)?.id ?? ''
  }

  cut(): void {
    this.#req.destroy()
  }

  has(count: number): Promise<unknown> {
    return eventually(
      () => this.facts.length >= count,
      () => `${count} events, have ${this.facts.length}`,
    )
  }

  opened(): Promise<unknown> {
    return eventually(() => this.text.includes('retry:'), 'the stream is open')
  }
}

async function moves(rest: RestHost, times: number): Promise<void> {
  for (let n = 0; n < times; n++) await rest.post(`/agents/hand/${n % 2 === 0 ? 'pause' : 'resume'}`)
}

const seqs = (facts: readonly Fact[]): number[] => facts.map(({ seq }) => seq)
const isGapless = (list: readonly number[]): boolean => list.every((seq, i) => i === 0 || seq === list[i - 1]! + 1)

describe('events', () => {
  it('have the number of the fact, its kind, and the fact', async () => {
    const rest = await restHost()
    const client = new EventClient(rest, '/events')
    await client.opened()
    await moves(rest, 1)
    await client.has(3)
    for (const { id, event, data } of client.events) {
      const fact = JSON.parse(data!) as Fact
      expect([id, event]).toEqual([String(fact.seq), fact.kind])
    }
    expect(client.res?.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    })
    expect(client.res?.headers['content-encoding']).toBeUndefined()
  })

  it('C118 go on from the last one that came, by Last-Event-ID before since', async () => {
    const rest = await restHost()
    const one = new EventClient(rest, '/events?since=0')
    await one.has(5)
    const { last } = one
    one.cut()
    await moves(rest, 2)
    const two = new EventClient(rest, '/events?since=0', { 'Last-Event-ID': last })
    const three = new EventClient(rest, `/events?since=${last}`)
    await two.has(4)
    await three.has(4)
    expect(two.facts[0]?.seq).toBe(Number(last) + 1)
    expect(isGapless(seqs(two.facts))).toBe(true)
    expect(seqs(three.facts).slice(0, 4)).toEqual(seqs(two.facts).slice(0, 4))
  })

  it.each(['999999999', 'abc', '-1', '1e3', 'x'.repeat(10_000), '18446744073709551616'])(
    'C119 tell a client with a cursor of another log, and begin again: %.20s',
    async (id) => {
      const rest = await restHost()
      const client = new EventClient(rest, '/events', { 'Last-Event-ID': id })
      await client.has(3)
      expect(client.facts[0]).toMatchObject({ kind: 'stream.gap', seq: 0, data: { missed: 0 } })
      expect(seqs(client.facts).slice(1, 3)).toEqual([1, 2])
    },
  )

  it('C119 take an empty cursor for none, and refuse a since that is none', async () => {
    const rest = await restHost()
    const client = new EventClient(rest, '/events', { 'Last-Event-ID': '' })
    await client.opened()
    await moves(rest, 1)
    await client.has(1)
    expect(client.facts[0]!.kind).not.toBe('stream.gap')
    for (const query of ['since=abc', 'since=-1', 'kinds=no.such', 'snapshot=maybe', 'until=1'])
      expect((await rest.get(`/events?${query}`)).status).toBe(422)
    expect((await rest.get('/agents/hnad/events')).status).toBe(404)
  })

  it('are of some kinds, and of one agent, where that is asked for', async () => {
    const rest = await restHost()
    const kinds = new EventClient(rest, '/events?since=0&kinds=agent.intent,agent.command')
    const hand = new EventClient(rest, '/agents/hand/events?since=0')
    await moves(rest, 2)
    await kinds.has(3)
    await hand.has(6)
    expect(new Set(kinds.facts.map(({ kind }) => kind))).toEqual(new Set(['agent.intent', 'agent.command']))
    expect(new Set(hand.facts.map(({ agent }) => agent))).toEqual(new Set(['hand']))
  })

  it('begin with how things stand, and go on from there', async () => {
    const rest = await restHost()
    const fleet = new EventClient(rest, '/events?snapshot=true')
    const hand = new EventClient(rest, '/agents/hand/events?snapshot=true')
    await fleet.opened()
    await hand.opened()
    await moves(rest, 1)
    await eventually(() => fleet.events.length > 3 && hand.events.length > 3, 'facts after the snapshot')
    const [first, second] = fleet.events
    expect(first?.event).toBe('snapshot')
    expect(JSON.parse(first!.data!)).toMatchObject({ counts: { Running: 2 } })
    expect(Number(second?.id)).toBe(Number(first?.id) + 1)
    expect(JSON.parse(hand.events[0]!.data!)).toMatchObject({ id: 'hand', status: 'Running' })
    const again = new EventClient(rest, '/events?snapshot=true', { 'Last-Event-ID': first!.id! })
    await eventually(() => again.events.length > 0, 'facts')
    expect(again.events[0]?.event).not.toBe('snapshot')
  })

  it('are superjson where that is asked for', async () => {
    const rest = await restHost()
    const client = new EventClient(rest, '/events?since=0', {
      Accept: 'text/event-stream, application/vnd.holt.superjson+json',
    })
    await client.has(1)
    expect(superjson.parse(client.events[0]!.data!)).toMatchObject({ seq: 1 })
  })

  it('C121 have a comment now and then, for those on the way', async () => {
    const rest = await restHost({ limits: { heartbeatMs: 20 } })
    const client = new EventClient(rest, '/events')
    await eventually(() => client.text.split(': so far\n\n').length > 3, 'comments')
    expect(client.facts).toEqual([])
  })

  it('of a log end with it, or follow', async () => {
    const rest = await restHost()
    await rest.post('/agents/hand/events', { event: 'note', payload: 1 })
    const past = new EventClient(rest, '/agents/hand/logs')
    const follow = new EventClient(rest, '/agents/hand/logs?follow=true')
    await eventually(() => past.ended, 'the end')
    expect(past.events.map(({ event }) => event)).toEqual([...past.events.slice(0, -1).map(() => 'logs'), 'end'])
    expect(past.text).toContain('note 1')
    await rest.post('/agents/hand/events', { event: 'note', payload: 2 })
    await eventually(() => follow.text.includes('note 2'), 'the next line')
    expect(follow.ended).toBe(false)
  })

  it('are whole over 50 cuts: no gap, no double', async () => {
    const rest = await restHost()
    const all: number[] = []
    let cursor = '0'
    for (let cut = 0; cut < 50; cut++) {
      const moved = rest.post(`/agents/hand/${cut % 2 === 0 ? 'pause' : 'resume'}`)
      const client = new EventClient(rest, '/events', { 'Last-Event-ID': cursor })
      await client.has(1)
      await moved
      client.cut()
      const { facts } = client
      all.push(...seqs(facts))
      cursor = String(facts.at(-1)!.seq)
    }
    expect(isGapless(all)).toBe(true)
    expect(all[0]).toBe(1)
  })
})

describe('clients of streams', () => {
  it('C115 are forgotten at once when they go, however they go', async () => {
    const rest = await restHost()
    for (let round = 0; round < 10; round++) {
      const clients = Array.from({ length: 20 }, () => new EventClient(rest, '/events'))
      for (const client of clients) await client.opened()
      expect(rest.server.streams).toBe(20)
      for (const [i, client] of clients.entries()) {
        if (i % 2 === 0) client.cut()
        else client.res?.socket.resetAndDestroy()
      }
      await eventually(() => rest.server.streams === 0, 'all are forgotten')
    }
  })

  /** Connects and reads nothing. */
  const stalled = ({ server, tokens }: RestHost, path: string): Socket => {
    const socket = createConnection({ port: server.port, host: '127.0.0.1' })
    socket.pause()
    socket.on('error', () => {})
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokens.read}\r\n\r\n`)
    onTestFinished(() => void socket.destroy())
    return socket
  }

  it('C116 are cut when they read nothing; others get every event', async () => {
    const rest = await restHost({ limits: { unreadBytes: 65_536 } })
    stalled(rest, '/agents/hand/logs?follow=true')
    const other = new EventClient(rest, '/agents/hand/logs?follow=true')
    await eventually(() => rest.server.streams === 2, 'both are open')
    const line = 'x'.repeat(60_000)
    let sent = 0
    await eventually(async () => {
      await rest.post('/agents/hand/events', { event: 'note', payload: line })
      sent++
      return rest.server.streams === 1
    }, 'the one that stalls is cut')
    await eventually(() => other.events.length === sent, 'every line')
  })

  it('C116 are cut after a while where little comes: a stall is no silence', async () => {
    const rest = await restHost({ limits: { stalledMs: 50, heartbeatMs: 20 } })
    const quiet = new EventClient(rest, '/events')
    await quiet.opened()
    stalled(rest, '/agents/hand/logs?follow=true')
    await eventually(() => rest.server.streams === 2, 'both are open')
    await eventually(async () => {
      await rest.post('/agents/hand/events', { event: 'note', payload: 'y'.repeat(200_000) })
      return rest.server.streams === 1
    }, 'the one that stalls is cut')
    expect(quiet.ended).toBe(false)
  })

  it('C122 are told the end of the host, which does not wait for them', async () => {
    const rest = await restHost()
    const clients = [1, 2, 3].map(() => new EventClient(rest, '/events'))
    const idle = [1, 2].map(() => createConnection({ port: rest.server.port, host: '127.0.0.1' }))
    for (const socket of idle) socket.on('error', () => {})
    onTestFinished(() => idle.forEach((socket) => void socket.destroy()))
    await eventually(() => rest.server.streams === 3, 'all are open')
    await rest.host.shutdown()
    await rest.server.close()
    await eventually(() => clients.every(({ ended }) => ended), 'each has its end')
    for (const client of clients) expect(client.events.at(-1)?.event).toBe('end')
  })

  it('are told when their token holds no more', async () => {
    const rest = await restHost({ limits: { heartbeatMs: 20 } })
    const client = new EventClient(rest, '/events')
    await client.opened()
    await rest.host.tokens.revoke(rest.host.tokens.list().find(({ name }) => name === 'read')!.id)
    await eventually(() => client.ended, 'the end')
    expect(client.events.at(-1)).toMatchObject({ event: 'error', data: expect.stringContaining('Unauthorized') })
  })

  it('may be so many at a time', async () => {
    const rest = await restHost({ limits: { streams: 1 } })
    const one = new EventClient(rest, '/events')
    await one.opened()
    expect((await rest.get('/events')).status).toBe(429)
    one.cut()
    await eventually(() => rest.server.streams === 0, 'it is forgotten')
    await new EventClient(rest, '/events').opened()
  })
})
