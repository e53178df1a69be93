/** A lane over children that are only a phase each: they end and start as the test says, and all it does is written down. */
import type { Agent } from '../../src/actors/agent.ts'
import type { Phase } from '../../src/model/lifecycle.ts'
import { type Child, newChild } from '../../src/supervisor/child.ts'
import { type Entry, Lane } from '../../src/supervisor/lane.ts'
import { FakeClock, nextTurn } from '../../src/testkit/fake-clock.ts'

type Played = { phase: Phase }

const SPEC = {
  restart: { type: 'permanent', backoff: 'none', stableMs: 1, maxRestarts: null },
  shutdown: 5000,
  significant: false,
} as const

export class TestedLane {
  readonly clock = new FakeClock(0)
  readonly log: string[] = []
  readonly lane: Lane
  readonly unwanted = new Set<string>()
  /** Those that do not end by themselves, and what they answer when they are told to. */
  readonly stubborn = new Map<string, { readonly answer: (ended: boolean) => void }>()
  readonly times = new Map<string, number | null>()
  children: readonly Child[]
  #slow = new Set<string>()
  #booting = new Map<string, () => void>()
  #gone = new Map<string, () => void>()

  constructor(ids: string, { together = false, up = true } = {}) {
    const phase: Phase = up ? 'ACTIVE' : 'STOPPED'
    this.children = [...ids].map((id) => newChild(id, { kind: 'agent', agent: { phase } as unknown as Agent }, SPEC))
    this.lane = new Lane({
      clock: this.clock,
      children: () => this.children,
      together,
      wanted: ({ id }) => !this.unwanted.has(id),
      end: ({ id }) => this.#end(id),
      gone: ({ id }) => new Promise<void>((resolve) => this.#gone.set(id, resolve)),
      start: ({ id }, { fresh, why }) => this.#start(id, `${why}${fresh ? ', fresh' : ''}`),
      scheduled: ({ id }, at) => void this.times.set(id, at),
    })
  }

  /** Plans: `a` is restarted, `-a` ended, `+a` started with its supervisor; all at the time given. */
  add(at: number, ...what: readonly string[]): void {
    this.lane.add(new Map(what.map((one) => [one.at(-1)!, entryOf(one, at)])))
  }

  /** The phase is that of an end. */
  fell(id: string): void {
    this.of(id).phase = 'STOPPED'
  }

  /** Does not end before `ended`. */
  slow(id: string): void {
    this.#slow.add(id)
  }

  /** Does not settle before `booted`. */
  boot(id: string): void {
    this.#booting.set(id, () => {})
  }

  booted(id: string): void {
    const resolve = this.#booting.get(id)!
    this.#booting.delete(id)
    this.of(id).phase = 'ACTIVE'
    resolve()
  }

  ended(id: string): void {
    this.fell(id)
    this.log.push(`${id} ended`)
    this.stubborn.get(id)?.answer(true)
    this.#gone.get(id)?.()
  }

  /** Where nothing more happens without time or the test. */
  async quiet(): Promise<string[]> {
    await nextTurn()
    return this.log.splice(0)
  }

  /** The same after a while. */
  async after(ms: number): Promise<string[]> {
    await nextTurn()
    this.clock.advance(ms)
    return this.quiet()
  }

  of(id: string): Played {
    const { member } = this.children.find((child) => child.id === id)!
    return (member as unknown as { agent: Played }).agent
  }

  async #end(id: string): Promise<boolean> {
    this.log.push(`end ${id}`)
    if (!this.#slow.has(id)) {
      this.fell(id)
      return true
    }
    this.of(id).phase = 'STOPPING'
    return new Promise((answer) => this.stubborn.set(id, { answer }))
  }

  async #start(id: string, how: string): Promise<void> {
    this.log.push(`start ${id} (${how})`)
    if (!this.#booting.has(id)) {
      this.of(id).phase = 'ACTIVE'
      return
    }
    this.of(id).phase = 'BOOTING'
    await new Promise<void>((resolve) => this.#booting.set(id, resolve))
  }
}

function entryOf(what: string, at: number): Entry {
  if (what.startsWith('-')) return { dueAt: null, fresh: false, why: 'along' }
  if (what.startsWith('+')) return { dueAt: at, fresh: true, why: 'start' }
  if (what.startsWith('~')) return { dueAt: at, fresh: false, why: 'along' }
  return { dueAt: at, fresh: false, why: 'restart' }
}
