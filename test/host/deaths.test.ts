/** Every end of an instance leaves one complete record, whatever was thrown and wherever, and ends that instance alone. */
import { describe, expect, it } from 'vitest'
import type { AgentRef } from '../../src/actors/ref.ts'
import type { Host } from '../../src/host/host.ts'
import type { DeathRecord } from '../../src/model/death.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { type AgentText, AT_ONCE, hostFleet, NO_BUDGET, role } from '../fleet-on-disk.ts'
import { HAND } from './hand.ts'
import { expectComplete, SAID, THROWN } from './thrown.ts'

const WHATS = Object.keys(SAID)

/** Does something that ends it; resolves with the one record there is of that, once its successor is up. */
async function ends(ref: AgentRef, work: () => unknown): Promise<DeathRecord> {
  const before = ref.deaths().length
  await work()
  await eventually(
    () => ref.deaths().length > before && ref.phase === 'ACTIVE',
    () => `a death and its successor: ${ref.deaths().length - before} deaths, ${ref.phase}`,
  )
  expect(ref.deaths()).toHaveLength(before + 1)
  const record = ref.deaths().at(-1)!
  expectComplete(record)
  return record
}

/** The agent, and one beside it that is to notice nothing. */
async function beside(agent: AgentText): Promise<{ host: Host; bad: AgentRef; unharmed(): Promise<void> }> {
  const host = await hostFleet({ agents: { bad: agent, good: { role: HAND } }, supervisor: NO_BUDGET })
  const good = host.agent('good')
  return {
    host,
    bad: host.agent('bad'),
    unharmed: async () => {
      expect(await good.ask('ping')).toBe('pong')
      expect(good.deaths()).toEqual([])
    },
  }
}

const failure = (work: Promise<unknown>): Promise<Record<string, unknown>> =>
  work.then(
    () => expect.unreachable('it did not fail'),
    (error: Record<string, unknown>) => error,
  )

describe('whatever is thrown', () => {
  const SOME = ['null', 'symbol', 'proxy', 'cyclic']
  /** Each throws in its own place; a handler that has ended is to blame for nothing. */
  const PLACES: [string, string, number, readonly string[]][] = [
    ['at once in a handler', 'throw THROWN[what]()', 1, WHATS],
    ['later in a handler', 'return Promise.resolve().then(() => { throw THROWN[what]() })', 1, SOME],
    ['in a timer', 'setTimeout(() => { throw THROWN[what]() }, 0)', 0, WHATS],
    ['in a tick', 'process.nextTick(() => { throw THROWN[what]() })', 0, SOME],
    ['in a microtask', 'queueMicrotask(() => { throw THROWN[what]() })', 0, SOME],
    ['in a rejection that nobody awaits', 'void Promise.reject(THROWN[what]())', 0, WHATS],
    [
      'in a listener of a port',
      `const c = new MessageChannel(); c.port1.on('message', () => { throw THROWN[what]() }); c.port2.postMessage(1)`,
      0,
      SOME,
    ],
  ]

  it.each(PLACES)('%s', { timeout: 60_000 }, async (_, code, inFlight, whats) => {
    const text = role(
      `events: { fail(what) { ${code} } }`,
      `import { MessageChannel } from 'node:worker_threads'\n${THROWN}`,
    )
    const { bad, unharmed } = await beside({ role: text, manifest: AT_ONCE })
    for (const what of whats) {
      const record = await ends(bad, () => bad.tell('fail', what))
      expect(record, what).toMatchObject({ cause: 'crash', class: 'crash', decision: { action: 'restart' } })
      expect(record.error?.message, what).toMatch(SAID[what]!)
      if (inFlight > 0) expect(record.inFlight, what).toMatchObject([{ name: 'fail', kind: 'event' }])
    }
    await unharmed()
  })

  it('while a role is imported', async () => {
    const agents = Object.fromEntries(
      WHATS.map((what) => [
        what.toLowerCase(),
        { role: role('', `${THROWN}\nthrow THROWN.${what}()`), manifest: { restart: { type: 'temporary' as const } } },
      ]),
    )
    const host = await hostFleet({ agents: { ...agents, good: { role: HAND } } })
    for (const what of WHATS) {
      const { phase, lastDeath } = host.agent(what.toLowerCase()).snapshot()
      expect(phase, what).toBe('FAILED')
      expectComplete(lastDeath)
      expect(lastDeath, what).toMatchObject({ cause: 'boot_failed', step: 'roles', error: { code: 'BootFailed' } })
      expect(JSON.stringify(lastDeath.error), what).toMatch(/role\.ts threw while it was imported/)
      expect(`${lastDeath.error?.message}\n${lastDeath.error?.cause?.message}`, what).toMatch(
        new RegExp(SAID[what]!.source.replaceAll(/[$^]/g, ''), 'i'),
      )
    }
    expect(await host.agent('good').ask('ping')).toBe('pong')
  })

  it('in a stop hook', async () => {
    const text = role(
      `events: { arm(what) { armed = what } }, stop() { if (armed !== '') throw THROWN[armed]() }`,
      `${THROWN}\nlet armed = ''`,
    )
    const { bad, unharmed } = await beside({ role: text, manifest: AT_ONCE })
    for (const what of WHATS) {
      await bad.emit('arm', what)
      const record = await ends(bad, () => bad.restart())
      expect(record, what).toMatchObject({ cause: 'shutdown', decision: { rule: 'command' } })
      expect(record.error?.message, what).toMatch(SAID[what]!)
    }
    await unharmed()
  })

  it('over the instance’s own listener of uncaught errors, which throws in its turn', async () => {
    for (const listen of ['on', 'prependListener']) {
      const text = role(
        `events: { fail(what) { setTimeout(() => { throw THROWN[what]() }, 0) } }`,
        `${THROWN}\nprocess.${listen}('uncaughtException', () => { throw new Error('the second') })`,
      )
      const { bad, unharmed } = await beside({ role: text, manifest: AT_ONCE })
      for (const what of SOME) {
        const record = await ends(bad, () => bad.tell('fail', what))
        expect(record, what).toMatchObject({ cause: 'crash', class: 'crash' })
        expect(record.error?.message, what).toMatch(listen === 'on' ? SAID[what]! : /the second/)
      }
      await unharmed()
    }
  })
})

describe('an agent that meddles with how a thread ends', () => {
  const MEDDLING: [string, string][] = [
    ['replaces process.exit', 'process.exit = (() => {}) as never'],
    ['has process.exit throw', `process.exit = (() => { throw new Error('not me') }) as never`],
    ['takes all listeners off', 'process.removeAllListeners()'],
    ['captures uncaught errors', 'process.setUncaughtExceptionCaptureCallback(() => {})'],
    ['formats stacks badly', `Error.prepareStackTrace = () => { throw new Error('no stack today') }`],
    ['breaks JSON', `JSON.stringify = () => { throw new Error('no text today') }`],
    ['exits in its own exit listener', `process.on('exit', () => process.exit(0))`],
    ['throws in its own exit listener', `process.on('exit', () => { throw new Error('on the way out') })`],
  ]

  it.each(MEDDLING)('%s: its handler’s error still ends it, and is told', async (_, top) => {
    const text = role(`commands: { fail: { handle() { throw new RangeError('mine') } } }`, top)
    const { bad, unharmed } = await beside({ role: text, manifest: AT_ONCE })
    let error: Record<string, unknown> = {}
    const record = await ends(bad, async () => {
      error = await failure(bad.ask('fail'))
    })
    expect(record).toMatchObject({ cause: 'crash', inFlight: [{ name: 'fail', kind: 'ask' }] })
    expect(record.error).toMatchObject({ name: 'RangeError', message: 'mine' })
    expect(error).toMatchObject({ name: 'RangeError', message: 'mine', fatal: true, deathId: record.id })
    await unharmed()
  })
})
