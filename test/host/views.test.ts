/** What can be seen of a fleet beside its snapshots, on real agents: detail, tree, capabilities, mailbox, deaths. */
import { describe, expect, it } from 'vitest'
import type { Host } from '../../src/host/host.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, hostFleet, NO_BUDGET, role } from '../fleet-on-disk.ts'
import { Gate } from '../gate.ts'
import { SMALL_FLEET } from '../transports/small-fleet.ts'
import { HAND } from './hand.ts'

const one = (manifest = {}): Promise<Host> =>
  hostFleet({ agents: { hand: { role: HAND, manifest } }, supervisor: NO_BUDGET })

/** A handler that waits at a gate until it is opened. */
async function holding(host: Host): Promise<Gate> {
  const gate = new Gate()
  host.agent('hand').tell('hold', gate.cells)
  await eventually(() => gate.reached === 1, 'a handler at the gate')
  return gate
}

describe('detail', () => {
  it('is the snapshot, and what the agent is made of', async () => {
    const host = await hostFleet(SMALL_FLEET)
    const { invocationMetrics, ...detail } = host.detail('reader')
    expect(detail).toMatchObject({
      ...host.agent('reader').snapshot(),
      instance: { epoch: detail.instance!.epoch, uptimeMs: expect.any(Number) },
      equippedCompetencies: [{ name: 'role', events: ['note'], commands: ['shout'], needs: ['text'] }],
      capabilities: [{ id: 'text', methods: ['upper'] }],
      channels: [],
      schedules: [],
      limits: { heapMb: 64, stopTimeoutMs: 5000, killAfterMs: 15_000 },
    })
    expect(Object.keys(invocationMetrics)).toEqual(['note', 'shout'])
  })

  it('knows no competencies before the first ACTIVE, but the grants of the manifest', async () => {
    const host = await hostFleet(SMALL_FLEET)
    expect(host.detail('sleeper')).toMatchObject({ equippedCompetencies: [], invocationMetrics: {}, capabilities: [] })
    expect(host.detail('broken')).toMatchObject({ phase: 'FAILED', equippedCompetencies: [] })
  })
})

describe('capabilities', () => {
  it('say who may call what, and why one cannot be lent', async () => {
    const host = await hostFleet({
      agents: {
        a: { role: role(''), manifest: { capabilities: [{ id: 'text', allow: ['upper', 'lower'] }] } },
        b: { role: role(''), manifest: { capabilities: [{ id: 'text', allow: ['lower'] }] } },
        c: { role: role('') },
      },
      capabilities: {
        'text.ts': SMALL_FLEET.capabilities['text.ts'],
        'down.ts': `
          import { defineCapability } from 'holt/capability'
          export default defineCapability({ id: 'down', placement: 'host', methods: { go() {} }, boot() { throw new Error('no disk') } })
        `,
      },
    })
    expect(host.capabilities()).toEqual([
      {
        id: 'text',
        placement: 'host',
        methods: ['upper', 'lower'],
        grantedTo: [
          { agent: 'a', methods: ['upper', 'lower'] },
          { agent: 'b', methods: ['lower'] },
        ],
      },
      {
        id: 'down',
        placement: 'host',
        methods: ['go'],
        unavailable: 'its boot failed: no disk',
        grantedTo: [],
      },
    ])
  })
})

describe('tree', () => {
  it('has supervisors and agents in start order, each where it stands', async () => {
    const host = await hostFleet(SMALL_FLEET)
    await host.agent('hand').restart()
    expect(host.tree()).toEqual({
      id: 'root',
      kind: 'supervisor',
      strategy: 'one_for_one',
      status: 'Running',
      restarts: 0,
      children: [
        { id: 'hand', kind: 'agent', phase: 'ACTIVE', status: 'Running', restarts: 1 },
        {
          id: 'readers',
          kind: 'supervisor',
          strategy: 'one_for_one',
          status: 'Running',
          restarts: 0,
          children: [
            { id: 'reader', kind: 'agent', phase: 'ACTIVE', status: 'Running', restarts: 0 },
            { id: 'sleeper', kind: 'agent', phase: 'IDLE', status: 'Stopped', restarts: 0 },
          ],
        },
        { id: 'broken', kind: 'agent', phase: 'FAILED', status: 'Stopped', restarts: 0 },
      ],
    })
  })

  it('shows a supervisor that gave up as Stopped, with what it had done', async () => {
    const host = await hostFleet({
      agents: { hand: { role: HAND, manifest: AT_ONCE } },
      supervisor: { id: 'root', intensity: 1, periodMs: 60_000 },
    })
    host.agent('hand').tell('throw', 'one')
    await eventually(() => host.agent('hand').snapshot().restarts === 1, 'the restart it may')
    host.agent('hand').tell('throw', 'two')
    await eventually(() => host.tree().gaveUp !== undefined, 'giving up')
    expect(host.tree()).toMatchObject({
      status: 'Stopped',
      restarts: 1,
      gaveUp: { restarts: 2, withinMs: expect.any(Number) },
      children: [{ id: 'hand', status: 'Stopped' }],
    })
  })
})

describe('deaths', () => {
  it('of all agents are in the order in which they died', async () => {
    const host = await hostFleet({
      agents: { a: { role: HAND, manifest: AT_ONCE }, b: { role: HAND, manifest: AT_ONCE } },
      supervisor: NO_BUDGET,
    })
    for (const id of ['b', 'a', 'b']) {
      const before = host.deaths().length
      host.agent(id).tell('throw', `of ${id}`)
      await eventually(() => host.deaths().length > before && host.agent(id).phase === 'ACTIVE', `a death of ${id}`)
    }
    expect(host.deaths().map(({ agent, error }) => [agent, error?.message])).toEqual([
      ['b', 'of b'],
      ['a', 'of a'],
      ['b', 'of b'],
    ])
    expect(host.deaths('a')).toEqual(host.agent('a').deaths())
    expect(() => host.deaths('c')).toThrow("there is no agent 'c'")
  })
})

describe('mailbox', () => {
  it('shows what runs and what waits, wherever it waits', async () => {
    const host = await one()
    const gate = await holding(host)
    for (let n = 0; n < 150; n++) host.agent('hand').tell('note', n)
    const asked = host.agent('hand').ask('ping')
    const { waiting, inFlight, ...rest } = host.mailbox('hand')
    expect(rest).toEqual({ id: 'hand', depth: 151, capacity: 256, dropped: 0, ignored: 0, deadLetters: 0 })
    expect(inFlight).toMatchObject([{ name: 'hold', id: 1, kind: 'event' }])
    expect(waiting).toHaveLength(100)
    expect(waiting[0]).toEqual({ id: 2, name: 'note', kind: 'event', ageMs: expect.any(Number) })
    expect(waiting.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, n) => n + 2))
    gate.open()
    await asked
    expect(host.mailbox('hand')).toMatchObject({ depth: 0, inFlight: [], waiting: [] })
  })

  it('says who sent it, where an agent did, and which is an ask', async () => {
    const host = await hostFleet({
      agents: {
        hand: { role: HAND },
        sender: { role: role(`events: { go(_, ctx) { ctx.tell('hand', 'note', 1) } }`) },
      },
    })
    await host.agent('hand').pause()
    await host.agent('sender').emit('go')
    const asked = host.agent('hand').ask('ping')
    await eventually(() => host.mailbox('hand').depth === 2, 'both messages')
    expect(host.mailbox('hand').waiting).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ name: 'note', from: 'sender' }),
        expect.objectContaining({ name: 'ping', kind: 'ask' }),
      ]),
    )
    await host.agent('hand').resume()
    expect(await asked).toBe('pong')
  })

  it('with several at a time shows only what has not begun', async () => {
    const host = await one({ mailbox: { concurrency: 2 } })
    const [first, second] = [await holding(host), new Gate()]
    host.agent('hand').tell('hold', second.cells)
    await eventually(() => second.reached === 1, 'the second at its gate')
    host.agent('hand').tell('note', 1)
    expect(host.mailbox('hand')).toMatchObject({ inFlight: [{ id: 1 }, { id: 2 }], waiting: [{ id: 3 }] })
    second.open()
    await eventually(() => host.agent('hand').snapshot().tasks.completed === 2, 'the third to end')
    expect(host.mailbox('hand')).toMatchObject({ inFlight: [{ id: 1 }], waiting: [] })
    first.open()
  })
})

describe('purge', () => {
  it('takes out what waits, makes each a dead letter, and rejects asks', async () => {
    const host = await one()
    const hand = host.agent('hand')
    await hand.pause()
    for (let n = 0; n < 10; n++) hand.tell('note', n)
    const asked = hand.ask('ping').catch((error: unknown) => error)
    expect(host.purge('hand')).toEqual({ purged: 11 })
    expect(await asked).toMatchObject({ code: 'Aborted', message: "'ping' was aborted on agent 'hand'" })
    expect(host.mailbox('hand')).toMatchObject({ depth: 0, waiting: [], dropped: 11, deadLetters: 11 })
    expect(hand.deadLetters().map(({ reason }) => reason)).toEqual(new Array(11).fill('purged'))
    expect(hand.deadLetters()[3]).toMatchObject({ name: 'note', payload: 3, kind: 'event' })
    expect(host.purge('hand')).toEqual({ purged: 0 })
    await hand.resume()
    expect(await hand.ask('ping')).toBe('pong')
    expect(hand.snapshot().tasks).toMatchObject({ failed: 0 })
  })

  it('leaves what the thread has in its hands', async () => {
    const host = await one()
    const hand = host.agent('hand')
    const gate = await holding(host)
    const emitted = hand.emit('note', 1)
    await eventually(() => host.directory.get('hand').inbox.mailbox.unsent === 0, 'the message to be handed over')
    const paused = hand.pause()
    hand.tell('note', 2)
    expect(host.purge('hand')).toEqual({ purged: 1 })
    gate.open()
    await paused
    await hand.resume()
    expect(await emitted).toEqual({ fate: 'handled' })
    expect(hand.deadLetters()).toMatchObject([{ payload: 2, reason: 'purged' }])
  })

  it('frees the places of what it took', async () => {
    const host = await one({ mailbox: { capacity: 4 } })
    const hand = host.agent('hand')
    await hand.suspend()
    for (let n = 0; n < 4; n++) expect(hand.tell('note', n)).toBe(true)
    expect(hand.hasRoom).toBe(false)
    const room = hand.room()
    expect(host.purge('hand')).toEqual({ purged: 4 })
    await room
    for (let n = 0; n < 4; n++) expect(hand.tell('note', n)).toBe(true)
    expect(hand.tell('note', 4)).toBe(false)
  })
})

describe('summary', () => {
  it('is what the fleet says, in short', async () => {
    const host = await hostFleet(SMALL_FLEET)
    const { id, version } = host.fleet().host
    expect(host.summary()).toEqual({
      name: 'holt',
      version,
      host: id,
      uptimeMs: expect.any(Number),
      counts: { Running: 2, Stopped: 2 },
      cursor: expect.any(Number),
    })
    expect(host.summary().counts).toEqual(host.fleet().counts)
  })
})
