import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { SpawnedObject } from '../../src/manifest/fleet-manifest.ts'
import { agentFromObject, loadAgent, loadSpawned } from '../../src/manifest/load.ts'
import { brief, faultsOf, folder, ROLE, refusal, removeFolders } from './folders.ts'

afterAll(removeFolders)

const outside = folder({ 'agent.yml': 'id: x\nname: X\n', 'roles/main.ts': ROLE })
const fleetDir = folder({
  'agents/a/agent.yml': 'id: a\nname: A\nversion: 1.2.3\nlimits: { heapMb: 9 }\n',
  'agents/a/roles/main.ts': ROLE,
  'agents/bad/agent.yml': 'id: bad\nname: 5\n',
  'agents/bad/roles/main.ts': ROLE,
  'agents/empty/readme.md': '',
  'shared/x.ts': ROLE,
  'agent.yml': 'id: own\nname: Own\n',
  'roles/main.ts': ROLE,
})
symlinkSync(outside, join(fleetDir, 'agents/link'))
const spawned = (object: unknown) => loadSpawned(object as SpawnedObject, { fleetDir })
const wrong = async (object: unknown): Promise<string[]> => brief(await faultsOf(() => spawned(object)))

describe('from a folder', () => {
  it('is what loadAgent returns', async () => {
    expect(await spawned({ agent: 'agents/a' })).toEqual(await loadAgent(join(fleetDir, 'agents/a'), { fleetDir }))
    expect(await spawned({ agent: '.' })).toMatchObject({ id: 'own', dir: fleetDir, file: join(fleetDir, 'agent.yml') })
  })

  it('with another id is the same but for that', async () => {
    const own = await spawned({ agent: 'agents/a' })
    for (const id of ['b', 'z'.repeat(63)]) expect(await spawned({ agent: 'agents/a', id })).toEqual({ ...own, id })
    expect(await spawned({ agent: 'agents/a', id: undefined })).toEqual(own)
  })

  it('how it is restarted and stopped changes nothing of the manifest', async () => {
    const own = await spawned({ agent: 'agents/a' })
    for (const restart of ['permanent', 'transient', 'temporary'])
      expect(await spawned({ agent: 'agents/a', restart })).toEqual(own)
    for (const shutdown of [1, 2 ** 31 - 1, 'brutal_kill', 'infinity'])
      expect(await spawned({ agent: 'agents/a', shutdown })).toEqual(own)
  })

  it('one folder may be several agents at once', async () => {
    const ids = Array.from({ length: 50 }, (_, n) => `a-${n}`)
    const all = await Promise.all(ids.map((id) => spawned({ agent: 'agents/a', id })))
    expect(all.map(({ id }) => id)).toEqual(ids)
  })

  const leaving = ['..', '../x', 'agents/../../x', '/etc', outside, 'C:/x', 'agents\\a', 'a\nb', 'agents/link']
  it.each(leaving)('C154 a path that leaves the fleet is refused: %j', async (agent) => {
    const [fault, ...others] = await faultsOf(() => spawned({ agent, id: 'b' }))
    expect(others).toEqual([])
    expect(fault).toMatchObject({ file: 'spawned child', line: null, field: 'agent' })
    expect(fault!.expected).toBe('a folder inside the fleet')
    expect(fault!.found).not.toContain('nothing at')
  })

  it('one that is not there is refused by its field, a broken one by its file', async () => {
    expect(await wrong({ agent: 'agents/none' })).toEqual([`agent: nothing at ${fleetDir}/agents/none`])
    expect((await refusal(() => spawned({ agent: 'agents/empty' }))).message).toContain(
      `${fleetDir}/agents/empty/agent.yml: expected a file inside the fleet`,
    )
    expect(await faultsOf(() => spawned({ agent: 'agents/bad', id: 'good' }))).toMatchObject([
      { file: join(fleetDir, 'agents/bad/agent.yml'), line: 2, column: 7, field: 'name' },
    ])
  })
})

describe('from an object', () => {
  it('is what agentFromObject returns, with paths from the folder of the fleet', async () => {
    const agent = { id: 'o', name: 'O', roles: ['shared/x.ts'], restart: { type: 'temporary' as const } }
    const manifest = await spawned({ agent })
    expect(manifest).toEqual(await agentFromObject(agent, fleetDir))
    expect(manifest).toMatchObject({ dir: fleetDir, file: null, roles: [join(fleetDir, 'shared/x.ts')] })
    expect(await spawned({ agent, id: 'p' })).toEqual({ ...manifest, id: 'p' })
  })

  it('its faults are told by their fields, all at once', async () => {
    expect(await wrong({ agent: { id: 'O', name: () => 1, roles: ['../x.ts'], restrat: 1 } })).toEqual([
      'agent.name: a function',
      'agent.id: "O"',
      'agent.name: nothing',
      'agent.restrat: the unknown field "restrat"',
      expect.stringContaining('agent.roles[0]: "../x.ts", which leaves'),
    ])
  })
})

describe('the id', () => {
  const bad = ['', 'A', '1', 'a_b', '-a', '../a', 'a b', 'a\0', '__proto__', 'é', 'a'.repeat(64), 5, null, true, {}, []]
  it.each(bad)('C154 C155 C158 %j is refused, and the field is named', async (id) => {
    const [fault, ...others] = await faultsOf(() => spawned({ agent: 'agents/a', id }))
    expect(others).toEqual([])
    expect(fault).toMatchObject({ file: 'spawned child', field: 'id' })
    expect(fault!.expected).toContain('an id: ')
  })

  it('does not make up for a bad one in the manifest', async () => {
    expect(await wrong({ agent: { id: 'Bad', name: 'B' }, id: 'good' })).toEqual(['agent.id: "Bad"'])
    expect(await wrong({ agent: { name: 'B' }, id: 'good' })).toEqual(['agent.id: nothing'])
  })
})

describe('anything else', () => {
  const shapes: [unknown, string[]][] = [
    [undefined, [': nothing']],
    [null, [': nothing (null)']],
    ['agents/a', [': "agents/a"']],
    [[], [': a list']],
    [{}, ['agent: nothing']],
    [{ agent: 5 }, ['agent: 5 (a number)']],
    [{ agent: '' }, ['agent: ""']],
    [{ agent: ['agents/a'] }, ['agent: a list']],
    [{ agent: () => 1 }, ['agent: a function', 'agent: nothing']],
    [{ agent: new Date(0) }, ['agent: an instance of a class', 'agent: nothing']],
    [{ agent: 'agents/a', restart: 'always' }, ['restart: "always"']],
    [{ agent: 'agents/a', restart: null }, ['restart: nothing (null)']],
    [{ agent: 'agents/a', shutdown: -1 }, ['shutdown: -1']],
    [{ agent: 'agents/a', shutdown: 'soon' }, ['shutdown: "soon"']],
    [{ agent: 'agents/a', significant: true }, ['significant: the unknown field "significant"']],
    [{ agent: 'agents/a', name: 'B' }, ['name: the unknown field "name"']],
  ]
  it.each(shapes)('%j is refused', async (object, found) => {
    expect(await wrong(object)).toEqual(found)
  })

  it('a fleet that is not there has nothing in it', async () => {
    const attempt = () => loadSpawned({ agent: 'agents/a' }, { fleetDir: join(fleetDir, 'none') })
    expect(brief(await faultsOf(attempt))).toEqual([`agent: nothing at ${fleetDir}/none/agents/a`])
  })
})
