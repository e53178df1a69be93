import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { AgentChild } from '../../src/manifest/fleet-manifest.ts'
import { fleetFromObject, loadAgent, loadFleet } from '../../src/manifest/load.ts'
import { FORMS, fieldsOf, load, refused } from './both-forms.ts'
import { faultsOf, folder, ROLE, refusal, removeFolders } from './folders.ts'

afterAll(removeFolders)

const TYPES = ['permanent', 'transient', 'temporary'] as const
const MODES = ['never', 'any_significant', 'all_significant'] as const

const agentFiles = (id: string, more = ''): Record<string, string> => ({
  [`agents/${id}/agent.yml`]: `id: ${id}\nname: ${id}\n${more}`,
  [`agents/${id}/roles/main.ts`]: ROLE,
})

const dir = folder({
  ...agentFiles('silent'),
  ...agentFiles('permanent', 'restart: { type: permanent }\n'),
  ...agentFiles('transient', 'restart: { type: transient }\n'),
  ...agentFiles('temporary', 'restart: { type: temporary }\n'),
  ...agentFiles('other'),
  'roles/main.ts': ROLE,
})

const AGENTS = ['silent', ...TYPES] as const

interface Row {
  readonly mode: (typeof MODES)[number] | undefined
  /** The agent by what its own file says; null is a supervisor. */
  readonly own: (typeof AGENTS)[number] | null
  readonly type: (typeof TYPES)[number] | undefined
  readonly significant: boolean | undefined
}

const rows: Row[] = [undefined, ...MODES].flatMap((mode) =>
  [null, ...AGENTS].flatMap((own) =>
    [undefined, ...TYPES].flatMap((type) =>
      [undefined, false, true].map((significant) => ({ mode, own, type, significant })),
    ),
  ),
)

const present = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

function fleetOf({ mode, own, type, significant }: Row): object {
  const standing = present({ restart: type, significant })
  const child =
    own === null ? { supervisor: { id: 'inner' }, children: [], ...standing } : { agent: `agents/${own}`, ...standing }
  return {
    supervisor: present({ id: 'top', auto_shutdown: mode }),
    children: [child, { agent: 'agents/other' }],
  }
}

/** The rule, written another way: what comes of each row. */
function verdict({ mode, own, type, significant }: Row): 'tree' | 'agent' | 'loads' {
  if (significant !== true) return 'loads'
  if (mode === undefined || mode === 'never') return 'tree'
  if (type !== undefined) return type === 'permanent' ? 'tree' : 'loads'
  if (own === null) return 'tree'
  return own === 'silent' || own === 'permanent' ? 'agent' : 'loads'
}

describe.each(FORMS)('significant, as %s', (form) => {
  it.each(rows)('auto_shutdown $mode, agent $own, restart $type, significant $significant', async (row) => {
    const fleet = fleetOf(row)
    if (verdict(row) === 'tree') {
      return expect(new Set(fieldsOf(await refused(form, dir, fleet)))).toEqual(new Set(['children[0].significant']))
    }
    const { root } = await load(form, dir, fleet)
    const [child, other] = root.children
    expect(child).toMatchObject({ significant: row.significant ?? false })
    expect(other).toMatchObject({ significant: false, result: { ok: true } })
    expect(root).toMatchObject({ autoShutdown: row.mode ?? 'never', significant: false })
    if (child!.kind === 'supervisor') return
    expect(child!.result.ok).toBe(verdict(row) === 'loads')
  })

  it('each of the two reasons is told', async () => {
    const child = { agent: 'agents/silent', restart: 'permanent', significant: true }
    const faults = await refused(form, dir, { children: [child] })
    expect(faults.map(({ field, expected, found, hint }) => ({ field, expected, found, hint }))).toEqual([
      {
        field: 'children[0].significant',
        expected: 'false, since auto_shutdown of the supervisor "root" is never',
        found: 'true',
        hint: 'set auto_shutdown to any_significant or all_significant',
      },
      {
        field: 'children[0].significant',
        expected: 'true only beside restart transient or temporary',
        found: 'true beside restart "permanent"',
        hint: undefined,
      },
    ])
  })

  it('counts by the supervisor right above, at any depth', async () => {
    const leaf = { agent: 'agents/transient', significant: true }
    const tree = (outer: string, inner: string): object => ({
      supervisor: { auto_shutdown: outer },
      children: [{ supervisor: { id: 'inner', auto_shutdown: inner }, children: [leaf] }],
    })
    await load(form, dir, tree('never', 'any_significant'))
    expect(fieldsOf(await refused(form, dir, tree('any_significant', 'never')))).toEqual([
      'children[0].children[0].significant',
    ])
  })
})

describe('the refusal', () => {
  const YML = `supervisor: { auto_shutdown: any_significant }
children:
  - agent: agents/silent
    significant: true
  - agent: agents/permanent
    significant: true
  - supervisor: { id: inner }
    children: []
`
  it('of an agent whose own file says permanent is that of the agent, and names both places', async () => {
    const at = folder({
      'holt.yml': YML,
      ...agentFiles('silent'),
      ...agentFiles('permanent', 'restart:\n  type: permanent\n'),
    })
    const [silent, permanent] = (await loadFleet(at)).root.children as [AgentChild, AgentChild]
    expect([silent.id, permanent.id]).toEqual(['silent', 'permanent'])
    const messageOf = ({ result }: AgentChild): string => (result.ok ? 'no error' : result.error.message)
    expect(messageOf(silent)).toBe(
      `${at}/agents/silent/agent.yml:1:1: restart.type: expected transient or temporary, since the agent is significant ` +
        `at ${at}/holt.yml:4:18, found permanent (the default) (or set restart beside significant)`,
    )
    expect(messageOf(permanent)).toBe(
      `${at}/agents/permanent/agent.yml:4:9: restart.type: expected transient or temporary, since the agent is ` +
        `significant at ${at}/holt.yml:6:18, found "permanent" (or set restart beside significant)`,
    )
  })

  it('of a supervisor without a restart type is that of the tree, by file, line and field', async () => {
    const at = folder({
      'holt.yml': `supervisor: { auto_shutdown: all_significant }
children:
  - supervisor: { id: inner }
    children: []
    significant: true
`,
    })
    expect((await refusal(() => loadFleet(at))).message).toBe(
      `${at}/holt.yml:5:18: children[0].significant: expected true only beside restart transient or temporary, ` +
        'found true beside restart permanent (the default)',
    )
  })

  it('of a manifest in an object is that of the agent too', async () => {
    const child = (type?: string): object => ({
      agent: { id: `x${type ?? ''}`, name: 'X', ...(type === undefined ? {} : { restart: { type } }) },
      significant: true,
    })
    const fleet = { supervisor: { auto_shutdown: 'any_significant' }, children: [child(), child('temporary')] }
    const [bad, good] = (await fleetFromObject(fleet, dir)).root.children as [AgentChild, AgentChild]
    expect(bad.id).toBe('x')
    expect(bad.result.ok ? '' : bad.result.error.message).toBe(
      'fleet object: children[0].agent.restart.type: expected transient or temporary, since the agent is significant ' +
        'at fleet object children[0].significant, found permanent (the default) (or set restart beside significant)',
    )
    expect(good).toMatchObject({ significant: true, restart: 'temporary', result: { ok: true } })
  })

  it('comes again when the file is read again', async () => {
    const agent = (name: string): string => join(dir, 'agents', name)
    const child = (significant: boolean, restart: 'transient' | null) => ({
      significant,
      override: { restart, shutdown: null },
    })
    const again = (name: string, options: object) => () => loadAgent(agent(name), { fleetDir: dir, ...options })
    for (const name of ['silent', 'permanent']) {
      const [fault] = await faultsOf(again(name, { child: child(true, null) }))
      expect(fault).toMatchObject({
        file: join(agent(name), 'agent.yml'),
        field: 'restart.type',
        expected: 'transient or temporary, since the agent is significant in its fleet',
      })
      await again(name, { child: child(false, null) })()
      await again(name, { child: child(true, 'transient') })()
      await again(name, {})()
    }
    await again('transient', { child: child(true, null) })()
  })
})
