/**
 * A whole host with a clock that stands still and threads that are none: supervision, back-off, watchdog and schedules
 * run in milliseconds, in an order that is the same every time.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHost } from '../host/boot.ts'
import type { Host } from '../host/host.ts'
import type { HostOptions } from '../host/options.ts'
import type { MemoryReading } from '../platform/memory.ts'
import { FakeClock } from './fake-clock.ts'
import { type FakeBehaviours, FakeThreads } from './fake-thread.ts'

export interface TestHostOptions extends Omit<HostOptions, 'baseDir'> {
  /** Folder that paths in a fleet object are relative to. @default one of its own, with a file for every path it names */
  readonly baseDir?: string
  /** How threads behave, by agent. @default all boot at once and handle everything */
  readonly behaviours?: Readonly<Record<string, FakeBehaviours>>
  /** What is left of memory, and what the process has. @default as much as is asked for */
  readonly memory?: () => MemoryReading
  /** In place of the random number behind jitter, in [0, 1). @default 0.5 always, which is no jitter */
  readonly random?: () => number
}

export class TestHost {
  readonly host: Host
  readonly clock: FakeClock
  readonly threads: FakeThreads
  readonly #dir: string | null

  constructor(host: Host, clock: FakeClock, threads: FakeThreads, dir: string | null) {
    this.host = host
    this.clock = clock
    this.threads = threads
    this.#dir = dir
  }

  /** Lets everything happen that needs no time. */
  settle(): Promise<void> {
    return settle(this.clock)
  }

  /** Moves the clock, timer by timer, and lets what each has caused happen before the next. */
  async advance(ms: number): Promise<void> {
    const end = this.clock.now() + ms
    await this.settle()
    for (let due = this.clock.nextDue; due !== null && due <= end; due = this.clock.nextDue) {
      this.clock.advance(Math.max(0, due - this.clock.now()))
      await this.settle()
    }
    this.clock.advance(Math.max(0, end - this.clock.now()))
    await this.settle()
  }

  /**
   * Waits for something that takes time by the host's clock, moving it as far as that needs.
   * @throws when an hour by that clock has not brought it
   */
  finish<T>(work: Promise<T>): Promise<T> {
    return finish(this.clock, work)
  }

  /** Ends the host; leaves nothing behind. */
  async close(): Promise<void> {
    for (const thread of this.threads.alive) if (thread.behaviour.unkillable === true) thread.release()
    await this.finish(this.host.shutdown())
    if (this.#dir !== null) await rm(this.#dir, { recursive: true, force: true })
  }
}

/**
 * Opens and starts a host of this kind; resolves once every agent has settled, as `createHost` does.
 * @throws as `createHost`
 */
export async function createTestHost(options: TestHostOptions): Promise<TestHost> {
  const { behaviours = {}, random = () => 0.5, memory = () => PLENTY, ...rest } = options
  const clock = new FakeClock()
  const threads = new FakeThreads(clock)
  for (const [agent, behaviour] of Object.entries(behaviours)) threads.behave(agent, behaviour)
  const dir =
    rest.baseDir === undefined && typeof rest.fleet !== 'string' ? await mkdtemp(join(tmpdir(), 'holt-test-')) : null
  if (dir !== null) await writeFile(join(dir, ROLE), '')
  const fleet = dir === null || typeof rest.fleet === 'string' ? rest.fleet : withRoles(rest.fleet)
  const opened = openHost(
    { log: 'silent', stateDir: ':memory:', ...rest, fleet, ...(dir === null ? {} : { baseDir: dir }) },
    { clock, random, threads, memory, compile: async () => [] },
  )
  // It takes over what is in its state by its clock.
  const host = await finish(clock, opened)
  const kit = new TestHost(host, clock, threads, dir)
  await kit.finish(host.start())
  return kit
}

const ROLE = 'role.js'
const PLENTY: MemoryReading = { availableMb: null, rssMb: 0 }

/** A fake thread loads nothing, but a manifest names a role. */
function withRoles<T>(node: T): T {
  if (Array.isArray(node)) return node.map(withRoles) as T
  if (typeof node !== 'object' || node === null) return node
  const mapped = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, withRoles(value)]))
  return ('id' in mapped && 'name' in mapped && !('roles' in mapped) ? { ...mapped, roles: [ROLE] } : mapped) as T
}

const GIVE_UP_MS = 3_600_000

/** Waits for something that takes time by this clock, moving it as far as that needs. */
async function finish<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  const giveUpAt = clock.now() + GIVE_UP_MS
  let done = false
  const settled = work.finally(() => {
    done = true
  })
  settled.catch(() => {})
  await settle(clock)
  while (!done) {
    const due = clock.nextDue
    if (due === null || due > giveUpAt)
      throw new Error(`waited in vain: not done after ${GIVE_UP_MS} ms by the host's clock`)
    clock.advance(Math.max(0, due - clock.now()))
    await settle(clock)
  }
  return settled
}

/** So many turns without anything put off: a message takes one each way, and what it causes may send more. */
const QUIET_TURNS = 4
/** Real time for the one thing here that is not ours: reading an agent's files. */
const PATIENCE_MS = 1000

async function settle(clock: FakeClock): Promise<void> {
  const patientUntil = performance.now() + PATIENCE_MS
  for (let quiet = 0; quiet < QUIET_TURNS; quiet++) {
    clock.drainSoon()
    await new Promise((resolve) => setImmediate(resolve))
    if (clock.hasSoon || (isReadingFiles() && performance.now() < patientUntil)) quiet = 0
  }
}

const isReadingFiles = (): boolean =>
  process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq') || name === 'CloseReq')
