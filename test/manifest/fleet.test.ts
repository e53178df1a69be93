import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { AgentChild, ChildManifest, FleetManifest, SupervisorManifest } from '../../src/manifest/fleet-manifest.ts'
import { fleetFromObject, loadFleet } from '../../src/manifest/load.ts'
import { brief, faultsOf, folder, ROLE, removeFolders } from './folders.ts'

afterAll(removeFolders)

const agent = (path: string, id: string, more = ''): Record<string, string> => ({
  [`${path}/agent.yml`]: `id: ${id}\nname: ${id}\n${more}`,
  [`${path}/roles/main.ts`]: ROLE,
})

const agentsOf = (children: readonly ChildManifest[]): AgentChild[] =>
  children.flatMap((child) => (child.kind === 'agent' ? [child] : agentsOf(child.children)))

const idsOf = (fleet: FleetManifest): string[] =>
  agentsOf(fleet.root.children).map(({ id, result }) => (result.ok ? id : `!${id}`))

const errorOf = ({ result }: AgentChild): string => (result.ok ? 'no error' : result.error.message)

describe('the tree', () => {
  it('keeps the order and fills in what is left out', async () => {
    const dir = folder({
      'holt.yml': `
children:
  - agent: agents/walker
  - supervisor: { id: readers, strategy: one_for_one, intensity: 5, periodMs: 10000 }
    children:
      - { agent: agents/reader, restart: temporary, shutdown: brutal_kill }
      - { agent: agents/librarian, shutdown: 10000 }
      - supervisor: { id: inner }
        children: []
capabilities: [capabilities/text.ts]
`,
      ...agent('agents/walker', 'walker', 'restart: { type: transient }\nlimits: { stopTimeoutMs: 77 }\n'),
      ...agent('agents/reader', 'reader'),
      ...agent('agents/librarian', 'librarian'),
      'capabilities/text.ts': '',
    })
    const fleet = await loadFleet(dir)
    expect(fleet).toMatchObject({ dir, file: join(dir, 'holt.yml'), capabilities: [join(dir, 'capabilities/text.ts')] })
    const [walker, readers] = fleet.root.children as [AgentChild, SupervisorManifest]
    expect({ ...fleet.root, children: [] }).toEqual({
      kind: 'supervisor',
      id: 'root',
      strategy: 'one_for_one',
      intensity: null,
      periodMs: 5000,
      autoShutdown: 'never',
      maxChildren: null,
      backoff: { minMs: 1000, maxMs: 300_000, factor: 2, jitter: 0.2 },
      restart: 'permanent',
      shutdown: 'infinity',
      significant: false,
      children: [],
    })
    expect(fleet.spares).toBe(0)
    const none = { restart: null, shutdown: null }
    expect(walker).toMatchObject({
      id: 'walker',
      dir: join(dir, 'agents/walker'),
      restart: 'transient',
      shutdown: 77,
      override: none,
      significant: false,
    })
    expect(readers).toMatchObject({ id: 'readers', intensity: 5, periodMs: 10_000 })
    expect(readers.children[0]).toMatchObject({ restart: 'temporary', shutdown: 'brutal_kill' })
    expect(readers.children[1]).toMatchObject({
      restart: 'permanent',
      shutdown: 10_000,
      override: { shutdown: 10_000 },
    })
    expect(readers.children[2]).toMatchObject({ kind: 'supervisor', id: 'inner', children: [] })
  })

  it('a period without an intensity gets the default one', async () => {
    const fleet = await fleetFromObject({ supervisor: { periodMs: 9 }, children: [] }, folder())
    expect(fleet.root).toMatchObject({ intensity: 3, periodMs: 9 })
  })

  it('an agent may live in the folder of the fleet', async () => {
    const dir = folder({
      'holt.yml': 'children: [{ agent: . }]\n',
      'agent.yml': 'id: a\nname: A\n',
      'roles/a.ts': ROLE,
    })
    expect(idsOf(await loadFleet(dir))).toEqual(['a'])
  })

  it('C148 a holt.yml that is missing, empty or broken is an error of its own', async () => {
    const cases: [Record<string, string>, RegExp][] = [
      [{}, /holt\.yml: expected a file inside the fleet, found nothing/],
      [{ 'holt.yml': '' }, /holt\.yml:1:1: expected a map of fields, found an empty manifest/],
      [{ 'holt.yml': 'children: [\n' }, /holt\.yml:2:1: expected valid YAML/],
      [
        { 'holt.yml': 'children: []\nsupervisor: { strategy: rest_for_two }\n' },
        /holt\.yml:2:25: supervisor\.strategy.*did you mean rest_for_one\?/,
      ],
      [{ 'holt.yml': 'children: []\ncapabilities: [../x.ts]\n' }, /holt\.yml:2:16: capabilities\[0\].*leaves/],
    ]
    for (const [files, message] of cases) await expect(loadFleet(folder(files))).rejects.toThrow(message)
  })

  it('a manifest in place of a path is for objects alone', async () => {
    const dir = folder({ 'holt.yml': 'children: [{ agent: { id: a, name: A } }]\n', 'roles/a.ts': ROLE })
    expect(brief(await faultsOf(() => loadFleet(dir)))).toEqual(['children[0].agent: a map'])
  })
})

describe('one bad agent never keeps the others out', () => {
  const bad: [string, Record<string, string>, string, string][] = [
    ['a broken file', { 'agents/Bad One/agent.yml': 'id: [\n' }, 'agents/Bad One', 'bad-one'],
    ['a wrong field', { 'agents/b/agent.yml': 'id: bad\nname: 5\n', 'agents/b/roles/a.ts': ROLE }, 'agents/b', 'bad'],
    ['an invalid id', { 'agents/b/agent.yml': 'id: Bad\nname: B\n', 'agents/b/roles/a.ts': ROLE }, 'agents/b', 'b'],
    ['no file', { 'agents/b/roles/a.ts': ROLE }, 'agents/b', 'b'],
    ['no folder', {}, 'agents/none', 'none'],
    ['a path that leaves', {}, '../outside', 'outside'],
    ['an absolute path', {}, '/etc', 'etc'],
    ['a name without letters', {}, 'agents/123', 'agent'],
    ['no role', { 'agents/b/agent.yml': 'id: bad\nname: B\n' }, 'agents/b', 'bad'],
  ]
  it.each(bad)('%s', async (_, files, path, id) => {
    const dir = folder({
      'holt.yml': `children:\n  - agent: agents/a\n  - agent: ${path}\n  - agent: agents/c\n`,
      ...agent('agents/a', 'a'),
      ...agent('agents/c', 'c'),
      ...files,
    })
    const fleet = await loadFleet(dir)
    expect(idsOf(fleet)).toEqual(['a', `!${id}`, 'c'])
    const child = agentsOf(fleet.root.children)[1]!
    expect(child).toMatchObject({
      restart: 'permanent',
      shutdown: 5000,
      result: { error: { code: 'InvalidManifest' } },
    })
    expect(errorOf(child)).toMatch(/(?:agent|holt)\.yml/)
  })

  it('C154 an agent behind a link out of the fleet is refused', async () => {
    const outside = folder(agent('x', 'x'))
    const dir = folder({
      'holt.yml': 'children: [{ agent: agents/x }, { agent: agents/a }]\n',
      ...agent('agents/a', 'a'),
    })
    symlinkSync(join(outside, 'x'), join(dir, 'agents/x'))
    const fleet = await loadFleet(dir)
    expect(idsOf(fleet)).toEqual(['!x', 'a'])
    expect(errorOf(agentsOf(fleet.root.children)[0]!)).toContain(
      `${dir}/holt.yml:1:21: children[0].agent: expected a folder`,
    )
  })
})

describe('ids', () => {
  it('a second agent with one id fails and names both places', async () => {
    const dir = folder({
      'holt.yml': 'children: [{ agent: agents/a }, { agent: agents/b }, { agent: agents/c }]\n',
      ...agent('agents/a', 'same'),
      ...agent('agents/b', 'same'),
      ...agent('agents/c', 'c'),
    })
    const fleet = await loadFleet(dir)
    expect(idsOf(fleet)).toEqual(['same', '!same-2', 'c'])
    expect(errorOf(agentsOf(fleet.root.children)[1]!)).toBe(
      `${dir}/agents/b/agent.yml:1:5: id: expected an id that no other agent or supervisor of the fleet has, ` +
        `found "same", as at ${dir}/agents/a/agent.yml:1:5`,
    )
  })

  it('an agent may not have the id of a supervisor', async () => {
    const dir = folder({
      'holt.yml': 'supervisor: { id: a }\nchildren: [{ agent: agents/a }]\n',
      ...agent('agents/a', 'a'),
    })
    const fleet = await loadFleet(dir)
    expect(idsOf(fleet)).toEqual(['!a-2'])
    expect(errorOf(agentsOf(fleet.root.children)[0]!)).toContain(`as at ${dir}/holt.yml:1:19`)
  })

  it('one folder twice is told at the second place', async () => {
    const dir = folder({
      'holt.yml': 'children:\n  - agent: agents/a\n  - agent: ./agents/a/\n',
      ...agent('agents/a', 'a'),
    })
    const fleet = await loadFleet(dir)
    expect(idsOf(fleet)).toEqual(['a', '!a-2'])
    expect(errorOf(agentsOf(fleet.root.children)[1]!)).toBe(
      `${dir}/holt.yml:3:12: children[1].agent: expected each agent once, found "./agents/a/", as at ${dir}/holt.yml:2:12`,
    )
  })

  it('two supervisors with one id are a fault of the tree', async () => {
    const dir = folder({
      'holt.yml':
        'children:\n  - { supervisor: { id: s }, children: [] }\n  - { supervisor: { id: s }, children: [] }\n',
    })
    const [fault] = await faultsOf(() => loadFleet(dir))
    expect(fault).toMatchObject({ line: 3, field: 'children[1].supervisor.id' })
    expect(fault!.found).toBe(`"s", as at ${dir}/holt.yml:2:25`)
  })

  it('an agent that loads never loses its id to one that does not', async () => {
    const dir = folder({
      'holt.yml': 'children: [{ agent: x/a }, { agent: y/a }, { agent: z/a-2 }, { agent: none/a }]\n',
      'x/a/agent.yml': 'id: a\nname: 5\n',
      ...agent('y/a', 'a'),
      ...agent('z/a-2', 'a-2'),
    })
    expect(idsOf(await loadFleet(dir))).toEqual(['!a-3', 'a', 'a-2', '!a-4'])
  })

  it('C155 a long folder name becomes a valid id', async () => {
    const long = 'x'.repeat(200)
    const dir = folder({ 'holt.yml': `children: [{ agent: p/${long} }, { agent: q/${long} }]\n` })
    expect(idsOf(await loadFleet(dir))).toEqual([`!${'x'.repeat(63)}`, `!${'x'.repeat(61)}-2`])
  })

  it('C157 ids that are names of Object.prototype are like any other', async () => {
    const names = ['constructor', 'valueof', 'length']
    const dir = folder({
      'holt.yml': `children: [${names.map((name) => `{ agent: agents/${name} }`).join(', ')}]\n`,
      ...Object.assign({}, ...names.map((name) => agent(`agents/${name}`, name))),
    })
    expect(idsOf(await loadFleet(dir))).toEqual(names)
  })
})

describe('an object', () => {
  it('may hold manifests and paths', async () => {
    const dir = folder({ 'roles/a.ts': ROLE, ...agent('agents/b', 'b') })
    const fleet = await fleetFromObject(
      {
        children: [
          { agent: { id: 'a', name: 'A', roles: ['roles/a.ts'] }, restart: 'temporary' },
          { supervisor: { id: 's' }, children: [{ agent: 'agents/b' }] },
        ],
      },
      dir,
    )
    expect(fleet).toMatchObject({ dir, file: null })
    expect(idsOf(fleet)).toEqual(['a', 'b'])
    expect(agentsOf(fleet.root.children)[0]).toMatchObject({
      dir,
      restart: 'temporary',
      result: { manifest: { file: null } },
    })
  })

  it('a bad manifest in it fails alone, and is told by its field', async () => {
    const dir = folder({ 'roles/a.ts': ROLE })
    const good = { agent: { id: 'a', name: 'A' } }
    const bad = [
      { id: 'Bad', name: 'B' },
      { id: 'b', name: 5 },
      {},
      { id: 'c', name: () => 1 },
      { id: 'a', name: 'A2' },
    ]
    const fleet = await fleetFromObject({ children: [good, ...bad.map((one) => ({ agent: one }))] }, dir)
    expect(idsOf(fleet)).toEqual(['a', '!agent-2', '!b', '!agent-4', '!c', '!a-2'])
    expect(agentsOf(fleet.root.children).slice(1).map(errorOf)).toEqual([
      expect.stringContaining('fleet object: children[1].agent.id: expected an id'),
      'fleet object: children[2].agent.name: expected a text of 1 to 200 bytes on one line, found 5 (a number) (quote it)',
      expect.stringContaining('fleet object: children[3].agent.id: expected an id'),
      expect.stringContaining('fleet object: children[4].agent.name: expected plain data, found a function'),
      'fleet object: children[5].agent.id: expected an id that no other agent or supervisor of the fleet has, ' +
        'found "a", as at fleet object children[0].agent.id',
    ])
  })

  it('a function elsewhere is a fault of the tree', async () => {
    const faults = await faultsOf(() => fleetFromObject({ children: [], supervisor: { id: () => 1 } }, folder()))
    expect(brief(faults)).toContain('supervisor.id: a function')
  })
})

it('loads a thousand agents', async () => {
  const names = Array.from({ length: 1000 }, (_, i) => `a${i}`)
  const dir = folder({
    'shared.ts': ROLE,
    'holt.yml': `children:\n${names.map((name) => `  - agent: agents/${name}\n`).join('')}`,
    ...Object.fromEntries(
      names.map((n) => [`agents/${n}/agent.yml`, `id: ${n}\nname: ${n}\nroles: [../../shared.ts]\n`]),
    ),
  })
  expect(idsOf(await loadFleet(dir))).toEqual(names)
})
