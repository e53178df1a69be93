/** What outlives a host: intents, epochs, deaths, counters, dead letters. In its own directory, over several hosts. */
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { DeathRecord } from '../../src/model/death.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { openStore } from '../../src/store/open.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { createTestHost } from '../../src/testkit/test-host.ts'
import { hostFleet, NO_BUDGET, writeFleet } from '../fleet-on-disk.ts'
import { runProgram } from '../program.ts'
import { HAND } from './hand.ts'

async function place(autostart = true) {
  const dir = await writeFleet({ agents: { hand: { role: HAND, manifest: { autostart } } }, supervisor: NO_BUDGET })
  const state = await mkdtemp(join(tmpdir(), 'holt-state-'))
  onTestFinished(() => rm(state, { recursive: true, force: true, maxRetries: 5 }))
  const stateDir = join(state, 'made')
  return { dir, stateDir, open: () => hostFleet(dir, { stateDir }) }
}

/** Runs a host that does this and is killed with -9 by itself, when its promises have settled. */
const killedHost = (dir: string, stateDir: string, work: string) =>
  runProgram(`
    const host = await createHost({ fleet: ${JSON.stringify(dir)}, stateDir: ${JSON.stringify(stateDir)}, log: 'silent' })
    const hand = host.agent('hand')
    ${work}
    console.log('done')
    process.kill(process.pid, 'SIGKILL')
  `)

const HOST_DIED: DeathRecord = {
  id: '',
  agent: 'hand',
  instance: '',
  epoch: 0,
  cause: 'host_died',
  class: 'reclaimed',
  uptimeMs: 1000,
  at: 1,
  inFlight: [],
  unflushed: 0,
  mailboxDepth: 0,
  heapUsedMb: null,
  decision: { rule: 'recovery', action: 'restart', supervisor: 'root', attempt: 0 },
}

describe('an intent', () => {
  it.each([
    ['suspend', 'suspended', 'STOPPED'],
    ['stop', 'stopped', 'STOPPED'],
  ] as const)('%s holds over a graceful end and over a kill -9 of the host', async (command, intent, phase) => {
    const { dir, stateDir, open } = await place()
    const { stdout } = await killedHost(dir, stateDir, `await hand.${command}({ by: 'ann', reason: 'too dear' })`)
    expect(stdout).toContain('done')
    for (let n = 0; n < 2; n++) {
      const host = await open()
      expect(host.agent('hand').snapshot()).toMatchObject({ intent, phase, generation: 2, reason: 'too dear' })
      expect(host.why('hand').sentences[0]).toContain("by 'ann'")
      await host.shutdown()
    }
  })

  it('paused holds, and the agent comes up with its gate shut', async () => {
    const { dir, stateDir, open } = await place()
    await killedHost(dir, stateDir, 'await hand.pause()')
    const host = await open()
    expect(host.agent('hand').snapshot()).toMatchObject({ phase: 'PAUSED', status: 'Paused', admission: 'cordoned' })
  })

  it('autostart counts only where nobody has wanted anything', async () => {
    const { open } = await place(false)
    const first = await open()
    expect(first.agent('hand').phase).toBe('IDLE')
    await first.agent('hand').start()
    await first.shutdown()
    const second = await open()
    expect(second.agent('hand').phase).toBe('ACTIVE')
  })

  it('is not changed by the end of the host', async () => {
    const { open } = await place()
    const first = await open()
    await first.shutdown()
    const host = await open()
    expect(host.agent('hand').snapshot()).toMatchObject({ intent: 'running', generation: 1, phase: 'ACTIVE' })
  })

  it('is committed only at the generation that is named', async () => {
    const { open } = await place()
    const hand = (await open()).agent('hand')
    await expect(hand.suspend({ ifGeneration: 7 })).rejects.toMatchObject({
      code: 'GenerationMismatch',
      details: { expected: 7, found: 1 },
    })
    expect(hand.snapshot()).toMatchObject({ intent: 'running', generation: 1, phase: 'ACTIVE' })
    expect(await hand.suspend({ ifGeneration: 1 })).toMatchObject({ intent: 'suspended', generation: 2 })
    await expect(hand.kill({ ifGeneration: 1 })).rejects.toMatchObject({ code: 'InvalidCommand' })
  })

  it.each([
    ['stop', { intent: ['running', 'stopped'], thread: 'ends' }],
    ['suspend', { intent: ['running', 'suspended'], thread: 'ends' }],
    ['pause', { admission: ['open', 'cordoned'] }],
    ['restart', { thread: 'ends and starts' }],
    ['kill', { thread: 'ends' }],
  ] as const)('%s with dryRun says what would change, and changes nothing', async (command, wouldChange) => {
    const { open } = await place()
    const host = await open()
    const hand = host.agent('hand')
    const { instance, generation } = hand.snapshot()
    expect(await hand[command]({ dryRun: true })).toMatchObject({ wouldChange })
    expect(hand.snapshot()).toMatchObject({ instance: { id: instance?.id }, generation, phase: 'ACTIVE' })
    await expect(hand.start({ dryRun: true })).rejects.toMatchObject({ code: 'InvalidCommand' })
  })
})

describe('after a kill -9', () => {
  it('what was alive has one death, host_died, and epochs go on growing', async () => {
    const { dir, stateDir, open } = await place()
    const { stdout } = await killedHost(dir, stateDir, "console.log(JSON.stringify(await hand.ask('who')))")
    const who = JSON.parse(stdout.split('\n')[0]!) as { instance: string; epoch: number }
    const host = await open()
    expect(host.deaths('hand')).toMatchObject([
      {
        instance: who.instance,
        epoch: who.epoch,
        cause: 'host_died',
        class: 'reclaimed',
        decision: { action: 'restart' },
      },
    ])
    expect(host.agent('hand').snapshot().instance?.epoch).toBeGreaterThan(who.epoch)
  })

  it('what had ended before is not recorded again', async () => {
    const { dir, stateDir, open } = await place()
    await killedHost(dir, stateDir, 'await hand.stop()')
    const host = await open()
    expect(host.deaths('hand').map(({ cause }) => cause)).toEqual(['shutdown'])
  })

  it.each([
    [2, 0],
    [3, 1000],
    [4, 2000],
    [30, 300_000],
  ])(
    'C017: an agent that was there at %i deaths in a row is held back for %i ms, and the host answers',
    async (count, ms) => {
      const { stateDir } = await place()
      const store = await openStore({ dir: stateDir, clock: systemClock, onFault: () => {} })
      const died = (n: number): DeathRecord => ({ ...HOST_DIED, id: `d_${n}`, instance: `i_${n}`, epoch: n })
      await store.write((tx) => {
        tx.agents.changeIntent('hand', { intent: 'running', by: 'ann', reason: null, at: 1 })
        for (let n = 1; n <= count; n++) tx.deaths.add(died(n))
      })
      await store.close()
      const kit = await createTestHost({ fleet: { children: [{ agent: { id: 'hand', name: 'Hand' } }] }, stateDir })
      const phase = () => kit.host.agent('hand').phase
      if (ms > 0) {
        expect(kit.host.agent('hand').snapshot()).toMatchObject({ phase: 'STOPPED', status: 'Starting' })
        await kit.advance(ms - 1)
        expect(phase()).toBe('STOPPED')
        await kit.advance(1)
      }
      expect(phase()).toBe('ACTIVE')
      await kit.close()
    },
  )

  it('one that is not wanted running has no start scheduled, however often its host has died', async () => {
    const { stateDir } = await place()
    const store = await openStore({ dir: stateDir, clock: systemClock, onFault: () => {} })
    await store.write((tx) => {
      tx.agents.changeIntent('hand', { intent: 'stopped', by: 'ann', reason: null, at: 1 })
      for (let n = 1; n <= 5; n++) tx.deaths.add({ ...HOST_DIED, id: `d_${n}`, instance: `i_${n}`, epoch: n })
    })
    await store.close()
    const kit = await createTestHost({ fleet: { children: [{ agent: { id: 'hand', name: 'Hand' } }] }, stateDir })
    expect(kit.host.agent('hand').snapshot()).toMatchObject({
      phase: 'STOPPED',
      status: 'Stopped',
      nextRestartAt: null,
    })
    await kit.finish(kit.host.agent('hand').start())
    expect(kit.host.agent('hand').phase).toBe('ACTIVE')
    await kit.close()
  })
})

describe('what is kept', () => {
  it('counters, deaths and the numbers of facts go on', async () => {
    const { open } = await place()
    const first = await open()
    for (let n = 0; n < 3; n++) await first.agent('hand').emit('note', n)
    await first.agent('hand').emit('throw', 'boom')
    await eventually(() => first.agent('hand').phase === 'ACTIVE', 'the restart')
    let last = 0
    first.facts$.subscribe(({ seq }) => {
      last = seq
    })
    await first.shutdown()
    const second = await open()
    expect(second.agent('hand').snapshot().tasks).toMatchObject({ completed: 3, failed: 1 })
    expect(second.deaths('hand').map(({ cause }) => cause)).toEqual(['crash', 'shutdown'])
    const seqs: number[] = []
    second.facts$.subscribe(({ seq }) => seqs.push(seq))
    await second.agent('hand').pause()
    await eventually(() => seqs.length > 0, 'a fact')
    expect(seqs[0]).toBeGreaterThan(last)
  })

  it('dead letters are listed, sent again and thrown away by their number, also by the next host', async () => {
    const { open } = await place()
    const first = await open()
    await first.agent('hand').stop()
    for (const n of [1, 2]) first.agent('hand').tell('note', n)
    const letters = await first.deadLetters.list('hand')
    expect(letters).toMatchObject([
      { agent: 'hand', reason: 'not_accepting', name: 'note', payload: 1 },
      { agent: 'hand', reason: 'not_accepting', name: 'note', payload: 2 },
    ])
    await first.shutdown()
    const second = await open()
    expect((await second.deadLetters.list()).map(({ id }) => id)).toEqual(letters.map(({ id }) => id))
    await second.agent('hand').start()
    expect(await second.deadLetters.replay(letters[0]!.id)).toEqual({ fate: 'handled' })
    expect(await second.deadLetters.discard(letters[1]!.id)).toMatchObject({ payload: 2 })
    expect(await second.deadLetters.list()).toEqual([])
    await expect(second.deadLetters.replay(letters[0]!.id)).rejects.toMatchObject({ code: 'NoSuchDeadLetter' })
  })
})

describe('a second host', () => {
  it('C137: of the same directory is refused with the pid, also by another path', async () => {
    const { dir, stateDir, open } = await place()
    await open()
    const link = `${stateDir}-link`
    await symlink(stateDir, link)
    for (const one of [stateDir, link])
      await expect(hostFleet(dir, { stateDir: one })).rejects.toMatchObject({
        code: 'StateInUse',
        message: expect.stringContaining(`pid ${process.pid}`),
      })
  })
})
