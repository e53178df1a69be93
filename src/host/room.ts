/**
 * Lets an agent start where there is memory for it. Whoever asks for one agent is refused; what starts along with its
 * supervisor is left aside, in order, and tried again while there is memory. What ran before is never asked about here: a
 * restart takes the place of the one that died.
 */
import type { Agent } from '../actors/agent.ts'
import type { Directory } from '../actors/directory.ts'
import { HoltError } from '../model/error.ts'
import type { Report } from '../model/fact.ts'
import { LIVE } from '../model/lifecycle.ts'
import { type NoRoom, noRoom } from '../model/room.ts'
import type { Clock, Timer } from '../platform/clock.ts'
import type { MemoryReading } from '../platform/memory.ts'
import { isGrouped } from '../supervisor/strategy.ts'
import type { Commands } from './commands.ts'
import type { Tree } from './tree.ts'

/** How often agents that were left aside are tried again. */
const RETRY_MS = 5000

export interface RoomParts {
  readonly clock: Clock
  readonly report: Report
  readonly read: () => MemoryReading
  /** MB that are to stay free; 0: nothing is looked at. */
  readonly minFreeMb: number
  readonly directory: Pick<Directory, 'all'>
  readonly tree: () => Pick<Tree, 'above'>
  readonly commands: () => Pick<Commands, 'holding'>
}

/** An agent, or one that is to be made. */
export interface Asking {
  readonly id: string
  readonly spec: { readonly limits: { readonly heapMb: number } }
}

export class Room {
  readonly #parts: RoomParts
  /** What the process had when its host was opened. */
  readonly #baseMb: number
  /** Left aside, in start order, with why. */
  readonly #waiting = new Map<Agent, string>()
  #timer: Timer | null = null
  #trying = false
  #closed = false

  constructor(parts: RoomParts) {
    this.#parts = parts
    this.#baseMb = parts.minFreeMb === 0 ? 0 : parts.read().rssMb
  }

  /** @throws HoltError `NotEnoughMemory` */
  check({ id, spec }: Asking): void {
    const lacking = this.#lacking(id, spec.limits.heapMb)
    if (lacking === null) return
    const { text, ...details } = lacking
    throw new HoltError('NotEnoughMemory', text, details)
  }

  /** Of one that was left aside and is to be started by a command that asks nobody else. @throws HoltError `NotEnoughMemory` */
  checkAside(agent: Agent): void {
    if (this.whyNot(agent) !== null) this.check(agent)
  }

  /** Asked just before an agent starts along with its supervisor. One that does not is tried again later. */
  admits(agent: Agent): boolean {
    const why = this.#inTheWay(agent) ?? this.#lacking(agent.id, agent.spec.limits.heapMb)?.text ?? null
    if (why === null) {
      this.#waiting.delete(agent)
      return true
    }
    if (!this.#waiting.has(agent)) this.#parts.report('agent.not_started', { text: why }, { agent: agent.id })
    this.#waiting.set(agent, why)
    agent.schedule(null)
    if (!this.#closed) this.#timer ??= this.#parts.clock.every(RETRY_MS, () => void this.#tryAgain())
    return false
  }

  /** Why it is left aside; null: it is not. */
  whyNot(agent: Agent): string | null {
    const why = this.#waiting.get(agent)
    if (why === undefined || !isAside(agent)) return null
    return `not started for want of memory: ${why}. It is tried again every ${RETRY_MS / 1000} s`
  }

  close(): void {
    this.#closed = true
    this.#timer?.cancel()
    this.#waiting.clear()
  }

  #lacking(agent: string, heapMb: number): NoRoom | null {
    const { read, minFreeMb, directory } = this.#parts
    if (minFreeMb === 0) return null
    const { availableMb, rssMb } = read()
    const threads = directory.all().filter(({ phase }) => LIVE.has(phase)).length
    return noRoom({ agent, availableMb, minFreeMb, grownMb: rssMb - this.#baseMb, threads, heapMb })
  }

  /** Under a supervisor that restarts groups, those after one that is left aside are too. */
  #inTheWay({ id }: Agent): string | null {
    const tree = this.#parts.tree()
    const groups = tree.above(id).filter(({ options }) => isGrouped(options.strategy))
    for (const other of this.#waiting.keys()) {
      if (other.id === id) return null
      const above = isAside(other) ? tree.above(other.id) : []
      if (groups.some((group) => above.includes(group))) return `it starts after '${other.id}', which waits for memory`
    }
    return null
  }

  /** One after the other, so that each is measured; the first for which there is no room holds up the rest. */
  async #tryAgain(): Promise<void> {
    if (this.#trying) return
    this.#trying = true
    await this.#tryEach()
    this.#trying = false
    if (this.#waiting.size > 0) return
    this.#timer?.cancel()
    this.#timer = null
  }

  async #tryEach(): Promise<void> {
    const [tree, commands] = [this.#parts.tree(), this.#parts.commands()]
    for (const agent of [...this.#waiting.keys()]) {
      if (!isAside(agent) || tree.above(agent.id)[0]?.up !== true) this.#waiting.delete(agent)
      if (this.#closed || !this.#waiting.has(agent) || commands.holding(agent.id) !== null) continue
      if (!this.admits(agent)) return
      await agent.start(true)
    }
  }
}

/** It is wanted, does not run, and nothing else has it start. */
const isAside = ({ phase, standing }: Agent): boolean =>
  standing.intent === 'running' && !LIVE.has(phase) && !standing.startScheduled
