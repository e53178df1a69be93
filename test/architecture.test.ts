/** The rules of the house: rooms and floors, held against every file of `src/`. */
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { build } from 'esbuild'
import { beforeAll, describe, expect, it } from 'vitest'
import { ERRORS } from '../src/model/error.ts'
import { packageOf, ROOT, readSources, type SourceFile, sourceFile, targetOf } from './source-graph.ts'

/** Which room may import which. `types`: `import type` only. */
interface Arrows {
  readonly values: readonly string[]
  readonly types?: readonly string[]
}

const FLOORS_0_TO_3_FOR_HOST = [
  ...['model', 'platform', 'manifest', 'store', 'streams', 'projections'],
  ...['capabilities', 'schedules', 'actors', 'supervisor'],
]

const ROOMS: Readonly<Record<string, Arrows>> = {
  model: { values: [] },
  platform: { values: [] },
  dashboard: { values: [] },
  streams: { values: ['model'] },
  projections: { values: ['model'] },
  manifest: { values: ['model', 'platform'] },
  store: { values: ['model', 'platform'] },
  capabilities: { values: ['model', 'platform', 'store'] },
  schedules: { values: ['model', 'platform', 'store'] },
  actors: { values: ['model', 'platform', 'streams'] },
  thread: { values: ['model', 'platform'], types: ['capabilities'] },
  supervisor: { values: ['model', 'platform', 'actors'] },
  host: { values: FLOORS_0_TO_3_FOR_HOST },
  transports: { values: ['model', 'platform', 'streams', 'host'] },
  testkit: { values: ['model', 'platform', 'actors', 'supervisor', 'host'] },
  cli: { values: ['model', 'platform', 'manifest', 'projections', 'host', 'transports'] },
}

/** The one file of the root, which re-exports from any room. */
const INDEX = 'index.ts'

const roomOf = (path: string): string => path.split('/')[0]!

/** Every arrow between rooms that the table does not have. */
function badArrows(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const room = roomOf(file.path)
    if (file.path === INDEX) return []
    const arrows = ROOMS[room]
    if (arrows === undefined) return [`${file.path}: there is no room '${room}'`]
    return file.imports.flatMap((one) => {
      const target = targetOf(file.path, one)
      if (target === null || roomOf(target) === room) return []
      const allowed = arrows.values.includes(roomOf(target)) || (one.typeOnly && arrows.types?.includes(roomOf(target)))
      return allowed ? [] : [`${file.path} → ${target}${one.typeOnly ? ' (types)' : ''}`]
    })
  })
}

/** Rings of files that import each other at run time, each as the path round it. */
function cycles(files: readonly SourceFile[]): string[] {
  const next = new Map(
    files.map((file) => [
      file.path,
      file.imports.filter(({ typeOnly }) => !typeOnly).flatMap((one) => targetOf(file.path, one) ?? []),
    ]),
  )
  const done = new Set<string>()
  const found: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) found.push([...trail.slice(trail.indexOf(path)), path].join(' → '))
    if (done.has(path) || trail.includes(path)) return
    for (const target of next.get(path) ?? []) visit(target, [...trail, path])
    done.add(path)
  }
  for (const path of next.keys()) visit(path, [])
  return found
}

/** Everything a file needs at run time: files of ours, and packages by name. */
function closure(files: readonly SourceFile[], from: string): { files: Set<string>; packages: Set<string> } {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const reached = new Set<string>()
  const packages = new Set<string>()
  const visit = (path: string): void => {
    if (reached.has(path)) return
    reached.add(path)
    for (const one of byPath.get(path)?.imports ?? []) {
      if (one.typeOnly) continue
      const name = packageOf(one)
      if (name !== null) packages.add(name)
      const target = targetOf(path, one)
      if (target !== null) visit(target)
    }
  }
  visit(from)
  return { files: reached, packages }
}

const filesWhere = (files: readonly SourceFile[], which: (file: SourceFile) => boolean): string[] =>
  files.filter(which).map(({ path }) => path)

const importers = (files: readonly SourceFile[], name: string, values = false): string[] =>
  filesWhere(files, ({ imports }) => imports.some((one) => packageOf(one) === name && !(values && one.typeOnly)))

/**
 * Where time, turns and chance may be taken from the platform, and why. Everything else is handed a clock, a schedule or
 * a source of randomness.
 */
const OF_THE_PLATFORM: Readonly<Record<string, { readonly uses: readonly string[]; readonly because: string }>> = {
  'streams/bus.ts': {
    uses: ['setImmediate'],
    because: 'a later turn is what a bus hands values on; the schedule is an option, and this is its default',
  },
  'testkit/eventually.ts': { uses: ['performance.now', 'setTimeout'], because: 'waits for what real threads do' },
  'testkit/fake-clock.ts': { uses: ['setImmediate'], because: 'a turn of the real loop, for tests' },
  'testkit/test-host.ts': { uses: ['performance.now', 'setImmediate'], because: 'lets what needs no time happen' },
  'thread/context.ts': {
    uses: ['setTimeout'],
    because: 'ctx.after: a timer of the thread, which dies with it; a thread is handed no clock',
  },
  'thread/heartbeat.ts': { uses: ['setInterval'], because: 'the beat shows that this very loop turns' },
  'thread/loop.ts': { uses: ['setImmediate'], because: 'gives the other things of the thread a turn' },
  'thread/main.ts': { uses: ['setImmediate'], because: 'by then a thread that has a first message has had it' },
  'thread/outbox.ts': { uses: ['setImmediate'], because: 'looks again for credit after each turn' },
}

const PLATFORM_CALL =
  /(?<![.\w$])(?:Date\.now|Math\.random|performance\.now|setTimeout|setInterval|setImmediate)\b|\bnew Date\(\)/g

let files: readonly SourceFile[]
beforeAll(async () => {
  files = await readSources()
})

describe('the checker', () => {
  const of = (path: string, text: string): SourceFile => sourceFile(path, text)

  it('sees a made-up bad arrow, in each way of writing one', () => {
    const from = 'model/made-up.ts'
    const arrow = [`${from} → store/memory.ts`]
    expect(badArrows([of(from, "import { a } from '../store/memory.ts'\n")])).toEqual(arrow)
    expect(badArrows([of(from, "import * as a from '../store/memory.ts'\n")])).toEqual(arrow)
    expect(badArrows([of(from, "import '../store/memory.ts'\n")])).toEqual(arrow)
    expect(badArrows([of(from, "export * from '../store/memory.ts'\n")])).toEqual(arrow)
    expect(badArrows([of(from, "export {\n  a,\n  b,\n} from '../store/memory.ts'\n")])).toEqual(arrow)
    expect(badArrows([of(from, "const a = await import('../store/memory.ts')\n")])).toEqual(arrow)
    expect(badArrows([of(from, "import type { A } from '../store/memory.ts'\n")])).toEqual([`${arrow[0]} (types)`])
  })

  it('lets types through where only types may pass', () => {
    const from = 'thread/made-up.ts'
    expect(badArrows([of(from, "import type { A } from '../capabilities/contract.ts'\n")])).toEqual([])
    expect(badArrows([of(from, "import { type A } from '../capabilities/contract.ts'\n")])).toHaveLength(1)
  })

  it('sees a room that is not in the table', () => {
    expect(badArrows([of('attic/box.ts', '')])).toEqual(["attic/box.ts: there is no room 'attic'"])
  })

  it('takes nothing from a comment, a text or a template', () => {
    const text = [
      "// import { a } from '../store/a.ts'",
      "/*\nimport { b } from '../store/b.ts'\n*/",
      "const url = 'http://x' // setTimeout",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a template
      'const text = `setTimeout ${`${1} // Date.now`} /* `',
      'const pattern = /[/]Date.now"/',
      'const left = 1',
    ].join('\n')
    const file = of('model/made-up.ts', text)
    expect(file.imports).toEqual([])
    expect(file.code.match(PLATFORM_CALL)).toBeNull()
    expect(file.code).toContain('const left = 1')
  })

  it('sees a ring of files, and none where only types go round', () => {
    const value = [of('model/a.ts', "import './b.ts'\n"), of('model/b.ts', "import './a.ts'\n")]
    expect(cycles(value)).toEqual(['model/a.ts → model/b.ts → model/a.ts'])
    const type = [of('model/a.ts', "import './b.ts'\n"), of('model/b.ts', "import type { A } from './a.ts'\n")]
    expect(cycles(type)).toEqual([])
  })

  it('sees the same arrows as the bundler', async () => {
    const { metafile } = await build({
      entryPoints: files.map(({ path }) => `${ROOT}src/${path}`),
      absWorkingDir: ROOT,
      outdir: `${ROOT}unused`,
      bundle: true,
      write: false,
      metafile: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
      logLevel: 'silent',
    })
    const arrow = (from: string, to: string): string => `${from} → ${to}`
    const seen = Object.entries(metafile.inputs).flatMap(([from, { imports }]) =>
      imports.filter(({ external }) => external !== true).map(({ path }) => arrow(from, path)),
    )
    const own = files.flatMap((file) =>
      file.imports
        .filter(({ typeOnly }) => !typeOnly)
        .flatMap((one) => targetOf(file.path, one) ?? [])
        .map((target) => arrow(`src/${file.path}`, `src/${target}`)),
    )
    expect([...new Set(own)].sort()).toEqual([...new Set(seen)].sort())
  })
})

describe('rooms', () => {
  it('import down the floors only', () => {
    expect(badArrows(files)).toEqual([])
  })

  it('have no files that import each other', () => {
    // Of types alone a ring is allowed within a room: an agent and what it is handed name each other, and nothing of it
    // is left at run time.
    expect(cycles(files)).toEqual([])
  })

  it('leave the root to index.ts, which nothing imports and which holds no code', () => {
    expect(filesWhere(files, ({ path }) => !path.includes('/'))).toEqual([INDEX])
    const intoIndex = filesWhere(files, (file) => file.imports.some((one) => targetOf(file.path, one) === INDEX))
    expect(intoIndex).toEqual([])
    const index = files.find(({ path }) => path === INDEX)!
    const oneLineEach = index.bare.replaceAll(/\{[^{}]*\}/g, (names) => names.replaceAll('\n', ' '))
    const statements = oneLineEach.split('\n').filter((line) => line.trim() !== '')
    expect(statements.filter((line) => !/^export (?:type )?\{.*\} from '\.\/.+'$/.test(line))).toEqual([])
  })

  it('name no file after nothing in particular', () => {
    const vague = /(?:^|\/)(?:utils?|common|helpers?|types|misc|shared|constants)\.ts$/
    expect(filesWhere(files, ({ path }) => vague.test(path))).toEqual([])
  })
})

describe('one address per technology', () => {
  it('makes threads in one file and speaks to the parent in one', () => {
    expect(filesWhere(files, ({ code }) => /\bnew\s+Worker\b/.test(code))).toEqual(['actors/spawn.ts'])
    expect(filesWhere(files, ({ code }) => /\bparentPort\b/.test(code))).toEqual(['thread/main.ts'])
  })

  it('knows Comlink in two files', () => {
    expect(importers(files, 'comlink')).toEqual(['capabilities/expose.ts', 'thread/capabilities.ts'])
  })

  it('uses RxJS in streams; elsewhere only its types', () => {
    const users = importers(files, 'rxjs', true)
    expect(users.filter((path) => roomOf(path) !== 'streams')).toEqual([])
    expect(users).not.toEqual([])
  })

  it('has SQL in the store alone', () => {
    const sql =
      /\b(?:SELECT\s[^'"`]*\sFROM|INSERT\s+(?:OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE|PRAGMA\s)/
    expect(filesWhere(files, ({ path, bare }) => roomOf(path) !== 'store' && sql.test(bare))).toEqual([])
    const drivers = ['libsql', 'better-sqlite3', 'sqlite3'].flatMap((name) => importers(files, name))
    expect(drivers.filter((path) => roomOf(path) !== 'store')).toEqual([])
    expect(filesWhere(files, ({ path, bare }) => roomOf(path) !== 'store' && bare.includes('node:sqlite'))).toEqual([])
  })

  it('has each of the other libraries where it belongs', () => {
    const rooms: Readonly<Record<string, string>> = {
      pino: 'platform',
      'prom-client': 'platform',
      yaml: 'manifest',
      esbuild: 'manifest',
      piscina: 'capabilities',
    }
    for (const [name, room] of Object.entries(rooms)) {
      const elsewhere = importers(files, name).filter((path) => roomOf(path) !== room)
      expect({ name, elsewhere }).toEqual({ name, elsewhere: [] })
    }
  })

  it('checks with zod at the two doors: what is in files, and what callers send', () => {
    expect([...new Set(importers(files, 'zod').map(roomOf))].sort()).toEqual(['manifest', 'transports'])
  })

  it('keeps a thread small: of our packages it has Comlink alone', () => {
    const { packages, files: loaded } = closure(files, 'thread/main.ts')
    expect([...packages]).toEqual(['comlink'])
    expect([...loaded].map(roomOf).filter((room) => !['thread', 'model', 'platform'].includes(room))).toEqual([])
  })

  it('takes time and chance from the platform room, with these exceptions', () => {
    const found = Object.fromEntries(
      files
        .filter(({ path }) => roomOf(path) !== 'platform')
        .map(({ path, code }) => [path, [...new Set(code.match(PLATFORM_CALL) ?? [])].sort()] as const)
        .filter(([, calls]) => calls.length > 0),
    )
    const listed = Object.fromEntries(Object.entries(OF_THE_PLATFORM).map(([path, { uses }]) => [path, uses]))
    expect(found).toEqual(listed)
  })
})

describe('files', () => {
  it('have no default export, no enum, no any', () => {
    expect(filesWhere(files, ({ code }) => /^export default\b|\bas default\b/m.test(code))).toEqual([])
    expect(filesWhere(files, ({ code }) => /^\s*(?:export )?(?:declare )?(?:const )?enum\s/m.test(code))).toEqual([])
    expect(filesWhere(files, ({ code }) => /(?<![.\w$])any(?![\w$])/.test(code))).toEqual([])
  })

  it('begin by saying what they are', () => {
    expect(filesWhere(files, ({ text }) => !/^(?:#!.*\n)?\/\*\*/.test(text))).toEqual([])
  })

  it('are at most 400 lines long, and half of them at most 120', () => {
    const lines = files.map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
    expect(lines.filter((file) => file.lines > 400)).toEqual([])
    const sorted = lines.map((file) => file.lines).sort((a, b) => a - b)
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThanOrEqual(120)
  })
})

describe('pages', () => {
  /** Files of ours that a text names in `code`, with what they are relative to. */
  const named = (text: string): string[] =>
    [...text.matchAll(/`((?:[\w.-]+\/)+[\w.-]+\.(?:ts|md|yml))`/g)].map(([, path]) => path!)

  it('name only files that exist in "Where do I change X"', () => {
    const readme = readFileSync(`${ROOT}README.md`, 'utf8')
    const [, section] = readme.split(/^## Where do I change X$/m)
    const [table] = section!.split(/^## /m)
    const paths = named(table!)
    expect(paths.length).toBeGreaterThan(8)
    const missing = paths.filter((path) => !existsSync(`${ROOT}src/${path}`) && !existsSync(`${ROOT}${path}`))
    expect(missing).toEqual([])
  })

  it('have the table of errors as the code has it', () => {
    const text = readFileSync(`${ROOT}docs/semantics.md`, 'utf8')
    const documented = [...text.matchAll(/^\| `(\w+)` \| (\d+) \| (\d+) \| (yes|no) \| (.+) \|$/gm)].map(
      ([, code, http, exit, retryable, meaning]) => [
        code,
        { http: Number(http), exit: Number(exit), retryable: retryable === 'yes', text: meaning },
      ],
    )
    expect(Object.fromEntries(documented)).toEqual(ERRORS)
  })

  it('link only to what exists', () => {
    const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'docs/semantics.md']
    const broken = pages.flatMap((page) => {
      const base = new URL(page, `file://${ROOT}`)
      const links = [...readFileSync(base, 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, link]) => link!)
      return links
        .filter((link) => !existsSync(new URL(link, base)))
        .map((link) => `${relative(ROOT, base.pathname)}: ${link}`)
    })
    expect(broken).toEqual([])
  })
})
