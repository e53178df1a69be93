/** What an agent sees of the process around it, and what it cannot change there. */
import { writeFile } from 'node:fs/promises'
import { describe, expect, it, vi } from 'vitest'
import type { Host } from '../../src/host/host.ts'
import { AT_ONCE, type FleetText, hostFleet, NO_BUDGET, role, writeFleet } from '../fleet-on-disk.ts'
import { runProgram } from '../program.ts'

const LOOKS = role(
  `commands: {
  env: { handle: () => ({ ...process.env }) },
  set: { handle: ({ name, value }) => { process.env[name] = value } },
  run: { handle: (name) => WAYS[name]() },
  ping: { handle: () => 'pong' },
}`,
  `
const WAYS: Record<string, () => unknown> = {
  chdir: () => process.chdir('..'),
  umask: () => process.umask(0),
  setuid: () => process.setuid!(0),
  abort: () => process.abort(),
  title: () => { process.title = 'mine' },
  exit: () => process.exit(3),
  kill: () => process.exitCode = 9,
}`,
)

const fleet = (files: Record<string, Record<string, string>> = {}): Promise<Host> => {
  const agents: FleetText['agents'] = Object.fromEntries(
    ['a', 'b'].map((id) => [id, { role: LOOKS, manifest: AT_ONCE, files: files[id] ?? {} }]),
  )
  return hostFleet({ agents, supervisor: NO_BUDGET })
}

const envOf = (host: Host, id: string) => host.agent(id).ask('env') as Promise<Record<string, string>>

describe('C029 the environment', () => {
  it("is a fixed list of the host's variables, and the agent's own on top", async () => {
    vi.stubEnv('HOLT_API_TOKEN', 'top secret')
    vi.stubEnv('NODE_OPTIONS', '')
    const host = await fleet({ a: { '.env': 'X=1\nPATH=/mine\n' } })
    const [a, b] = [await envOf(host, 'a'), await envOf(host, 'b')]
    expect(a).toMatchObject({ X: '1', PATH: '/mine' })
    expect(b).toMatchObject({ PATH: process.env['PATH'] })
    expect(b).not.toHaveProperty('X')
    for (const env of [a, b]) {
      expect(env).not.toHaveProperty('HOLT_API_TOKEN')
      expect(env).not.toHaveProperty('NODE_OPTIONS')
      expect(JSON.stringify(env)).not.toContain('top secret')
    }
    vi.unstubAllEnvs()
  })

  it("is the agent's alone, and as written again after a restart", async () => {
    const host = await fleet({ a: { '.env': 'X=1\n' }, b: { '.env': 'X=other\n' } })
    await host.agent('a').ask('set', { name: 'X', value: '2' })
    await host.agent('a').ask('set', { name: 'NEW', value: '3' })
    expect(await envOf(host, 'a')).toMatchObject({ X: '2', NEW: '3' })
    expect((await envOf(host, 'b'))['X']).toBe('other')
    expect(process.env['NEW']).toBeUndefined()
    await host.agent('a').restart()
    expect((await envOf(host, 'a'))['X']).toBe('1')
    expect(await envOf(host, 'a')).not.toHaveProperty('NEW')
  })

  it('is there while the role is imported', async () => {
    const reads = role('commands: { was: { handle: () => was } }', 'const was = process.env.X')
    const host = await hostFleet({ agents: { a: { role: reads, files: { '.env': 'X=early\n' } } } })
    expect(await host.agent('a').ask('was')).toBe('early')
  })
})

describe('.env as the agent sees it', () => {
  it.each([
    [
      'C160 with a byte-order mark and CRLF',
      '\uFEFFFIRST=1\r\nSECOND=two words\r\nLAST=3',
      { FIRST: '1', SECOND: 'two words', LAST: '3' },
    ],
    [
      'C161 with export',
      'export PORT=1\nexport\tX=2\nexporter=3\nexport port_number=4\nEXPORT=5\n',
      { PORT: '1', X: '2', exporter: '3', port_number: '4', EXPORT: '5' },
    ],
    [
      'C163 with quotes and escapes',
      `J="{\\"a\\":1}"\nK='s3!kk\\n12'\nL="l1\\nl2"\nM="-----BEGIN\nabc=\n-----END"\nN=\`back "and" 'front'\`\n`,
      { J: '{"a":1}', K: 's3!kk\\n12', L: 'l1\nl2', M: '-----BEGIN\nabc=\n-----END', N: `back "and" 'front'` },
    ],
    [
      'C146 with values that look like others',
      'A=0755\nB=1e3\nC=12:30\nD=~\nE=.inf\n',
      { A: '0755', B: '1e3', C: '12:30', D: '~', E: '.inf' },
    ],
    [
      'C157 with names of every object',
      '__proto__=1\nconstructor=2\ntoString=3\n',
      { constructor: '2', toString: '3' },
    ],
  ])('%s', async (_, text, expected) => {
    const env = await envOf(await fleet({ a: { '.env': text } }), 'a')
    for (const [name, value] of Object.entries(expected))
      expect(Object.getOwnPropertyDescriptor(env, name)?.value, name).toBe(value)
  })

  it('C160 one in UTF-16 is refused, with the reason', async () => {
    const dir = await writeFleet({ agents: { a: { role: LOOKS }, b: { role: LOOKS } } })
    await writeFile(`${dir}/agents/a/.env`, Buffer.from('\uFEFFX=1\n', 'utf16le'))
    const host = await hostFleet(dir)
    expect(host.agent('a').deaths()[0]).toMatchObject({
      step: 'env',
      error: { message: expect.stringMatching(/UTF-16|UTF-8/) },
    })
    expect(host.agent('b').phase).toBe('ACTIVE')
  })
})

describe('C031 what belongs to the whole process', () => {
  it.each(['chdir', 'umask', 'setuid', 'abort'])('%s is the error of the agent that tries', async (way) => {
    const before = { cwd: process.cwd(), umask: process.umask(), title: process.title }
    const host = await fleet()
    await expect(host.agent('a').ask('run', way)).rejects.toMatchObject({ fatal: true })
    expect(host.agent('a').deaths()).toMatchObject([{ cause: 'crash' }])
    expect({ cwd: process.cwd(), umask: process.umask(), title: process.title }).toEqual(before)
    expect(await host.agent('b').ask('ping')).toBe('pong')
  })

  it.each(['title', 'kill'])('%s changes nothing outside the agent', async (way) => {
    const before = { title: process.title, exitCode: process.exitCode }
    const host = await fleet()
    await host
      .agent('a')
      .ask('run', way)
      .catch(() => {})
    expect({ title: process.title, exitCode: process.exitCode }).toEqual(before)
  })

  it('exit ends the agent alone', async () => {
    const host = await fleet()
    await expect(host.agent('a').ask('run', 'exit')).rejects.toMatchObject({ code: 'AgentDied' })
    expect(host.agent('a').deaths()).toMatchObject([
      { cause: 'exit', exitCode: 3, error: { message: expect.stringContaining('process.exit(3)') } },
    ])
    expect(await host.agent('b').ask('ping')).toBe('pong')
  })

  it('a working directory in the manifest is refused and not ignored', async () => {
    const host = await hostFleet({ agents: { a: { role: LOOKS, manifest: 'id: a\nname: A\ncwd: /tmp\n' } } })
    expect(host.agent('a').deaths()[0]).toMatchObject({
      step: 'manifest',
      error: { message: expect.stringContaining('cwd') },
    })
  })
})

describe("C028 flags of the host's process are no flags of its threads", () => {
  const pool = `export default { id: 'pure', placement: 'pool', methods: { add: (a, b) => a + b } }`
  const AGENT = role(`commands: { add: { handle: (n, ctx) => (ctx.capability('pure') as any).add(n, 1) } }`)

  const flags: [string, string[], string][] = [
    ['a heap limit', ['--max-old-space-size=512'], ''],
    ['a title', ['--title=x'], ''],
    ['gc', ['--expose-gc'], ''],
    ['a heap limit in NODE_OPTIONS', [], '--max-old-space-size=512 --title=x'],
  ]

  it.each(flags)('%s', async (_, given, options) => {
    const dir = await writeFleet({
      agents: { a: { role: AGENT, manifest: { capabilities: [{ id: 'pure', allow: ['add'] }] } } },
      capabilities: { 'pure.mjs': pool },
    })
    const text = `
      const host = await createHost({ fleet: ${JSON.stringify(dir)}, log: 'silent' })
      console.log(host.agent('a').phase, await host.agent('a').ask('add', 1))
      await host.shutdown()
    `
    expect(await runProgram(text, given, options === '' ? {} : { NODE_OPTIONS: options })).toMatchObject({
      code: 0,
      stdout: 'ACTIVE 2\n',
    })
  })
})
