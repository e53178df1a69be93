/** What is kept of the output of agents: rings, files, and the way from the past to the present. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { pino } from 'pino'
import { Subject } from 'rxjs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { LOG_DEFAULTS, type LogOptions, type LogQuery, Logs, MAX_TAIL } from '../../src/host/logs.ts'
import { fileNameOf, LogFiles } from '../../src/host/logs-files.ts'
import { jsonOf, outputOf } from '../../src/host/logs-line.ts'
import { LineRing } from '../../src/host/logs-ring.ts'
import type { Output } from '../../src/model/output.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { eventually } from '../../src/testkit/eventually.ts'
import { find } from '../../src/transports/dispatch.ts'
import { hostFleet, role, writeFleet } from '../fleet-on-disk.ts'

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'holt-logs-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

const line = (text: string, of: Partial<Output> = {}): Output => ({
  at: 1000,
  agent: 'talker',
  instance: 'i_1',
  stream: 'stdout',
  level: 'info',
  text,
  ...of,
})

interface Kept {
  readonly logs: Logs
  readonly told: string[]
  print(text: string, of?: Partial<Output>): void
  past(query?: LogQuery): Promise<string[]>
  readonly live$: Subject<Output>
}

function kept(stateDir: string, options: Partial<LogOptions> = {}): Kept {
  const told: string[] = []
  const log = pino({ level: 'debug' }, { write: (json: string) => void told.push(JSON.parse(json).msg) })
  const watched = { onObserverError: () => {}, onMissed: () => {} }
  const logs = new Logs({ stateDir, clock: systemClock, log, options: { ...LOG_DEFAULTS, ...options }, watched })
  onTestFinished(() => logs.close())
  const live$ = new Subject<Output>()
  return {
    logs,
    told,
    live$,
    print(text, of) {
      logs.take(line(text, of))
      live$.next(line(text, of))
    },
    past: async (query = {}) =>
      (await logs.past(query.id === undefined ? ['talker', 'other'] : [query.id], query)).map(({ text }) => text),
  }
}

const numbered = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, i) => `line ${from + i}`)

describe('past lines', () => {
  it.each(['memory', 'files'])('of a host with its state in %s are found by text, time and number', async (where) => {
    const { print, past } = kept(where === 'memory' ? ':memory:' : folder(), { ringLines: 20 })
    for (let i = 0; i < 20; i++) print(`line ${i}`, { at: 1000 + i, agent: i % 2 === 0 ? 'talker' : 'other' })
    expect(await past()).toEqual(numbered(0, 20))
    expect(await past({ tail: 3 })).toEqual(numbered(17, 20))
    expect(await past({ tail: 0 })).toEqual([])
    expect(await past({ since: 1018 })).toEqual(numbered(18, 20))
    expect(await past({ grep: 'ne 1', tail: 2 })).toEqual(numbered(18, 20))
    expect(await past({ grep: '.*' })).toEqual([])
    expect(await past({ id: 'other', tail: 2 })).toEqual(['line 17', 'line 19'])
  })

  it('that have left the memory come from the files, each once and in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 0, max: 110 }),
        async (ringLines, count, tail) => {
          const { print, past, logs } = kept(folder(), { ringLines, fileBytes: 4096, files: 10 })
          for (let i = 0; i < count; i++) print(`line ${i}`)
          expect(await past({ tail })).toEqual(numbered(Math.max(0, count - tail), count))
          await logs.close()
        },
      ),
      { numRuns: 30 },
    )
  })

  it('outlive the host, and are told from those of the next', async () => {
    const dir = folder()
    const first = kept(dir)
    for (const text of numbered(0, 5)) first.print(text)
    await first.logs.close()
    await new Promise((resolve) => setImmediate(resolve))
    const second = kept(dir)
    for (const text of numbered(5, 8)) second.print(text, { at: 2000 })
    expect(await second.past()).toEqual(numbered(0, 8))
  })

  it('are bounded by what a client may leave unread', async () => {
    const { print, past } = kept(':memory:', { ringChars: 100_000_000 })
    for (let i = 0; i < 100; i++) print(`${i} ${'x'.repeat(65_000)}`)
    const found = await past({ tail: MAX_TAIL })
    expect(found.length).toBeLessThan(70)
    expect(found.at(-1)).toMatch(/^99 /)
  })

  it('go with their agent', async () => {
    const dir = folder()
    const { print, past, logs } = kept(dir)
    print('gone')
    await past()
    await logs.close()
    logs.forget('talker')
    print('anew')
    expect(await past()).toEqual(['anew'])
  })
})

describe('following', () => {
  it('goes from the past to the present with no gap and no double', async () => {
    const { logs, print, live$ } = kept(folder(), { ringLines: 5 })
    for (let i = 0; i < 50; i++) print(`line ${i}`)
    const texts: string[] = []
    logs.open(['talker'], { id: 'talker', follow: true }, live$).subscribe(({ text }) => texts.push(text))
    for (let i = 50; i < 100; i++) {
      print(`line ${i}`)
      print('of another', { agent: 'other' })
      if (i % 7 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    await eventually(() => texts.length >= 100, 'all lines')
    expect(texts).toEqual(numbered(0, 100))
  })

  it('holds to the text that is looked for', async () => {
    const { logs, print, live$ } = kept(':memory:')
    const texts: string[] = []
    logs.open(['talker'], { grep: 'b', follow: true, tail: 0 }, live$).subscribe(({ text }) => texts.push(text))
    for (const text of ['a', 'b', 'ab', 'c']) print(text)
    await eventually(() => texts.length === 2, 'two lines')
    expect(texts).toEqual(['b', 'ab'])
  })
})

describe('the ring', () => {
  it('is bounded by lines and by characters, and has the newest', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 })), fc.integer({ min: 1, max: 9 }), (sizes, maxLines) => {
        const ring = new LineRing(maxLines, 100)
        sizes.forEach((size, n) => {
          ring.push({ n, at: 0, json: 'x'.repeat(size) })
          const lines = ring.lines()
          expect(lines.length).toBeLessThanOrEqual(maxLines)
          expect(lines.reduce((sum, { json }) => sum + json.length, 0)).toBeLessThanOrEqual(100)
          expect(lines.at(-1)!.n).toBe(n)
        })
      }),
    )
  })
})

describe('files', () => {
  const open = (dir: string, options: Partial<{ fileBytes: number; files: number }> = {}) => {
    const faults: string[] = []
    const recovered: number[] = []
    const files = new LogFiles({
      fileBytes: 1000,
      files: 3,
      ...options,
      dir,
      clock: systemClock,
      onFault: (why) => faults.push(why),
      onRecovered: (lost) => recovered.push(lost),
    })
    onTestFinished(() => files.close())
    return { files, faults, recovered }
  }

  it('are for their owner alone, no larger and no more than they may be', async () => {
    const dir = join(folder(), 'logs')
    const { files } = open(dir)
    for (let i = 0; i < 200; i++) {
      files.append('talker', `${i} ${'x'.repeat(50)}`)
      if (i % 9 === 0) await files.flush('talker')
    }
    await files.flush('talker')
    expect(readdirSync(dir).sort()).toEqual(['talker.1.log', 'talker.2.log', 'talker.log'])
    expect(statSync(dir).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(dir)) {
      expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600)
      expect(statSync(join(dir, name)).size).toBeLessThanOrEqual(1000)
    }
    const newest: string[] = []
    for await (const lines of files.read('talker')) newest.unshift(...lines.filter(Boolean))
    expect(newest.at(-1)).toMatch(/^199 /)
    expect(newest.map((text) => Number(text.split(' ')[0]))).toEqual(newest.map((_, i) => 200 - newest.length + i))
  })

  it('C154 lie in their folder whatever an agent is called, C155 each in one of its own', () => {
    const names = [
      '../../x',
      'a/../../b',
      '..',
      '.',
      '/etc/passwd',
      'a\\b',
      'a%2f..%2fb',
      'a\0b',
      'a\nb',
      '',
      'Con',
      'x.log',
    ]
    const long = ['a'.repeat(63), 'a'.repeat(64), `${'a'.repeat(200)}1`, `${'a'.repeat(200)}2`, '😀'.repeat(100)]
    const files = [...names, ...long].map(fileNameOf)
    expect(files.filter((name) => !/^[a-z][a-z0-9_-]{0,62}$/.test(name))).toEqual([])
    expect(new Set(files).size).toBe(files.length)
    expect(fileNameOf('librarian')).toBe('librarian')
  })

  it('C134 lose lines where the disk refuses, say so once, and go on once it takes them again', async () => {
    const dir = join(folder(), 'logs')
    // In the way: a file where the folder is to be.
    writeFileSync(dir, '')
    const { files, faults, recovered } = open(dir)
    for (let i = 0; i < 3; i++) {
      files.append('talker', `lost ${i}`)
      await files.flush('talker')
    }
    expect(faults).toHaveLength(1)
    rmSync(dir)
    files.append('talker', 'kept')
    await files.flush('talker')
    expect(recovered).toEqual([3])
    expect(readFileSync(join(dir, 'talker.log'), 'utf8').trim()).toBe('kept')
  })

  it('with half a line in them lose that line alone', async () => {
    const dir = folder()
    const { past, print, logs } = kept(dir, { ringLines: 1 })
    for (const text of numbered(0, 4)) print(text)
    await logs.close()
    const file = join(dir, 'logs', 'talker.log')
    const lines = readFileSync(file, 'utf8').split('\n')
    writeFileSync(file, [lines[0], lines[1]!.slice(0, 20), ...lines.slice(2)].join('\n'))
    expect(await past()).toEqual(['line 0', 'line 2', 'line 3'])
  })
})

describe('a line', () => {
  it('C098 comes back as it was, with separators of any kind in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const said = `${text}\u2028\u2029\u0085\r\f`
        const json = jsonOf(line(said), { n: 7, run: 1 })
        expect(json).not.toContain('\n')
        expect(outputOf(json)).toEqual({ output: line(said), n: 7, run: 1 })
      }),
    )
  })

  it('C127 keeps data that holds itself, or what JSON does not know, bounded and marked', () => {
    const data: Record<string, unknown> = { big: 1n, at: new Date(0), error: new TypeError('bad') }
    data['self'] = data
    const map = new Map<string, unknown>([['set', new Set([1])]])
    map.set('map', map)
    data['map'] = map
    const back = outputOf(jsonOf(line('x', { data }), { n: 1, run: 1 }))!.output.data
    expect(back).toEqual({
      big: '1',
      at: '1970-01-01T00:00:00.000Z',
      error: { name: 'TypeError', message: 'bad' },
      self: '[circular]',
      map: { set: [1], map: '[circular]' },
    })
    const huge = jsonOf(line('x', { data: { table: 'x'.repeat(5_000_000) } }), { n: 1, run: 1 })
    expect(huge.length).toBeLessThan(20_000)
  })
})

describe('a host', () => {
  const talker = role(`events: {
    say(n) { console.log('line ' + n) },
    fail() { console.error('to stderr'); throw new Error('x') },
  }`)

  it('keeps what its agents print, over its own end, by agent, instance and stream', async () => {
    const fleet = await writeFleet({ agents: { talker: { role: talker, manifest: { restart: { backoff: 'none' } } } } })
    const stateDir = folder()
    const first = await hostFleet(fleet, { stateDir })
    for (let i = 0; i < 5; i++) await first.agent('talker').emit('say', i)
    const { instance } = first.agent('talker').snapshot()
    await first.agent('talker').emit('fail')
    await eventually(() => first.agent('talker').phase === 'ACTIVE', 'the next instance')
    await first.shutdown()
    const second = await hostFleet(fleet, { stateDir })
    const operation = find('logs')
    if (operation.kind !== 'stream') throw new Error('logs is a stream')
    const lines: Output[] = []
    const done = new Promise<void>((resolve) => {
      operation.open(second, { id: 'talker' }, { who: 'test' }).subscribe({
        next: (value) => lines.push(operation.output.parse(value) as Output),
        complete: resolve,
      })
    })
    await done
    expect(lines.map(({ text }) => text)).toEqual([...numbered(0, 5), 'to stderr'])
    expect(lines.map(({ stream }) => stream)).toEqual([...numbered(0, 5).map(() => 'stdout'), 'stderr'])
    expect(new Set(lines.map((one) => one.instance))).toEqual(new Set([instance!.id]))
    expect(() => second.logs({ id: 'tlaker' })).toThrow("Did you mean 'talker'?")
  })
})
