import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { check } from '../../src/manifest/check.ts'
import { parseEnv } from '../../src/manifest/env.ts'
import { type Fault, invalidManifest } from '../../src/manifest/fault.ts'
import type { FleetManifest, SpawnedObject } from '../../src/manifest/fleet-manifest.ts'
import { agentFromObject, fleetFromObject, loadSpawned } from '../../src/manifest/load.ts'
import { agentSchema } from '../../src/manifest/schema.ts'
import { yamlSource } from '../../src/manifest/yaml.ts'
import { HoltError } from '../../src/model/error.ts'
import { type Form, fieldsOf, load } from './both-forms.ts'
import { folder, ROLE, removeFolders } from './folders.ts'

afterAll(removeFolders)

const dir = folder({ 'roles/main.ts': ROLE })

const FIELDS = [
  'id',
  'name',
  'version',
  'autostart',
  'roles',
  'capabilities',
  'mailbox',
  'limits',
  'restart',
  'isolation',
]
const FLEET_FIELDS = [
  ...['supervisor', 'children', 'agent', 'capabilities', 'restart', 'shutdown', 'id', 'strategy'],
  ...['significant', 'auto_shutdown', 'maxChildren', 'backoff', 'spares', 'maxAgents', 'minFreeMb'],
]
const WORDS = [
  ...['a', 'one_for_one', 'dynamic', 'any_significant', 'permanent', 'transient', 'none', 'thread', 'roles/main.ts'],
  ...[1, 64, true],
]
const ODD = ['__proto__', 'constructor', 'toString']

/** Any JSON value, with the names of fields more often than chance would have them. */
const json = (names: readonly string[]): fc.Arbitrary<unknown> =>
  fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.jsonValue(),
      fc.constantFrom(...WORDS),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names, ...ODD), tie('value'), { noNullPrototype: true }),
    ),
  })).value

async function onlyInvalidManifest(attempt: () => unknown): Promise<void> {
  try {
    await attempt()
  } catch (error) {
    if (!(error instanceof HoltError) || error.code !== 'InvalidManifest') throw error
    expect(error.message).not.toBe('')
    const faults = error.details['faults']
    expect(JSON.parse(JSON.stringify(faults))).toEqual(faults)
  }
}

it('any JSON value as an agent loads or is an InvalidManifest', async () => {
  await fc.assert(
    fc.asyncProperty(json(FIELDS), (value) => onlyInvalidManifest(() => agentFromObject(value, dir))),
    { numRuns: 500 },
  )
})

it('any JSON value as a block of a good agent loads or is an InvalidManifest', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...FIELDS), json(FIELDS), (field, value) =>
      onlyInvalidManifest(() => agentFromObject({ id: 'a', name: 'A', [field]: value }, dir)),
    ),
    { numRuns: 500 },
  )
})

it('any JSON value as a fleet loads or is an InvalidManifest', async () => {
  await fc.assert(
    fc.asyncProperty(json(FLEET_FIELDS), (value) => onlyInvalidManifest(() => fleetFromObject(value, dir))),
    { numRuns: 500 },
  )
})

it('any JSON value as a child added at run time loads or is an InvalidManifest', async () => {
  await fc.assert(
    fc.asyncProperty(json(['agent', 'id', ...FIELDS]), (value) =>
      onlyInvalidManifest(() => loadSpawned(value as SpawnedObject, { fleetDir: dir })),
    ),
    { numRuns: 500 },
  )
})

const standing = fc.record(
  {
    restart: fc.constantFrom('permanent', 'transient', 'temporary', 'often'),
    shutdown: fc.constantFrom(1, 'infinity', 0),
    significant: fc.boolean(),
  },
  { requiredKeys: [] },
)
/** Trees that are right or nearly so. */
const tree: fc.Arbitrary<object> = fc.letrec<{ branch: object; child: object }>((tie) => ({
  child: fc.oneof(
    { depthSize: 'medium', maxDepth: 3 },
    standing.map((own) => ({ agent: '.', ...own })),
    fc.tuple(tie('branch'), standing).map(([branch, own]) => ({ ...branch, ...own })),
  ),
  branch: fc.record(
    {
      supervisor: fc.record(
        {
          id: fc.constantFrom('s', 't', 'u', 'v', 'w', 'S'),
          strategy: fc.constantFrom('one_for_one', 'one_for_all', 'rest_for_one', 'dynamic', 'none'),
          auto_shutdown: fc.constantFrom('never', 'any_significant', 'all_significant'),
          maxChildren: fc.constantFrom(0, 1, null),
          backoff: fc.constantFrom('none', {}, { minMs: 2 }, { minMs: 2, maxMs: 1 }),
        },
        { requiredKeys: ['id'] },
      ),
      children: fc.array(tie('child'), { maxLength: 3 }),
    },
    { requiredKeys: ['supervisor'] },
  ),
})).branch

it('a tree is the same from a file and from an object, and wrong in the same fields', async () => {
  const at = folder({ 'agent.yml': 'id: a\nname: A\n', 'roles/main.ts': ROLE })
  /** The tree without the places, which only a file has. */
  const outcome = async (form: Form, value: object): Promise<unknown> => {
    const seen = await load(form, at, value).catch((error: unknown) => error)
    if (seen instanceof HoltError) return fieldsOf(seen.details['faults'] as Fault[])
    return JSON.parse(JSON.stringify({ ...(seen as FleetManifest), file: null }, (k, v) => (k === 'error' ? null : v)))
  }
  await fc.assert(
    fc.asyncProperty(tree, async (value) => {
      expect(await outcome('file', value)).toEqual(await outcome('object', value))
    }),
    { numRuns: 300 },
  )
})

it('any JavaScript value as an agent loads or is an InvalidManifest', async () => {
  const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true })
  await fc.assert(
    fc.asyncProperty(anything, (value) => onlyInvalidManifest(() => agentFromObject(value, dir))),
    { numRuns: 500 },
  )
})

const line = fc.constantFrom(
  'id: a',
  '- x',
  '  b: 1',
  '\tc: 2',
  '? d',
  ': e',
  '[',
  '}',
  '&a *a',
  '"',
  "'",
  '---',
  '%YAML',
  '#',
  '!!x',
  '|',
  '<<: *a',
)
const yamlText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n')),
)

it('any text as YAML is a value or has faults with lines', () => {
  fc.assert(
    fc.property(yamlText, (text) => {
      const source = yamlSource(Buffer.from(text), 'agent.yml')
      const checked = check(agentSchema, source)
      if (checked.ok) return
      expect(checked.faults.length).toBeGreaterThan(0)
      expect(invalidManifest(checked.faults).message).toMatch(/^agent\.yml:\d+:\d+: /)
    }),
    { numRuns: 1000 },
  )
})

it('any bytes as an environment are variables or an InvalidManifest', async () => {
  const text = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc
      .array(fc.constantFrom('A=', '"', "'", '`', '\\', '\n', '\r', ' ', '#', 'export ', '=', 'x', '\0'), {
        maxLength: 40,
      })
      .map((parts) => Buffer.from(parts.join(''))),
  )
  await fc.assert(
    fc.asyncProperty(text, (bytes) => onlyInvalidManifest(() => parseEnv(bytes, '.env'))),
    { numRuns: 1000 },
  )
})

it('what double quotes are given escaped comes back as it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (value) => {
      const escaped = value.replaceAll(/[\\"$]/g, '\\$&')
      expect(parseEnv(`A="${escaped}"\nB=1`, '.env')).toEqual({ A: value, B: '1' })
    }),
  )
})
