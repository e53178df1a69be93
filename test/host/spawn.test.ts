/** `ctx.spawn` with real threads: children of a `dynamic` supervisor, how they are refused, and how they go again. */
import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import type { AgentRef } from '../../src/actors/ref.ts'
import type { Host } from '../../src/host/host.ts'
import type { Fact } from '../../src/model/fact.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { at, hostFleet, role, writeFleet } from '../fleet-on-disk.ts'

/** Spawns what it is told to, and says how that went; it watches what it has spawned where `watch` is set. */
const PARENT = role(
  `events: { down: (down) => void downs.push(down.agent + ' ' + down.record?.cause) },
  commands: {
    spawn: { async handle({ to, options, watch }, ctx) {
      try {
        const spawned = await ctx.spawn(to, options)
        if (watch) await ctx.watch(spawned.id)
        return spawned
      } catch (error: any) { return { name: error.name, code: error.code, message: error.message, details: error.details } }
    } },
    tell: { handle: ({ to, name, payload }, ctx) => ctx.tell(to, name, payload) },
    ask: { handle: ({ to, name }, ctx) => ctx.ask(to, name) },
    downs: { handle: () => downs },
  }`,
  'const downs: string[] = []',
)

const CHILD = role(
  `events: { end(_, ctx) { ctx.stop() }, die() { throw new Error('by request') } },
  commands: { who: { handle: (_, ctx) => ctx.agent + ' ' + ctx.instance } }`,
)

const BAD = role(
  '',
  `import { appendFileSync } from 'node:fs'\nappendFileSync(import.meta.dirname + '/imports', '.')\nthrow new Error('not today')`,
)

const FLEET = {
  agents: {
    parent: { role: PARENT },
    worker: { role: CHILD, manifest: { restart: { backoff: 'none' as const } } },
    bad: { role: BAD },
  },
  children: [
    { agent: at('parent') },
    { supervisor: { id: 'crew', strategy: 'dynamic' as const, maxChildren: 3 } },
    { supervisor: { id: 'fixed' }, children: [] },
  ],
}

interface Tested {
  readonly dir: string
  readonly host: Host
  readonly parent: AgentRef
  readonly facts: Fact[]
  spawn(options: object, to?: string, watch?: boolean): Promise<Record<string, unknown>>
}

async function tested(): Promise<Tested> {
  const dir = await writeFleet(FLEET)
  const host = await hostFleet(dir)
  const parent = host.agent('parent')
  const facts: Fact[] = []
  host.facts$.subscribe((fact) => facts.push(fact))
  const spawn: Tested['spawn'] = (options, to = 'crew', watch = false) =>
    parent.ask('spawn', { to, options, watch }) as Promise<Record<string, unknown>>
  return { dir, host, parent, facts, spawn }
}

const ids = (host: Host): string[] => host.agents().map(({ id }) => id)

describe('a child that is spawned', () => {
  it('is ACTIVE when the call comes back, and an agent like any other', async () => {
    const { host, parent, facts, spawn } = await tested()
    const first = await spawn({ agent: at('worker') })
    expect(first).toEqual({ id: 'worker', instance: host.agent('worker').snapshot().instance!.id })
    expect(await spawn({ agent: at('worker') })).toMatchObject({ id: 'worker-2' })
    expect(await spawn({ agent: at('worker'), id: 'own-name' })).toMatchObject({ id: 'own-name' })
    expect(ids(host)).toEqual(['parent', 'worker', 'worker-2', 'own-name'])
    expect(await parent.ask('ask', { to: 'worker', name: 'who' })).toBe(`worker ${first['instance']}`)
    expect(await host.agent('own-name').ask('who')).toMatch(/^own-name /)
    expect(host.agent('worker-2').snapshot()).toMatchObject({
      supervisor: 'crew',
      intent: 'running',
      status: 'Running',
    })
    await host.agent('worker-2').kill()
    await eventually(
      () => host.agent('worker-2').snapshot().restarts === 1 && host.agent('worker-2').phase === 'ACTIVE',
      'its restart',
    )
    await eventually(() => facts.filter(({ kind }) => kind === 'agent.spawned').length === 3, 'three facts')
    expect(facts.find(({ kind }) => kind === 'agent.spawned')).toMatchObject({
      agent: 'worker',
      data: { supervisor: 'crew', by: 'parent' },
    })
  })

  it('takes its restart type and shutdown from the call', async () => {
    const { host, parent, spawn } = await tested()
    await spawn({ agent: at('worker'), restart: 'transient' }, 'crew', true)
    host.agent('worker').tell('die')
    await eventually(
      () => host.agent('worker').deaths().length === 1 && host.agent('worker').phase === 'ACTIVE',
      'its restart',
    )
    host.agent('worker').tell('end')
    await eventually(() => !ids(host).includes('worker'), 'its end')
    expect(host.deaths().map(({ cause }) => cause)).toEqual(['crash', 'normal'])
    expect(await parent.ask('downs')).toEqual(['worker crash'])
  })
})

describe('a spawn is refused', () => {
  it.each([
    [
      'where there is no such supervisor',
      { agent: at('worker') },
      'crow',
      'NoSuchSupervisor',
      /no supervisor 'crow'.*did you mean 'crew'/,
    ],
    [
      'where the supervisor is not dynamic',
      { agent: at('worker') },
      'fixed',
      'NoSuchSupervisor',
      /'fixed' is one_for_one, and only a dynamic one/,
    ],
    ['where it is an agent', { agent: at('worker') }, 'parent', 'NoSuchSupervisor', /no supervisor 'parent'/],
    ['with an id that an agent has', { agent: at('worker'), id: 'parent' }, 'crew', 'IdTaken', /has 'parent' already/],
    ['with an id that a supervisor has', { agent: at('worker'), id: 'crew' }, 'crew', 'IdTaken', /has 'crew' already/],
    ['with an id that is none', { agent: at('worker'), id: '../x' }, 'crew', 'InvalidManifest', /id/],
    [
      'from a path that leads out of the fleet',
      { agent: '../elsewhere' },
      'crew',
      'InvalidManifest',
      /\.\.\/elsewhere/,
    ],
    ['from an absolute path', { agent: '/etc' }, 'crew', 'InvalidManifest', /\/etc/],
    ['from a folder that is not there', { agent: 'agents/nobody' }, 'crew', 'InvalidManifest', /nobody/],
    [
      'with an option that there is not',
      { agent: at('worker'), restrat: 'permanent' },
      'crew',
      'InvalidManifest',
      /restrat/,
    ],
    ['with nothing', {}, 'crew', 'InvalidManifest', /agent/],
  ])('%s', async (_, options, to, code, message) => {
    const { host, parent, spawn } = await tested()
    expect(await spawn(options, to)).toMatchObject({ name: code, code, message: expect.stringMatching(message) })
    expect(ids(host)).toEqual(['parent'])
    expect(parent.deaths()).toEqual([])
  })

  it('past maxChildren, also of those that ask at once, until one has gone', async () => {
    const { host, spawn } = await tested()
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => host.spawn('crew', { agent: at('worker') }).catch((error) => error)),
    )
    expect(answers.filter(({ id }) => id !== undefined)).toHaveLength(3)
    expect(await spawn({ agent: at('worker') })).toMatchObject({ code: 'TooManyChildren', details: { max: 3 } })
    await host.remove('worker-2')
    expect(await spawn({ agent: at('worker') })).toMatchObject({ id: 'worker-2' })
  })

  it('where it does not boot: it is not tried again, and was never added', async () => {
    const { dir, host, facts, spawn } = await tested()
    expect(await spawn({ agent: at('bad') })).toMatchObject({
      code: 'BootFailed',
      message: expect.stringMatching(/agent 'bad' did not start at step 'roles', and was not added: .*not today/),
      details: { record: { cause: 'boot_failed', step: 'roles' } },
    })
    expect(ids(host)).toEqual(['parent'])
    await eventually(() => facts.some(({ kind }) => kind === 'agent.removed'), 'the fact')
    expect(() => host.agent('bad')).toThrow(`no agent 'bad'`)
    await writeFile(`${dir}/${at('bad')}/roles/role.ts`, CHILD)
    expect(await spawn({ agent: at('bad') })).toMatchObject({ id: 'bad' })
  })
})

describe('a temporary child', () => {
  it.each(['end', 'die'])(
    'is gone when it has ended, told to who watches it, and its name is free: %s',
    async (event) => {
      const { host, parent, facts, spawn } = await tested()
      const cause = event === 'end' ? 'normal' : 'crash'
      const instances: unknown[] = []
      for (let round = 1; round <= 3; round++) {
        const { id, instance } = await spawn({ agent: at('worker'), restart: 'temporary' }, 'crew', true)
        expect(id).toBe('worker')
        instances.push(instance)
        await parent.ask('tell', { to: 'worker', name: event })
        await eventually(() => !ids(host).includes('worker'), 'it is gone')
        await eventually(async () => ((await parent.ask('downs')) as unknown[]).length === round, 'the notice')
      }
      expect(await parent.ask('downs')).toEqual(new Array(3).fill(`worker ${cause}`))
      expect(host.deaths().every((record) => record.cause === cause)).toBe(true)
      expect([...new Set(host.deaths().map((record) => record.instance))]).toEqual(instances)
      expect(host.tree().children?.find(({ id }) => id === 'crew')?.children).toEqual([])
      expect(facts.filter(({ kind }) => kind === 'agent.removed')).toHaveLength(3)
      expect(await parent.ask('tell', { to: 'worker', name: 'end' })).toBe(true)
      await eventually(() => parent.deadLetters().some(({ reason }) => reason === 'no_such_agent'), 'the letter')
    },
  )
})

describe('a supervisor that is stopped', () => {
  it('takes its children with it, and takes none until it supervises again', async () => {
    const { host, spawn } = await tested()
    await spawn({ agent: at('worker') })
    await host.command('crew', 'stop')
    expect(ids(host)).toEqual(['parent'])
    expect(await spawn({ agent: at('worker') })).toMatchObject({
      code: 'InvalidCommand',
      message: expect.stringMatching(/'crew' is Stopped/),
    })
    await host.command('crew', 'start')
    expect(await spawn({ agent: at('worker') })).toMatchObject({ id: 'worker' })
  })
})
