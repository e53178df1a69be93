/** `holt classify`: whole answers of other runtimes, from a file and from standard input, as lines and as JSON. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FIXTURES, fixture } from '../projections/fixtures.ts'
import { PLAIN } from './agents.ts'
import { holt, type Outcome } from './world.ts'

let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'holt-classify-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

async function* bytes(pieces: Iterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for (const piece of pieces) yield encoder.encode(piece)
}

const piped = (words: string, text: string): Promise<Outcome> =>
  holt(['classify', ...words.split(' ')], { io: { stdin: () => bytes([text]), outLook: { ...PLAIN, width: 400 } } })

const documentOf = (...name: Parameters<typeof fixture>): object => fixture(...name).document
const lines = (text: string): Record<string, unknown>[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

const pods = {
  apiVersion: 'v1',
  items: ['ready', 'never-ready', 'crash-loop', 'evicted', 'ready-without-a-probe'].map((name) =>
    documentOf('kubernetes', name),
  ),
  kind: 'List',
}

describe('holt classify', () => {
  it('has a line for each Pod of `kubectl get pods -o json`, and counts them', async () => {
    const { exit, out, err, connected } = await piped('kubernetes -', JSON.stringify(pods))
    expect({ exit, err, connected }).toEqual({ exit: 0, err: '', connected: [] })
    const [head, ...rows] = out.trim().split('\n')
    expect(head).toMatch(/^NAME +STATUS +CAUSE +VERSION +WHY$/)
    const found = rows.slice(0, 5).map((row) => row.split(/ {2,}/).slice(0, 3))
    expect(found).toEqual([
      ['burrow/digger', 'Running', '-'],
      ['burrow/never-ready', 'Starting', '-'],
      ['burrow/digger', 'Unhealthy', 'exit'],
      ['burrow/walker-1', 'Stopped', 'reclaimed'],
      ['burrow/digger', 'not conforming', '-'],
    ])
    expect(rows.at(-1)).toBe('5 instances: 1 Running, 1 Starting, 1 Unhealthy, 1 Stopped, 1 not conforming')
    expect(rows[4]).toContain('set `readinessProbe`')
  })

  it('reads a file in the present folder', async () => {
    await writeFile(join(dir, 'tasks.json'), JSON.stringify({ tasks: [documentOf('ecs', 'pending')], failures: [] }))
    const { exit, out } = await holt(['classify', 'ecs', 'tasks.json'], { io: { cwd: dir } })
    expect(exit).toBe(0)
    expect(out).toContain('Starting')
    expect(out).toContain('1 instance: 1 Starting')
  })

  it('tells the tasks that DescribeTasks could not find', async () => {
    const answer = {
      tasks: [],
      failures: [{ arn: 'arn:aws:ecs:us-west-2:111122223333:task/burrow/gone', reason: 'MISSING' }],
    }
    const { out } = await piped('ecs -', JSON.stringify(answer))
    expect(out).toMatch(/gone +undecidable .*MISSING/)
  })

  it('reads a line each of `docker compose ps --format json`, and what is no line too', async () => {
    const rows = ['ps-healthy', 'ps-unhealthy', 'ps-exited-0'].map((name) =>
      JSON.stringify(documentOf('compose', name)),
    )
    const { exit, out } = await piped(
      'compose - --json',
      [rows[0], 'level=warning msg="no env"', rows[1], rows[2]].join('\n'),
    )
    expect(exit).toBe(0)
    expect(lines(out).map(({ status }) => status)).toEqual(['Running', 'undecidable', 'Unhealthy', 'Stopped'])
  })

  it('prints axes, status, cause and reasons with --json, a line an instance', async () => {
    const { out } = await piped('kubernetes - --json', JSON.stringify(documentOf('kubernetes', 'crash-loop')))
    expect(lines(out)).toEqual([
      {
        runtime: 'kubernetes',
        name: 'burrow/digger',
        instance: '63674389-f613-11e8-a057-fe5f49266390',
        attributes: { service: null, replica: 'digger', version: '3.20' },
        status: 'Unhealthy',
        axes: { desiredStatus: 'running', identityVerified: true, acceptingWork: false, health: 'bad', alive: false },
        cause: 'exit',
        healthCause: 'observed-bad',
        death: { cause: 'exit', class: 'crash', exitCode: 1 },
        reasons: ['not Ready', "container 'main' CrashLoopBackOff, 3 restarts", 'phase Running'],
      },
    ])
  })

  it('carries the latch from an earlier run', async () => {
    const pod = (ready: string): string =>
      JSON.stringify({
        kind: 'Pod',
        metadata: { name: 'walker-0', uid: 'u-1' },
        spec: { containers: [{ name: 'main', readinessProbe: {} }] },
        status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready }] },
      })
    const first = await piped('kubernetes - --json', pod('True'))
    await writeFile(join(dir, 'before.json'), first.out)
    const alone = await piped('kubernetes - --json', pod('False'))
    const after = await piped(`kubernetes - --json --previous ${join(dir, 'before.json')}`, pod('False'))
    expect([...lines(alone.out), ...lines(after.out)].map(({ status }) => status)).toEqual(['undecidable', 'Unhealthy'])
  })

  it('takes the cordon and the stop from whoever knows of them, and no name that does not come up', async () => {
    const healthy = JSON.stringify(documentOf('compose', 'ps-healthy'))
    expect((await piped('compose - --cordoned burrow-service1-1', healthy)).out).toContain('Paused')
    expect((await piped('compose - --stopping burrow-service1-1', healthy)).out).toContain('Stopping')
    const { exit, err } = await piped('compose - --cordoned burrow-service2-1', healthy)
    expect(exit).toBe(2)
    expect(err).toContain("--cordoned: expected the name of an instance, found 'burrow-service2-1'")
  })

  it('shows what it does not know, and decides nothing from it', async () => {
    const strange = { taskArn: 'a/b', lastStatus: 'NAPPING', desiredStatus: 'RUNNING' }
    const { exit, out } = await piped('ecs -', JSON.stringify([strange, 7, null, 'x', [], {}]))
    expect(exit).toBe(0)
    expect(out).toContain('NAPPING')
    expect(out).toContain('found 7')
    expect(out).toContain('6 instances: 6 undecidable')
  })

  it('makes what other systems wrote harmless', async () => {
    const pod = {
      kind: 'Pod',
      metadata: { name: '\u001b[2Jgone' },
      status: { phase: 'Failed', message: 'a\u001b[31mb\nc' },
    }
    const { out } = await piped('kubernetes -', JSON.stringify(pod))
    expect(out).not.toContain('\u001b')
  })

  it.each([
    ['kubernetes -', '', /found nothing/, 2],
    ['kubernetes -', 'apiVersion: v1\nkind: Pod\n', /begins with 'a'.*-o json/s, 2],
    ['kubernetes -', '{"items":[{"kind":"Pod"},', /cut off/, 2],
    ['docker -', '[]', /expected a runtime, one of ecs, kubernetes, compose, found 'docker'/, 2],
    ['ecs missing.json', '', /ENOENT/, 2],
    ['ecs .', '', /EISDIR/, 2],
    ['ecs', '', /expected RUNTIME FILE\|-/, 2],
  ])('%s refuses %j', async (words, text, message, code) => {
    const { exit, err } = await holt(['classify', ...words.split(' ')], {
      io: { cwd: dir, stdin: () => bytes([text]) },
    })
    expect(err).toMatch(message)
    expect(exit).toBe(code)
  })

  it('C149 reads a file with a byte-order mark and CRLF as one without', async () => {
    const text = JSON.stringify(pods, null, 2)
    const plain = await piped('kubernetes - --json', text)
    const marked = await piped('kubernetes - --json', `\ufeff${text.replaceAll('\n', '\r\n')}`)
    expect(marked).toEqual(plain)
  })

  it('survives documents that are nested without end, and refuses those that are too large', async () => {
    const deep = `[${'['.repeat(1_000_000)}${']'.repeat(1_000_000)},${JSON.stringify(pods.items[0])}]`
    const { exit, out } = await piped('kubernetes - --json', deep)
    expect(exit).toBe(0)
    expect(lines(out).map(({ status }) => status)).toEqual(['undecidable', 'Running'])
    const large = await piped('kubernetes -', `[{"a":"${'x'.repeat(5 * 1024 * 1024)}"}]`)
    expect(large.exit).toBe(2)
    expect(large.err).toContain('expected documents of at most 4096 Ki characters')
  })

  it('tells what it had read before the input broke', async () => {
    const { exit, out } = await piped('kubernetes -', JSON.stringify(pods).slice(0, -30))
    expect(exit).toBe(2)
    expect(out).toContain('burrow/never-ready')
  })

  it('reads a list of any length in pieces and prints it in pieces', async () => {
    const megabytes = Number(process.env['HOLT_CLASSIFY_MB'] ?? 4)
    const pod = JSON.stringify(documentOf('kubernetes', 'readiness-lost'))
    const count = Math.ceil((megabytes * 1024 * 1024) / pod.length)
    function* list(): Generator<string> {
      yield '{"apiVersion":"v1","items":['
      for (let n = 0; n < count; n++) yield n === 0 ? pod : `,${pod}`
      yield '],"kind":"List"}'
    }
    let printed = 0
    let longest = 0
    const out = {
      write: async (text: string): Promise<void> => {
        printed += text.split('\n').filter((line) => line.includes('Unhealthy ')).length
        longest = Math.max(longest, text.length)
      },
    }
    const { exit } = await holt(['classify', 'kubernetes', '-'], { io: { stdin: () => bytes(list()), out } })
    expect({ exit, printed }).toEqual({ exit: 0, printed: count })
    expect(longest).toBeLessThan(500 * 200)
  })

  it('knows every runtime that there are documents of', async () => {
    for (const runtime of ['ecs', 'kubernetes', 'compose'] as const) {
      const documents = FIXTURES.filter((one) => one.runtime === runtime).map(({ document }) => document)
      const { exit, out } = await piped(`${runtime} - --json`, JSON.stringify(documents))
      expect(exit).toBe(0)
      expect(lines(out)).toHaveLength(documents.length)
    }
  })
})
