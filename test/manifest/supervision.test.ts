import { afterAll, describe, expect, it } from 'vitest'
import type { ChildManifest, FleetManifest, SupervisorManifest } from '../../src/manifest/fleet-manifest.ts'
import { loadFleet } from '../../src/manifest/load.ts'
import { type Branch, FORMS, fieldsOf, LEVELS, load, refused } from './both-forms.ts'
import { brief, folder, ROLE, removeFolders } from './folders.ts'

afterAll(removeFolders)

const dir = folder({ 'agents/a/agent.yml': 'id: a\nname: A\n', 'agents/a/roles/main.ts': ROLE })
const A = { agent: 'agents/a' }

const everywhere = LEVELS.flatMap((level) => FORMS.map((form) => ({ ...level, form })))

/** The supervisor under test, at whichever level. */
function innermost({ root }: FleetManifest): SupervisorManifest {
  const [first] = root.children
  return first?.kind === 'supervisor' ? first : root
}

const FIXED = ['one_for_one', 'one_for_all', 'rest_for_one'] as const
const UNKNOWN = ['simple_one_for_one', 'One_For_One', '', 5, null, [], {}]

describe.each(everywhere)('strategy and children: $level, as $form', ({ at, wrap, form }) => {
  const branch = (strategy: unknown, more: object = {}): Branch => ({
    supervisor: { id: 's', ...(strategy === undefined ? {} : { strategy }) },
    ...more,
  })
  const PRESENCE: [string, object][] = [
    ['left out', {}],
    ['empty', { children: [] }],
    ['one', { children: [A] }],
    ['null', { children: null }],
    ['a map', { children: {} }],
  ]
  const rows = [undefined, ...FIXED, 'dynamic', ...UNKNOWN].flatMap((strategy) =>
    PRESENCE.map(([presence, more]) => ({ strategy, presence, more })),
  )

  it.each(rows)('$strategy with children $presence', async ({ strategy, presence, more }) => {
    const known = strategy === undefined || strategy === 'dynamic' || FIXED.some((one) => one === strategy)
    const fits = {
      'left out': strategy === 'dynamic' || !known,
      empty: true,
      one: strategy !== 'dynamic',
      null: false,
      'a map': false,
    }[presence]
    const wrong = [...(fits ? [] : [`${at}children`]), ...(known ? [] : [`${at}supervisor.strategy`])]
    const fleet = wrap(branch(strategy, more))
    if (wrong.length > 0) return expect(fieldsOf(await refused(form, dir, fleet))).toEqual(wrong)
    const supervisor = innermost(await load(form, dir, fleet))
    expect(supervisor.strategy).toBe(strategy ?? 'one_for_one')
    expect(supervisor.children.map(({ id }) => id)).toEqual(presence === 'one' ? ['a'] : [])
  })

  it('a dynamic one says where its children come from', async () => {
    const [fault] = await refused(form, dir, wrap(branch('dynamic', { children: [A] })))
    expect(fault).toMatchObject({ field: `${at}children`, found: 'a list' })
    expect(fault!.expected).toBe(
      'no children: under dynamic, children are added at run time, by ctx.spawn or host.spawn',
    )
  })

  it('what OTP calls simple_one_for_one is dynamic', async () => {
    const [fault] = await refused(form, dir, wrap(branch('simple_one_for_one')))
    expect(fault).toMatchObject({
      expected: 'one of: one_for_one, one_for_all, rest_for_one, dynamic',
      hint: 'did you mean dynamic?',
    })
  })

  it.each([undefined, ...FIXED, 'dynamic', 'one_for_none'])('maxChildren beside %s', async (strategy) => {
    const supervisor = { id: 's', ...(strategy === undefined ? {} : { strategy }), maxChildren: 7 }
    const children = strategy === 'dynamic' ? {} : { children: [] }
    const fleet = wrap({ supervisor, ...children })
    if (strategy === 'dynamic') return expect(innermost(await load(form, dir, fleet)).maxChildren).toBe(7)
    const faults = await refused(form, dir, fleet)
    if (strategy === 'one_for_none') return expect(fieldsOf(faults)).toEqual([`${at}supervisor.strategy`])
    expect(brief(faults)).toEqual([`${at}supervisor.maxChildren: 7`])
    expect(faults[0]!.expected).toBe('nothing: only a dynamic supervisor has a limit of children')
  })
})

describe.each(everywhere)('values of a supervisor: $level, as $form', ({ at, wrap, form }) => {
  const dynamic = (more: object): object => wrap({ supervisor: { id: 's', strategy: 'dynamic', ...more } })
  const one = async (more: object): Promise<SupervisorManifest> => innermost(await load(form, dir, dynamic(more)))

  const bounds: [string, number, number][] = [
    ['intensity', 0, 10_000],
    ['periodMs', 1, 2 ** 31 - 1],
    ['maxChildren', 1, 100_000],
  ]
  it.each(bounds)('%s is whole, from %i to %i', async (field, min, max) => {
    for (const value of [min, max]) expect(await one({ [field]: value })).toMatchObject({ [field]: value })
    for (const value of [min - 1, max + 1, min + 0.5, '5', true, [], {}]) {
      expect(fieldsOf(await refused(form, dir, dynamic({ [field]: value })))).toEqual([`${at}supervisor.${field}`])
    }
  })

  it('maxChildren may be null for no limit', async () => {
    expect((await one({ maxChildren: null })).maxChildren).toBeNull()
    expect((await one({})).maxChildren).toBeNull()
  })

  const delays: [string, number, number, number[]][] = [
    ['minMs', 1, 1e9, [0, 1.5, 1e9 + 1]],
    ['maxMs', 1, 1e9, [0, 1.5, 1e9 + 1]],
    ['factor', 1, 100, [0.9, 100.1]],
    ['jitter', 0, 1, [-0.1, 1.1]],
  ]
  it.each(delays)('backoff.%s goes from %d to %d', async (field, min, max, bad) => {
    const wide = { minMs: 1, maxMs: 1e9 }
    for (const value of [min, max]) {
      expect((await one({ backoff: { ...wide, [field]: value } })).backoff).toMatchObject({ [field]: value })
    }
    for (const value of bad) {
      const faults = await refused(form, dir, dynamic({ backoff: { ...wide, [field]: value } }))
      expect(fieldsOf(faults)).toContain(`${at}supervisor.backoff.${field}`)
    }
  })

  it('backoff is none, or a map that is filled in', async () => {
    const full = { minMs: 1000, maxMs: 300_000, factor: 2, jitter: 0.2 }
    expect((await one({ backoff: 'none' })).backoff).toBe('none')
    expect((await one({ backoff: { minMs: 5 } })).backoff).toEqual({ ...full, minMs: 5 })
    expect((await one({ backoff: {} })).backoff).toEqual(full)
    expect((await one({})).backoff).toEqual(full)
    for (const backoff of ['off', 5, null, false, []]) {
      expect(fieldsOf(await refused(form, dir, dynamic({ backoff })))).toEqual([`${at}supervisor.backoff`])
    }
    const crossed = await refused(form, dir, dynamic({ backoff: { minMs: 10, maxMs: 9 } }))
    expect(brief(crossed)).toEqual([`${at}supervisor.backoff.maxMs: 9`])
  })

  it('auto_shutdown is one of three', async () => {
    for (const mode of ['never', 'any_significant', 'all_significant']) {
      expect((await one({ auto_shutdown: mode })).autoShutdown).toBe(mode)
    }
    for (const mode of ['always', 'any', true, null]) {
      expect(fieldsOf(await refused(form, dir, dynamic({ auto_shutdown: mode })))).toEqual([
        `${at}supervisor.auto_shutdown`,
      ])
    }
  })
})

describe.each(FORMS)('a supervisor as a child, as %s', (form) => {
  const nested = (more: object): object => ({ children: [{ supervisor: { id: 's' }, children: [], ...more }] })

  it('has a restart type, a time to stop and a budget of its own', async () => {
    for (const restart of ['permanent', 'transient', 'temporary']) {
      expect(innermost(await load(form, dir, nested({ restart }))).restart).toBe(restart)
    }
    for (const shutdown of [1, 2 ** 31 - 1, 'brutal_kill', 'infinity']) {
      expect(innermost(await load(form, dir, nested({ shutdown }))).shutdown).toBe(shutdown)
    }
    expect(innermost(await load(form, dir, nested({})))).toMatchObject({ restart: 'permanent', shutdown: 'infinity' })
  })

  const wrong: [object, string][] = [
    [{ restart: 'always' }, 'restart'],
    [{ restart: null }, 'restart'],
    [{ shutdown: 0 }, 'shutdown'],
    [{ shutdown: 2 ** 31 }, 'shutdown'],
    [{ shutdown: 1.5 }, 'shutdown'],
    [{ shutdown: 'never' }, 'shutdown'],
    [{ significant: 'yes' }, 'significant'],
    [{ significant: null }, 'significant'],
    [{ significant: 1 }, 'significant'],
  ]
  it.each(wrong)('refuses %j', async (more, field) => {
    expect(fieldsOf(await refused(form, dir, nested(more)))).toEqual([`children[0].${field}`])
    expect(fieldsOf(await refused(form, dir, { children: [{ ...A, ...more }] }))).toEqual([`children[0].${field}`])
  })

  it('does not lend its words to the top one', async () => {
    for (const [field, value] of Object.entries({ restart: 'permanent', shutdown: 'infinity', significant: false })) {
      const [fault, ...others] = await refused(form, dir, { children: [], [field]: value })
      expect(others).toEqual([])
      expect(fault).toMatchObject({
        field,
        hint: 'the top supervisor is no child: nothing above it would read this',
      })
    }
  })

  it('spares go from 0 to 64', async () => {
    for (const spares of [0, 64]) expect((await load(form, dir, { children: [], spares })).spares).toBe(spares)
    expect((await load(form, dir, { children: [] })).spares).toBe(0)
    for (const spares of [-1, 65, 0.5, '1', null, true, [1]]) {
      expect(fieldsOf(await refused(form, dir, { children: [], spares }))).toEqual(['spares'])
    }
  })

  it.each([
    ['maxAgents', 1, 100_000],
    ['minFreeMb', 0, 2 ** 20],
  ] as const)('%s goes from %i to %i, and may be left to the host', async (field, least, most) => {
    for (const n of [least, most]) expect((await load(form, dir, { children: [], [field]: n }))[field]).toBe(n)
    expect((await load(form, dir, { children: [] }))[field]).toBeNull()
    for (const n of [least - 1, most + 1, 1.5, '1', null, true, [1]]) {
      expect(fieldsOf(await refused(form, dir, { children: [], [field]: n }))).toEqual([field])
    }
  })

  it('all faults of a tree are told at once', async () => {
    const inner = { supervisor: { id: 'S', strategy: 'dynamic', maxChildren: 0 }, children: [A], significant: 1 }
    const tree = { supervisor: { maxChildren: 1 }, children: [inner, { ...A, shutdown: 0 }], spares: 65 }
    expect(fieldsOf(await refused(form, dir, tree))).toEqual([
      'children[0].children',
      'children[0].significant',
      'children[0].supervisor.id',
      'children[0].supervisor.maxChildren',
      'children[1].shutdown',
      'spares',
      'supervisor.maxChildren',
    ])
  })
})

describe('a whole holt.yml', () => {
  const names = (children: readonly ChildManifest[]): unknown[] =>
    children.map((child) => (child.kind === 'agent' ? child.id : [child.id, names(child.children)]))

  it('loads', async () => {
    const agent = (id: string): Record<string, string> => ({
      [`agents/${id}/agent.yml`]: `id: ${id}\nname: ${id}\n`,
      [`agents/${id}/roles/main.ts`]: ROLE,
    })
    const at = folder({
      'holt.yml': `
supervisor: { id: root, strategy: one_for_one }
children:
  - agent: agents/walker
  - supervisor: { id: readers, strategy: rest_for_one, intensity: 5, periodMs: 10000 }
    children: [{ agent: agents/reader, restart: transient }, { agent: agents/librarian, shutdown: 10000 }]
capabilities: [capabilities/text.ts]
spares: 1
`,
      ...agent('walker'),
      ...agent('reader'),
      ...agent('librarian'),
      'capabilities/text.ts': '',
    })
    const fleet = await loadFleet(at)
    expect(names(fleet.root.children)).toEqual(['walker', ['readers', ['reader', 'librarian']]])
    expect(fleet.spares).toBe(1)
    expect(fleet.root.children[1]).toMatchObject({
      strategy: 'rest_for_one',
      intensity: 5,
      periodMs: 10_000,
      children: [
        { restart: 'transient', shutdown: 5000 },
        { restart: 'permanent', shutdown: 10_000 },
      ],
    })
  })
})
