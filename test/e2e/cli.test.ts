/** The command against a host that runs, and against what is none. Every process is a real one; runs the built command. */
import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { connect } from '../../src/transports/client/client.ts'
import { role, writeFleet } from '../fleet-on-disk.ts'
import { ROOT } from '../source-graph.ts'
import { RawClient } from '../transports/raw-client.ts'
import { folder, HOLT, type Running, run, start } from './processes.ts'

beforeAll(() => {
  if (!existsSync(HOLT)) throw new Error('dist/ is missing: run `npm run build` first')
})

/** Processes take their time on a busy machine. */
vi.setConfig({ testTimeout: 120_000 })

interface Fleet {
  readonly dir: string
  readonly socket: string
  readonly host: Running
  /** Runs one command to its end. */
  holt(...words: readonly string[]): ReturnType<typeof run>
  /** The same; it must succeed, and its JSON is the answer. */
  json(...words: readonly string[]): Promise<unknown>
  begin(...words: readonly string[]): Promise<Running>
}

async function up(dir: string): Promise<Fleet> {
  const socket = join(await folder(), 'holt.sock')
  const options = { cwd: dir, env: { HOLT_UDS_PATH: socket } }
  const host = await start('node', [HOLT, 'up'], options)
  await host.says('attach with: holt status | holt watch | holt down')
  const holt = (...words: readonly string[]) => run('node', [HOLT, ...words], options)
  return {
    dir,
    socket,
    host,
    holt,
    json: async (...words) => {
      const { code, stdout, stderr } = await holt(...words, '--json')
      expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' })
      return JSON.parse(stdout)
    },
    begin: (...words) => start('node', [HOLT, ...words], options),
  }
}

/** The example with a small library. */
async function librarian(): Promise<Fleet> {
  const dir = await folder()
  const fleet = join(dir, 'librarian')
  await cp(join(ROOT, 'examples/librarian'), fleet, { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
  await writeFile(join(fleet, 'agents/walker/.env'), 'LIBRARY=documents\n')
  const running = await up(fleet)
  await running.host.says('ready: ask with')
  return running
}

const counter = role(
  `
  events: { add({ n }) { numbers.push(n) }, die() { throw new Error('as it was told') } },
  commands: { numbers: { handle: () => numbers } },
`,
  'const numbers: number[] = []',
)

const counting = async (): Promise<Fleet> =>
  up(await writeFleet({ agents: { counter: { role: counter }, other: { role: role('') } } }))

describe('a session with the example fleet', () => {
  it('looks, asks, pauses, resumes, explains and ends', async () => {
    const { holt, begin, host, socket } = await librarian()
    const watch = await begin('watch')
    const ok = async (words: readonly string[], text: string | RegExp): Promise<void> => {
      const { code, stdout, stderr } = await holt(...words)
      expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' })
      expect(stdout).toMatch(text)
      expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
    }
    await ok(['status'], /^librarian +Running +ACTIVE +0 +0\/256 +\S+/m)
    await ok(['list'], /^librarian +Librarian +1\.0\.0 +Running +root$/m)
    await ok(['get', 'librarian'], /^ {2}status +Running, ACTIVE, /m)
    await ok(['agent', 'status', 'librarian'], /^ {2}may call +text \(terms\)$/m)
    await ok(['commands', 'librarian'], /^find {2}\(search\)$/m)
    await ok(['capabilities'], /^text {2}\(pool\)$/m)
    const reply = await holt('ask', 'librarian', 'find', '{"q":"backpressure"}')
    expect(reply).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(reply.stdout)).toMatchObject([{ title: 'Backpressure' }, {}])
    await ok(['pause', 'librarian', '--reason', 'to look'], /^librarian: Paused, PAUSED$/m)
    const document = { path: 'x.md', title: 'Otters', terms: ['otter'], length: 1, excerpt: 'Otters' }
    await ok(['emit', 'librarian', 'document.added', JSON.stringify(document)], /^queued/)
    await ok(['mailbox', 'librarian'], /^waits +\d+ +event +document\.added/m)
    await ok(['mailbox', 'librarian', 'purge'], /^librarian: 1 purged$/m)
    await ok(['resume', 'librarian'], /0 that waited were handed over/)
    await ok(['deaths'], /^\d\d-\d\d \d\d:\d\d:\d\d +reader +crash +read +restart 1 at once$/m)
    await ok(['why', 'reader'], /The encoded data was not valid/)
    await ok(['tree'], /^├── reader +\w+ +\w+ {2}1 restart$/m)
    await ok(['suspend', 'clerk'], /^clerk: Stopped \(suspended\), STOPPED$/m)
    await ok(['activate', 'clerk'], /^clerk: Running, ACTIVE$/m)
    await ok(['agent', 'stop', 'clerk', '--now'], /^clerk: Stopped, STOPPED$/m)
    await ok(['start', 'clerk'], /^clerk: Running, ACTIVE$/m)
    await ok(['restart', 'clerk'], /^clerk: Running, ACTIVE$/m)
    await ok(['kill', 'clerk'], /^clerk: /m)
    await watch.says(/clerk +'kill' by /)
    await ok(['down'], /^the host \(pid \d+\) has gone/)
    expect(await host.ended).toEqual({ code: 0, signal: null })
    expect(await watch.ended).toEqual({ code: 0, signal: null })
    expect(existsSync(socket)).toBe(false)
    const gone = await holt('status')
    expect({ code: gone.code, stdout: gone.stdout }).toEqual({ code: 12, stdout: '' })
    expect(gone.stderr).toContain(`holt: no host answers at ${socket}`)
  })
})

describe('a paused agent', () => {
  it('lets 256 of 300 events wait, counts what it drops, and goes on in order', async () => {
    const { holt, json, socket } = await counting()
    await json('pause', 'counter')
    const client = await connect({ path: socket })
    onTestFinished(() => client.close())
    const fates = await Promise.all(
      Array.from(
        { length: 300 },
        (_, n) => client.call('emit', ['counter', 'add', { n }]) as Promise<{ fate: string }>,
      ),
    )
    expect(fates.map(({ fate }) => fate)).toEqual([...Array(256).fill('queued'), ...Array(44).fill('dropped')])
    expect(await json('get', 'counter')).toMatchObject({ mailbox: { depth: 256, capacity: 256, dropped: 44 } })
    expect((await holt('status')).stdout).toMatch(/^counter +Paused +PAUSED +0 +256\/256 /m)
    expect(await json('resume', 'counter')).toMatchObject({ drained: 256 })
    expect(await json('ask', 'counter', 'numbers')).toEqual(Array.from({ length: 256 }, (_, n) => n))
  })

  it('refuses a second pause, and names what would apply', async () => {
    const { holt } = await counting()
    expect(await holt('pause', 'counter')).toMatchObject({ code: 0, stderr: '' })
    const { code, stdout, stderr } = await holt('pause', 'counter')
    expect({ code, stdout, stderr }).toEqual({
      code: 4,
      stdout: '',
      stderr:
        "holt: Cannot apply 'pause' to agent 'counter' in PAUSED. Valid commands: resume, suspend, stop, restart, kill\n",
    })
  })
})

describe('the socket', () => {
  it('answers a line, a call of JSON-RPC and a batch, as nc would send them', async () => {
    const { socket } = await counting()
    const client = new RawClient(socket)
    onTestFinished(() => void client.socket.destroy())
    client.send('{"cmd":"status","args":[]}\n')
    const [status] = await client.answered(1)
    expect(status).toMatchObject({ ok: true, result: { counts: { Running: 2 } } })
    client.send('{"jsonrpc":"2.0","id":7,"method":"get","params":["counter"]}\n')
    const [, get] = await client.answered(2)
    expect(get).toMatchObject({ jsonrpc: '2.0', id: 7, result: { id: 'counter' } })
    client.send(
      '[{"jsonrpc":"2.0","id":1,"method":"list"},{"jsonrpc":"2.0","id":2,"method":"get","params":["nobody"]}]\n',
    )
    const [, , batch] = await client.answered(3)
    expect(batch).toMatchObject([
      { id: 1, result: [{ id: 'counter' }, { id: 'other' }] },
      { id: 2, error: { data: { code: 'NoSuchAgent' } } },
    ])
  })

  it('is not taken from a host that lives; the second one starts nothing', async () => {
    const { dir, holt, socket } = await counting()
    const second = await run('node', [HOLT, 'up'], { cwd: dir, env: { HOLT_UDS_PATH: socket } })
    expect({ code: second.code, stdout: second.stdout }).toEqual({ code: 2, stdout: '' })
    expect(second.stderr).toContain(socket)
    expect(second.stderr).not.toContain('host is up')
    expect(await holt('list')).toMatchObject({ code: 0 })
  })
})

describe('an error', () => {
  it('has the exit code of its kind, and is told on stderr alone', async () => {
    const { holt } = await counting()
    const cases: [number, string, string[]][] = [
      [
        3,
        "holt: there is no agent 'countr'. Did you mean 'counter'?\n  see which there are: holt list\n",
        ['get', 'countr'],
      ],
      [3, "agent 'counter' has no command 'sum'", ['ask', 'counter', 'sum']],
      [2, '--timeout-ms: expected', ['ask', 'counter', 'numbers', '--timeout-ms', 'soon']],
      [2, 'expected JSON, found {n:1}', ['emit', 'counter', 'add', '{n:1}']],
      [3, "there is no agent '1'", ['stop', '1']],
      [3, "there is no agent '*'", ['stop', '*']],
      [3, "there is no agent '--all'", ['stop', '--', '--all']],
      [2, "Unknown option '-rf'", ['stop', '-rf']],
    ]
    for (const [code, text, words] of cases) {
      const found = await holt(...words)
      expect({ words, code: found.code, stdout: found.stdout }).toEqual({ words, code, stdout: '' })
      expect(found.stderr).toContain(text)
    }
    const crashed = await holt('emit', 'counter', 'die', '{}')
    expect({ code: crashed.code, stdout: crashed.stdout }).toEqual({
      code: 9,
      stdout: expect.stringMatching(/^crashed, death d_\w+\n$/),
    })
    expect(await holt('status')).toMatchObject({ code: 0, stdout: expect.stringContaining('2 agents: ') })
  })
})

describe('what goes on', () => {
  it('attach shows how an agent stands, then what happens to it and what it prints, until Ctrl-C', async () => {
    const fleet = await writeFleet({
      agents: {
        talker: { role: role(`events: { say(text) { console.log('I say ' + text) } }`) },
        other: { role: role('') },
      },
    })
    const { begin, holt } = await up(fleet)
    const attach = await begin('attach', 'talker')
    await attach.says(/^ {2}status +Running, ACTIVE/m)
    await holt('emit', 'talker', 'say', '"hello"')
    await attach.says(/talker +I say hello/)
    await holt('pause', 'other')
    await holt('pause', 'talker')
    await attach.says(/talker +'pause' by /)
    expect(attach.stdout()).not.toMatch(/^\S+ other /m)
    attach.kill('SIGINT')
    expect(await attach.ended).toEqual({ code: null, signal: 'SIGINT' })
    expect(attach.stderr()).toBe('')
    expect(await holt('list')).toMatchObject({ code: 0 })
  })

  it('watch --json prints one fact a line', async () => {
    const { begin, holt } = await counting()
    const watch = await begin('watch', 'counter', '--json')
    // Nothing tells when it listens: commands until it has heard of one.
    const heard = watch.says('agent.command')
    let over = false
    void heard.finally(() => {
      over = true
    })
    while (!over) {
      await holt('pause', 'counter')
      await holt('resume', 'counter')
    }
    await heard
    await holt('down')
    expect(await watch.ended).toEqual({ code: 0, signal: null })
    for (const line of watch.stdout().trimEnd().split('\n'))
      expect(JSON.parse(line)).toMatchObject({ agent: 'counter' })
  })
})

describe('validate', () => {
  it('tells every fault with its place and starts nothing', async () => {
    const fleet = await writeFleet({
      agents: {
        bad: { role: role(''), manifest: 'id: bad\nname: Bad\nversoin: 1.0.0\nlimits: { heapMb: many }\n' },
        good: { role: role(`events: { boot() { console.log('started') } }`) },
      },
    })
    const { code, stdout, stderr } = await run('node', [HOLT, 'validate'], { cwd: fleet })
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
    expect(stdout).toMatch(/^agents\/bad\/agent\.yml:3:1\n {4}field {5}versoin\n {4}expected .*\n/)
    expect(stdout).toMatch(/^agents\/bad\/agent\.yml:4:\d+\n {4}field {5}limits\.heapMb\n/m)
    expect(stdout).toContain('2 faults; these agents would not start: bad\n')
    expect(JSON.parse((await run('node', [HOLT, 'validate', fleet, '--json'])).stdout)).toMatchObject({
      ok: false,
      agents: [
        { id: 'bad', ok: false },
        { id: 'good', ok: true },
      ],
      faults: [
        { line: 3, field: 'versoin' },
        { line: 4, field: 'limits.heapMb' },
      ],
    })
  })

  it('of a fleet without faults, or without a holt.yml, says so', async () => {
    expect(await run('node', [HOLT, 'validate', 'examples/librarian'])).toMatchObject({
      code: 0,
      stdout: 'no faults, 4 agents\n',
    })
    const nothing = await folder()
    expect(await run('node', [HOLT, 'validate', nothing])).toMatchObject({
      code: 2,
      stdout: expect.stringContaining('holt.yml'),
    })
  })
})

/** A server at a socket of its own that does this with each client. */
async function played(serve: (socket: Socket) => void): Promise<string> {
  const path = join(await folder(), 'played.sock')
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    serve(socket)
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return path
}

/** Answers the first request of each client with this result. */
const answering = (result: unknown): Promise<string> =>
  played((socket) => {
    socket.once('data', (line) => {
      const { id } = JSON.parse(line.toString()) as { id: number }
      socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
    })
  })

describe('output', () => {
  const many = Array.from({ length: 20_000 }, (_, n) => ({ id: `agent-${n}`, name: 'x'.repeat(200) }))

  it('C112 is whole through a pipe, as it is in a file', async () => {
    const socket = await answering(many)
    const piped = await run('node', [HOLT, 'list', '--json', '--socket', socket])
    expect({ code: piped.code, stderr: piped.stderr }).toEqual({ code: 0, stderr: '' })
    expect(piped.stdout.length).toBeGreaterThan(4_000_000)
    expect(JSON.parse(piped.stdout)).toEqual(many)
    const dir = await folder()
    const shell = await run('sh', ['-c', 'exec node "$0" list --json --socket "$1" > all.json', HOLT, socket], {
      cwd: dir,
    })
    expect(shell).toMatchObject({ code: 0, stderr: '' })
    expect(await readFile(join(dir, 'all.json'), 'utf8')).toBe(piped.stdout)
  })

  it('C113 that nobody reads to its end ends the command without a word', async () => {
    const socket = await answering(many)
    const script = 'set -o pipefail; node "$0" list --json --socket "$1" | head -c 100; echo " $?"'
    const { stdout, stderr } = await run('bash', ['-c', script, HOLT, socket])
    expect({ end: stdout.slice(100), stderr }).toEqual({ end: ' 0\n', stderr: '' })
  })

  it.runIf(existsSync('/dev/full'))('that does not fit on the disk is an error', async () => {
    const socket = await answering([])
    const full = await run('sh', ['-c', 'exec node "$0" list --socket "$1" > /dev/full', HOLT, socket])
    expect(full).toEqual({
      code: 74,
      signal: null,
      stdout: '',
      stderr: 'holt: the output could not be written: ENOSPC: no space left on device, write\n',
    })
  })
})

describe('a server that is no host', () => {
  it.each([
    ['accepts and closes', (socket: Socket) => void socket.end(), 12],
    ['sends half a line and closes', (socket: Socket) => void socket.end('{"jsonrpc":'), 12],
    ['sends nothing', () => {}, 7],
    ['speaks HTML', (socket: Socket) => void socket.write('<html>\n'), 12],
    ['ends every line twice', (socket: Socket) => void socket.write('{"jsonrpc":"2.0","id":1,"result":[]}{}\n'), 12],
  ])('and %s ends the command within its time', async (_what, serve, exit) => {
    const socket = await played(serve)
    const { code, stdout, stderr } = await run('node', [HOLT, 'list', '--socket', socket, '--timeout-ms', '500'])
    expect({ code, stdout }).toEqual({ code: exit, stdout: '' })
    expect(stderr).toMatch(/^holt: \S+/)
    expect(stderr).toContain(socket)
  })

  it('nor is a folder, a file, or nothing at all', async () => {
    const dir = await folder()
    await mkdir(join(dir, 'folder'))
    await writeFile(join(dir, 'file'), '')
    for (const name of ['folder', 'file', 'nothing']) {
      const { code, stdout, stderr } = await run('node', [HOLT, 'status', '--socket', join(dir, name)])
      expect({ name, code, stdout }).toEqual({ name, code: 12, stdout: '' })
      expect(stderr).toContain(join(dir, name))
    }
  })
})
