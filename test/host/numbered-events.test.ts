/**
 * The proof that matters most: numbered events into an agent that kills its own thread at random (throw, process.exit,
 * unhandled rejection, out of memory). Every number is handled exactly once, in order, or is the one that a death record
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

const EVENTS = Number(process.env['HOLT_EVENTS'] ?? 10_000)
const LIMIT_MS = 120_000 * Math.max(1, EVENTS / 10_000)
const SEEDS = [20_261_130, Math.floor(Math.random() * 2 ** 31)]
/** Numbers whose handler fills the heap. */
const FILLS = [Math.floor(EVENTS / 3), Math.floor(EVENTS / 2)]
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
  readonly named: Set<number>
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

const fleet = ({ concurrency = 1, redeliver = 0 }: Case): FleetObject => ({
  supervisor: { id: 'root', strategy: 'one_for_one', intensity: 10_000, periodMs: 1000 },
  children: [
    {
      agent: {
        id: 'counter',
        name: 'Counter',
        roles: ['roles/count.ts'],
        limits: { heapMb: 16 },
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
  for (let n = 0; n < EVENTS; n++) {
    while (!agent.hasRoom) {
      if (agent.snapshot().admission === 'cordoned') await agent.resume()
      await agent.room()
    }
    const fill = n === FILLS[0] || n === FILLS[1]
    expect(agent.tell(c.event, { n, seed: c.seed, journal, ...(fill ? { fill } : {}) })).toBe(true)
    if (c.pauses !== true || random.next().value > 0.004) continue
    if (agent.snapshot().admission === 'cordoned') await agent.resume()
    else await agent.pause()
  }
  if (agent.snapshot().admission === 'cordoned') await agent.resume()
  await drained(agent)
  await host.shutdown()
  const lines = readFileSync(journal, 'utf8').trim().split('\n')
  const of = (kind: string): number[] =>
    lines.filter((line) => line.startsWith(kind)).map((line) => Number(line.slice(2)))
  // Nothing else was sent, so message 1 is number 0.
  const named = new Set(deaths.flatMap(({ inFlight }) => inFlight.map(({ id }) => id - 1)))
  return { begun: of('b'), handled: of('h'), named, deaths, letters }
}

/** Settles when nothing waits and nothing runs, whatever the agent still dies of. */
async function drained(agent: ReturnType<Host['agent']>): Promise<void> {
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
  it.each(['sync', 'async'] as const)(
    '%s handlers: each is handled once, in order, or named in flight',
    async (event) => {
      const { handled, named, deaths } = await run({ seed, event })
      expect(ascending(handled)).toBe(true)
      expect(handled.filter((n) => named.has(n))).toEqual([])
      expect([...handled, ...named].sort((a, b) => a - b)).toEqual(ALL)
      expect(new Set(deaths.map(({ cause }) => cause)).size).toBeGreaterThan(1)
    },
  )

  it('with pause and resume at random moments', async () => {
    const { handled, named } = await run({ seed, event: 'async', pauses: true })
    expect(ascending(handled)).toBe(true)
    expect(handled.filter((n) => named.has(n))).toEqual([])
    expect([...handled, ...named].sort((a, b) => a - b)).toEqual(ALL)
  })

  it('with concurrency 4: begun in order, handled at most once, and whatever was not is named', async () => {
    const { begun, handled, named } = await run({ seed, event: 'async', concurrency: 4 })
    expect(ascending(begun)).toBe(true)
    expect(new Set(handled).size).toBe(handled.length)
    expect([...new Set([...handled, ...named])].sort((a, b) => a - b)).toEqual(ALL)
  })

  it('with redeliver 2: each is handled once and in order, or quarantined after its third death', async () => {
    const { begun, handled, letters } = await run({ seed, event: 'sync', redeliver: 2 })
    const quarantined = letters.filter(({ reason }) => reason === 'quarantined').map(({ id }) => id - 1)
    expect(ascending(handled)).toBe(true)
    expect([...handled, ...quarantined].sort((a, b) => a - b)).toEqual(ALL)
    for (const n of quarantined) expect(begun.filter((m) => m === n)).toHaveLength(3)
    expect(begun.length).toBeGreaterThan(handled.length)
  })
})
