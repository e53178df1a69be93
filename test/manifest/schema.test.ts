import { afterAll, describe, expect, it } from 'vitest'
import { DEFAULTS } from '../../src/manifest/defaults.ts'
import { agentFromObject, fleetFromObject, loadAgent } from '../../src/manifest/load.ts'
import { agentFolder, brief, faultsOf, folder, ROLE, refusal, removeFolders } from './folders.ts'

afterAll(removeFolders)

const dir = folder({ 'roles/main.ts': ROLE })
const agent = (more: object): Promise<unknown> => agentFromObject({ id: 'a', name: 'A', ...more }, dir)
const fields = async (more: object): Promise<string[]> => (await faultsOf(() => agent(more))).map(({ field }) => field)

describe('defaults', () => {
  it('fills in everything that is left out', async () => {
    const { version, autostart, capabilities, mailbox, limits, restart, isolation } = await agentFromObject(
      { id: 'a', name: 'A' },
      dir,
    )
    const { supervisor, nested, fleet, ...agentDefaults } = DEFAULTS
    expect({ version, autostart, mailbox, limits, restart, isolation }).toEqual(agentDefaults)
    expect({ ...supervisor, ...nested, ...fleet }).toEqual({
      id: 'root',
      strategy: 'one_for_one',
      intensity: 3,
      periodMs: 5000,
      auto_shutdown: 'never',
      maxChildren: null,
      backoff: restart.backoff,
      restart: 'permanent',
      shutdown: 'infinity',
      spares: 0,
    })
    expect(capabilities).toEqual([])
  })

  it('fills in what a block leaves out', async () => {
    const { mailbox, restart } = await agentFromObject(
      { id: 'a', name: 'A', mailbox: { capacity: 7 }, restart: { backoff: { minMs: 5 }, maxRestarts: 3 } },
      dir,
    )
    expect(mailbox).toEqual({ ...DEFAULTS.mailbox, capacity: 7 })
    expect(restart).toEqual({
      ...DEFAULTS.restart,
      backoff: { ...DEFAULTS.restart.backoff, minMs: 5 },
      maxRestarts: 3,
    })
  })

  it('gives each agent its own values', async () => {
    const one = await agentFromObject({ id: 'a', name: 'A' }, dir)
    const two = await agentFromObject({ id: 'b', name: 'B' }, dir)
    expect(one.capabilities).not.toBe(two.capabilities)
    expect(one.restart.backoff).not.toBe(two.restart.backoff)
    expect(one.mailbox).not.toBe(two.mailbox)
  })
})

describe('numbers', () => {
  const nonsense = [0, -1, 0.5, 'abc', Number.NaN, 1e12, Number.POSITIVE_INFINITY, null, true, '64', 7]
  it.each(nonsense)('C002 refuses limits.heapMb: %s, with the field and the value', async (heapMb) => {
    const error = await refusal(() => agent({ limits: { heapMb } }))
    const found = heapMb === null ? 'nothing (null)' : typeof heapMb === 'string' ? JSON.stringify(heapMb) : `${heapMb}`
    expect(error.message).toBe(`agent object: limits.heapMb: expected a whole number from 8 to 65536, found ${found}`)
  })

  const written = ['0', '-1', '0.5', 'abc', '.nan', '1e12', '.inf', '064', '"64"', '1_000', '0x2']
  it.each(written)('C002 refuses limits.heapMb: %s in a file', async (text) => {
    const at = agentFolder(`id: a\nname: A\nlimits:\n  heapMb: ${text}\n`)
    const [fault, ...others] = await faultsOf(() => loadAgent(at))
    expect(others).toEqual([])
    expect(fault).toMatchObject({ field: 'limits.heapMb', line: 4, column: 11 })
    expect(fault!.found).toContain(text.replaceAll('"', ''))
  })

  const bounds: [string, string, number, number][] = [
    ['mailbox', 'capacity', 1, 1_000_000],
    ['mailbox', 'window', 16, 65_536],
    ['mailbox', 'backlog', 1, 10_000_000],
    ['mailbox', 'concurrency', 1, 256],
    ['mailbox', 'redeliver', 0, 1000],
    ['limits', 'heapMb', 8, 65_536],
    ['limits', 'bootTimeoutMs', 1, 2 ** 31 - 1],
    ['limits', 'stopTimeoutMs', 1, 2 ** 31 - 1],
    ['limits', 'pauseTimeoutMs', 1, 2 ** 31 - 1],
    ['limits', 'abortGraceMs', 1, 2 ** 31 - 1],
    ['limits', 'handlerTimeoutMs', 0, 2 ** 31 - 1],
    ['restart', 'stableMs', 1, 2 ** 31 - 1],
    ['restart', 'maxRestarts', 0, 1_000_000],
  ]
  it.each(bounds)('%s.%s goes from %i to %i', async (block, field, min, max) => {
    await agent({ [block]: { [field]: min } })
    await agent({ [block]: { [field]: max } })
    expect(await fields({ [block]: { [field]: min - 1 } })).toEqual([`${block}.${field}`])
    expect(await fields({ [block]: { [field]: max + 1 } })).toEqual([`${block}.${field}`])
  })

  it('window is a power of two', async () => {
    expect(await fields({ mailbox: { window: 1000 } })).toEqual(['mailbox.window'])
  })

  it('unresponsiveAfterMs is below killAfterMs, defaults counted', async () => {
    const equal = await faultsOf(() => agent({ limits: { unresponsiveAfterMs: 9000, killAfterMs: 9000 } }))
    expect(brief(equal)).toEqual(['limits.killAfterMs: 9000'])
    const fallback = await faultsOf(() => agent({ limits: { unresponsiveAfterMs: 20_000 } }))
    expect(brief(fallback)).toEqual(['limits.killAfterMs: 15000 (the default)'])
  })

  it('restart.unkillable is wait or replace', async () => {
    const own = { id: 'a', name: 'A' }
    for (const unkillable of ['wait', 'replace']) {
      expect(await agentFromObject({ ...own, restart: { unkillable } }, dir)).toMatchObject({ restart: { unkillable } })
    }
    for (const unkillable of ['kill', 'Replace', true, null, 0]) {
      expect(await fields({ restart: { unkillable } })).toEqual(['restart.unkillable'])
    }
  })

  it('minMs is at most maxMs', async () => {
    const faults = await faultsOf(() => agent({ restart: { backoff: { minMs: 10, maxMs: 9 } } }))
    expect(brief(faults)).toEqual(['restart.backoff.maxMs: 9'])
  })
})

describe('ids and names', () => {
  const bad = [
    ...['../../x', 'a/../../b', '..', '.', '/etc', 'a\\b', 'a%2f..%2fb', 'a\0b', 'a\nb', ''],
    ...['0', '1', '1-only', '-rf', '--all', '*', '@x', 'a b', 'a:b', 'a.b', 'a>b', 'A', 'é', '__proto__', 'a_b'],
  ]
  it.each(bad)('C154 C157 C158 refuses the id %j', async (id) => {
    expect(await fields({ id })).toEqual(['id'])
  })

  it.each(['constructor', 'valueof', 'length', 'all', 'a1', 'x--y'])(
    'C157 takes the id %j like any other',
    async (id) => {
      expect(await agentFromObject({ id, name: id }, dir)).toMatchObject({ id })
    },
  )

  it('C155 an id has at most 63 characters', async () => {
    await agent({ id: 'a'.repeat(63) })
    for (const length of [64, 128, 255, 256, 5000]) expect(await fields({ id: 'a'.repeat(length) })).toEqual(['id'])
    expect(await fields({ id: '🦦'.repeat(100) })).toEqual(['id'])
  })

  it('C155 the limit of a name is in bytes', async () => {
    await agent({ name: '🦦'.repeat(50) })
    expect(await fields({ name: '🦦'.repeat(51) })).toEqual(['name'])
    expect(await fields({ name: 'a\nb' })).toEqual(['name'])
    expect(await fields({ name: '  ' })).toEqual(['name'])
  })

  it('C155 a refusal of a long name is short', async () => {
    expect((await refusal(() => agent({ id: 'a'.repeat(5000) }))).message.length).toBeLessThan(300)
  })

  it('C158 names the rule', async () => {
    const error = await refusal(() => agent({ id: '1-only' }))
    expect(error.message).toBe(
      'agent object: id: expected an id: a lower-case letter, then at most 62 of a-z, 0-9 and "-", found "1-only"',
    )
  })
})

describe('fields that do not exist', () => {
  const unknown: [object, string, string | undefined][] = [
    [{ restrat: 'always' }, 'restrat', 'did you mean restart?'],
    [{ restart: { max_restart: 3 } }, 'restart.max_restart', 'did you mean maxRestarts?'],
    [{ mailbox: { heapMb: 64 } }, 'mailbox.heapMb', 'it belongs in limits'],
    [{ heapMb: 64 }, 'heapMb', 'it belongs in limits'],
    [{ cwd: '/' }, 'cwd', "not supported: a thread shares the host's folder, which no agent may change"],
    [{ env: ['A=1'] }, 'env', 'put variables into a file .env beside agent.yml'],
    [{ durable: true }, 'durable', 'it belongs under mailbox in agent.yml'],
    [{ mailbox: { channels: [] } }, 'mailbox.channels', 'it belongs at the top of agent.yml'],
    [{ limits: { schedules: [] } }, 'limits.schedules', 'it belongs at the top of agent.yml'],
    [{ spares: 1 }, 'spares', 'it belongs at the top of holt.yml'],
    [{ zebra: 1 }, 'zebra', undefined],
    [{ constructor: 1 }, 'constructor', undefined],
    [{ hasOwnProperty: 1 }, 'hasOwnProperty', undefined],
    [JSON.parse('{"__proto__":{"autostart":false}}') as object, '__proto__', undefined],
    [JSON.parse('{"limits":{"__proto__":{"heapMb":9}}}') as object, 'limits.__proto__', undefined],
  ]
  it.each(unknown)('C031 C151 C157 refuses %j', async (more, field, hint) => {
    const object = Object.defineProperties({ id: 'a', name: 'A' }, Object.getOwnPropertyDescriptors(more))
    const faults = await faultsOf(() => agentFromObject(object, dir))
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatchObject({ field })
    expect(faults[0]!.found).toContain('the unknown field')
    expect(faults[0]!.hint).toBe(hint)
  })

  it('C157 no prototype is harmed', () => {
    expect(Object.keys(Object.prototype)).toEqual([])
    expect(({} as Record<string, unknown>)['autostart']).toBeUndefined()
  })

  it('C151 tells all faults at once', async () => {
    const faults = await faultsOf(() =>
      agentFromObject({ id: 'A', restrat: 1, env: [], mailbox: { heapMb: 1 }, roles: ['roles/none.ts'] }, dir),
    )
    expect(brief(faults)).toEqual([
      'id: "A"',
      'name: nothing',
      'mailbox.heapMb: the unknown field "heapMb"',
      'restrat: the unknown field "restrat"',
      'env: the unknown field "env"',
      `roles[0]: nothing at ${dir}/roles/none.ts`,
    ])
  })

  it('C151 suggests the nearest value', async () => {
    const faults = await faultsOf(() => agent({ mailbox: { overflow: 'dropoldest' }, restart: { type: 'permanant' } }))
    expect(faults.map(({ hint }) => hint)).toEqual(['did you mean drop-oldest?', 'did you mean permanent?'])
  })
})

describe('grants', () => {
  it('allows nothing unless it says so', async () => {
    const { capabilities } = await agentFromObject({ id: 'a', name: 'A', capabilities: [{ id: 'text' }] }, dir)
    expect(capabilities).toEqual([{ id: 'text', allow: [] }])
  })

  it.each(['constructor', '__proto__', 'toString', 'a b', '', 'a.b'])('C157 refuses the method %j', async (name) => {
    expect(await fields({ capabilities: [{ id: 'text', allow: [name] }] })).toEqual(['capabilities[0].allow[0]'])
  })

  it('refuses a capability or a method twice', async () => {
    expect(await fields({ capabilities: [{ id: 't' }, { id: 't' }] })).toEqual(['capabilities[1]'])
    expect(await fields({ capabilities: [{ id: 't', allow: ['a', 'a'] }] })).toEqual(['capabilities[0].allow[1]'])
  })
})

describe('a fleet', () => {
  const fleet = async (object: object): Promise<string[]> => brief(await faultsOf(() => fleetFromObject(object, dir)))

  const wrong: [object, string[]][] = [
    [{}, ['children: nothing']],
    [{ children: {} }, ['children: a map']],
    [{ children: ['a'] }, ['children[0]: "a"']],
    [{ children: [{ agnet: 'a' }] }, ['children[0].agent: nothing', 'children[0].agnet: the unknown field "agnet"']],
    [{ children: [{ agent: 5 }] }, ['children[0].agent: 5 (a number)']],
    [{ children: [{ agent: 'a', restart: 'always' }] }, ['children[0].restart: "always"']],
    [{ children: [{ agent: 'a', shutdown: 0 }] }, ['children[0].shutdown: 0']],
    [{ children: [{ agent: 'a', shutdown: 'never' }] }, ['children[0].shutdown: "never"']],
    [{ children: [{ supervisor: { id: 's' } }] }, ['children[0].children: nothing']],
    [{ children: [{ children: [] }] }, ['children[0].supervisor: nothing']],
    [{ children: [{ supervisor: {}, children: [] }] }, ['children[0].supervisor.id: nothing']],
    [
      { children: [], supervisor: { intensity: -1, periodMs: 0 } },
      ['supervisor.intensity: -1', 'supervisor.periodMs: 0'],
    ],
    [{ children: [], spare: 1 }, ['spare: the unknown field "spare"']],
    [{ children: [], capabilities: ['x.ts'] }, [`capabilities[0]: nothing at ${dir}/x.ts`]],
    [{ children: [], capabilities: 'x.ts' }, ['capabilities: "x.ts"']],
    [
      { children: [{ supervisor: { id: 's' }, children: [{ agent: null }] }] },
      ['children[0].children[0].agent: nothing (null)'],
    ],
  ]
  it.each(wrong)('refuses %j', async (object, found) => {
    expect(await fleet(object)).toEqual(found)
  })
})
