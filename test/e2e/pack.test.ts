/**
 * The package as a user has it: packed, installed in an empty project, typed and run. The example is the one of the
 * README, word for word.
 */
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it, vi } from 'vitest'
import { ROOT } from '../source-graph.ts'
import { folder, HOLT, run, start } from './processes.ts'

vi.setConfig({ testTimeout: 180_000 })

beforeAll(() => {
  if (!existsSync(HOLT)) throw new Error('dist/ is missing: run `npm run build` first')
})

/** The files of the README's example, by name: each begins with a line `// name`. */
async function readmeExample(): Promise<Map<string, string>> {
  const readme = await readFile(join(ROOT, 'README.md'), 'utf8')
  const [, section] = readme.split(/^## Embed it$/m)
  const [body] = section!.split(/^## /m)
  const blocks = [...body!.matchAll(/^```(?:ts|js)\n\/\/ ([\w.-]+)[^\n]*\n([\s\S]*?)^```$/gm)]
  return new Map(blocks.map(([, name, code]) => [name!, code!]))
}

async function succeeds(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await run(command, args, { cwd })
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}\n${stdout}\n${stderr}`)
  return stdout
}

/** An empty project with the packed package in it. */
async function installed(): Promise<string> {
  const dir = await folder()
  // The build is not made anew: other tests run from it.
  const packed = await succeeds('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', dir], ROOT)
  const [{ filename }] = JSON.parse(packed) as [{ filename: string }]
  await succeeds('npm', ['init', '-y'], dir)
  await succeeds('npm', ['i', `./${filename}`, '--prefer-offline', '--no-audit', '--no-fund'], dir)
  return dir
}

it('packs, installs, type-checks and runs as the README says', async () => {
  const dir = await installed()
  await holdsOnlyWhatItShould(join(dir, 'node_modules/holt'))

  const example = await readmeExample()
  expect([...example.keys()]).toEqual(['counter.ts', 'main.mjs'])
  const lines = [...example.values()].flatMap((code) => code.trim().split('\n'))
  expect(lines.length).toBeLessThanOrEqual(20)
  for (const [name, code] of example) await writeFile(join(dir, name), code)

  // As `npm init` makes a project, and as one does who writes TypeScript.
  await typeChecks(dir, [...example.keys()])
  await succeeds('npm', ['pkg', 'set', 'type=module'], dir)
  await writeFile(join(dir, 'typed.ts'), TYPED)
  await typeChecks(dir, [...example.keys(), 'typed.ts'])
  expect(await succeeds('node', ['main.mjs'], dir)).toBe("{ fate: 'handled' }\n3\n")
  await hasACommand(dir)
})

async function holdsOnlyWhatItShould(dir: string): Promise<void> {
  const files = await readdir(dir, { recursive: true })
  const strange = files.filter(
    (file) => /(?:\.map|\.test\..*|(?<!\.d)\.ts)$/.test(file) || /^(?:src|test|bench)\b/.test(file),
  )
  expect(strange).toEqual([])
  expect(files).toEqual(expect.arrayContaining(['README.md', 'CHANGELOG.md', 'LICENSE', 'docs/semantics.md']))
  for (const file of files.filter((name) => /\.(?:js|d\.ts)$/.test(name))) {
    const text = await readFile(join(dir, file), 'utf8')
    expect({ file, map: /^\/\/# sourceMappingURL=/m.test(text) }).toEqual({ file, map: false })
  }
}

/** What is written by name and payload is checked against the role, and wrong names are refused. */
const TYPED = `import { createHost, HoltError, type DeathRecord } from 'holt'
import { defineCapability } from 'holt/capability'
import { CommandError, type Context, defineRole } from 'holt/role'
import type counter from './counter.ts'

const host = await createHost({ fleet: '.' })
const ref = host.agent<typeof counter>('counter')
const accepted: boolean = ref.tell('add', { n: 1 })
const total: number = await ref.ask('total')
// @ts-expect-error: there is no such event
ref.tell('ad', { n: 1 })
// @ts-expect-error: the payload is not what the handler takes
ref.tell('add', { n: 'one' })
// @ts-expect-error: there is no such command
await ref.ask('totals')
host.deaths$.subscribe((death: DeathRecord) => console.log(death.cause, accepted, total))
export const capability = defineCapability({ id: 'text', placement: 'pool', methods: { upper: (s: string) => s.toUpperCase() } })
export const role = defineRole({
  name: 'typed',
  events: { async shout(s: string, ctx: Context) { await ctx.capability<typeof capability.methods>('text').upper(s) } },
  commands: { fail: { handle() { throw new CommandError('no', 'Refused') } } },
})
if (host instanceof HoltError) throw host
`

async function typeChecks(dir: string, names: readonly string[]): Promise<void> {
  const compilerOptions = {
    module: 'nodenext',
    moduleResolution: 'nodenext',
    target: 'es2023',
    strict: true,
    skipLibCheck: false,
    noEmit: true,
    allowJs: true,
    checkJs: true,
    allowImportingTsExtensions: true,
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
  }
  await writeFile(join(dir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: names }))
  expect(await succeeds('node', [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.'], dir)).toBe('')
}

/** The package's own command, which hosts a fleet from anywhere. */
async function hasACommand(dir: string): Promise<void> {
  await writeFile(join(dir, 'agent.yml'), 'id: counter\nname: Counter\nroles: [counter.ts]\n')
  await writeFile(join(dir, 'holt.yml'), 'children: [{ agent: . }]\n')
  const holt = await start(join(dir, 'node_modules/.bin/holt'), ['up'], { cwd: dir })
  await holt.says('host is up: 1 agents settled')
  holt.kill('SIGTERM')
  expect((await holt.ended).code).toBe(0)
}
