/**
 * The proof that matters most: numbered events into an agent that dies at random: it throws, exits, rejects, runs out of
 * memory, leaks, loops, and is killed. Every number is handled exactly once, in order, or is the one that a death record
 * names in flight. HOLT_EVENTS sets how many; seeds are in the names.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createHost } from '../../src/host/boot.ts'
import type { Host } from '../../src/host/host.ts'
import type { FleetObject } from '../../src/manifest/fleet-manifest.ts'
import type { DeathRecord } from '../../src/model/death.ts'
import type { DeadLetter } from '../../src/model/message.ts'
import { eventually } from '../../src/testkit/eventually.ts'

const EVENTS = Number(process.env['HOLT_EVENTS'] ?? 2000)
const LIMIT_MS = 120_000 * Math.max(1, EVENTS / 2000)
const SEEDS = [20_261_130, Math.floor(Math.random() * 2 ** 31)]
/** The thread reads all that was written so far when it begins. */
const HEAP_MB = Math.max(16, Math.ceil(EVENTS / 5000))
/** What some numbers do to their thread, and what it dies of. */
const DEEDS = new Map([
  [Math.floor(EVENTS * 0.2), { deed: 'fill', leakMb: 0, of: 'out_of_memory' }],
  [Math.floor(EVENTS * 0.4), { deed: 'leak', leakMb: HEAP_MB * 1.5, of: 'watermark' }],
  [Math.floor(EVENTS * 0.6), { deed: 'loop', leakMb: 0, of: 'unresponsive' }],
])
/** So many more are sent while it dies of that, and nothing else is done to it meanwhile. */
const QUIET = 100
/** After so many numbers an operator kills it, whatever it is at. */
const KILL_EVERY = Math.ceil(EVENTS / 8)
const BASE = new URL('../fixtures/fleets/deadly/agents/counter/', import.meta.url).pathname

interface Case {
  readonly seed: number
  readonly event: 'sync' | 'async'
  readonly concurrency?: number
  readonly redeliver?: number
  readonly pauses?: boolean
}

interface Outcome {
  readonly begun: number[]
  readonly handled: number[]
  /** In flight at a death. */
  readonly named: Set<number>
  /** Those of them whose end came from outside: it may have come when the handler had done all it does. */
  readonly cut: Set<number>
  readonly deaths: DeathRecord[]
  readonly letters: DeadLetter[]
}

let host: Host | null = null
let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holt-numbered-'))
})
afterEach(async () => {
  await host?.shutdown()
  host = null
  rmSync(folder, { recursive: true, force: true })
})

type Ref = ReturnType<Host['agent']>

const fleet = ({ concurrency = 1, redeliver = 0 }: Case): FleetObject => ({
  supervisor: { id: 'root', strategy: 'one_for_one', intensity: 10_000, periodMs: 1000 },
  children: [
    {
      agent: {
        id: 'counter',
        name: 'Counter',
        roles: ['roles/count.ts'],
        limits: { heapMb: HEAP_MB, unresponsiveAfterMs: 300, killAfterMs: 1500 },
        mailbox: { concurrency, redeliver },
        restart: { backoff: 'none' },
      },
    },
  ],
})

/** Small numbers from a seed, for when to pause. */
function* numbers(seed: number): Generator<number, never> {
  let state = seed | 1
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    yield state / 2 ** 32
  }
}

async function run(c: Case): Promise<Outcome> {
  const journal = join(folder, 'journal')
  writeFileSync(journal, '')
  host = await createHost({ fleet: fleet(c), baseDir: BASE, log: 'silent' })
  const agent = host.agent('counter')
  const deaths: DeathRecord[] = []
  const letters: DeadLetter[] = []
  host.deaths$.subscribe((record) => deaths.push(record))
  host.deadLetters$.subscribe((letter) => letters.push(letter))
  const random = numbers(c.seed)
  let quiet = 0
  for (let n = 0; n < EVENTS; n++) {
    while (!agent.hasRoom) {
      if (agent.snapshot().admission === 'cordoned') await agent.resume()
      await agent.room()
    }
    const deed = DEEDS.get(n)
    // What another number has done to the thread is over by then.
    if (deed !== undefined) await drained(agent)
    expect(agent.tell(c.event, { n, seed: c.seed, journal, ...deed })).toBe(true)
    if (deed !== undefined) quiet = QUIET
    else if (quiet > 0 && --quiet === 0) await diesOf(deaths, DEEDS.get(n - QUIET)!.of)
    if (quiet > 0) continue
    if (n % KILL_EVERY === KILL_EVERY - 1) await kill(agent)
    if (c.pauses !== true || random.next().value > 0.004) continue
    if (agent.snapshot().admission === 'cordoned') await agent.resume()
    else await agent.pause()
  }
  await drained(agent)
  await host.shutdown()
  const lines = readFileSync(journal, 'utf8').trim().split('\n')
  const of = (kind: string): number[] =>
    lines.filter((line) => line.startsWith(kind)).map((line) => Number(line.slice(2)))
  // Nothing else was sent, so message 1 is number 0.
  const namedBy = (records: readonly DeathRecord[]): Set<number> =>
    new Set(records.flatMap(({ inFlight }) => inFlight.map(({ id }) => id - 1)))
  const cut = namedBy(deaths.filter(({ cause, step }) => cause === 'killed' || step === 'watermark'))
  return { begun: of('b'), handled: of('h'), named: namedBy(deaths), cut, deaths, letters }
}

/** Waits for a death of this cause, or at this step. */
async function diesOf(deaths: readonly DeathRecord[], of: string): Promise<void> {
  await eventually(
    () => deaths.some(({ cause, step }) => (step ?? cause) === of),
    () => `a death of ${of}, there were ${deaths.map(({ cause, step }) => step ?? cause)}`,
  )
}

/** As it is at that moment; where it has just died by itself there is nothing to kill. */
const kill = (agent: Ref): Promise<unknown> =>
  agent.kill().catch((error: { code: string }) => expect(error.code).toBe('InvalidCommand'))

/** Settles when nothing waits and nothing runs, whatever the agent still dies of. */
async function drained(agent: Ref): Promise<void> {
  if (agent.snapshot().admission === 'cordoned') await agent.resume()
  await new Promise<void>((resolve, reject) => {
    const look = (): void => {
      const { mailbox, phase, status, lastDeath } = agent.snapshot()
      if (phase === 'ACTIVE' && mailbox.depth === 0 && mailbox.inFlight === 0) resolve()
      else if (status === 'Stopped') reject(new Error(`the agent is not coming back: ${JSON.stringify(lastDeath)}`))
      else setImmediate(look)
    }
    look()
  })
}

const ALL = Array.from({ length: EVENTS }, (_, n) => n)
const ascending = (list: readonly number[]): boolean => list.every((n, i) => i === 0 || n > list[i - 1]!)

describe.each(SEEDS)('numbered events, seed %i', { timeout: LIMIT_MS }, (seed) => {
  /** Each was handled, or was in flight at a death; both only where that came from outside. */
  const expectAll = ({ handled, named, cut }: Outcome): void => {
    expect(new Set(handled).size).toBe(handled.length)
    expect(handled.filter((n) => named.has(n) && !cut.has(n))).toEqual([])
    expect([...new Set([...handled, ...named])].sort((a, b) => a - b)).toEqual(ALL)
  }

  it.each(['sync', 'async'] as const)(
    '%s handlers: each is handled once, in order, or named in flight',
    async (event) => {
      const outcome = await run({ seed, event })
      expect(ascending(outcome.handled)).toBe(true)
      expectAll(outcome)
      const causes = outcome.deaths.map(({ cause, step }) => step ?? cause)
      expect(causes).toEqual(expect.arrayContaining(['out_of_memory', 'watermark', 'unresponsive', 'killed']))
    },
  )

  it('with pause and resume at random moments', async () => {
    const outcome = await run({ seed, event: 'async', pauses: true })
    expect(ascending(outcome.handled)).toBe(true)
    expectAll(outcome)
  })

  it('with concurrency 4: begun in order, handled at most once, and whatever was not is named', async () => {
    const { begun, handled, named } = await run({ seed, event: 'async', concurrency: 4 })
    expect(ascending(begun)).toBe(true)
    expect(new Set(handled).size).toBe(handled.length)
    expect([...new Set([...handled, ...named])].sort((a, b) => a - b)).toEqual(ALL)
  })

  it('with redeliver 2: each is handled in order, once but for those that were cut, or quarantined after its third death', async () => {
    const { begun, handled, cut, letters } = await run({ seed, event: 'sync', redeliver: 2 })
    const quarantined = letters.filter(({ reason }) => reason === 'quarantined').map(({ id }) => id - 1)
    const twice = handled.filter((n, i) => n === handled[i - 1])
    expect(twice.filter((n) => !cut.has(n))).toEqual([])
    const once = [...new Set(handled)]
    expect(ascending(once)).toBe(true)
    expect([...once, ...quarantined].sort((a, b) => a - b)).toEqual(ALL)
    for (const n of quarantined) expect(begun.filter((m) => m === n)).toHaveLength(3)
    expect(begun.length).toBeGreaterThan(handled.length)
  })
})
