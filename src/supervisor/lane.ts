/**
 * A lane brings children back one after the other: what is still up of its plan ends first, in reverse, then each is
 * started in order once its time has come. A supervisor that restarts groups has one lane, any other has one a child.
 * Between any two steps the plan may change: a stop takes out what was to start.
 */
import type { Clock, Timer } from '../platform/clock.ts'
import { type Child, isEnding, isLive } from './child.ts'

/** What a lane is to do with a child. */
export interface Entry {
  /** Monotonic ms before which it does not start; null: it is ended and stays so. */
  readonly dueAt: number | null
  /** Read its files again; else it is a restart of what was last accepted. */
  readonly fresh: boolean
  /**
   * `start`: with its supervisor; what is up already stays so. `restart`: it died, and this brings it back. `along`: a
   * sibling did, and it is restarted, or ended, with that one.
   */
  readonly why: 'start' | 'restart' | 'along'
}

export interface LaneDeps {
  readonly clock: Clock
  /** The children in start order; others than those of the plan are left alone. */
  children(): readonly Child[]
  /** All of the plan wait for the latest of their times. */
  readonly together: boolean
  /** The last look before a start: whether it is still wanted. */
  wanted(child: Child): boolean
  /** Resolves once it has ended: true; false where it cannot be ended yet. */
  end(child: Child): Promise<boolean>
  /** Resolves when what is ending, or could not be ended, has ended. */
  gone(child: Child): Promise<unknown>
  /** Resolves when it has settled, in whatever way. */
  start(child: Child, entry: Entry): Promise<unknown>
  /** When its start is to come; null: it is off. */
  scheduled(child: Child, at: number | null): void
}

export class Lane {
  readonly #deps: LaneDeps
  readonly #plan = new Map<string, Entry>()
  #running = false
  /** It waits for a time to come, or for a thread that cannot be ended. */
  #resting = false
  #wake: () => void = () => {}
  #waiters: (() => void)[] = []

  constructor(deps: LaneDeps) {
    this.#deps = deps
  }

  /** Takes these in; for a child that is in the plan already the later time holds. */
  add(entries: ReadonlyMap<string, Entry>): void {
    for (const [id, entry] of entries) this.#plan.set(id, merged(this.#plan.get(id), entry))
    this.#showTimes()
    this.#wake()
    if (!this.#running) void this.#run()
  }

  /** What was planned for it is off. */
  remove(id: string): void {
    if (!this.#plan.delete(id)) return
    this.#showTimes()
    this.#wake()
  }

  clear(): void {
    const planned = this.#planned()
    this.#plan.clear()
    for (const child of planned) if (!isLive(child)) this.#deps.scheduled(child, null)
    this.#wake()
  }

  has(id: string): boolean {
    return this.#plan.has(id)
  }

  /** When this child's start comes, by the plan as it stands; null where none does. */
  dueAt(id: string): number | null {
    const entry = this.#plan.get(id)
    if (entry === undefined || entry.dueAt === null) return null
    const before = this.#planned().slice(0, this.#deps.together ? undefined : this.#place(id) + 1)
    return Math.max(...before.map((child) => this.#plan.get(child.id)?.dueAt ?? 0))
  }

  /** Resolves once it has done all it can do now: the plan is empty, or waits for its time. */
  settled(): Promise<void> {
    if (!this.#running || this.#resting) return Promise.resolve()
    return new Promise((resolve) => this.#waiters.push(resolve))
  }

  // --- inside ------------------------------------------------------------------------------------------------------

  async #run(): Promise<void> {
    this.#running = true
    // Whoever plans is in the middle of a death; nothing starts before that has been told.
    await null
    while (this.#plan.size > 0) await this.#step()
    this.#running = false
    this.#tellSettled()
  }

  async #step(): Promise<void> {
    const planned = this.#planned()
    const up = planned.findLast((child) => isLive(child) && this.#plan.get(child.id)?.why !== 'start')
    if (up !== undefined) return this.#end(up)
    for (const { id } of planned) if (this.#plan.get(id)?.dueAt === null) this.#plan.delete(id)
    const next = planned.find(({ id }) => this.#plan.has(id))
    // What was planned is no child any more.
    if (next === undefined) return this.#plan.clear()
    const { clock, start, gone, wanted, scheduled } = this.#deps
    // By another's word: what is started before that has been done would be ended by it.
    if (isEnding(next)) return this.#rest(gone(next))
    const entry = this.#plan.get(next.id)!
    const waitMs = Math.max(0, this.dueAt(next.id)! - clock.now())
    // Every restart goes through the clock, also one at once: a stop gets in between any two.
    if ((entry.why !== 'start' || waitMs > 0) && !(await this.#slept(waitMs))) return
    // What came in the moment in which it woke counts too.
    if (this.#plan.get(next.id) !== entry) return
    this.#plan.delete(next.id)
    if (wanted(next)) await start(next, entry)
    else scheduled(next, null)
  }

  /** A thread that cannot be ended holds the plan, not those who change it. */
  async #end(child: Child): Promise<void> {
    const { end, gone } = this.#deps
    const ended = await Promise.race([end(child), this.#changed().then(() => null)])
    if (ended === false) await this.#rest(gone(child))
    this.#showTimes()
  }

  /** True when the time has passed, false when the plan has changed meanwhile. */
  async #slept(ms: number): Promise<boolean> {
    let timer: Timer | undefined
    let done = false
    const passed = new Promise<void>((resolve) => {
      timer = this.#deps.clock.after(ms, () => {
        done = true
        resolve()
      })
    })
    await this.#rest(passed)
    timer?.cancel()
    return done
  }

  /** Waits for this, or for the plan to change. */
  async #rest(until: Promise<unknown>): Promise<void> {
    this.#resting = true
    this.#tellSettled()
    await Promise.race([until, this.#changed()])
    this.#resting = false
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        // From this moment on it is at work again; whoever asks in the same turn has to wait.
        this.#resting = false
        resolve()
      }
    })
  }

  #planned(): Child[] {
    return this.#deps.children().filter(({ id }) => this.#plan.has(id))
  }

  #place(id: string): number {
    return this.#planned().findIndex((child) => child.id === id)
  }

  #showTimes(): void {
    for (const child of this.#planned()) if (!isLive(child)) this.#deps.scheduled(child, this.dueAt(child.id))
  }

  #tellSettled(): void {
    for (const resolve of this.#waiters.splice(0)) resolve()
  }
}

function merged(before: Entry | undefined, entry: Entry): Entry {
  if (before === undefined) return entry
  // Ended for good beats a start: nothing that is `temporary` comes back by a sibling's death.
  const dueAt = before.dueAt === null || entry.dueAt === null ? null : Math.max(before.dueAt, entry.dueAt)
  const why = [before.why, entry.why].includes('restart') ? 'restart' : entry.why
  return { dueAt, fresh: before.fresh || entry.fresh, why }
}
