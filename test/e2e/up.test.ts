/** `holt up` as a process: what it prints, how it ends, what it leaves. Runs the built command. */
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { eventually } from '../../src/testkit/eventually.ts'
import { role, writeFleet } from '../fleet-on-disk.ts'
import { ROOT } from '../source-graph.ts'
import { descendants, folder, HOLT, isRunning, type Running, run, start } from './processes.ts'

beforeAll(() => {
  if (!existsSync(HOLT)) throw new Error('dist/ is missing: run `npm run build` first')
})

const up = (...args: string[]): Promise<Running> => start('node', [HOLT, 'up', ...args])

/** The example with a small library of two folders: its own four documents, one of them bad, and two more. */
async function librarian(): Promise<string> {
  const dir = await folder()
  const fleet = join(dir, 'librarian')
  await cp(join(ROOT, 'examples/librarian'), fleet, { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
  await mkdir(join(fleet, 'more'))
  await writeFile(join(fleet, 'more/one.md'), '# Worker threads\n\nA worker has a thread of its own.\n')
  await writeFile(join(fleet, 'more/two.md'), '# Nothing\n\nNothing in particular.\n')
  await writeFile(join(fleet, 'agents/walker/.env'), 'LIBRARY=documents:more\n')
  return fleet
}

/** Ends it and checks that nothing of it is left. */
async function endsCleanly(holt: Running, signal: NodeJS.Signals): Promise<void> {
  const below = descendants(holt.pid)
  holt.kill(signal)
  expect(await holt.ended).toEqual({ code: 0, signal: null })
  expect(holt.stderr()).toContain(`host is shutting down (${signal})`)
  await eventually(
    () => !below.some(isRunning),
    () => `no child of the host is left: ${below.filter(isRunning).join(', ')}`,
  )
  expect(await readdir(holt.tmp)).toEqual([])
}

/** Processes take their time on a busy machine. */
vi.setConfig({ testTimeout: 120_000 })

describe('the example fleet', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('indexes all but the bad document, and ends on %s', async (signal) => {
    const holt = await up(await librarian())
    await holt.says('ready: ask with')
    await holt.says('restart 1 at once')
    const out = holt.stdout()
    expect(out).toContain('6 documents found: 5 read')
    expect(out).toMatch(/1 failed, in/)
    expect(out).toMatch(/failed {2}\S*otters\.md {2}ERR_ENCODING_INVALID_ENCODED_DATA: /)
    expect(out).toContain('the index holds 5 documents')
    expect(out).toMatch(/find "worker thread"\n.*Worker threads {2}\(\S*one\.md\)/)
    const err = holt.stderr()
    expect(err).toContain('host is up: 4 agents settled')
    expect(err).toMatch(
      /reader +died \(crash\): The encoded data was not valid for encoding utf-8, in flight: 'read' \(\d+\)/,
    )
    expect(err).toMatch(/reader +restart 1 at once, by supervisor 'root'/)
    await endsCleanly(holt, signal)
    expect(holt.stderr()).toContain('host stopped, every agent ended in time')
    for (const agent of ['walker', 'reader', 'librarian', 'clerk'])
      expect(holt.stderr()).toMatch(new RegExp(`${agent} +ended \\(shutdown\\)`))
  })

  it('prints every line as JSON when asked to', async () => {
    const holt = await up(await librarian(), '--json')
    await holt.says('ready: ask with')
    holt.kill('SIGTERM')
    expect(await holt.ended).toEqual({ code: 0, signal: null })
    const lines = holt.stdout().trimEnd().split('\n')
    const entries = lines.map((line) => JSON.parse(line) as { kind?: string; agent?: string; stream?: string })
    expect(entries.some(({ kind }) => kind === 'agent.died')).toBe(true)
    expect(entries.some(({ agent, stream }) => agent === 'clerk' && stream === 'stdout')).toBe(true)
    expect(holt.stderr()).toBe('')
  })
})

describe('a signal', () => {
  /** Prints `held` when it is told to stop, and goes on for ever. */
  const holdsOn = role(`
    events: { boot() { console.log('booted') } },
    stop() { console.log('held'); return new Promise(() => {}) },
  `)
  /** Prints `loading` while it is imported, and never is. */
  const neverLoads = role('', `console.log('loading')\nawait new Promise(() => {})`)

  it.each(['SIGINT', 'SIGTERM'] as const)('%s a second time ends it at once, by that signal', async (signal) => {
    const fleet = await writeFleet({
      agents: { stubborn: { role: holdsOn, manifest: { limits: { stopTimeoutMs: 60_000 } } } },
    })
    const holt = await up(fleet)
    await holt.says('booted')
    holt.kill('SIGTERM')
    await holt.says('held')
    holt.kill(signal)
    expect(await holt.ended).toEqual({ code: null, signal })
    expect(holt.stderr()).not.toContain('host stopped')
    expect(await readdir(holt.tmp)).toEqual([])
  })

  it('a second time ends it also behind a thread inside a native call', async () => {
    const sleeps = role(
      `
      events: { boot() { console.log('sleeping'); execFileSync('sleep', ['5'], { stdio: 'ignore' }) } },
    `,
      `import { execFileSync } from 'node:child_process'`,
    )
    const holt = await up(await writeFleet({ agents: { asleep: { role: sleeps } } }))
    await holt.says('sleeping')
    holt.kill('SIGTERM')
    await holt.says('shutting down')
    holt.kill('SIGTERM')
    expect(await holt.ended).toEqual({ code: null, signal: 'SIGTERM' })
  })

  it('ends an agent that does not stop in time, and says so', async () => {
    const fleet = await writeFleet({
      agents: {
        stubborn: { role: holdsOn, manifest: { limits: { stopTimeoutMs: 50 } } },
        meek: { role: role('') },
      },
    })
    const holt = await up(fleet)
    await holt.says('booted')
    await endsCleanly(holt, 'SIGTERM')
    expect(holt.stderr()).toMatch(/stubborn +died \(shutdown_timeout\)/)
    expect(holt.stderr()).toContain('host stopped; killed past the deadline: stubborn')
  })

  it('during the boot ends the boot', async () => {
    const fleet = await writeFleet({
      agents: { slow: { role: neverLoads, manifest: { limits: { bootTimeoutMs: 60_000 } } }, next: { role: role('') } },
    })
    const holt = await up(fleet)
    await holt.says('loading')
    await endsCleanly(holt, 'SIGTERM')
    expect(holt.stderr()).toMatch(/slow +ended \(shutdown\)/)
    expect(holt.stderr()).not.toContain('host is up')
  })
})

describe('what cannot be hosted', () => {
  it('is a folder that does not exist: exit code 2, and what was looked for', async () => {
    const dir = await folder()
    const { code, stdout, stderr } = await run('node', [HOLT, 'up', 'nowhere'], { cwd: dir })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^holt: \S+nowhere\/holt\.yml: expected a file inside the fleet, found nothing at /)
  })

  it('is a holt.yml with faults: every one is told, with its line', async () => {
    const dir = await folder()
    const text = 'supervisor: { id: root, strategy: one_for_none }\nchildren:\n  - agnt: agents/a\n'
    await writeFile(join(dir, 'holt.yml'), text)
    const { code, stdout, stderr } = await run('node', [HOLT, 'up'], { cwd: dir })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(
      'holt.yml:1:35: supervisor.strategy: expected one of: one_for_one, one_for_all, rest_for_one, dynamic',
    )
    expect(stderr).toContain('holt.yml:3:5: children[0].agnt: ')
    expect(stderr).toContain('did you mean agent?')
  })

  it('is one bad agent: the others start', async () => {
    const fleet = await writeFleet({
      agents: {
        bad: { role: role(''), manifest: 'id: bad\nname: Bad\nversoin: 1.0.0\n' },
        good: { role: role(`events: { boot() { console.log('here I am') } }`) },
      },
    })
    const holt = await up(fleet)
    await holt.says('host is up: 2 agents settled')
    await holt.says(/good +here I am/)
    expect(holt.stderr()).toMatch(/bad +died \(boot_failed at step 'manifest'\): .*agent\.yml:3:1: versoin: /)
    await endsCleanly(holt, 'SIGTERM')
  })
})

describe('the command', () => {
  const USAGE = 'Usage: holt up [DIR]'

  it('says how it is used when asked, and when nothing is asked', async () => {
    for (const args of [[], ['help'], ['--help']]) {
      const { code, stdout, stderr } = await run('node', [HOLT, ...args])
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
      expect(stdout).toContain(USAGE)
    }
  })

  it.each([
    [['nonsense'], "there is no command 'nonsense'"],
    [['up', '--nonsense'], "Unknown option '--nonsense'"],
    [['up', 'one', 'two'], 'expected one folder at most, found 2: one, two'],
    [['up', '--log-level', 'loud'], "--log-level: expected one of debug, info, warn, error, silent, found 'loud'"],
  ])('refuses %j with exit code 2', async (args, text) => {
    const { code, stdout, stderr } = await run('node', [HOLT, ...args])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(`holt: ${text}`)
  })
})
