import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import * as esbuild from 'esbuild'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Compiled, compileModules, stopCompiler } from '../../src/manifest/compile.ts'
import { importModule } from '../../src/thread/import-module.ts'
import { folder, ROLE, refusal, removeFolders } from './folders.ts'

// Counts the builds; everything else is esbuild's own.
vi.mock('esbuild', async (original) => {
  const real = await original<typeof esbuild>()
  return { ...real, build: vi.fn(real.build) }
})
const builds = vi.mocked(esbuild.build)

beforeEach(() => {
  builds.mockClear()
})

afterAll(async () => {
  await stopCompiler()
  removeFolders()
})

const src = (path: string): string => fileURLToPath(new URL(`../../src/${path}`, import.meta.url))
const resolveHolt = { 'holt/role': src('thread/role.ts'), 'holt/capability': src('capabilities/contract.ts') }

const compile = (files: readonly string[], cacheDir: string): Promise<Compiled[]> =>
  compileModules(files, { cacheDir, resolveHolt })

/** The output of a script as a module, since `-e` of a plain script would lend it a `require`. */
const run = (script: string, ...flags: string[]): string =>
  execFileSync(process.execPath, [...flags, '--input-type=module', '-e', script], { cwd: '/', encoding: 'utf8' })

/** The default export of a bundle, as plain Node sees it: no loader and no resolver of the tests' own. */
function defaultOf(url: string): unknown {
  return JSON.parse(run(`import value from ${JSON.stringify(url)}\nprocess.stdout.write(JSON.stringify(value))`))
}

async function bundled(files: Readonly<Record<string, string>>, ...entries: string[]): Promise<unknown[]> {
  const dir = folder(files)
  const compiled = await compile(
    entries.map((entry) => join(dir, entry)),
    folder(),
  )
  return compiled.map(({ url }) => defaultOf(url))
}

describe('a bundle', () => {
  it('runs in plain Node, TypeScript and all', async () => {
    const files = { 'a.ts': `import type { X } from './none.ts'\nconst n: number = 1 as X\nexport default { n }\n` }
    expect(await bundled(files, 'a.ts')).toEqual([{ n: 1 }])
  })

  it('has holt/role and holt/capability, from any folder', async () => {
    const role = `import { defineRole, CommandError } from 'holt/role'\nexport default defineRole({ name: new CommandError('r').name })\n`
    const capability = `import { defineCapability } from 'holt/capability'\nexport default defineCapability({ id: 'c', placement: 'pool', methods: {} })\n`
    expect(await bundled({ 'r.ts': role, 'c.ts': capability }, 'r.ts', 'c.ts')).toEqual([
      { name: 'CommandError', events: {}, commands: {} },
      { id: 'c', placement: 'pool', methods: {} },
    ])
  })

  it('has the packages of its fleet in it', async () => {
    const files = {
      'roles/a.ts': `import { word } from 'esm-package'\nimport cjs from 'cjs-package'\nexport default { word, cjs }\n`,
      'node_modules/esm-package/package.json': '{"name":"esm-package","type":"module","exports":"./i.js"}',
      'node_modules/esm-package/i.js': 'export const word = "esm"\n',
      'node_modules/cjs-package/package.json': '{"name":"cjs-package","main":"i.js"}',
      'node_modules/cjs-package/i.js':
        "'use strict'\nconst fs = require('fs')\nconst path = require('node:path')\nmodule.exports = fs.readFileSync(path.join(__dirname, 'd.txt'), 'utf8') + path.basename(__filename)\n",
      'node_modules/cjs-package/d.txt': 'data ',
    }
    expect(await bundled(files, 'roles/a.ts')).toEqual([{ word: 'esm', cjs: 'data i.js' }])
  })

  it('knows the place of each source', async () => {
    const dir = folder({
      'roles/a.ts': `import { readFileSync } from 'node:fs'
import { below } from '../lib/b.ts'
const text = 'import.meta.url'
export default [import.meta.url, import.meta.dirname, import.meta.filename, readFileSync(new URL('./d.txt', import.meta.url), 'utf8'), below, text]
`,
      'roles/d.txt': 'data',
      'lib/b.ts': `const __dirname = 'own'\nexport const below = [import.meta.url, __dirname]\n`,
    })
    const [compiled] = await compile([join(dir, 'roles/a.ts')], folder())
    expect(defaultOf(compiled!.url)).toEqual([
      pathToFileURL(join(dir, 'roles/a.ts')).href,
      join(dir, 'roles'),
      join(dir, 'roles/a.ts'),
      'data',
      [pathToFileURL(join(dir, 'lib/b.ts')).href, 'own'],
      'import.meta.url',
    ])
  })

  it('lets a source make its own require, beside CommonJS that needs one', async () => {
    const own = `import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)\n`
    const files = {
      'a.ts': `${own}import c from './c.cjs'\nexport default [require('node:path').sep, require('./data.json').x, c]\n`,
      'b.ts': `${own}export default require('node:os').EOL\n`,
      'c.cjs': `module.exports = typeof require('fs').statSync\n`,
      'data.json': '{"x":1}',
    }
    expect(await bundled(files, 'a.ts', 'b.ts')).toEqual([['/', 1, 'function'], '\n'])
    expect(await bundled(files, 'a.ts')).toEqual([['/', 1, 'function']])
    expect(await bundled(files, 'b.ts')).toEqual(['\n'])
  })

  it('carries a require only where something asks for one', async () => {
    const files = { 'a.ts': 'export default 1\n', 'b.cjs': `module.exports = require('node:path').sep\n` }
    const dir = folder(files)
    const [plain, asking] = await Promise.all(['a.ts', 'b.cjs'].map((file) => compile([join(dir, file)], folder())))
    const textOf = ([compiled]: Compiled[]): string => readFileSync(fileURLToPath(compiled!.url), 'utf8')
    expect([textOf(plain!).includes('createRequire'), textOf(asking!).includes('createRequire')]).toEqual([false, true])
    expect([defaultOf(plain![0]!.url), defaultOf(asking![0]!.url)]).toEqual([1, '/'])
  })

  describe('of one file, for a thread', () => {
    const forThread = async (files: Readonly<Record<string, string>>, ...entries: string[]): Promise<Compiled> => {
      const dir = folder(files)
      const paths = entries.map((entry) => join(dir, entry))
      return (await compileModules(paths, { cacheDir: folder(), resolveHolt, commonJs: true }))[0]!
    }
    const loaded = async ({ url }: Compiled): Promise<unknown> => (await importModule({ url, file: 'a role' })).default

    it.each<[string, string, unknown]>([
      ['TypeScript', 'export default { n: 1 as number }', { n: 1 }],
      [
        'names that CommonJS has of its own',
        'const module = 1, exports = 2, require = 3\nexport default [module, exports, require]',
        [1, 2, 3],
      ],
      [
        'strict code without a this',
        'export default [this === undefined, (function () { return this === undefined })()]',
        [true, true],
      ],
      ['modules of the platform', `import { sep } from 'node:path'\nexport default sep`, '/'],
      ['a package in CommonJS', `import c from './c.cjs'\nexport default c`, 'function'],
      ['what is imported later', `export default typeof (await_ => import('node:os'))`, 'function'],
      ['its own place', 'export default import.meta.url.endsWith("/a.ts") && __filename.endsWith("/a.ts")', true],
    ])('is CommonJS with %s', async (_, text, expected) => {
      const c = `module.exports = typeof require('fs').statSync\n`
      const compiled = await forThread({ 'a.ts': text, 'c.cjs': c }, 'a.ts')
      expect(compiled.url).toMatch(/\.cjs$/)
      expect(await loaded(compiled)).toEqual(expected)
    })

    it('is CommonJS where the source is, and its default is the whole', async () => {
      const compiled = await forThread({ 'a.cjs': 'module.exports = { n: 1 }' }, 'a.cjs')
      expect([compiled.url.slice(-4), await loaded(compiled)]).toEqual(['.cjs', { n: 1 }])
    })

    it.each<[string, string]>([
      ['awaits at its top level', 'export default await Promise.resolve(7)'],
      ['asks for more than its place', 'export default import.meta.resolve === undefined ? 0 : 7'],
    ])('is an ES module where it %s', async (_, text) => {
      const compiled = await forThread({ 'a.ts': text }, 'a.ts')
      expect([compiled.url.slice(-4), defaultOf(compiled.url)]).toEqual(['.mjs', 7])
    })

    it('is an ES module where there are two, which share what they share', async () => {
      const compiled = await forThread({ 'a.ts': 'export default 1', 'b.ts': 'export default 2' }, 'a.ts', 'b.ts')
      expect(compiled.url).toMatch(/\.mjs$/)
    })

    it('tells of an error as ever', async () => {
      await expect(forThread({ 'a.ts': 'export default (' }, 'a.ts')).rejects.toMatchObject({ code: 'BootFailed' })
    })
  })

  it('leaves native addons where they are', async () => {
    const dir = folder({
      'a.cjs': `module.exports = function load() { return require('./build/x.node') }\n`,
      'a.ts': `import load from './a.cjs'\nlet text = ''\ntry { load() } catch (error) { text = String(error.message) }\nexport default text\n`,
      'build/x.node': 'not an addon',
    })
    const [compiled] = await compile([join(dir, 'a.ts')], folder())
    expect(defaultOf(compiled!.url)).toContain(join(dir, 'build/x.node'))
  })

  it('shares among the files of one agent what they share', async () => {
    const dir = folder({
      'shared.ts': 'globalThis.loads = (globalThis.loads ?? 0) + 1\nexport const list = []\n',
      'a.ts': `import { list } from './shared.ts'\nlist.push('a')\nexport default list\n`,
      'b.ts': `import { list } from './shared.ts'\nlist.push('b')\nexport default list\n`,
    })
    const [a, b] = await compile([join(dir, 'a.ts'), join(dir, 'b.ts')], folder())
    const script = `Promise.all([import('${a!.url}'), import('${b!.url}')]).then(([a, b]) => process.stdout.write(JSON.stringify([a.default === b.default, globalThis.loads])))`
    expect(run(script)).toBe('[true,1]')
  })

  it('keeps files of one name in different folders apart, in order, also twice', async () => {
    const dir = folder({ 'x/r.ts': 'export default "x"', 'y/r.ts': 'export default "y"' })
    const [x, y] = [join(dir, 'x/r.ts'), join(dir, 'y/r.ts')]
    const compiled = await compile([y, x, y], folder())
    expect(compiled.map(({ file }) => file)).toEqual([y, x, y])
    expect(compiled.map(({ url }) => defaultOf(url))).toEqual(['y', 'x', 'y'])
  })

  it('is ESM under any package.json', async () => {
    const dir = folder({ 'a.ts': 'export default await Promise.resolve(1)' })
    const cacheDir = folder({ 'package.json': '{"type":"commonjs"}' })
    const [compiled] = await compile([join(dir, 'a.ts')], cacheDir)
    expect(defaultOf(compiled!.url)).toBe(1)
  })

  it('has a stack that leads to the source', async () => {
    const dir = folder({ 'roles/a.ts': `\n\n\nexport default new Error(import.meta.url.slice(0, 4)).stack\n` })
    const [compiled] = await compile([join(dir, 'roles/a.ts')], folder())
    const script = `import('${compiled!.url}').then((m) => process.stdout.write(m.default))`
    const stack = run(script, '--enable-source-maps')
    expect(stack).toContain(`${join(dir, 'roles/a.ts')}:4:16`)
  })

  it('of nothing is nothing', async () => {
    expect(await compile([], folder())).toEqual([])
    expect(builds).not.toHaveBeenCalled()
  })
})

describe('the cache', () => {
  it('300 agents that share one role compile it once', async () => {
    const file = join(folder({ 'a.ts': ROLE }), 'a.ts')
    const cacheDir = folder()
    const all = await Promise.all(Array.from({ length: 300 }, () => compile([file], cacheDir)))
    const later = await compile([file], cacheDir)
    expect(new Set([...all, later].map(([one]) => one!.url)).size).toBe(1)
    expect(builds).toHaveBeenCalledTimes(1)
    expect(readdirSync(cacheDir)).toHaveLength(1)
  })

  it.each(['a.ts', 'b.ts', 'c.json'])('a change of %s gives a new bundle', async (changed) => {
    const dir = folder({
      'a.ts': `import { b } from './b.ts'\nimport c from './c.json'\nexport default ['a1', b, c]\n`,
      'b.ts': `export const b = 'b1'\n`,
      'c.json': '"c1"',
    })
    const cacheDir = folder()
    const [first] = await compile([join(dir, 'a.ts')], cacheDir)
    expect(defaultOf(first!.url)).toEqual(['a1', 'b1', 'c1'])
    const file = join(dir, changed)
    writeFileSync(file, readFileSync(file, 'utf8').replace(/([abc])1/, '$12'))
    const [second] = await compile([join(dir, 'a.ts')], cacheDir)
    expect(defaultOf(second!.url)).toEqual(['a1', 'b1', 'c1'].map((v) => (v[0] === changed[0] ? `${v[0]}2` : v)))
    // The first may still be in use.
    expect(defaultOf(first!.url)).toEqual(['a1', 'b1', 'c1'])
    await compile([join(dir, 'a.ts')], cacheDir)
    expect(builds).toHaveBeenCalledTimes(2)
  })

  it('a bundle that was deleted is built again', async () => {
    const file = join(folder({ 'a.ts': 'export default 1' }), 'a.ts')
    const cacheDir = folder()
    const [first] = await compile([file], cacheDir)
    rmSync(dirname(fileURLToPath(first!.url)), { recursive: true })
    const [second] = await compile([file], cacheDir)
    expect(second).toEqual(first)
    expect(defaultOf(second!.url)).toBe(1)
  })

  it('the same content has the same place in the next process', async () => {
    const file = join(folder({ 'a.ts': 'export default 1' }), 'a.ts')
    const cacheDir = folder()
    const first = await compile([file], cacheDir)
    await stopCompiler()
    expect(await compile([file], cacheDir)).toEqual(first)
    expect(readdirSync(cacheDir)).toHaveLength(1)
  })

  it('a failed build is tried again', async () => {
    const dir = folder({ 'a.ts': 'export default {' })
    const file = join(dir, 'a.ts')
    const cacheDir = folder()
    await refusal(() => compile([file], cacheDir))
    writeFileSync(file, 'export default 2')
    const [compiled] = await compile([file], cacheDir)
    expect(defaultOf(compiled!.url)).toBe(2)
  })
})

describe('a build that fails', () => {
  it.each([
    ['a syntax error', 'const a = 1\nexport default {\n', 3, 1, 'Expected identifier but found end of file'],
    ['a package that is not there', `import x from 'no-such-package'\nexport default x\n`, 1, 15, 'Could not resolve'],
    ['a file that is not there', `\nimport x from './none.ts'\nexport default x\n`, 2, 15, 'Could not resolve'],
    ['an addon that is not there', `import x from './none.node'\nexport default x\n`, 1, 15, 'Could not resolve'],
  ])('%s is told by file, line and column', async (_, source, line, column, text) => {
    const file = join(folder({ 'roles/a.ts': source }), 'roles/a.ts')
    const error = await refusal(() => compile([file], folder()))
    expect(error.code).toBe('BootFailed')
    expect(error.message).toContain(`${file}:${line}:${column}: ${text}`)
    expect(error.details).toMatchObject({ step: 'compile', errors: [{ file, line, column }] })
  })

  it('a missing entry is named', async () => {
    const file = join(folder(), 'none.ts')
    expect((await refusal(() => compile([file], folder()))).message).toContain(file)
  })

  it('a cache that cannot be written is named', async () => {
    const dir = folder({ 'a.ts': ROLE, cache: 'a file' })
    const error = await refusal(() => compile([join(dir, 'a.ts')], join(dir, 'cache')))
    expect(error).toMatchObject({ code: 'BootFailed', details: { step: 'compile', cacheDir: join(dir, 'cache') } })
    expect(error.message).toContain(join(dir, 'cache'))
  })

  it('leaves nothing half written', async () => {
    const cacheDir = folder()
    await refusal(() => compile([join(folder({ 'a.ts': '{' }), 'a.ts')], cacheDir))
    expect(readdirSync(cacheDir)).toEqual([])
  })
})

it('a source behind a link is one source', async () => {
  const dir = folder({ 'real/a.ts': 'export default import.meta.url', 'real/d.txt': '' })
  symlinkSync(join(dir, 'real'), join(dir, 'link'))
  const [compiled] = await compile([join(dir, 'link/a.ts')], folder())
  expect(existsSync(new URL('./d.txt', String(defaultOf(compiled!.url))))).toBe(true)
})
