/**
 * Threads inside a native call, which the platform cannot end until it returns: fenced, shown, waited for or replaced,
 * and never in the way of anybody else.
 */
import { pbkdf2Sync } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { AgentRef } from '../../src/actors/ref.ts'
import type { Host } from '../../src/host/host.ts'
import type { AgentObject } from '../../src/manifest/agent-manifest.ts'
import type { Fact } from '../../src/model/fact.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { at, hostFleet, NO_BUDGET, openFleet, role } from '../fleet-on-disk.ts'
import { HAND, linesOf } from './hand.ts'
import { expectComplete } from './thrown.ts'

const LIMITS = { unresponsiveAfterMs: 300, killAfterMs: 500 }
const WATCHED: Partial<AgentObject> = { restart: { backoff: 'none' }, limits: LIMITS }

/** `sleep` and `hash` are native calls of so many seconds, and of so many rounds. */
const NATIVE = role(
  `events: {
    sleep(seconds) { console.log('in'); execSync('sleep ' + seconds); console.log('out') },
    hash(rounds) { console.log('in'); pbkdf2Sync('secret', 'salt', rounds, 64, 'sha512'); console.log('out') },
    note(n) { console.log('note ' + n) },
  },
  commands: { ping: { handle: () => 'pong' }, sleep: { handle(seconds) { console.log('in'); execSync('sleep ' + seconds) } } }`,
  `import { execSync } from 'node:child_process'\nimport { pbkdf2Sync } from 'node:crypto'`,
)

interface Native {
  readonly host: Host
  readonly ref: AgentRef
  readonly facts: Fact[]
  readonly lines: string[]
}

async function native(manifest: Partial<AgentObject> = WATCHED): Promise<Native> {
  const host = await hostFleet({
    agents: { native: { role: NATIVE, manifest }, good: { role: HAND } },
    supervisor: NO_BUDGET,
  })
  const facts: Fact[] = []
  host.facts$.subscribe((fact) => fact.agent === 'native' && facts.push(fact))
  return { host, ref: host.agent('native'), facts, lines: linesOf(host, 'native') }
}

const kinds = (facts: readonly Fact[]): string[] => facts.map(({ kind }) => kind)

/** Begins the call and waits until the thread is in it. */
async function inside({ ref, lines }: Native, event: 'sleep' | 'hash', payload: number): Promise<void> {
  const before = children()
  ref.tell(event, payload)
  await eventually(() => lines.includes('in'), 'the call')
  // It says so before it is: a sleep is one once there is a process that sleeps.
  if (event === 'sleep') await eventually(() => children() > before, 'the process that sleeps')
}

/** Processes that this one, or a thread of it, has started. */
const children = (): number =>
  readdirSync('/proc/self/task').reduce((sum, task) => {
    try {
      return sum + readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' ').filter(Boolean).length
    } catch {
      // The thread has ended meanwhile.
      return sum
    }
  }, 0)

const unkillable = (ref: AgentRef): Promise<unknown> => eventually(() => ref.snapshot().unkillable, 'unkillable')

const up = (ref: AgentRef, deaths: number): Promise<boolean> =>
  eventually(
    () => ref.deaths().length === deaths && ref.phase === 'ACTIVE',
    () => `ACTIVE after ${deaths} deaths, it is ${ref.phase} after ${ref.deaths().length}`,
  )

/** So many rounds that take the time, about. */
function roundsOf(ms: number): number {
  const began = performance.now()
  pbkdf2Sync('secret', 'salt', 400_000, 64, 'sha512')
  return Math.round((400_000 * ms) / (performance.now() - began))
}

describe('a thread inside a native call that is hung', () => {
  it('is shown, and has no successor until it has ended', async () => {
    const calls = [
      { event: 'sleep', payload: 3, ...(await native()) },
      { event: 'hash', payload: roundsOf(4500), ...(await native()) },
    ] as const
    for (const call of calls) await inside(call, call.event, call.payload)
    for (const { ref, host } of calls) {
      await unkillable(ref)
      expect(ref.snapshot()).toMatchObject({
        phase: 'STOPPING',
        status: 'Unhealthy',
        healthCause: 'observed-bad',
        intent: 'running',
        axes: { alive: true, health: 'bad', desiredStatus: 'running' },
        nextRestartAt: null,
      })
      expect(ref.deaths()).toEqual([])
      // It waits for its successor.
      expect(ref.tell('note', 1)).toBe(true)
      expect(await host.agent('good').ask('ping')).toBe('pong')
    }
    for (const { ref, event, facts, lines } of calls) {
      await up(ref, 1)
      const record = ref.deaths()[0]!
      expectComplete(record)
      expect(record).toMatchObject({
        cause: 'unresponsive',
        inFlight: [{ name: event }],
        decision: { action: 'restart' },
        error: { message: expect.stringMatching(/^no sign of life for \d+ ms \(limits\.killAfterMs\)$/) },
      })
      expect(ref.snapshot()).toMatchObject({ unkillable: false, status: 'Running', healthCause: null, restarts: 1 })
      await eventually(() => lines.includes('note 1'), 'what had waited')
      expect(lines).toEqual(['in', 'note 1'])
      expect(facts.filter(({ kind }) => kind === 'agent.unkillable')).toMatchObject([
        { level: 'error', instance: record.instance, data: { replaced: false } },
      ])
    }
  })
})

describe('unkillable: replace', () => {
  const REPLACED = { ...WATCHED, restart: { backoff: 'none', unkillable: 'replace' } } as const

  it('starts the successor at once; nothing that the old thread says is heard', async () => {
    const tested = await native(REPLACED)
    const { ref, facts, lines } = tested
    const old = ref.snapshot().instance!
    const fate = ref.emit('note', 0)
    expect(await fate).toEqual({ fate: 'handled' })
    const asked = ref.ask('sleep', 3).catch((error: { code: string }) => error.code)
    await eventually(() => lines.includes('in'), 'the call')
    ref.tell('note', 1)
    await up(ref, 1)
    // It was not waited for.
    expect(kinds(facts)).not.toContain('agent.unkillable_ended')
    expect(await asked).toBe('AgentDied')
    expect(ref.snapshot()).toMatchObject({ unkillable: false, status: 'Running' })
    expect(ref.snapshot().instance!.epoch).toBeGreaterThan(old.epoch)
    expect(ref.deaths()).toMatchObject([{ instance: old.id, cause: 'unresponsive', inFlight: [{ name: 'sleep' }] }])
    expect(await ref.ask('ping')).toBe('pong')
    const ended = await eventually(() => facts.find(({ kind }) => kind === 'agent.unkillable_ended'), 'the old thread')
    expect(ended).toMatchObject({ instance: old.id, epoch: old.epoch })
    expect(lines).toEqual(['note 0', 'in', 'note 1'])
    expect(ref.deaths()).toHaveLength(1)
    expect(ref.snapshot()).toMatchObject({ phase: 'ACTIVE', restarts: 1 })
  })

  it('is named when the host ends before the thread that was given up has', async () => {
    const tested = await native(REPLACED)
    const { ref, host } = tested
    await inside(tested, 'sleep', 6)
    await up(ref, 1)
    expect(await host.shutdown({ timeoutMs: 2000 })).toMatchObject({ killed: [], stuck: ['native'] })
  })
})

describe('commands to it', () => {
  it('stop and suspend answer that it still runs, and stand; kill too; restart is refused', async () => {
    const tested = await native({ restart: { backoff: 'none' }, limits: { stopTimeoutMs: 100, abortGraceMs: 100 } })
    const { ref } = tested
    await inside(tested, 'sleep', 6)
    expect(await ref.kill({ by: 'me' })).toMatchObject({ stillRunning: true, unkillable: true, status: 'Unhealthy' })
    await expect(ref.restart()).rejects.toMatchObject({ code: 'Unkillable' })
    expect(ref.snapshot()).toMatchObject({ intent: 'running', command: null })
    expect(await ref.suspend()).toMatchObject({ stillRunning: true, intent: 'suspended', status: 'Stopping' })
    expect(await ref.stop({ by: 'me' })).toMatchObject({ stillRunning: true, intent: 'stopped', phase: 'STOPPING' })
    await expect(ref.start()).rejects.toMatchObject({ code: 'InvalidCommand' })
    await eventually(() => ref.phase === 'STOPPED', 'its end')
    expect(ref.deaths()).toMatchObject([{ decision: { action: 'none', rule: 'command', by: 'me' } }])
    expect(ref.snapshot()).toMatchObject({ unkillable: false, status: 'Stopped', intent: 'stopped' })
    expect(await ref.start()).toMatchObject({ phase: 'ACTIVE', status: 'Running', unkillable: false })
  })

  it('a restart that runs into it is refused, and the supervisor starts it when it has ended', async () => {
    const tested = await native({ restart: { backoff: 'none' }, limits: { stopTimeoutMs: 100 } })
    const { ref } = tested
    await inside(tested, 'sleep', 6)
    await expect(ref.restart()).rejects.toMatchObject({
      code: 'Unkillable',
      message: expect.stringMatching(/native call/),
    })
    expect(ref.snapshot()).toMatchObject({ unkillable: true, intent: 'running', status: 'Unhealthy' })
    await up(ref, 1)
    expect(await ref.ask('ping')).toBe('pong')
  })
})

describe('a boot inside a native call', () => {
  it('is what a start of it, and of a new agent, is told', async () => {
    const slow = role('', `import { execSync } from 'node:child_process'\nexecSync('sleep 6')`)
    const manifest = { autostart: false, restart: { type: 'temporary' }, limits: { bootTimeoutMs: 2000 } } as const
    const host = await hostFleet({
      agents: { slow: { role: slow, manifest } },
      children: [{ agent: at('slow') }, { supervisor: { id: 'pool', strategy: 'dynamic' }, children: [] }],
    })
    const refused = { code: 'Unkillable', message: expect.stringMatching(/cannot be ended/) }
    const started = host.agent('slow').start()
    await Promise.all([
      expect(started).rejects.toMatchObject(refused),
      expect(host.spawn('pool', { agent: at('slow'), id: 'other' })).rejects.toMatchObject(refused),
    ])
  })

  it('keeps nobody else from starting, and is FAILED or tried again when it has ended', async () => {
    const slow = role(
      `commands: { ping: { handle: () => 'pong' } }`,
      `import { execSync } from 'node:child_process'\nexecSync('sleep 5')`,
    )
    const host = await openFleet({
      agents: {
        slow: { role: slow, manifest: { restart: { type: 'temporary' }, limits: { bootTimeoutMs: 300 } } },
        after: { role: HAND },
      },
      children: [{ agent: at('slow') }, { agent: at('after') }],
    })
    const ref = host.agent('slow')
    const started = host.start()
    await unkillable(ref)
    await started
    expect(ref.snapshot()).toMatchObject({ unkillable: true, phase: 'STOPPING' })
    expect(await host.agent('after').ask('ping')).toBe('pong')
    await eventually(() => ref.deaths().length === 1, 'its end')
    expectComplete(ref.deaths()[0]!)
    expect(ref.deaths()).toMatchObject([{ cause: 'start_timeout', step: 'roles', decision: { action: 'none' } }])
    expect(ref.snapshot()).toMatchObject({ unkillable: false, status: 'Stopped', axes: { alive: false } })
  })
})
