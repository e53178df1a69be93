/** What handlers throw, in every shape: the caller and the death record get the same, whole, and nobody else dies. */
import { describe, expect, it } from 'vitest'
import type { Host } from '../../src/host/host.ts'
import type { HoltError } from '../../src/model/error.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { AT_ONCE, hostFleet, NO_BUDGET, role } from '../fleet-on-disk.ts'

/** Throws what the payload names. Answers `ping`. */
const THROWS = role(
  `commands: {
    fail: { handle(what) { throw THROWN[what]() } },
    later: { async handle(what) { await null; throw THROWN[what]() } },
    ping: { handle: () => 'pong' },
  },
  events: { fail(what) { throw THROWN[what]() } }`,
  `
class QuotaError extends Error {
  name = 'QuotaError'
  code = 'E_QUOTA'
  details = { left: 0 }
}
const THROWN: Record<string, () => unknown> = {
  null: () => null,
  undefined: () => undefined,
  symbol: () => Symbol('why'),
  text: () => 'just text',
  plain: () => ({ code: 7, reason: 'plain' }),
  frozen: () => Object.freeze(new RangeError('frozen')),
  getter: () => Object.defineProperty(new Error('x'), 'message', { get() { throw new Error('no message') } }),
  nameGetter: () => Object.defineProperty(new Error('named badly'), 'name', { get() { throw new Error('no name') } }),
  proxy: () => new Proxy({}, { get() { throw new Error('trap') }, getPrototypeOf() { throw new Error('trap') }, ownKeys() { throw new Error('trap') } }),
  unclonable: () => { const e: any = new Error('bad file'); e.setErrno = function () {}; e.self = e; return e },
  quota: () => new QuotaError('none left', { cause: new TypeError('inner') }),
  rejected: () => new CommandError('not for you', 'E_NO'),
}
`,
)

const thrower = (manifest = AT_ONCE): Promise<Host> =>
  hostFleet({ agents: { bad: { role: THROWS, manifest }, good: { role: THROWS } }, supervisor: NO_BUDGET })

const failure = async (work: Promise<unknown>): Promise<HoltError & Record<string, unknown>> =>
  work.then(
    () => expect.unreachable('it did not fail'),
    (error) => error as HoltError & Record<string, unknown>,
  )

describe('anything may be thrown', () => {
  const shapes: [string, { name?: string; message: string | RegExp }][] = [
    ['null', { name: 'NonError', message: 'thrown value: null' }],
    ['undefined', { name: 'NonError', message: 'thrown value: undefined' }],
    ['symbol', { name: 'NonError', message: 'thrown value: Symbol(why)' }],
    ['text', { name: 'NonError', message: 'thrown value: just text' }],
    ['plain', { name: 'NonError', message: /plain/ }],
    ['frozen', { name: 'RangeError', message: 'frozen' }],
    ['getter', { name: 'Error', message: /no message/ }],
    ['nameGetter', { message: 'named badly' }],
    ['proxy', { message: /trap/ }],
    ['unclonable', { name: 'Error', message: 'bad file' }],
  ]

  it.each(shapes)('C011 %s, thrown at once and later, reaches the caller and the record', async (what, shape) => {
    const host = await thrower()
    const bad = host.agent('bad')
    for (const command of ['fail', 'later']) {
      const error = await failure(bad.ask(command, what))
      const message = typeof shape.message === 'string' ? shape.message : expect.stringMatching(shape.message)
      const expected = { ...shape, message }
      expect(error).toMatchObject({ ...expected, fatal: true })
      const record = bad.deaths().at(-1)!
      expect(record).toMatchObject({ cause: 'crash', error: expected, inFlight: [{ name: command, kind: 'ask' }] })
      expect(error['deathId']).toBe(record.id)
      await eventually(() => bad.phase === 'ACTIVE', 'its successor')
    }
    bad.tell('fail', what)
    await eventually(() => bad.deaths().length === 3, 'the third death')
    expect(bad.deaths()[2]).toMatchObject({ cause: 'crash', inFlight: [{ name: 'fail', kind: 'event' }] })
    expect(await host.agent('good').ask('ping')).toBe('pong')
    expect(host.agent('good').deaths()).toEqual([])
  })

  it('C013 a class of its own keeps name, code, details, stack and cause, the same on both paths', async () => {
    const bad = (await thrower()).agent('bad')
    const error = await failure(bad.ask('fail', 'quota'))
    const shape = { name: 'QuotaError', message: 'none left', code: 'E_QUOTA' }
    expect(error).toMatchObject({ ...shape, details: { left: 0 }, cause: { name: 'TypeError', message: 'inner' } })
    expect(error.stack).toContain('role.ts')
    const record = bad.deaths()[0]!.error!
    expect(record).toMatchObject({
      ...shape,
      data: { details: { left: 0 } },
      cause: { name: 'TypeError', message: 'inner' },
    })
    expect(error.stack).toBe(record.stack)
  })

  it('C013 the same shape comes from a role that goes on', async () => {
    const host = await hostFleet({
      agents: { bad: { role: THROWS.replace("name: 'role',", "name: 'role', onError: 'continue',") } },
    })
    const bad = host.agent('bad')
    const error = await failure(bad.ask('fail', 'quota'))
    expect(error).toMatchObject({
      name: 'QuotaError',
      code: 'E_QUOTA',
      details: { left: 0 },
      cause: { name: 'TypeError' },
    })
    expect(error['fatal']).toBeUndefined()
    expect(await bad.emit('fail', 'null')).toEqual({
      fate: 'handled',
      reason: 'the handler failed: thrown value: null',
    })
    expect(bad.snapshot()).toMatchObject({ phase: 'ACTIVE', tasks: { failed: 2 } })
    expect(bad.deaths()).toEqual([])
  })

  it('a CommandError is an answer and no crash', async () => {
    const bad = (await thrower()).agent('bad')
    expect(await failure(bad.ask('fail', 'rejected'))).toMatchObject({ message: 'not for you', code: 'E_NO' })
    expect(await bad.ask('ping')).toBe('pong')
    expect(bad.deaths()).toEqual([])
  })
})

describe('what fails beside a handler', () => {
  it.each([
    ['a timer', `setTimeout(async () => { throw new Error('late') }, 1)`, /late/],
    ['a promise nobody awaits', `void Promise.reject(new Error('late'))`, /late/],
    ['a rejection with undefined', 'void Promise.reject(undefined)', /undefined/],
    ['a tick', `process.nextTick(() => { throw null })`, /null/],
  ])('C008 %s ends that agent alone, with the reason, and a reply that was given stays', async (_, code, why) => {
    const host = await hostFleet({
      agents: {
        bad: { role: role(`commands: { go: { handle() { ${code}; return 'done' } } }`) },
        good: { role: THROWS },
      },
    })
    const bad = host.agent('bad')
    expect(await bad.ask('go')).toBe('done')
    await eventually(() => bad.deaths().length === 1, 'its death')
    expect(bad.deaths()[0]).toMatchObject({ cause: 'crash', inFlight: [], decision: { action: 'restart' } })
    expect(bad.deaths()[0]!.error?.message).toMatch(why)
    await eventually(() => bad.phase === 'ACTIVE', 'its successor')
    expect(await host.agent('good').ask('ping')).toBe('pong')
  })

  it('C007 an agent that exits over its own uncaught errors does not leave the caller waiting', async () => {
    const host = await hostFleet({
      agents: {
        bad: {
          role: role(
            `commands: { fail: { async handle() { await null; throw new Error('x') } }, exit: { handle() { process.exit(0) } } }`,
            `process.on('uncaughtException', () => process.exit(1))`,
          ),
          manifest: AT_ONCE,
        },
      },
      supervisor: NO_BUDGET,
    })
    const bad = host.agent('bad')
    expect(await failure(bad.ask('fail'))).toBeInstanceOf(Error)
    await eventually(() => bad.phase === 'ACTIVE', 'its successor')
    const error = await failure(bad.ask('exit'))
    expect(error).toMatchObject({ code: 'AgentDied', details: { handled: false } })
    expect(error.message).toMatch(/died \(exit\) while it handled 'exit'.*process\.exit\(0\)/)
    expect(bad.deaths()[1]).toMatchObject({ cause: 'exit', class: 'crash', exitCode: 0, inFlight: [{ name: 'exit' }] })
  })

  it('C022 recursion without end dies alone, as a RangeError', async () => {
    const f = 'function f(): number { return f() + 1 }'
    const names = ['a', 'b', 'c', 'd']
    const deep = { role: role(`commands: { dive: { handle: () => f() } }`, f), manifest: AT_ONCE }
    const host = await hostFleet({
      agents: {
        ...Object.fromEntries(names.map((name) => [name, deep])),
        boot: { role: role('', `${f}\nf()`), manifest: { restart: { type: 'temporary' } } },
        reply: {
          role: role(
            `commands: { dive: { handle: () => ({ get x() { return f() } }) }, ping: { handle: () => 1 } }`,
            f,
          ),
        },
      },
      supervisor: NO_BUDGET,
    })
    const errors = await Promise.all(names.map((name) => failure(host.agent(name).ask('dive'))))
    for (const error of errors) expect(error).toMatchObject({ name: 'RangeError', fatal: true })
    for (const name of names) expect(host.agent(name).deaths()).toMatchObject([{ cause: 'crash' }])
    expect(host.agent('boot').deaths()[0]).toMatchObject({ step: 'roles', error: { cause: { name: 'RangeError' } } })
    expect(await failure(host.agent('reply').ask('dive'))).toMatchObject({ code: 'NotCloneable' })
    expect(await host.agent('reply').ask('ping')).toBe(1)
  })

  it('a log entry that cannot be copied or printed ends nobody', async () => {
    const host = await hostFleet({
      agents: {
        bad: {
          role: role(`commands: { log: { handle(_, ctx) {
            const odd: any = Object.assign(Object.create(null), { f() {} })
            ctx.log.info('function', () => 1)
            ctx.log.info('odd', odd)
            ctx.log.info(odd)
            ctx.log.info('getter', { get x() { throw new Error('no') } })
            ctx.log.info('proxy', new Proxy({}, { ownKeys() { throw null } }))
            ctx.log.info('big', { n: 1n, m: new Map([[1, 2]]) })
            console.log(odd, Symbol('x'))
            return 'logged'
          } } }`),
        },
      },
    })
    const texts: string[] = []
    host.output$.subscribe(({ text }) => texts.push(text))
    expect(await host.agent('bad').ask('log')).toBe('logged')
    await eventually(() => texts.some((text) => text.includes('Symbol(x)')), 'the last line')
    expect(texts.slice(0, 2)).toEqual(['function', 'odd'])
    expect(host.agent('bad').deaths()).toEqual([])
  })

  it('a role that posts to the host behind its back is told so, and harms nobody else', async () => {
    const post = `import { parentPort } from 'node:worker_threads'`
    const host = await hostFleet({
      agents: {
        bad: {
          role: role('commands: { post: { handle() { parentPort!.postMessage(null) } } }', post),
          manifest: AT_ONCE,
        },
        boot: {
          role: role('', `${post}\nparentPort!.postMessage({ type: 'ready' })`),
          manifest: { restart: { type: 'temporary' } },
        },
        good: { role: THROWS },
      },
      supervisor: NO_BUDGET,
    })
    expect(await failure(host.agent('bad').ask('post'))).toMatchObject({
      message: expect.stringMatching(/parentPort.*use ctx\.tell/),
      fatal: true,
    })
    expect(host.agent('boot').deaths()).toMatchObject([{ cause: 'boot_failed', step: 'roles' }])
    expect(await host.agent('good').ask('ping')).toBe('pong')
  })
})
