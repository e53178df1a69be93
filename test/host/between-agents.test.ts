/** Messages from agent to agent: three ways to send, deadlines that are handed on, and a sender that is never harmed. */
import { describe, expect, it } from 'vitest'
import type { AgentRef } from '../../src/actors/ref.ts'
import type { Host } from '../../src/host/host.ts'
import type { AgentObject } from '../../src/manifest/agent-manifest.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, type FleetText, hostFleet, NO_BUDGET, role } from '../fleet-on-disk.ts'
import { AT_GATE, Gate } from '../gate.ts'

/** Sends on as it is told; counts what it gets. */
const SENDER = role(
  `events: {
    count() { counted++ },
    hold(cells) { return wait(cells) },
    block(cells) { block(cells) },
    die() { throw new Error('as told') },
  },
  commands: {
    counted: { handle: () => counted },
    hold: { async handle(cells) { await wait(cells); return 'held' } },
    late: { async handle(cells) { await wait(cells); return 'late' } },
    fail: { handle(code) { throw code === undefined ? new Error('refused') : new CommandError('refused', code) } },
    who: { handle: (_, ctx) => ({ remaining: ctx.remainingMs, deadline: ctx.deadline }) },
    tell: { handle: ({ to, name, payload }, ctx) => ctx.tell(to, name, payload) },
    emit: { handle: ({ to, name, payload }, ctx) => ctx.emit(to, name, payload) },
    ask: { handle: ({ to, name, payload, options }, ctx) => ctx.ask(to, name, payload, options) },
    askAnyway: { async handle({ to, name, payload, options }, ctx) {
      try { return { reply: await ctx.ask(to, name, payload, options) } }
      catch (e: any) { return { name: e.name, code: e.code, message: e.message, cause: e.cause?.message } }
    } },
    flood: { handle({ to, name, count }, ctx) {
      let refused = 0
      for (let i = 0; i < count; i++) if (!ctx.tell(to, name, { i })) refused++
      return refused
    } },
    giveUpFirst: { async handle({ to, name }, ctx) {
      const asked = ctx.ask(to, name, undefined, { signal: AbortSignal.abort(new Error('never mind')) })
      return asked.catch((e: any) => ({ code: e.code, cause: e.cause.message }))
    } },
    shared: { async handle({ to, name, count }, ctx) {
      const warnings: string[] = []
      process.on('warning', (warning) => warnings.push(warning.name))
      const asks = Array.from({ length: count }, () => ctx.ask(to, name, undefined, { signal: ctx.signal }))
      return { replies: (await Promise.all(asks)).length, warnings }
    } },
    giveUp: { async handle({ to, name, payload }, ctx) {
      const controller = new AbortController()
      const asked = ctx.ask(to, name, payload, { signal: controller.signal })
      controller.abort(new Error('changed my mind'))
      return asked.catch((e: any) => ({ code: e.code, cause: e.cause.message }))
    } },
  }`,
  `${AT_GATE}\nlet counted = 0`,
)

async function fleet(
  manifests: Record<string, Partial<AgentObject>> = {},
  more: Partial<FleetText> = {},
): Promise<Host> {
  const agents = Object.fromEntries(
    ['a', 'b', 'c'].map((id) => [id, { role: SENDER, manifest: manifests[id] ?? AT_ONCE }]),
  )
  return hostFleet({ agents, supervisor: NO_BUDGET, ...more })
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable('it did not fail'),
    (error) => error,
  )

describe('three ways to send', () => {
  it('tell, emit and ask arrive, and say what became of them', async () => {
    const host = await fleet()
    const a = host.agent('a')
    expect(await a.ask('tell', { to: 'b', name: 'count' })).toBe(true)
    expect(await a.ask('emit', { to: 'b', name: 'count' })).toEqual({ fate: 'handled' })
    expect(await a.ask('ask', { to: 'b', name: 'counted' })).toBe(2)
    expect(await a.ask('emit', { to: 'b', name: 'unheard' })).toEqual({ fate: 'ignored', reason: 'no_handler' })
    expect(await a.ask('emit', { to: 'b', name: 'die' })).toMatchObject({
      fate: 'crashed',
      deathId: expect.any(String),
    })
    expect(host.agent('b').deadLetters()).toMatchObject([
      { name: 'unheard', from: 'a' },
      { name: 'die', from: 'a' },
    ])
  })

  it('a payload of any kind that can be copied arrives as it was', async () => {
    const host = await fleet({ c: { ...AT_ONCE } })
    const payload = {
      day: new Date(5),
      map: new Map([[1, new Set(['x'])]]),
      big: 7n,
      bytes: Uint8Array.of(1, 2),
      none: undefined,
    }
    const letters: unknown[] = []
    host.deadLetters$.subscribe((letter) => letters.push(letter.payload))
    await host.agent('a').ask('emit', { to: 'b', name: 'unheard', payload })
    await eventually(() => letters.length === 1, 'the letter')
    expect(letters[0]).toEqual(payload)
  })

  it('C061 no such agent is said at once, with the nearest, and a tell to nobody is a dead letter', async () => {
    const host = await fleet()
    const a = host.agent('a')
    expect(await a.ask('askAnyway', { to: 'no-such-agent', name: 'x' })).toMatchObject({
      code: 'NoSuchAgent',
      message: expect.stringContaining("there is no agent 'no-such-agent'"),
    })
    expect(await failure(a.ask('emit', { to: 'nobody', name: 'x' }) as Promise<unknown>)).toMatchObject({
      code: 'NoSuchAgent',
    })
    await eventually(() => a.phase === 'ACTIVE' && a.deaths().length === 1, 'a restart')
    expect(await a.ask('tell', { to: 'nobody', name: 'x', payload: 1 })).toBe(true)
    await eventually(() => a.deadLetters().some(({ reason }) => reason === 'no_such_agent'), 'the letter')
    expect(a.deadLetters().at(-1)).toMatchObject({ agent: 'nobody', from: 'a', name: 'x', payload: 1 })
  })

  it('a reject mailbox that is full counts what another agent told it', async () => {
    const host = await fleet({ b: { mailbox: { overflow: 'reject', capacity: 4 } } })
    const b = host.agent('b')
    await b.pause()
    expect(await host.agent('a').ask('flood', { to: 'b', name: 'count', count: 10 })).toBe(0)
    await eventually(() => b.snapshot().mailbox.depth === 4, 'a full mailbox')
    await eventually(
      () => b.snapshot().mailbox.dropped === 6,
      () => `6 dropped, not ${b.snapshot().mailbox.dropped}`,
    )
    expect(b.deadLetters()).toHaveLength(6)
    expect(b.deadLetters()[0]).toMatchObject({ reason: 'rejected', from: 'a', name: 'count' })
  })
})

describe('asks', () => {
  it('C059 an error on the way is the error of the outer caller, by name', async () => {
    const host = await fleet()
    const through = { to: 'b', name: 'ask', payload: { to: 'c', name: 'fail' } }
    const error = await failure(host.agent('a').ask('ask', through))
    expect(error).toMatchObject({ message: 'refused', fatal: true })
    await eventually(() => host.agents().every(({ phase }) => phase === 'ACTIVE'), 'the whole fleet')
    expect(host.agents().map((ref) => ref.deaths().length)).toEqual([1, 1, 1])
  })

  it('an answer that is an error keeps its code and ends nobody who catches it', async () => {
    const host = await fleet()
    const through = { to: 'b', name: 'fail', payload: 'E_NO' }
    expect(await host.agent('a').ask('askAnyway', through)).toMatchObject({
      name: 'CommandError',
      code: 'E_NO',
      message: 'refused',
    })
    expect(host.agents().flatMap((ref) => ref.deaths())).toEqual([])
  })

  it('a deadline is inherited, down the line', async () => {
    const host = await fleet()
    const who = { to: 'c', name: 'who' }
    const direct = (await host.agent('c').ask('who', undefined, { timeoutMs: 60_000 })) as {
      remaining: number
      deadline: number
    }
    expect(direct.remaining).toBeGreaterThan(10_000)
    const handed = (await host
      .agent('a')
      .ask(
        'ask',
        { to: 'b', name: 'ask', payload: { ...who, options: { timeoutMs: 60_000 } } },
        { timeoutMs: 9000 },
      )) as {
      remaining: number
      deadline: number
    }
    expect(handed.remaining).toBeLessThanOrEqual(9000)
    expect(handed.remaining).toBeGreaterThan(0)
  })

  it('a time-out on the way names the agent that did not answer', async () => {
    const host = await fleet()
    const gate = new Gate()
    host.agent('b').tell('hold', gate.cells)
    const through = { to: 'b', name: 'counted', options: { timeoutMs: 300 } }
    expect(await host.agent('a').ask('askAnyway', through)).toMatchObject({
      code: 'Timeout',
      message: expect.stringMatching(/^agent 'b' did not reply to 'counted' within \d+ ms/),
    })
    gate.open()
  })

  it('C061 an ask to oneself times out, says why, and the agent can be stopped', async () => {
    const host = await fleet()
    const a = host.agent('a')
    expect(await a.ask('askAnyway', { to: 'a', name: 'counted', options: { timeoutMs: 400 } })).toMatchObject({
      code: 'Timeout',
      message: expect.stringMatching(/agent 'a' did not reply to 'counted'.*asked itself/),
    })
    // What was given up is out of the way: it would be taken for what follows.
    await a.ask('counted')
    const gate = new Gate()
    const asked = failure(a.ask('ask', { to: 'a', name: 'hold', payload: gate.cells }))
    await eventually(() => a.snapshot().mailbox.inFlight === 1 && a.snapshot().mailbox.depth === 1, 'the ask to itself')
    await a.stop({ now: true })
    expect(await asked).toMatchObject({ code: 'AgentDied' })
  })

  it('with room for two at once an ask to oneself is answered', async () => {
    const host = await fleet({ a: { mailbox: { concurrency: 2 } } })
    expect(await host.agent('a').ask('ask', { to: 'a', name: 'counted' })).toBe(0)
  })

  it('an asker that gives up is told at once', async () => {
    const host = await fleet()
    const gate = new Gate()
    const through = { to: 'b', name: 'hold', payload: gate.cells }
    expect(await host.agent('a').ask('giveUp', through)).toEqual({ code: 'Aborted', cause: 'changed my mind' })
    gate.open()
  })

  it('one that had given up before sends nothing, and lives', async () => {
    const host = await fleet()
    const a = host.agent('a')
    expect(await a.ask('giveUpFirst', { to: 'nobody', name: 'x' })).toEqual({ code: 'Aborted', cause: 'never mind' })
    expect(await a.ask('counted')).toBe(0)
    expect(a.deaths()).toEqual([])
  })

  it('any number of asks may share a signal', async () => {
    const host = await fleet()
    expect(await host.agent('a').ask('shared', { to: 'b', name: 'counted', count: 50 })).toEqual({
      replies: 50,
      warnings: [],
    })
  })

  it('an answer to a dead instance is not taken for one to its successor', async () => {
    const host = await fleet()
    const [a, b] = [host.agent('a'), host.agent('b')]
    const gate = new Gate()
    const first = failure(a.ask('ask', { to: 'b', name: 'late', payload: gate.cells }))
    await eventually(() => gate.reached === 1, 'the first ask at b')
    await a.kill()
    expect(await first).toMatchObject({ code: 'AgentDied' })
    await eventually(() => a.phase === 'ACTIVE', 'the successor')
    // Its first ask has the number that the first of its predecessor had.
    const second = a.ask('ask', { to: 'c', name: 'hold', payload: new Gate().cells }, { timeoutMs: 200 })
    await eventually(() => host.agent('c').snapshot().mailbox.inFlight === 1, 'the second ask at c')
    gate.open()
    await eventually(() => b.snapshot().tasks.completed === 1, 'the late reply')
    expect(await failure(second)).toMatchObject({ code: 'Timeout' })
  })
})

describe('C019 C041 a flood', () => {
  const COUNT = 200_000

  const counted = (ref: AgentRef) => {
    const { mailbox, tasks } = ref.snapshot()
    return { handled: tasks.completed, dropped: mailbox.dropped, depth: mailbox.depth }
  }

  it.each([
    ['running', {}],
    ['with little room', { mailbox: { window: 16, backlog: 100 } }],
  ])(
    'without yielding, to an agent that is slow (%s), leaves the sender alive and adds up',
    async (_, manifest: Partial<AgentObject>) => {
      const host = await fleet({ b: manifest })
      const [a, b] = [host.agent('a'), host.agent('b')]
      const gate = new Gate()
      b.tell('block', gate.cells)
      await eventually(() => gate.reached === 1, 'b at the gate')
      const refused = (await a.ask('flood', { to: 'b', name: 'count', count: COUNT }, { timeoutMs: 20_000 })) as number
      gate.open()
      await eventually(
        () => {
          const { handled, dropped, depth } = counted(b)
          return depth === 0 && handled - 1 + dropped + refused === COUNT
        },
        () => JSON.stringify({ ...counted(b), refused }),
      )
      expect(await b.ask('counted')).toBe(counted(b).handled - 2)
      expect(a.deaths()).toEqual([])
    },
  )

  it('to one that is paused, with a bound of 100', async () => {
    const host = await fleet({ b: { mailbox: { capacity: 100 } } })
    const b = host.agent('b')
    await b.pause()
    const refused = (await host.agent('a').ask('flood', { to: 'b', name: 'count', count: 10_000 })) as number
    await eventually(
      () => counted(b).dropped === 9900 - refused,
      () => JSON.stringify({ ...counted(b), refused }),
    )
    expect(counted(b)).toMatchObject({ depth: 100, handled: 0 })
    expect(host.agent('a').deaths()).toEqual([])
    expect(await b.resume()).toMatchObject({ drained: 100 })
    expect(await b.ask('counted')).toBe(100)
  })

  it('C055 does not keep commands from taking effect, nor others from being served', async () => {
    const host = await fleet()
    const [a, b] = [host.agent('a'), host.agent('b')]
    let flooding = true
    const flood = (async () => {
      while (flooding) {
        for (let n = 0; n < 5000; n++) b.tell('count')
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    expect(await a.ask('counted')).toBe(0)
    expect(await b.pause()).toMatchObject({ phase: 'PAUSED' })
    expect(await b.resume()).toMatchObject({ phase: 'ACTIVE' })
    expect(await a.ask('counted')).toBe(0)
    expect(await b.stop()).toMatchObject({ phase: 'STOPPED' })
    flooding = false
    await flood
  })
})
