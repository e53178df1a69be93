/** The rules a package is held against, by themselves; and where installed agents stand in a tree. */
import { isAbsolute, join, normalize, relative } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { leftOutOf, namesIn, versionFolder } from '../../src/host/catalog-rules.ts'
import { withCatalog, withoutEmpty } from '../../src/host/catalog-tree.ts'
import type { ChildObject, FleetObject } from '../../src/manifest/fleet-manifest.ts'
import { fleetFromObject } from '../../src/manifest/load.ts'
import type { TreeNode } from '../../src/model/view.ts'

const PATH = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc
    .array(fc.constantFrom('..', '.', '', 'a', 'b', '...', ' ', '\\', 'C:', '\0', '~', '.env'), { maxLength: 8 })
    .map((parts) => parts.join('/')),
)

describe('the names in a path', () => {
  it('never lead out of the package, whatever the path', () => {
    fc.assert(
      fc.property(PATH, (path) => {
        let names: readonly string[]
        try {
          names = namesIn(path, 'source')
        } catch (error) {
          expect(error).toMatchObject({ code: 'InvalidInput', message: expect.stringMatching(/^source: expected /) })
          return
        }
        const to = join('/root', ...names)
        const way = relative('/root', to)
        expect(way.split('/')).not.toContain('..')
        expect(isAbsolute(way)).toBe(false)
        for (const name of names) expect(name).not.toMatch(/^\.{0,2}$|[/\\\0]/)
        // What is let through is what the path says.
        expect(to).toBe(normalize(join('/root', path)).replace(/(.)\/$/, '$1'))
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['package/roles/a.ts', ['package', 'roles', 'a.ts']],
    ['./package//roles/./a.ts', ['package', 'roles', 'a.ts']],
    ['package/', ['package']],
    ['.', []],
    ['', []],
    ['..a/b..', ['..a', 'b..']],
  ])('of %j are %j', (path, names) => {
    expect(namesIn(path, '')).toEqual(names)
  })
})

describe('what is left out', () => {
  it.each([
    ['.env', '.env'],
    ['package/.env', 'package/.env'],
    ['.env.production', '.env.production'],
    ['.git/objects/aa', '.git'],
    ['a/.DS_Store', 'a/.DS_Store'],
    ['roles/._role.ts', 'roles/._role.ts'],
    ['.environment', null],
    ['env', null],
    ['.gitignore', null],
    ['a.env', null],
    ['_role.ts', null],
  ])('of %j is %j', (path, leftOut) => {
    expect(leftOutOf(path.split('/'))).toBe(leftOut)
  })
})

describe('the folder of a version', () => {
  const digest = 'abcdef0123456789'

  it('is one plain name, whatever the version says', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (version) => {
        const name = versionFolder({ version, digest })
        expect(name).toMatch(/^[A-Za-z0-9][A-Za-z0-9._+-]*-abcdef012345$/)
        expect(name.length).toBeLessThan(100)
      }),
    )
  })

  it('is another for other files, and shows what a plain version is', () => {
    expect(versionFolder({ version: '1.2.3-rc.1+b', digest })).toBe('1.2.3-rc.1+b-abcdef012345')
    expect(versionFolder({ version: '1', digest })).not.toBe(versionFolder({ version: '1', digest: 'f'.repeat(16) }))
  })
})

const rootOf = async (fleet: FleetObject) => (await fleetFromObject(fleet, '/nowhere')).root
const agent = (id: string): ChildObject => ({ agent: { id, name: id } })

describe('the supervisor of installed agents', () => {
  it('is the last child of the root, of its own and for good', async () => {
    const root = await rootOf({ children: [agent('walker'), { supervisor: { id: 'inner' }, children: [agent('a')] }] })
    const place = withCatalog(root)
    expect(place).toMatchObject({ supervisor: 'catalog', made: true })
    expect(place.root.children.map(({ id }) => id)).toEqual(['walker', 'inner', 'catalog'])
    expect(place.root.children.at(-1)).toMatchObject({
      strategy: 'one_for_one',
      restart: 'permanent',
      shutdown: 'infinity',
      intensity: null,
      children: [],
    })
    expect(root.children).toHaveLength(2)
  })

  it.each([
    ['an agent', [agent('catalog')]],
    ['an agent further down', [{ supervisor: { id: 'inner' }, children: [agent('catalog')] }]],
    [
      'a supervisor of another strategy',
      [{ supervisor: { id: 'catalog', strategy: 'one_for_all' }, children: [agent('a')] }],
    ],
    ['a dynamic one, which keeps nobody', [{ supervisor: { id: 'catalog', strategy: 'dynamic' } }]],
  ] as [string, ChildObject[]][])('makes way for %s of that name', async (_what, children) => {
    expect(withCatalog(await rootOf({ children }))).toMatchObject({ supervisor: 'catalog-2', made: true })
  })

  it("is the fleet's own where it has one", async () => {
    const fleet: FleetObject = {
      children: [
        {
          supervisor: { id: 'outer' },
          children: [{ supervisor: { id: 'catalog', intensity: 5 }, children: [agent('a')] }],
        },
      ],
    }
    const root = await rootOf(fleet)
    expect(withCatalog(root)).toEqual({ root, supervisor: 'catalog', made: false })
    const top = await rootOf({ supervisor: { id: 'catalog' }, children: [] })
    expect(withCatalog(top)).toEqual({ root: top, supervisor: 'catalog', made: false })
  })

  it('is none below a dynamic root', async () => {
    const root = await rootOf({ supervisor: { id: 'pool', strategy: 'dynamic' } })
    expect(withCatalog(root)).toEqual({ root, supervisor: null, made: false })
  })

  it("is shown once there is something in it, and always where it is the fleet's own", () => {
    const node = (id: string, children: readonly TreeNode[]): TreeNode => ({
      id,
      kind: 'supervisor',
      status: 'Running',
      restarts: 0,
      children,
    })
    const tree = node('root', [node('inner', []), node('catalog', [])])
    expect(withoutEmpty(tree, { supervisor: 'catalog', made: true })).toEqual(node('root', [node('inner', [])]))
    expect(withoutEmpty(tree, { supervisor: 'catalog', made: false })).toEqual(tree)
    const full = node('root', [node('catalog', [node('a', [])])])
    expect(withoutEmpty(full, { supervisor: 'catalog', made: true })).toEqual(full)
    expect(withoutEmpty(node('catalog', []), { supervisor: 'catalog', made: true })).toEqual(node('catalog', []))
  })
})
