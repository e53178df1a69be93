/** What becomes of messages where an agent boots, waits, is gone, or dies of one of them. */
import { rm, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { AgentRef } from '../../src/actors/ref.ts'
import type { Host } from '../../src/host/host.ts'
import type { AgentObject } from '../../src/manifest/agent-manifest.ts'
import type { Fact } from '../../src/model/fact.ts'
import type { Fate } from '../../src/model/message.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, at, hostFleet, NO_BUDGET, openFleet, role, writeFleet } from '../fleet-on-disk.ts'
import { Gate } from '../gate.ts'
import { HAND, linesOf, notes } from './hand.ts'

async function one(manifest: Partial<AgentObject> = {}): Promise<{ host: Host; hand: AgentRef; lines: string[] }> {
  const host = await hostFleet({ agents: { hand: { role: HAND, manifest } }, supervisor: NO_BUDGET })
  return { host, hand: host.agent('hand'), lines: linesOf(host, 'hand') }
}

const all = (lines: string[], count: number): Promise<boolean> =>
  eventually(
    () => lines.length === count,
    () => `${count} lines, there are ${lines.length}, the last '${lines.at(-1)}'`,
  )

describe('C049 an agent that takes its time to boot', () => {
  /** Boots once the file is there, whose path is in its environment. */
  const SLOW = role(
    `events: { note(n) { console.log('note ' + n) } }`,
    `import { existsSync } from 'node:fs'
     while (!existsSync(import.meta.dirname + '/go')) await new Promise((resolve) => setTimeout(resolve, 2))`,
  )

  it('ignores what comes before its first ACTIVE, counts it, and is ready', async () => {
    const dir = await writeFleet({ agents: { slow: { role: SLOW } } })
    const host = await openFleet(dir)
    const slow = host.agent('slow')
    const started = host.start()
    await eventually(() => slow.snapshot().axes.alive, 'its thread')
    for (let n = 0; n < 100_000; n++) expect(slow.tell('note', n)).toBe(false)
    expect(slow.snapshot()).toMatchObject({ phase: 'BOOTING', mailbox: { ignored: 100_000, depth: 0 } })
    await writeFile(`${dir}/${at('slow')}/roles/go`, '')
    await started
    expect(await slow.emit('note', 1)).toEqual({ fate: 'handled' })
  })

  it('at a later boot queues up to its capacity, and drops the rest', async () => {
    const dir = await writeFleet({
      agents: { slow: { role: SLOW, files: { 'roles/go': '' }, manifest: { ...AT_ONCE, roles: ['roles/role.ts'] } } },
    })
    const host = await hostFleet(dir)
    const slow = host.agent('slow')
    const lines = linesOf(host, 'slow')
    await rm(`${dir}/${at('slow')}/roles/go`)
    await slow.kill()
    await eventually(() => slow.phase === 'BOOTING' && slow.snapshot().axes.alive, 'its boot')
    for (let n = 1; n <= 100_000; n++) slow.tell('note', n)
    expect(slow.snapshot().mailbox).toMatchObject({ depth: 256, dropped: 100_000 - 256 })
    await writeFile(`${dir}/${at('slow')}/roles/go`, '')
    await all(lines, 256)
    expect(lines).toEqual(notes(1, 256))
    expect(slow.deaths()).toHaveLength(1)
  })
})

describe('C050 a message that kills', () => {
  it('in back-off, is handled once, and what came after it is handled in order', async () => {
    const { hand, lines } = await one({ restart: { backoff: { minMs: 60_000, maxMs: 60_000 } } })
    hand.tell('throw', 'one')
    await eventually(() => hand.deaths().length === 1 && hand.phase === 'ACTIVE', 'the first restart')
    hand.tell('throw', 'two')
    await eventually(() => hand.snapshot().nextRestartAt !== null, 'back-off')
    hand.tell('throw', 'poison')
    for (let n = 1; n <= 9; n++) hand.tell('note', n)
    await hand.restart()
    await all(lines, 9)
    expect(lines).toEqual(notes(1, 9))
    expect(hand.deaths().map(({ error }) => error?.message)).toEqual(['one', 'two', 'poison'])
    expect(hand.deadLetters().map(({ payload, reason }) => `${payload} ${reason}`)).toEqual([
      'one crashed',
      'two crashed',
      'poison crashed',
    ])
  })

  it('with redeliver is tried that often, ahead of the rest, and then quarantined', async () => {
    const { hand, lines } = await one({ ...AT_ONCE, mailbox: { redeliver: 2 } })
    const fate = hand.emit('throw', 'poison')
    for (let n = 1; n <= 9; n++) hand.tell('note', n)
    expect(await fate).toMatchObject({ fate: 'quarantined' })
    await all(lines, 9)
    expect(lines).toEqual(notes(1, 9))
    expect(hand.deaths()).toHaveLength(3)
    expect(hand.deadLetters()).toMatchObject([{ reason: 'quarantined', deliveryCount: 3, payload: 'poison' }])
  })

  it('over forty deaths nothing is lost, doubled or out of order', { timeout: 60_000 }, async () => {
    const { hand, lines } = await one({ ...AT_ONCE, mailbox: { capacity: 10_000 } })
    let sent = 0
    const fates: Promise<Fate>[] = []
    for (let round = 0; round < 40; round++) {
      for (let n = 0; n < 50; n++) hand.tell('note', ++sent)
      fates.push(hand.emit('exit', 1))
    }
    expect(new Set((await Promise.all(fates)).map(({ fate }) => fate))).toEqual(new Set(['crashed']))
    await all(lines, sent)
    expect(lines).toEqual(notes(1, sent))
    await eventually(() => hand.phase === 'ACTIVE', 'the last restart')
    expect(hand.snapshot()).toMatchObject({
      restarts: 40,
      mailbox: { depth: 0, dropped: 0 },
      tasks: { completed: sent },
    })
  })
})

describe('C052 a flood of dead letters', () => {
  it('to a stopped agent: all counted, the last 256 kept, a few told', async () => {
    const { host, hand } = await one()
    await hand.stop()
    const told: Fact[] = []
    host.facts$.subscribe((fact) => fact.kind === 'message.dead_letter' && told.push(fact))
    for (let n = 1; n <= 200_000; n++) hand.tell('note', n)
    expect(hand.snapshot().mailbox).toMatchObject({ ignored: 200_000, depth: 0 })
    expect(hand.deadLetters()).toHaveLength(256)
    expect(hand.deadLetters().at(-1)).toMatchObject({ reason: 'not_accepting', payload: 200_000 })
    await host.shutdown()
    await eventually(
      () => told.length === 6,
      () => `six facts, not ${told.length}`,
    )
    expect(told.map(({ data }) => (data as { count: number }).count)).toEqual([1, 1, 1, 1, 1, 199_995])
  })

  it('to a name that never existed: an error at once, with the nearest', async () => {
    const { host } = await one()
    for (let n = 0; n < 1000; n++)
      expect(() => host.agent('hant')).toThrow("there is no agent 'hant'. Did you mean 'hand'?")
    for (const name of ['__proto__', 'constructor', 'toString'])
      expect(() => host.agent(name)).toThrow(`there is no agent '${name}'`)
  })
})

describe('names of every object', () => {
  it.each(['__proto__', 'constructor', 'hasOwnProperty', 'toString', 'length'])(
    'C157 a message called %s is not known',
    async (name) => {
      const { hand } = await one()
      expect(await hand.emit(name)).toEqual({ fate: 'ignored', reason: 'no_handler' })
      await expect(hand.ask(name)).rejects.toMatchObject({ code: 'NoSuchCommand' })
      expect(hand.deaths()).toEqual([])
    },
  )
})

describe('time to live', () => {
  it('an event that is too old is not begun', async () => {
    const { hand, lines } = await one()
    const gate = new Gate()
    hand.tell('block', gate.cells)
    await eventually(() => gate.reached === 1, 'the gate')
    const old = hand.emit('note', 1, { ttlMs: 0 })
    const fresh = hand.emit('note', 2, { ttlMs: 60_000 })
    gate.open()
    expect([await old, await fresh]).toEqual([{ fate: 'expired', reason: 'expired' }, { fate: 'handled' }])
    await all(lines, 1)
    expect(hand.deadLetters()).toMatchObject([{ name: 'note', reason: 'expired', payload: 1 }])
  })
})

describe('a buffer that moves', () => {
  it('arrives without a copy, and is told lost when its thread dies before it is begun', async () => {
    const { hand } = await one(AT_ONCE)
    const buffer = new ArrayBuffer(1024)
    expect(hand.tell('nobody', { buffer }, { transfer: [buffer] })).toBe(true)
    expect(buffer.byteLength).toBe(0)
    expect(() => hand.tell('nobody', { buffer }, { transfer: [buffer] })).toThrow(/could not be cloned/)
    const gate = new Gate()
    hand.tell('block', gate.cells)
    await eventually(() => gate.reached === 1, 'the gate')
    const moved = new ArrayBuffer(8)
    const fate = hand.emit('note', { moved }, { transfer: [moved] })
    await eventually(() => hand.snapshot().mailbox.depth === 1, 'it waits')
    await hand.kill()
    expect(await fate).toEqual({ fate: 'dropped', reason: 'transferred' })
  })
})

describe('the settings of a mended manifest', () => {
  it('apply from the next start', async () => {
    const dir = await writeFleet({ agents: { hand: { role: HAND, manifest: { mailbox: { capacity: 10 } } } } })
    const hand = (await hostFleet(dir)).agent('hand')
    await writeFile(
      `${dir}/${at('hand')}/agent.yml`,
      JSON.stringify({ id: 'hand', name: 'Hand', mailbox: { capacity: 20, overflow: 'reject' } }),
    )
    await hand.stop()
    await hand.start()
    await hand.pause()
    let accepted = 0
    for (let n = 0; n < 50; n++) if (hand.tell('note', n)) accepted++
    expect({ accepted, ...hand.snapshot().mailbox }).toMatchObject({
      accepted: 20,
      capacity: 20,
      depth: 20,
      dropped: 0,
    })
  })
})
