/** The table of operations: that it is whole, and that what a real host answers is what each row says it does. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Host } from '../../src/host/host.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { bindArgs, parseInput, usageOf } from '../../src/transports/bind.ts'
import { find } from '../../src/transports/dispatch.ts'
import { OPERATIONS } from '../../src/transports/operations.ts'
import * as shapes from '../../src/transports/shapes.ts'
import { hostFleet } from '../fleet-on-disk.ts'
import { Gate } from '../gate.ts'
import { agentFiles, packageFolder } from '../host/packages.ts'
import { SMALL_FLEET } from './small-fleet.ts'

const NAMES = [
  ...[
    'summary',
    'status',
    'list',
    'get',
    'commands',
    'capabilities',
    'tree',
    'deaths',
    'why',
    'mailbox',
    'schedules',
    'deadLetters',
    'watch',
    'logs',
  ],
  ...[
    'start',
    'stop',
    'restart',
    'pause',
    'resume',
    'activate',
    'suspend',
    'kill',
    'emit',
    'ask',
    'purge',
    'shutdown',
    'drain',
  ],
  ...['replay', 'discard', 'catalog', 'install', 'uninstall', 'inspect', 'reload', 'reloadAll'],
  ...['tokens', 'tokenCreate', 'tokenRevoke'],
]
/** Over the socket only. */
const TOKENS = ['tokens', 'tokenCreate', 'tokenRevoke']

/** How the CLI's usage writes a positional argument. */
const WORD: Readonly<Record<string, string>> = {
  id: 'ID',
  event: 'EVENT',
  command: 'COMMAND',
  payload: 'JSON',
  letter: 'LETTER',
  source: 'SOURCE',
  name: 'NAME',
}

const keysOf = (input: z.ZodType): string[] => Object.keys((input as unknown as z.ZodObject).shape)
const kebab = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
const isOptional = (input: z.ZodType, key: string): boolean =>
  (input as unknown as z.ZodObject).shape[key]!._zod.optin === 'optional'

describe('the table', () => {
  it('has every operation once', () => {
    expect(OPERATIONS.map(({ name }) => name).sort()).toEqual([...NAMES].sort())
  })

  it('has every verb and path once', () => {
    const routes = OPERATIONS.flatMap(({ rest }) => [
      ...(rest === null ? [] : [`${rest.verb} ${rest.path}`]),
      ...(rest?.agentPath === undefined ? [] : [`${rest.verb} ${rest.agentPath}`]),
    ])
    expect(new Set(routes).size).toBe(routes.length)
  })

  it.each(OPERATIONS.map((operation) => [operation.name, operation] as const))('%s is whole', (_name, operation) => {
    const { access, input, output, positional, rest, cli, summary } = operation
    const keys = keysOf(input)
    expect(['read', 'control', 'admin']).toContain(access)
    expect(summary).toMatch(/^[^.\n]{10,100}$/)
    expect(input.safeParse({ 'no-such-key': 1 }).success).toBe(false)
    for (const key of positional) expect(keys).toContain(key)
    for (const path of [rest?.path ?? '/', rest?.agentPath ?? '/'])
      for (const [, key] of path.matchAll(/\{(\w+)\}/g)) expect(keys).toContain(key)
    for (const io of ['input', 'output'] as const) {
      expect(() => z.toJSONSchema(input, { io })).not.toThrow()
      expect(() => z.toJSONSchema(output, { io })).not.toThrow()
    }
    if (cli === null) return
    const words = positional.map((key) => (isOptional(input, key) ? `[${WORD[key]}]` : WORD[key]))
    const flags = keys.filter((key) => !positional.includes(key)).map((key) => `--${kebab(key)}`)
    expect(usageOf(operation)).toBe([operation.name, ...cli.split(' ').filter(Boolean)].join(' '))
    expect(cli.split(' ').slice(0, words.length)).toEqual(words.length === 0 ? [] : words)
    expect([...cli.matchAll(/--[a-z-]+/g)].map(([flag]) => flag)).toEqual(flags)
  })

  it('lets nobody act who may only read', () => {
    const reading = OPERATIONS.filter(({ access }) => access === 'read')
    expect(reading.filter(({ rest }) => rest?.verb !== 'GET')).toEqual([])
    expect(OPERATIONS.filter(({ access, rest }) => access !== 'read' && rest?.verb === 'GET')).toEqual([])
    const admin = OPERATIONS.filter(({ access }) => access === 'admin').map(({ name }) => name)
    expect(admin).toEqual(['shutdown', 'drain', 'install', 'uninstall', 'inspect', ...TOKENS])
    expect(OPERATIONS.filter(({ rest }) => rest === null).map(({ name }) => name)).toEqual(TOKENS)
  })
})

/** Runs an operation as a transport would; the answer as it goes over a wire of plain JSON. */
async function run(host: Host, name: string, args: readonly unknown[] = [], opts = {}): Promise<unknown> {
  const operation = find(name)
  if (operation.kind !== 'call') throw new Error(`'${name}' is a stream`)
  const input = parseInput(operation, bindArgs(operation, args, opts))
  const answer = await operation.run(host, input, { who: 'ops' })
  const sent: unknown = answer === undefined ? undefined : JSON.parse(JSON.stringify(answer))
  const parsed = operation.output.safeParse(sent)
  expect(parsed.error?.issues ?? [], `the answer to '${name}'`).toEqual([])
  return sent
}

function watch(host: Host, args: readonly unknown[]): unknown[] {
  const operation = find('watch')
  if (operation.kind !== 'stream') throw new Error('watch is a stream')
  const facts: unknown[] = []
  operation
    .open(host, parseInput(operation, bindArgs(operation, args, {})), { who: 'ops' })
    .subscribe((fact) => facts.push(operation.output.parse(JSON.parse(JSON.stringify(fact)))))
  return facts
}

describe('on a real host', () => {
  it('looks: every answer is as its row says', async () => {
    const host = await hostFleet(SMALL_FLEET)
    expect(await run(host, 'summary')).toMatchObject({ name: 'holt', counts: { Running: 2, Stopped: 2 } })
    expect(await run(host, 'status')).toMatchObject({ agents: [{ id: 'hand' }, {}, {}, {}] })
    expect(await run(host, 'list')).toMatchObject([
      { id: 'hand' },
      { id: 'reader' },
      { id: 'sleeper', phase: 'IDLE' },
      { id: 'broken', phase: 'FAILED', lastDeath: { cause: 'boot_failed', step: 'needs' } },
    ])
    for (const id of ['hand', 'reader', 'sleeper', 'broken']) {
      expect(await run(host, 'get', [id])).toMatchObject({ id })
      expect(await run(host, 'why', [id])).toMatchObject({ agent: id })
      expect(await run(host, 'mailbox', [id])).toMatchObject({ id, depth: 0 })
    }
    expect(await run(host, 'commands', ['reader'])).toEqual([
      { name: 'shout', role: 'role', summary: 'in capitals', exclusive: false },
    ])
    expect(await run(host, 'capabilities')).toMatchObject([{ id: 'text' }])
    expect(await run(host, 'tree')).toMatchObject({ id: 'root' })
    expect(await run(host, 'deaths')).toMatchObject([{ agent: 'broken' }])
    expect(await run(host, 'deaths', ['hand'])).toEqual([])
  })

  it('commands: every answer is as its row says, and facts are told', async () => {
    const host = await hostFleet(SMALL_FLEET)
    const [all, ofReader] = [watch(host, []), watch(host, ['reader'])]
    expect(await run(host, 'pause', ['hand'], { reason: 'to look' })).toMatchObject({
      phase: 'PAUSED',
      pausedBy: 'ops',
      reason: 'to look',
      inFlight: [],
    })
    expect(await run(host, 'resume', ['hand'])).toMatchObject({ phase: 'ACTIVE', drained: 0 })
    expect(await run(host, 'restart', ['hand'])).toMatchObject({ phase: 'ACTIVE', restarts: 1 })
    expect(await run(host, 'suspend', ['hand'])).toMatchObject({ phase: 'STOPPED', intent: 'suspended' })
    expect(await run(host, 'activate', ['hand'])).toMatchObject({ phase: 'ACTIVE' })
    expect(await run(host, 'kill', ['hand'])).toMatchObject({ lastDeath: { cause: 'killed' } })
    expect(await run(host, 'stop', ['reader'], { now: true })).toMatchObject({ intent: 'stopped' })
    expect(await run(host, 'start', ['reader'])).toMatchObject({ phase: 'ACTIVE' })
    expect(await run(host, 'stop', ['readers'])).toMatchObject({ id: 'readers', status: 'Stopped', stillRunning: [] })
    expect(await run(host, 'start', ['readers'])).toMatchObject({ id: 'readers', status: 'Running' })
    expect(await run(host, 'restart', ['readers'])).toMatchObject({ kind: 'supervisor', killed: [] })
    await eventually(() => all.length > 20, 'facts')
    expect(new Set(ofReader.map((fact) => (fact as { agent: string }).agent))).toEqual(new Set(['reader']))
  })

  it('sends: every answer is as its row says', async () => {
    const host = await hostFleet(SMALL_FLEET)
    expect(await run(host, 'emit', ['hand', 'note', 1], { ttlMs: 60_000 })).toEqual({ fate: 'handled' })
    expect(await run(host, 'emit', ['hand', 'nothing'])).toEqual({ fate: 'ignored', reason: 'no_handler' })
    expect(await run(host, 'emit', ['sleeper', 'note'])).toEqual({ fate: 'ignored', reason: 'not_accepting' })
    expect(await run(host, 'ask', ['hand', 'ping'])).toBe('pong')
    expect(await run(host, 'ask', ['reader', 'shout', 'hear'], { timeoutMs: 5000 })).toBe('HEAR')
    await run(host, 'suspend', ['hand'])
    expect(await run(host, 'emit', ['hand', 'note', 2])).toMatchObject({ fate: 'queued' })
    expect(await run(host, 'mailbox', ['hand'])).toMatchObject({ depth: 1, waiting: [{ name: 'note', kind: 'event' }] })
    expect(await run(host, 'purge', ['hand'])).toEqual({ purged: 1 })
    for (const letter of host.agent('hand').deadLetters()) shapes.deadLetter.parse(JSON.parse(JSON.stringify(letter)))
    expect(await run(host, 'shutdown', [], { timeoutMs: 5000 })).toMatchObject({ killed: [], stuck: [] })
    await expect(run(host, 'start', ['hand'])).rejects.toMatchObject({ code: 'ShuttingDown' })
  })

  it('installs: every answer is as its row says, and who asked is recorded', async () => {
    const host = await hostFleet(SMALL_FLEET)
    const source = packageFolder(agentFiles('greeter'))
    expect(await run(host, 'catalog')).toEqual([])
    expect(await run(host, 'install', [source], { dryRun: true })).toMatchObject({ change: 'installed', dryRun: true })
    expect(await run(host, 'install', [source])).toMatchObject({ name: 'greeter', starts: true, notStarted: null })
    expect(await run(host, 'catalog')).toMatchObject([{ name: 'greeter', status: 'Running' }])
    expect((await run(host, 'why', ['greeter'])) as object).toMatchObject({ status: 'Running' })
    await expect(run(host, 'uninstall', ['greeter'])).rejects.toMatchObject({ code: 'InvalidCommand' })
    await run(host, 'suspend', ['greeter'])
    expect(await run(host, 'uninstall', ['greeter'], { dryRun: true })).toMatchObject({ agent: true, dryRun: true })
    expect(await run(host, 'uninstall', ['greeter'])).toMatchObject({ agent: true, removed: { files: 2 } })
    expect(await run(host, 'catalog')).toEqual([])
    await expect(run(host, 'install', ['./greeter'])).rejects.toMatchObject({
      code: 'InvalidInput',
      message: expect.stringContaining("source: expected an absolute path, found './greeter'"),
    })
  })

  it('has what is in flight in its answers', async () => {
    const host = await hostFleet(SMALL_FLEET)
    const gate = new Gate()
    host.agent('hand').tell('hold', gate.cells)
    await eventually(() => gate.reached === 1, 'a handler at the gate')
    expect(await run(host, 'mailbox', ['hand'])).toMatchObject({ inFlight: [{ name: 'hold', kind: 'event' }] })
    expect(await run(host, 'get', ['hand'])).toMatchObject({ activity: 'busy' })
    expect(await run(host, 'kill', ['hand'])).toMatchObject({ lastDeath: { inFlight: [{ name: 'hold' }] } })
    expect(await run(host, 'deaths', ['hand'])).toMatchObject([{ cause: 'killed' }])
  })

  it('has the error of a handler, its code and its causes, without a stack', async () => {
    const host = await hostFleet(SMALL_FLEET)
    await expect(run(host, 'ask', ['hand', 'throw', 'no luck'])).rejects.toMatchObject({
      code: 'HandlerError',
      message: 'no luck',
      details: { error: { name: 'Error', message: 'no luck', data: { fatal: true } } },
    })
    const thrown = await run(host, 'ask', ['hand', 'throw', 'again']).catch((error: unknown) => error)
    expect(JSON.stringify((thrown as { details: unknown }).details)).not.toContain('stack')
  })

  it('names the nearest of agents and supervisors', async () => {
    const host = await hostFleet(SMALL_FLEET)
    await expect(run(host, 'get', ['hnad'])).rejects.toMatchObject({
      code: 'NoSuchAgent',
      message: "there is no agent 'hnad'. Did you mean 'hand'?",
    })
    await expect(run(host, 'deaths', ['raeder'])).rejects.toMatchObject({ details: { nearest: 'reader' } })
    await expect(run(host, 'stop', ['raeders'])).rejects.toMatchObject({ details: { nearest: 'readers' } })
    expect(() => watch(host, ['hnad'])).toThrow("Did you mean 'hand'?")
    await expect(run(host, 'pause', ['readers'])).rejects.toMatchObject({
      code: 'InvalidCommand',
      message: "Cannot apply 'pause' to supervisor 'readers', which is Running. Valid commands: stop, restart",
    })
  })
})
