/** `holt top`: frames, keys and rates as values; then a run on a terminal and a host that the test plays. */
import { describe, expect, it } from 'vitest'
import { widthOf } from '../../src/cli/format/text.ts'
import { frame, type TopLook } from '../../src/cli/format/top.ts'
import type { Key, Screen, ScreenEvents } from '../../src/cli/screen.ts'
import { LiveTop } from '../../src/cli/top.ts'
import { actionOf, begun, moved, rateOf, resorted, SORTS, sampled, sorted } from '../../src/cli/top-state.ts'
import { HoltError } from '../../src/model/error.ts'
import type { AgentSnapshot, FleetSnapshot } from '../../src/model/snapshot.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { FakeClock } from '../../src/testkit/fake-clock.ts'
import type { Client } from '../../src/transports/client/client.ts'
import { agent, fleet, NOW } from './agents.ts'
import { holt } from './world.ts'

const WIDE: TopLook = { width: 80, height: 24, colour: false }
const SMALL: TopLook = { width: 40, height: 10, colour: false }
const mailbox = (depth: number, oldestAgeMs: number | null) => ({ ...agent().mailbox, depth, oldestAgeMs })
const TWO = [
  agent(),
  agent({
    id: 'reader',
    status: 'Unhealthy',
    phase: 'FAILED',
    restarts: 4,
    nextRestartAt: NOW + 4000,
    mailbox: mailbox(17, 65_000),
    heapUsedMb: null,
  }),
]
const many = (n: number): AgentSnapshot[] =>
  Array.from({ length: n }, (_, i) => agent({ id: `worker-${String(i).padStart(3, '0')}` }))
/** The fleet so much later, with so much handled by each. */
const later = (before: FleetSnapshot, ms: number, completed: number): FleetSnapshot => ({
  ...before,
  host: { ...before.host, uptimeMs: before.host.uptimeMs + ms },
  agents: before.agents.map((one) => ({ ...one, tasks: { ...one.tasks, completed } })),
})

describe('a frame', () => {
  it('has all at 80×24, with what is in trouble first', () => {
    const first = fleet(TWO)
    const lines = frame(sampled(begun(first), later(first, 1000, 28)), WIDE)
    expect(lines).toHaveLength(24)
    expect(lines.slice(0, 5)).toEqual([
      'holt 0.1.0  up 2m 6s  pid 4242  host h-1',
      '2 agents  1 Running  1 Unhealthy',
      ' ID        STATUS    PHASE      RATE/S DEPTH  OLDEST RESTARTS   HEAP   RETRY',
      '>reader    Unhealthy FAILED         25    17   1m 5s        4      -      3s',
      ' librarian Running   ACTIVE         25     0       -        0   12MB       -',
    ])
    expect(lines.at(-1)).toBe('j/k move  p pause  r resume  R restart  s sort  q quit')
  })

  it('drops columns at 40×10, the least wanted first, and keeps the keys', () => {
    const lines = frame(begun(fleet(TWO)), SMALL)
    expect(lines).toEqual([
      'holt 0.1.0  up 2m 5s  pid 4242  host h-1',
      '2 agents  1 Running  1 Unhealthy',
      ' ID        STATUS    RATE/S DEPTH',
      '>reader    Unhealthy      -    17',
      ' librarian Running        -     0',
      ...Array.from({ length: 4 }, () => ''),
      'j/k p r R s q',
    ])
  })

  it('keeps the cursor in sight of 300 agents', () => {
    for (const look of [WIDE, SMALL]) {
      let state = begun(fleet(many(300)))
      for (const by of [0, 1, 10, 150, 200, -3, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]) {
        state = moved(state, by)
        const lines = frame(state, look)
        expect(lines).toHaveLength(look.height)
        expect(lines.filter((line) => line.startsWith(`>${state.selected} `))).toHaveLength(1)
      }
      expect(state.selected).toBe('worker-299')
    }
  })

  it('fits every size, with wide names and names that would move the cursor', () => {
    const odd = fleet([
      agent({ id: '図書館員の長い名前がここにあります' }),
      agent({ id: 'a\u001b[2Jb\u202e' }),
      ...many(40),
    ])
    const state = { ...begun(odd), said: { text: `界${'x'.repeat(300)}\n`, bad: true }, lost: '世'.repeat(90) }
    for (let width = 2; width <= 130; width++)
      for (const height of [1, 2, 4, 7, 10, 24, 60]) {
        const lines = frame(state, { width, height, colour: false })
        expect(lines).toHaveLength(height)
        expect(lines.filter((line) => widthOf(line) > width)).toEqual([])
        expect(lines.join('')).not.toContain('\u001b')
      }
  })

  it('has no colour without, and the cursor in reverse with it', () => {
    expect(frame(begun(fleet(TWO)), { ...WIDE, colour: true }).join('\n')).toContain('\u001b[7m>reader')
  })

  it('says of an empty fleet that it is empty', () => {
    const lines = frame(begun(fleet([])), WIDE)
    expect(lines).toHaveLength(24)
    expect(lines[1]).toBe('no agents')
  })

  it('says above all else that nothing can be saved', () => {
    const bad = fleet(TWO)
    const stateFault = { code: 'StateFull', text: 'the disk is full', since: NOW }
    const lines = frame(begun({ ...bad, host: { ...bad.host, stateFault } }), WIDE)
    expect(lines[2]).toBe('STATE DEGRADED (StateFull): the disk is full')
  })
})

describe('the state', () => {
  it('has a rate from two samples, over two seconds, and none across a new start of the host', () => {
    const first = fleet([agent({ tasks: { received: 0, completed: 0, failed: 0 } })])
    let state = begun(first)
    expect(rateOf(state.samples, 'librarian')).toBeNull()
    for (let i = 1; i <= 20; i++) state = sampled(state, later(first, i * 500, i * 5))
    expect(rateOf(state.samples, 'librarian')).toBe(10)
    expect(state.samples.length).toBeLessThan(7)
    const anew = fleet([agent({ tasks: { received: 0, completed: 0, failed: 0 } })])
    state = sampled(state, { ...anew, host: { ...anew.host, startedAt: NOW } })
    expect(rateOf(state.samples, 'librarian')).toBeNull()
    expect(rateOf(state.samples, 'nobody')).toBeNull()
  })

  it('keeps the outcome of a command until the cursor moves, so that a low terminal tells the keys again', () => {
    const state = { ...begun(fleet(TWO)), said: { text: 'pause: done', bad: false } }
    expect(frame(sampled(state, fleet(TWO)), SMALL).at(-1)).toBe('pause: done')
    expect(frame(moved(state, 1), SMALL).at(-1)).toBe('j/k p r R s q')
  })

  it('is never below 0 where an agent counts anew', () => {
    const first = fleet([agent()])
    expect(rateOf(sampled(begun(first), later(first, 1000, 0)).samples, 'librarian')).toBe(0)
  })

  it('stays at its agent through sorting, and at its row when the agent has gone', () => {
    let state = moved(begun(fleet(many(5))), 2)
    for (const _ of SORTS) {
      state = resorted(state)
      expect(state.selected).toBe('worker-002')
    }
    state = sampled(state, fleet(many(5).filter(({ id }) => id !== 'worker-002')))
    expect(state.selected).toBe('worker-003')
    expect(sampled(state, fleet([])).selected).toBeNull()
    expect(sampled(sampled(state, fleet([])), fleet(many(1))).selected).toBe('worker-000')
  })

  it.each([
    ['trouble', ['b', 'a', 'c']],
    ['depth', ['c', 'a', 'b']],
    ['oldest', ['c', 'a', 'b']],
    ['restarts', ['b', 'a', 'c']],
    ['heap', ['a', 'c', 'b']],
    ['id', ['a', 'b', 'c']],
  ] as const)('sorts by %s', (sort, ids) => {
    const agents = [
      agent({ id: 'c', mailbox: mailbox(3, 10) }),
      agent({ id: 'a', heapUsedMb: 90 }),
      agent({ id: 'b', status: 'Unhealthy', restarts: 2, heapUsedMb: null }),
    ]
    expect(sorted({ ...begun(fleet(agents)), sort }).map(({ id }) => id)).toEqual(ids)
  })
})

const key = (text: string, name = text.toLowerCase(), ctrl = false): Key => ({ text, name, ctrl })

describe('a key', () => {
  it.each([
    [key('p'), { type: 'command', name: 'pause' }],
    [key('r'), { type: 'command', name: 'resume' }],
    [key('R'), { type: 'command', name: 'restart' }],
    [key('s'), { type: 'sort' }],
    [key('q'), { type: 'quit' }],
    [key('\u0003', 'c', true), { type: 'quit' }],
    [key('j'), { type: 'move', by: 1 }],
    [key('k'), { type: 'move', by: -1 }],
    [key('', 'up'), { type: 'move', by: -1 }],
    [key('', 'down'), { type: 'move', by: 1 }],
    [key('', 'end'), { type: 'move', by: Number.POSITIVE_INFINITY }],
    [key('\u0012', 'r', true), undefined],
    [key('x'), undefined],
    [key('constructor', 'constructor'), undefined],
  ])('%o is %o', (struck, action) => {
    expect(actionOf(struck)).toEqual(action)
  })
})

/** A terminal and a host in the hands of the test. */
function played(first = fleet(TWO)) {
  const clock = new FakeClock()
  const called: unknown[] = []
  const drawn: string[][] = []
  const world = { answer: async (_name: string): Promise<unknown> => first, connects: 0, closed: 0, size: WIDE }
  let events: ScreenEvents | undefined
  let closes = 0
  const client = (): Client => ({
    call: (name, args = []) => {
      if (name !== 'status') called.push([name, ...args])
      return world.answer(name)
    },
    stream: () => {
      throw new Error('no stream is needed')
    },
    close: () => void world.closed++,
  })
  const screen: Screen = {
    size: () => world.size,
    open: (heard) => {
      events = heard
    },
    draw: (lines) => void drawn.push([...lines]),
    close: () => void closes++,
  }
  const connect = async (): Promise<Client> => {
    world.connects++
    return client()
  }
  const ended = new LiveTop({ screen, clock, client: client(), connect }, first).run()
  return {
    world,
    called,
    ended,
    shown: () => drawn.at(-1)!.join('\n'),
    events: () => events!,
    strike: (...keys: Key[]) => {
      for (const one of keys) events!.key(one)
    },
    closes: () => closes,
    /** Lets the next sample be taken. */
    until: (what: string, holds: () => boolean) =>
      eventually(() => {
        clock.advance(500)
        return holds()
      }, what),
  }
}

describe('a run on a terminal', () => {
  it.each([
    ['p', 'pause'],
    ['r', 'resume'],
    ['R', 'restart'],
  ])('%s is the command it says, for the agent at the cursor, and tells the outcome', async (text, name) => {
    const run = played()
    run.world.answer = async () => agent({ status: 'Paused', phase: 'PAUSED' })
    run.strike(key('j'), key(text))
    expect(run.called).toEqual([[name, 'librarian']])
    expect(run.shown()).toContain(`${name} librarian …`)
    await eventually(() => run.shown().includes(`${name}: librarian: Paused, PAUSED`), run.shown)
    run.strike(key('q'))
    expect(await run.ended).toBe(0)
    expect([run.closes(), run.world.closed]).toEqual([1, 1])
  })

  it('tells of a refusal and goes on', async () => {
    const run = played()
    run.world.answer = async () => {
      throw new HoltError('InvalidTransition', 'reader is FAILED: it can be started')
    }
    run.strike(key('p'))
    await eventually(() => run.shown().includes('pause reader: reader is FAILED: it can be started'), run.shown)
    run.strike(key('\u0003', 'c', true))
    expect(await run.ended).toBe(0)
  })

  it('says that the host is lost, connects anew and goes on', async () => {
    const run = played()
    const gone = async () => {
      throw new HoltError('NoHost', 'the host has ended')
    }
    run.world.answer = gone
    await run.until('it is told', () => run.shown().includes('HOST LOST, trying again: the host has ended'))
    expect(run.shown()).toContain('librarian')
    run.strike(key('p'))
    await run.until('it tries again', () => run.world.connects > 1)
    run.world.answer = async () => fleet([agent({ id: 'back-again' })])
    await run.until('it is back', () => run.shown().includes('>back-again') && !run.shown().includes('HOST LOST'))
    run.events().end(143)
    expect(await run.ended).toBe(143)
    expect(run.world.closed).toBe(run.world.connects + 1)
  })

  it('keeps its connection through a refusal', async () => {
    const run = played()
    run.world.answer = async () => {
      throw new HoltError('RateLimited', 'too many requests')
    }
    await run.until('it is told', () => run.shown().includes('too many requests'))
    expect([run.world.connects, run.world.closed]).toEqual([0, 0])
    run.strike(key('q'))
    await run.ended
  })

  it('draws anew for another size', async () => {
    const run = played()
    run.world.size = SMALL
    run.events().resize()
    expect(run.shown().split('\n')).toHaveLength(10)
    run.strike(key('q'))
    await run.ended
  })

  it('needs no agent', async () => {
    const run = played(fleet([]))
    run.strike(key('j'), key('p'))
    expect(run.called).toEqual([])
    expect(run.shown()).toContain('there is no agent')
    run.strike(key('q'))
    expect(await run.ended).toBe(0)
  })
})

describe('without a terminal', () => {
  it('prints one table and ends', async () => {
    const { exit, out, called, closed } = await holt(['top'], { answers: { status: fleet(TWO) } })
    expect({ exit, called, closed }).toEqual({ exit: 0, called: [{ name: 'status', args: [], opts: {} }], closed: 1 })
    expect(out.split('\n').slice(1)).toEqual([
      '2 agents  1 Running  1 Unhealthy',
      'ID        STATUS    PHASE      DEPTH  OLDEST RESTARTS   HEAP   RETRY',
      'reader    Unhealthy FAILED        17   1m 5s        4      -      4s',
      'librarian Running   ACTIVE         0       -        0   12MB       -',
      '',
    ])
  })

  it('prints the status as JSON with --json, on a terminal too', async () => {
    const screen = async (): Promise<Screen> => {
      throw new Error('no screen is needed')
    }
    const { out } = await holt(['top', '--json'], { answers: { status: fleet(TWO) }, io: { screen } })
    expect(JSON.parse(out)).toEqual(fleet(TWO))
  })

  it('tells of a host that is not there like every other command', async () => {
    const { exit, err } = await holt(['top'], { answers: { status: new HoltError('NoHost', 'nobody listens') } })
    expect(exit).not.toBe(0)
    expect(err).toContain('nobody listens')
  })
})
