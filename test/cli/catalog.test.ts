/** `holt catalog`: from words to calls, and what is said of the answers. */
import { describe, expect, it } from 'vitest'
import { catalogLines, installLines, uninstallLines } from '../../src/cli/format/catalog.ts'
import type { CatalogItem, InstallAnswer, UninstallAnswer } from '../../src/host/catalog-answers.ts'
import { HoltError } from '../../src/model/error.ts'
import { NOW, PLAIN } from './agents.ts'
import { holt } from './world.ts'

const INSTALLED: InstallAnswer = {
  name: 'greeter',
  version: '1.2.0',
  digest: 'ab'.repeat(32),
  dir: '/state/catalog/greeter/1.2.0-abababababab',
  change: 'installed',
  replaced: null,
  runsOn: null,
  files: 4,
  bytes: 1200,
  leftOut: [],
  starts: true,
  notStarted: null,
  dryRun: false,
}
const REMOVED: UninstallAnswer = {
  name: 'greeter',
  version: '1.2.0',
  agent: true,
  removed: { files: 4, bytes: 1200, messages: 1, memoryKeys: 0, sessions: 2 },
  dryRun: false,
}
const ITEM: CatalogItem = {
  name: 'greeter',
  version: '1.2.0',
  source: '/home/ann/greeter-1.2.0.tgz',
  installedAt: NOW,
  digest: 'ab'.repeat(32),
  dir: INSTALLED.dir,
  status: 'Running',
  runningVersion: '1.1.0',
  fault: null,
}
const ANSWERS = { catalog: [ITEM], install: INSTALLED, uninstall: REMOVED }

describe('the words', () => {
  it.each([
    ['catalog', 'catalog', [], {}],
    ['catalog list', 'catalog', [], {}],
    ['catalog install greeter.tgz', 'install', ['/fleet/greeter.tgz'], {}],
    ['catalog install ../greeter', 'install', ['/greeter'], {}],
    ['catalog install /tmp/greeter --dry-run', 'install', ['/tmp/greeter'], { dryRun: true }],
    ['catalog uninstall greeter', 'uninstall', ['greeter'], {}],
    ['catalog uninstall greeter --dry-run', 'uninstall', ['greeter'], { dryRun: true }],
    ['catalog uninstall list', 'uninstall', ['list'], {}],
  ])('%s are the call they say', async (words, name, args, opts) => {
    const { exit, err, called } = await holt(words.split(' '), { answers: ANSWERS })
    expect({ exit, err, called }).toEqual({ exit: 0, err: '', called: [{ name, args, opts }] })
  })

  it.each([
    ['catalog install', 'expected a folder or a tarball after install'],
    ['catalog uninstall', 'expected the name of an agent after uninstall'],
    ['catalog remove greeter', "expected list, install or uninstall, found 'remove'"],
    ['catalog list greeter', "expected nothing after list, found 'greeter'"],
    ['catalog install a b', 'found 3: install, a, b'],
  ])('%s call nobody', async (words, text) => {
    const { exit, err, called } = await holt(words.split(' '), { answers: ANSWERS })
    expect({ exit, called }).toEqual({ exit: 2, called: [] })
    expect(err).toContain(text)
    expect(err).toContain('holt catalog --help')
  })

  it.each(['catalog', 'catalog install x', 'catalog uninstall x'])(
    '%s --json prints what came over the wire',
    async (words) => {
      const { out, called } = await holt([...words.split(' '), '--json'], { answers: ANSWERS })
      expect(out).toBe(`${JSON.stringify(ANSWERS[called[0]!.name as keyof typeof ANSWERS])}\n`)
    },
  )
})

describe('the exit code', () => {
  it('of an install whose agent did not start is that of a failed boot: it is installed', async () => {
    const answers = { install: { ...INSTALLED, notStarted: "agent 'greeter' did not start" } }
    const { exit, out, err } = await holt(['catalog', 'install', 'x'], { answers })
    expect({ exit, err }).toEqual({ exit: 9, err: '' })
    expect(out).toContain("not started: agent 'greeter' did not start")
  })

  it.each([
    ['install', 'InvalidManifest', 2, 'nothing has changed: mend that, then install it again'],
    ['install', 'BootFailed', 9, 'nothing has changed: mend that, then install it again'],
    ['install', 'IdTaken', 4, undefined],
    ['uninstall', 'NoSuchAgent', 3, 'see what is installed: holt catalog list'],
    ['uninstall', 'InvalidCommand', 4, undefined],
  ] as const)('of %s that is refused with %s is %d, and what to do next is said', async (verb, code, exit, next) => {
    const outcome = await holt(['catalog', verb, 'x'], { answers: { [verb]: new HoltError(code, 'no', { x: 1 }) } })
    expect(outcome).toMatchObject({ exit, out: '', err: next === undefined ? 'holt: no\n' : `holt: no\n  ${next}\n` })
  })
})

const install = (over: Partial<InstallAnswer>): string[] => installLines({ ...INSTALLED, ...over }, PLAIN)

describe('what is said of an install', () => {
  it('of a new agent', () => {
    expect(install({})).toEqual([
      'greeter 1.2.0 is installed: 4 files, 1200 bytes',
      '  files: /state/catalog/greeter/1.2.0-abababababab',
      '  started',
    ])
    expect(install({ starts: false }).at(-1)).toBe('  not started: holt start greeter')
  })

  it('of another version: what runs on, and what takes the new one', () => {
    const replaced = { change: 'replaced', replaced: '1.1.0', starts: false } as const
    expect(install({ ...replaced, runsOn: '1.1.0' })).toEqual([
      'greeter 1.2.0 is installed, in place of 1.1.0: 4 files, 1200 bytes',
      '  files: /state/catalog/greeter/1.2.0-abababababab',
      '  1.1.0 runs on; what takes 1.2.0: holt stop greeter, then holt start greeter',
    ])
    expect(install(replaced).at(-1)).toBe('  what takes it: holt start greeter')
  })

  it('of the very same', () => {
    expect(install({ change: 'none', starts: false })).toEqual([
      'greeter 1.2.0 is installed already, with the same files',
    ])
  })

  it('of secrets that were left out, and of what was left out besides', () => {
    expect(install({ leftOut: ['package/.env', '.git'] }).slice(2, -1)).toEqual([
      '  left out: package/.env, .git',
      '  secrets are not copied: what the agent needs belongs into',
      '    /state/catalog/greeter/1.2.0-abababababab/.env',
    ])
    expect(install({ leftOut: ['.git'] }).join()).not.toContain('secrets')
  })

  it('of a dry run', () => {
    expect(install({ dryRun: true })[0]).toBe('greeter 1.2.0 would be installed: 4 files, 1200 bytes')
    expect(install({ dryRun: true }).at(-1)).toBe('  would be started')
  })
})

describe('what is said of an uninstall', () => {
  it('is what went with the agent', () => {
    expect(uninstallLines(REMOVED, PLAIN)).toEqual([
      'greeter 1.2.0 is uninstalled, with 4 files, 1 message, 0 memory keys, 2 sessions',
    ])
    expect(uninstallLines({ ...REMOVED, dryRun: true }, PLAIN)[0]).toMatch(
      /^greeter 1\.2\.0 would be uninstalled, with/,
    )
    expect(uninstallLines({ ...REMOVED, agent: false }, PLAIN)[1]).toBe(
      "  agent 'greeter' of holt.yml is another, and keeps all it has",
    )
  })
})

describe('the list', () => {
  it('has the version that is installed beside the one that runs', () => {
    const lines = catalogLines([ITEM, { ...ITEM, name: 'idle', status: 'Stopped', runningVersion: null }], {
      ...PLAIN,
      width: 120,
    })
    expect(lines.map((line) => line.split(/ {2,}/).slice(0, 4))).toEqual([
      ['NAME', 'VERSION', 'RUNS', 'STATUS'],
      ['greeter', '1.2.0', '1.1.0', 'Running'],
      ['idle', '1.2.0', '-', 'Stopped'],
    ])
    expect(lines[1]).toContain('/home/ann/greeter-1.2.0.tgz')
  })

  it('says why one is not loaded', () => {
    const lines = catalogLines([{ ...ITEM, status: null, runningVersion: null, fault: 'the fleet has one' }], PLAIN)
    expect(lines[1]).toContain('not loaded')
    expect(lines.at(-1)).toBe('greeter: the fleet has one')
  })

  it('says so where nothing is installed', () => {
    expect(catalogLines([], PLAIN)).toEqual(['nothing is installed'])
  })

  it('shows nothing that would move the cursor', () => {
    const nasty = { ...ITEM, version: '1\u001b[2J', source: '/a\u202eb' }
    const shown = catalogLines([nasty], { ...PLAIN, width: 200 }).join('\n')
    for (const character of ['\u001b', '\u202e']) expect(shown).not.toContain(character)
    expect(install({ version: '1\u001b[2J', leftOut: ['.env\u001b'] }).join('\n')).not.toContain('\u001b')
  })
})
