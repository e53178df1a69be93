import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { agentFromObject, loadAgent } from '../../src/manifest/load.ts'
import { agentFolder, brief, faultsOf, folder, ROLE, refusal, removeFolders } from './folders.ts'

afterAll(removeFolders)

const AGENT = 'id: a\nname: A\n'

describe('roles', () => {
  it('are every module in roles/, in order, where none is named', async () => {
    const names = ['b.ts', 'a.mjs', 'c.js', 'd.mts', 'types.d.ts', 'a.test.ts', 'note.md', 'x.cjs']
    const dir = folder({ 'agent.yml': AGENT, ...Object.fromEntries(names.map((name) => [`roles/${name}`, ROLE])) })
    const { roles, ...rest } = await loadAgent(dir)
    expect(roles).toEqual(['a.mjs', 'b.ts', 'c.js', 'd.mts'].map((name) => join(dir, 'roles', name)))
    expect(rest).toMatchObject({ dir, file: join(dir, 'agent.yml') })
  })

  it('keep the order in which they are named', async () => {
    const dir = folder({ 'agent.yml': `${AGENT}roles: [z.ts, ./roles/a.ts]\n`, 'z.ts': ROLE, 'roles/a.ts': ROLE })
    expect((await loadAgent(dir)).roles).toEqual([join(dir, 'z.ts'), join(dir, 'roles/a.ts')])
  })

  it.each([{ 'x.md': '' }, { 'roles/note.md': '' }])('C151 none at all is refused', async (files) => {
    const dir = folder({ 'agent.yml': AGENT, ...files })
    const faults = await faultsOf(() => loadAgent(dir))
    expect(brief(faults)).toEqual(['roles: none'])
    expect(faults[0]!.expected).toContain(join(dir, 'roles'))
  })

  it('C151 an empty list is refused', async () => {
    expect(brief(await faultsOf(() => loadAgent(agentFolder(`${AGENT}roles: []\n`))))).toEqual(['roles: a list'])
  })

  it('C151 a missing one is refused by file, line and field', async () => {
    const dir = agentFolder(`${AGENT}roles:\n  - roles/main.ts\n  - roles/none.ts\n`)
    const [fault, ...others] = await faultsOf(() => loadAgent(dir))
    expect(others).toEqual([])
    expect(fault).toMatchObject({ file: join(dir, 'agent.yml'), line: 5, column: 5, field: 'roles[1]' })
    expect(fault!.found).toBe(`nothing at ${join(dir, 'roles/none.ts')}`)
  })

  it('a folder, another kind of file and the same one twice are refused', async () => {
    const dir = folder({
      'agent.yml': `${AGENT}roles: [roles, a.yml, r.ts, ./r.ts]\n`,
      'roles/a.ts': ROLE,
      'a.yml': '',
      'r.ts': ROLE,
    })
    expect(brief(await faultsOf(() => loadAgent(dir)))).toEqual([
      'roles[0]: "roles", which is a folder',
      'roles[1]: "a.yml"',
      'roles[3]: "./r.ts"',
    ])
  })
})

describe('paths that leave', () => {
  const bad = [
    '../x.ts',
    '../../x.ts',
    'roles/../../x.ts',
    '/etc/passwd',
    'C:\\x.ts',
    'C:/x.ts',
    'a\\b.ts',
    '..',
    'x\u0000.ts',
  ]
  it.each(bad)('C154 %j is refused and nothing is made', async (path) => {
    const outer = folder({ 'x.ts': ROLE, 'agent/roles/main.ts': ROLE })
    const dir = join(outer, 'agent')
    const before = readdirSync(outer, { recursive: true })
    const faults = await faultsOf(() => agentFromObject({ id: 'a', name: 'A', roles: [path] }, dir))
    expect(faults.map(({ field }) => field)).toEqual(['roles[0]'])
    expect(faults[0]!.found).not.toContain('nothing at')
    expect(readdirSync(outer, { recursive: true })).toEqual(before)
  })

  it('C154 a link that leads out is refused, one that stays is not', async () => {
    const outer = folder({ 'x.ts': ROLE, 'agent/agent.yml': AGENT, 'agent/y.ts': ROLE, 'agent/roles/main.ts': ROLE })
    const dir = join(outer, 'agent')
    symlinkSync(join(dir, 'y.ts'), join(dir, 'roles/in.ts'))
    expect((await loadAgent(dir)).roles).toEqual([join(dir, 'roles/in.ts'), join(dir, 'roles/main.ts')])
    symlinkSync(join(outer, 'x.ts'), join(dir, 'roles/out.ts'))
    const [fault] = await faultsOf(() => loadAgent(dir))
    expect(fault!.found).toBe(`"roles/out.ts", which leaves ${dir} by a link`)
  })

  it('C154 a linked folder of roles that leads out is refused', async () => {
    const outer = folder({ 'roles/x.ts': ROLE, 'agent/agent.yml': AGENT })
    symlinkSync(join(outer, 'roles'), join(outer, 'agent/roles'))
    expect((await faultsOf(() => loadAgent(join(outer, 'agent'))))[0]!.found).toContain('by a link')
  })

  it('C154 an agent.yml that is a link out is refused', async () => {
    const outer = folder({ 'secret.yml': AGENT, 'agent/roles/x.ts': ROLE })
    symlinkSync(join(outer, 'secret.yml'), join(outer, 'agent/agent.yml'))
    expect((await faultsOf(() => loadAgent(join(outer, 'agent'))))[0]!.found).toContain('by a link')
  })

  it('within the fleet an agent may use what is beside it', async () => {
    const fleetDir = folder({ 'shared/x.ts': ROLE, 'agents/a/agent.yml': `${AGENT}roles: [../../shared/x.ts]\n` })
    const dir = join(fleetDir, 'agents/a')
    expect((await loadAgent(dir, { fleetDir })).roles).toEqual([join(fleetDir, 'shared/x.ts')])
    expect((await faultsOf(() => loadAgent(dir)))[0]!.found).toContain('which leaves')
  })

  it('a fleet may be reached by a link', async () => {
    const dir = agentFolder(AGENT)
    const link = join(folder(), 'link')
    symlinkSync(dir, link)
    expect((await loadAgent(link)).roles).toEqual([join(link, 'roles/main.ts')])
    expect((await loadAgent(dir, { fleetDir: link })).id).toBe('a')
  })

  it('an agent outside its fleet is refused', async () => {
    const dir = agentFolder(AGENT)
    expect((await faultsOf(() => loadAgent(dir, { fleetDir: folder() })))[0]!.found).toContain('which leaves')
  })
})

describe('the file', () => {
  it('missing: says where it was looked for', async () => {
    const dir = folder()
    expect((await refusal(() => loadAgent(dir))).message).toBe(
      `${dir}/agent.yml: expected a file inside the fleet, found nothing at ${dir}/agent.yml`,
    )
  })

  it('by another ending: says what to rename', async () => {
    const [fault] = await faultsOf(() => loadAgent(folder({ 'agent.yaml': AGENT })))
    expect(fault!.hint).toBe('rename agent.yaml to agent.yml')
  })

  it('a folder in its place is refused', async () => {
    const dir = folder()
    mkdirSync(join(dir, 'agent.yml'))
    expect((await faultsOf(() => loadAgent(dir)))[0]!.found).toBe('"agent.yml", which is a folder')
  })

  it('a folder that is gone is refused', async () => {
    const dir = folder()
    rmSync(dir, { recursive: true })
    expect((await faultsOf(() => loadAgent(dir)))[0]!.found).toContain('nothing at')
  })
})

describe('an object', () => {
  const dir = folder({ 'roles/main.ts': ROLE })
  const load = (more: object): Promise<unknown> => agentFromObject({ id: 'a', name: 'A', ...more }, dir)

  it('has no file', async () => {
    expect(await agentFromObject({ id: 'a', name: 'A', version: undefined, zebra: undefined }, dir)).toMatchObject({
      dir,
      file: null,
    })
  })

  it('is copied', async () => {
    const object = { id: 'a', name: 'A', capabilities: [{ id: 'text', allow: ['stem'] }] }
    const manifest = await agentFromObject(object, dir)
    object.capabilities[0]!.allow.push('tokens')
    expect(manifest.capabilities).toEqual([{ id: 'text', allow: ['stem'] }])
  })

  const cycle: Record<string, unknown> = {}
  cycle['mailbox'] = cycle
  const throwing = {
    get heapMb(): number {
      throw new Error('no')
    },
  }
  const strange: [string, object, string][] = [
    ['a function', { name: () => 'A' }, 'name: a function'],
    ['a symbol', { name: Symbol('A') }, 'name: a symbol'],
    ['a bigint', { limits: { heapMb: 64n } }, 'limits.heapMb: a bigint'],
    ['a date', { version: new Date(0) }, 'version: an instance of a class'],
    ['a map', { limits: new Map() }, 'limits: an instance of a class'],
    ['a cycle', cycle, 'mailbox.mailbox: a cycle'],
    ['a getter that throws', { limits: throwing }, 'limits: an object that throws when it is read'],
    ['a hole', { roles: new Array(1) }, 'roles[0]: nothing'],
    ['a long hole', { roles: new Array(1e9) }, 'roles: a list of 1000000000'],
  ]
  it.each(strange)('refuses %s', async (_, more, found) => {
    expect(brief(await faultsOf(() => load(more)))).toContain(found)
  })

  it.each([undefined, null, 5, 'a', [], () => 1, new Date(0)])('refuses %s in place of a manifest', async (object) => {
    expect((await faultsOf(() => agentFromObject(object, dir)))[0]).toMatchObject({ field: '', line: null })
  })

  it('refuses a revoked proxy', async () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect((await faultsOf(() => agentFromObject(proxy, dir))).length).toBeGreaterThan(0)
  })
})
