/** From words to calls, lines and exit codes, against a host that the test plays. */
import { describe, expect, it } from 'vitest'
import { OutputFailed, ReaderGone } from '../../src/cli/output.ts'
import { AGENT_ROWS, ROWS } from '../../src/cli/rows.ts'
import { HoltError } from '../../src/model/error.ts'
import { agent, detail, fleet, NOW } from './agents.ts'
import { death } from './deaths.ts'
import { holt } from './world.ts'

const ANSWERS = {
  status: fleet([agent()]),
  list: [agent()],
  get: detail(),
  commands: [],
  capabilities: [],
  deaths: [death()],
  why: { agent: 'librarian', status: 'Running', sentences: ['It runs.'], records: [], wouldChangeIt: [] },
  tree: { id: 'root', kind: 'supervisor', strategy: 'one_for_one', status: 'Running', restarts: 0, children: [] },
  mailbox: {
    id: 'librarian',
    depth: 0,
    capacity: 256,
    inFlight: [],
    waiting: [],
    dropped: 0,
    ignored: 0,
    deadLetters: 0,
  },
  purge: { purged: 3 },
  emit: { fate: 'handled' },
  ask: [{ title: 'Otters' }],
  shutdown: { tookMs: 5, killed: [], stuck: [] },
  ...Object.fromEntries(
    ['start', 'stop', 'restart', 'pause', 'resume', 'activate', 'suspend', 'kill'].map((verb) => [verb, agent()]),
  ),
}
const fact = {
  seq: 1,
  at: NOW,
  kind: 'agent.phase',
  agent: 'librarian',
  level: 'debug',
  message: 'BOOTING to ACTIVE',
  data: {},
}

describe('a command', () => {
  it.each([
    ['status', 'status', []],
    ['list', 'list', []],
    ['get librarian', 'get', ['librarian']],
    ['agent status librarian', 'get', ['librarian']],
    ['commands librarian', 'commands', ['librarian']],
    ['capabilities', 'capabilities', []],
    ['deaths', 'deaths', []],
    ['deaths librarian', 'deaths', ['librarian']],
    ['why librarian', 'why', ['librarian']],
    ['tree', 'tree', []],
    ['mailbox librarian', 'mailbox', ['librarian']],
    ['mailbox librarian purge', 'purge', ['librarian']],
    ['emit librarian add', 'emit', ['librarian', 'add']],
    ['emit librarian add {"n":1}', 'emit', ['librarian', 'add', { n: 1 }]],
    ['emit librarian add null', 'emit', ['librarian', 'add', null]],
    ['emit librarian add -5', 'emit', ['librarian', 'add', -5]],
    ['emit librarian add 1 --ttl-ms 50', 'emit', ['librarian', 'add', 1], { ttlMs: 50 }],
    ['ask librarian find', 'ask', ['librarian', 'find']],
    ['ask librarian find "x" --timeout-ms 50', 'ask', ['librarian', 'find', 'x'], { timeoutMs: 50 }],
    ['stop librarian --now --reason why', 'stop', ['librarian'], { now: true, reason: 'why' }],
    ['agent pause librarian --now', 'pause', ['librarian'], { now: true }],
    ['kill librarian', 'kill', ['librarian']],
  ] as const)('%s is the call it says', async (words, name, args, opts: Readonly<Record<string, unknown>> = {}) => {
    const { exit, err, called, closed } = await holt(words.split(' '), { answers: ANSWERS })
    expect({ exit, err, called, closed }).toEqual({ exit: 0, err: '', called: [{ name, args, opts }], closed: 1 })
  })

  it.each([
    'status',
    'list',
    'get x',
    'commands x',
    'capabilities',
    'deaths',
    'why x',
    'tree',
    'mailbox x',
    'emit x y',
    'ask x y',
    'pause x',
  ])('%s --json prints what came over the wire, in one line', async (words) => {
    const { out, called } = await holt([...words.split(' '), '--json'], { answers: ANSWERS })
    expect(out).toBe(`${JSON.stringify(ANSWERS[called[0]!.name as keyof typeof ANSWERS])}\n`)
  })

  it('prints for people otherwise', async () => {
    expect((await holt(['pause', 'librarian'], { answers: ANSWERS })).out).toBe('librarian: Running, ACTIVE\n')
    expect((await holt(['mailbox', 'librarian', 'purge'], { answers: ANSWERS })).out).toBe('librarian: 3 purged\n')
    expect((await holt(['ask', 'librarian', 'find'], { answers: ANSWERS })).out).toBe(
      '[\n  {\n    "title": "Otters"\n  }\n]\n',
    )
    expect((await holt(['ask', 'a', 'b'], { answers: { ask: undefined } })).out).toBe('null\n')
  })

  it('goes to the socket it is told, and waits as long', async () => {
    const told = await holt(['status', '--socket', '/run/x.sock', '--timeout-ms', '50'], { answers: ANSWERS })
    expect(told.connected).toEqual([{ socket: '/run/x.sock', timeoutMs: 50 }])
    expect((await holt(['ask', 'a', 'b', '--timeout-ms', '50'], { answers: ANSWERS })).connected[0]?.timeoutMs).toBe(
      5050,
    )
    expect((await holt(['status'], { answers: ANSWERS })).connected).toEqual([{ socket: undefined, timeoutMs: 10_000 }])
    expect((await holt(['stop', 'a'], { answers: ANSWERS })).connected[0]?.timeoutMs).toBe(120_000)
  })
})

describe('an id', () => {
  it.each(['0', '1', '1-only', '007', '1e3', 'all', '*', '@x', 'a b', 'a:b', 'a.b', 'a>b', '', '__proto__', '-5'])(
    '%j is handed on as it is',
    async (id) => {
      const { called } = await holt(['stop', id], { answers: ANSWERS })
      expect(called).toEqual([{ name: 'stop', args: [id], opts: {} }])
    },
  )

  it.each(['-rf', '--all', '-1-only', '--'])('%j hits nobody', async (id) => {
    const { exit, called } = await holt(['stop', id], { answers: ANSWERS })
    expect({ exit, called }).toEqual({ exit: 2, called: [] })
  })

  it.each(['-rf', '--all', '--now', '--json'])('%j after two dashes is an id', async (id) => {
    const { called } = await holt(['stop', '--', id], { answers: ANSWERS })
    expect(called).toEqual([{ name: 'stop', args: [id], opts: {} }])
  })
})

describe('the exit code', () => {
  const refused = new HoltError(
    'InvalidCommand',
    "Cannot apply 'pause' to agent 'librarian' in PAUSED. Valid commands: resume",
  )

  it('is that of the error, which goes to stderr', async () => {
    expect(await holt(['pause', 'librarian'], { answers: { pause: refused } })).toMatchObject({
      exit: 4,
      out: '',
      err: `holt: ${refused.message}\n`,
      closed: 1,
    })
  })

  it('comes with what to do next', async () => {
    const died = new HoltError('AgentDied', "agent 'reader' died (crash)")
    const { exit, err } = await holt(['ask', 'reader', 'read'], { answers: { ask: died } })
    expect({ exit, err }).toEqual({
      exit: 9,
      err: "holt: agent 'reader' died (crash)\n  see what was decided: holt why reader\n",
    })
  })

  it('comes with the error as JSON where JSON is asked for', async () => {
    const { exit, out, err } = await holt(['pause', 'librarian', '--json'], { answers: { pause: refused } })
    expect({ exit, out }).toEqual({ exit: 4, out: '' })
    expect(JSON.parse(err)).toEqual({
      ok: false,
      error: { code: 'InvalidCommand', message: refused.message, details: {} },
    })
    expect(JSON.parse((await holt(['nonsense', '--json'])).err)).toMatchObject({
      ok: false,
      error: { code: 'InvalidOption' },
    })
  })

  it.each([
    ['handled', 0],
    ['queued', 0],
    ['dropped', 6],
    ['ignored', 4],
    ['expired', 7],
    ['aborted', 8],
    ['crashed', 9],
    ['quarantined', 9],
  ])('of an event that is %s is %d', async (fate, exit) => {
    expect((await holt(['emit', 'a', 'b'], { answers: { emit: { fate } } })).exit).toBe(exit)
  })

  it('of a code that this version does not know is 1', async () => {
    const unknown = new HoltError('FromTheFuture' as 'Internal', 'what is this')
    expect(await holt(['status'], { answers: { status: unknown } })).toMatchObject({
      exit: 1,
      err: 'holt: what is this\n',
    })
    expect((await holt(['status'], { answers: { status: new Error('a bug') } })).exit).toBe(1)
  })

  it('is 0 when the reader has gone, and 74 when nothing can be written', async () => {
    const throwing = (error: Error) => ({ io: { out: { write: () => Promise.reject(error) } }, answers: ANSWERS })
    expect(await holt(['list'], throwing(new ReaderGone()))).toMatchObject({ exit: 0, err: '', closed: 1 })
    const full = await holt(['list'], throwing(new OutputFailed(new Error('ENOSPC: no space left on device'))))
    expect(full).toMatchObject({
      exit: 74,
      err: 'holt: the output could not be written: ENOSPC: no space left on device\n',
    })
  })

  it('is told even where no error can be written', async () => {
    const io = { err: { write: () => Promise.reject(new ReaderGone()) } }
    expect((await holt(['pause', 'a'], { io, answers: { pause: refused } })).exit).toBe(4)
  })
})

describe('what is no command', () => {
  it.each([
    [['nonsense'], "there is no command 'nonsense'", 'holt'],
    [['stauts'], "there is no command 'stauts'\n  did you mean 'status'?", 'holt'],
    [['status', '--jsn'], "Unknown option '--jsn'\n  did you mean '--json'?", 'holt status'],
    [['stop'], 'expected ID, found nothing', 'holt stop'],
    [['ask', 'librarian'], 'expected ID COMMAND [JSON], found librarian', 'holt ask'],
    [['status', 'x'], 'expected no words, found 1: x', 'holt status'],
    [['stop', 'a', 'b'], 'expected one id at most, found 2: a, b', 'holt stop'],
    [['deaths', 'a', 'b'], 'expected one agent at most, found 2: a, b', 'holt deaths'],
    [['emit', 'a', 'b', '1', '2'], 'expected ID EVENT [JSON], found 4: a, b, 1, 2', 'holt emit'],
    [['agent', 'sotp', 'a'], "there is no command 'sotp'\n  did you mean 'stop'?", 'holt agent'],
    [['mailbox', 'a', 'prune'], "expected purge or nothing after the id, found 'prune'", 'holt mailbox'],
    [['status', '--socket'], "Option '--socket <PATH>' argument missing", 'holt status'],
  ])('%j is refused before anything is called', async (words, text, path) => {
    const { exit, out, err, connected } = await holt(words)
    expect({ exit, out, err, connected }).toEqual({
      exit: 2,
      out: '',
      err: `holt: ${text}\n  see how it is written: ${path} --help\n`,
      connected: [],
    })
  })

  it.each(['0', '-1', '1.5', 'x', '', '3000000000'])('--timeout-ms %j is refused', async (text) => {
    const { exit, err } = await holt(['status', `--timeout-ms=${text}`])
    expect(exit).toBe(2)
    expect(err).toContain(`--timeout-ms: expected whole milliseconds from 1 to 2147483647, found '${text}'`)
  })

  it.each([
    ['{q:backpressure}', `the shell takes quotes away; put the whole in single quotes: '{"q":"backpressure"}'`],
    ['hello world', `a text needs quotes of its own within those of the shell: '"hello world"'`],
    ['', `a text needs quotes of its own within those of the shell: '""'`],
  ])('a payload of %j is refused with how to write it', async (text, hint) => {
    const { exit, err, called } = await holt(['ask', 'librarian', 'find', text])
    expect({ exit, called }).toEqual({ exit: 2, called: [] })
    expect(err).toContain(`holt: expected JSON, found ${text === '' ? 'an empty text' : text} (`)
    expect(err).toContain(`\n  ${hint}\n`)
  })
})

describe('help', () => {
  it.each([[[]], [['--help']], [['-h']], [['help']]])('%j lists every command', async (words) => {
    const { exit, out, err } = await holt(words)
    expect({ exit, err }).toEqual({ exit: 0, err: '' })
    for (const { name } of ROWS) expect(out).toMatch(new RegExp(`^  ${name}\\b`, 'm'))
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([])
  })

  it.each(ROWS)('on $name has its words, options and an example', async ({ name, usage, example }) => {
    const { exit, out } = await holt([name, '--help'])
    expect(exit).toBe(0)
    expect(out).toContain(`Usage: holt ${[name, usage].filter(Boolean).join(' ')} [options]\n`)
    expect(out).toContain('  --json ')
    expect(out).toContain(`\nExample: holt ${example}\n`)
    expect((await holt(['help', name])).out).toBe(out)
  })

  it.each(AGENT_ROWS)('on agent $name is there too', async ({ name }) => {
    expect((await holt(['help', 'agent', name])).out).toContain(`Usage: holt agent ${name} ID [options]\n`)
  })

  it('on the exit codes is made from the table', async () => {
    expect((await holt(['help', 'exit-codes'])).out).toContain('\n   3  NoSuchAgent: ')
  })

  it('on what there is not says so', async () => {
    expect(await holt(['help', 'stauts'])).toMatchObject({ exit: 2, out: '' })
  })

  it('and the version need no host', async () => {
    const { out, connected } = await holt(['--version'])
    expect(out).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect(connected).toEqual([])
  })
})

describe('what goes on', () => {
  it('watch prints one line a fact, until the host ends', async () => {
    const { exit, out, called } = await holt(['watch', 'librarian'], { streams: { watch: [fact, fact] } })
    expect(called).toEqual([{ name: 'watch', args: ['librarian'], opts: {} }])
    expect({ exit, out }).toEqual({ exit: 0, out: '12:03:04.567 librarian    BOOTING to ACTIVE\n'.repeat(2) })
    const json = await holt(['watch', '--json'], { streams: { watch: [fact] } })
    expect(json.out).toBe(`${JSON.stringify(fact)}\n`)
  })

  it('logs prints one line a line', async () => {
    const line = { at: NOW, agent: 'librarian', instance: 'i_1', stream: 'stdout', level: 'info', text: 'indexed' }
    const { out, called } = await holt(['logs'], { streams: { logs: [line] } })
    expect(called).toEqual([{ name: 'logs', args: [], opts: {} }])
    expect(out).toBe('12:03:04.567 librarian    indexed\n')
    const asked = await holt(['logs', 'librarian', '-f', '--since', '10m', '--grep', 'a b', '--tail', '5'])
    const opts = { follow: true, since: NOW - 600_000, grep: 'a b', tail: 5 }
    expect(asked.called).toEqual([{ name: 'logs', args: ['librarian'], opts }])
    expect(await holt(['logs', '--since', 'yesterday'])).toMatchObject({
      exit: 2,
      err: expect.stringContaining('--since: expected a duration (10m, 1h30m), a time (2026-07-30T12:00:00Z)'),
    })
  })

  it('inspect says where the file is, and takes a path from the present folder', async () => {
    const inspect = { agent: 'librarian', instance: 'i_1', kind: 'heap', path: '/fleet/x.heapsnapshot', bytes: 12 }
    const { out, called } = await holt(['inspect', 'librarian', '--heap', '--out', 'x.heapsnapshot'], {
      answers: { inspect },
    })
    const opts = { heap: true, out: '/fleet/x.heapsnapshot' }
    expect(called).toEqual([{ name: 'inspect', args: ['librarian'], opts }])
    expect(out).toBe('librarian: heap snapshot, 12 bytes: /fleet/x.heapsnapshot\n')
  })

  it('attach shows how the agent stands, then what happens and what it prints', async () => {
    const line = { at: NOW, agent: 'librarian', stream: 'stdout', level: 'info', text: 'indexed' }
    const streams = { watch: [fact], logs: [line] }
    const { out, called } = await holt(['attach', 'librarian'], { answers: ANSWERS, streams })
    expect(called.map(({ name }) => name)).toEqual(['watch', 'logs', 'get'])
    expect(out).toMatch(/^librarian {2}Librarian 1\.0\.0\n/)
    expect(out).toMatch(/\n\n12:03:04\.567 librarian {4}BOOTING to ACTIVE\n12:03:04\.567 librarian {4}indexed\n$/)
  })
})

describe('down', () => {
  it('waits until the process has gone', async () => {
    const asked: number[] = []
    const io = { hasEnded: async (pid: number) => asked.push(pid) > 0 }
    const { out, called } = await holt(['down', '--timeout-ms', '500'], { answers: ANSWERS, io })
    expect(called.map(({ name, opts }) => ({ name, opts }))).toEqual([
      { name: 'status', opts: {} },
      { name: 'shutdown', opts: { timeoutMs: 500 } },
    ])
    expect({ out, asked }).toEqual({ out: 'the host (pid 4242) has gone, every agent ended in time\n', asked: [4242] })
  })

  it('says what did not end, and which process goes on', async () => {
    const shutdown = { tookMs: 5, killed: ['a', 'b'], stuck: ['b'] }
    const { out } = await holt(['down'], { answers: { ...ANSWERS, shutdown }, io: { hasEnded: async () => false } })
    expect(out).toBe(
      'the host has ended; process 4242 goes on without it\nkilled past the deadline: a, b\ncould not be stopped: b\n',
    )
  })
})
