/** Pause and resume: the gate shuts between two messages, what arrives waits, and it drains in order. */
import { describe, expect, it } from 'vitest'
import type { AgentRef } from '../../src/actors/ref.ts'
import type { Host } from '../../src/host/host.ts'
import type { AgentObject } from '../../src/manifest/agent-manifest.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, hostFleet, NO_BUDGET, openFleet } from '../fleet-on-disk.ts'
import { Gate } from '../gate.ts'
import { HAND, linesOf, notes } from './hand.ts'

async function one(manifest: Partial<AgentObject> = {}): Promise<{ host: Host; hand: AgentRef; lines: string[] }> {
  const host = await hostFleet({ agents: { hand: { role: HAND, manifest } }, supervisor: NO_BUDGET })
  return { host, hand: host.agent('hand'), lines: linesOf(host, 'hand') }
}

async function holding(hand: AgentRef, how: 'hold' | 'obey' | 'block' = 'hold'): Promise<Gate> {
  const gate = new Gate()
  hand.tell(how, gate.cells)
  await eventually(() => gate.reached === 1, `a handler at the gate (${how})`)
  return gate
}

function tellNotes(hand: AgentRef, from: number, to: number): number {
  let accepted = 0
  for (let n = from; n <= to; n++) if (hand.tell('note', n)) accepted++
  return accepted
}

const all = (lines: string[], count: number): Promise<boolean> =>
  eventually(
    () => lines.length === count,
    () => `${count} lines, there are ${lines.length}`,
  )

describe('pause and resume', () => {
  it('of 300 events 256 wait and 44 are dropped, and resume drains 256 in order', async () => {
    const { hand, lines } = await one()
    await hand.emit('note', 0)
    expect(await hand.pause({ by: 'operator' })).toMatchObject({
      phase: 'PAUSED',
      status: 'Paused',
      admission: 'cordoned',
      pausedBy: 'operator',
      inFlight: [],
    })
    expect(tellNotes(hand, 1, 300)).toBe(256)
    expect(hand.snapshot().mailbox).toMatchObject({ depth: 256, dropped: 44 })
    expect(hand.deadLetters().map(({ reason }) => reason)).toEqual(new Array(44).fill('overflow'))
    expect(await hand.resume()).toMatchObject({ phase: 'ACTIVE', status: 'Running', drained: 256 })
    await all(lines, 257)
    expect(lines.slice(1)).toEqual(notes(1, 256))
    expect(hand.snapshot()).toMatchObject({ mailbox: { depth: 0, dropped: 44 }, pausedSince: null, pausedBy: null })
  })

  it('counts what waited and not what was done before', async () => {
    const { hand, lines } = await one()
    tellNotes(hand, 1, 50)
    await all(lines, 50)
    await hand.pause()
    expect(await hand.resume()).toMatchObject({ drained: 0 })
  })

  it.each([
    ['drop-oldest', 45, 300],
    ['reject', 1, 256],
  ] as const)('with %s, what is left begins at %i', async (overflow, from, to) => {
    const { hand, lines } = await one({ mailbox: { overflow } })
    await hand.pause()
    expect(tellNotes(hand, 1, 300)).toBe(overflow === 'reject' ? 256 : 300)
    expect(hand.snapshot().mailbox).toMatchObject({ depth: 256, dropped: overflow === 'reject' ? 0 : 44 })
    if (overflow === 'reject') await expect(hand.emit('note', 0)).rejects.toMatchObject({ code: 'Overloaded' })
    await hand.resume()
    await all(lines, 256)
    expect(lines).toEqual(notes(from, to))
  })

  it('what was accepted before the pause is not dropped for it', async () => {
    const { hand, lines } = await one({ mailbox: { capacity: 10 } })
    const gate = await holding(hand)
    expect(tellNotes(hand, 1, 1000)).toBe(1000)
    const paused = hand.pause()
    await eventually(() => hand.phase === 'PAUSING', 'PAUSING')
    expect(tellNotes(hand, 1001, 1020)).toBe(10)
    gate.open()
    await paused
    expect(hand.snapshot().mailbox).toMatchObject({ depth: 1010, dropped: 10 })
    expect(await hand.resume()).toMatchObject({ drained: 1010 })
    await all(lines, 1010)
    expect(lines).toEqual(notes(1, 1010))
  })

  it('asks wait until their deadline', async () => {
    const { hand } = await one()
    await hand.pause()
    const patient = hand.ask('ping')
    await expect(hand.ask('ping', undefined, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'Timeout' })
    expect(hand.snapshot().mailbox.depth).toBe(1)
    await hand.resume()
    expect(await patient).toBe('pong')
  })

  it('refuses a second pause and a resume without one, by naming what would apply', async () => {
    const { hand } = await one()
    await expect(hand.resume()).rejects.toThrow(
      "Cannot apply 'resume' to agent 'hand' in ACTIVE. Valid commands: pause, suspend, stop, restart, kill",
    )
    await hand.pause()
    await expect(hand.pause()).rejects.toThrow(
      "Cannot apply 'pause' to agent 'hand' in PAUSED. Valid commands: resume, suspend, stop, restart, kill",
    )
    await hand.resume()
    expect(await hand.ask('ping')).toBe('pong')
  })

  it('pause --now aborts the one in flight and keeps the thread', async () => {
    const { hand, lines } = await one()
    const { instance } = hand.snapshot()
    await holding(hand, 'obey')
    expect(await hand.pause({ now: true })).toMatchObject({
      phase: 'PAUSED',
      inFlight: [],
      instance: { id: instance!.id },
    })
    await all(lines, 1)
    expect(lines[0]).toMatch(/^aborted: .*paused/)
    expect(hand.deadLetters()).toMatchObject([{ name: 'obey', reason: 'aborted' }])
    await hand.resume()
    expect(await hand.ask('ping')).toBe('pong')
    expect(hand.deaths()).toEqual([])
  })

  it('past its time-out it answers with what is in flight and stays PAUSING until that has ended', async () => {
    const { hand, lines } = await one({ limits: { pauseTimeoutMs: 30 } })
    const gate = await holding(hand, 'block')
    expect(await hand.pause()).toMatchObject({
      phase: 'PAUSING',
      status: 'Paused',
      inFlight: [{ name: 'block', kind: 'event' }],
    })
    hand.tell('note', 1)
    gate.open()
    await eventually(() => hand.phase === 'PAUSED', 'PAUSED')
    expect(lines).toEqual([])
    expect(await hand.resume()).toMatchObject({ drained: 1 })
    await all(lines, 1)
  })

  it.each(['hold', 'block'] as const)('C079 a resume while it still pauses runs at once (%s)', async (how) => {
    const { hand, lines } = await one({ limits: { pauseTimeoutMs: 10 } })
    const gate = await holding(hand, how)
    await hand.pause()
    expect(hand.phase).toBe('PAUSING')
    expect(await hand.resume()).toMatchObject({ phase: 'ACTIVE', status: 'Running', drained: 0 })
    hand.tell('note', 1)
    gate.open()
    await all(lines, 1)
    await hand.pause()
    expect(hand.phase).toBe('PAUSED')
    hand.tell('note', 2)
    await hand.resume()
    await all(lines, 2)
  })

  it('C077 after a pause is acknowledged no handler starts', async () => {
    const { hand, lines } = await one()
    let sent = 0
    for (let round = 0; round < 100; round++) {
      hand.tell('note', ++sent)
      await hand.pause()
      const { completed } = hand.snapshot().tasks
      hand.tell('note', ++sent)
      expect(hand.snapshot().tasks.completed).toBe(completed)
      await hand.resume()
    }
    await all(lines, sent)
    expect(lines).toEqual(notes(1, sent))
  })
})

describe('a pause elsewhere than in ACTIVE', () => {
  it('while booting applies on arrival, and is never Running on the way', async () => {
    const host = await openFleet({ agents: { hand: { role: HAND } } })
    const hand = host.agent('hand')
    const statuses: string[] = []
    hand.snapshot$.subscribe(({ status }) => statuses.push(status))
    const phases: string[] = []
    hand.phase$.subscribe((phase) => phases.push(phase))
    const started = host.start()
    await eventually(() => hand.phase === 'BOOTING', 'BOOTING')
    expect(await hand.pause()).toMatchObject({ phase: 'BOOTING', admission: 'cordoned' })
    await started
    expect(hand.snapshot()).toMatchObject({ phase: 'PAUSED', status: 'Paused' })
    await eventually(() => phases.at(-1) === 'PAUSED', 'PAUSED on the stream')
    expect(phases).toEqual(['STOPPED', 'BOOTING', 'ACTIVE', 'PAUSING', 'PAUSED'])
    expect(statuses).not.toContain('Running')
    hand.tell('note', 1)
    expect(await hand.resume()).toMatchObject({ phase: 'ACTIVE', drained: 1 })
  })

  it('a crash while paused comes back paused, with its mailbox', async () => {
    const { hand, lines } = await one(AT_ONCE)
    await hand.pause()
    tellNotes(hand, 1, 5)
    const statuses: string[] = []
    hand.snapshot$.subscribe(({ status }) => statuses.push(status))
    await hand.kill()
    await eventually(() => hand.phase === 'PAUSED', 'PAUSED again')
    expect(hand.snapshot()).toMatchObject({ status: 'Paused', restarts: 1, mailbox: { depth: 5 } })
    expect(statuses).not.toContain('Running')
    expect(await hand.resume()).toMatchObject({ drained: 5 })
    await all(lines, 5)
  })

  it('a crash while pausing comes back paused', async () => {
    const { hand } = await one({ ...AT_ONCE, limits: { pauseTimeoutMs: 10 } })
    await holding(hand, 'block')
    await hand.pause()
    await hand.kill()
    await eventually(() => hand.phase === 'PAUSED', 'PAUSED')
    await hand.resume()
    expect(await hand.ask('ping')).toBe('pong')
  })

  it('restart, and stop with start, keep it paused', async () => {
    const { hand } = await one()
    await hand.pause()
    expect(await hand.restart()).toMatchObject({ phase: 'PAUSED', status: 'Paused' })
    await hand.stop()
    expect(await hand.start()).toMatchObject({ phase: 'PAUSED', admission: 'cordoned' })
    expect(await hand.resume()).toMatchObject({ phase: 'ACTIVE' })
  })
})
