/**
 * A clock that stands still until it is told to move. Monotonic and wall time move together by `advance`; `stepWall`
 * moves the wall alone, as an administrator or a network time server would. Nothing here is asynchronous.
 */
import type { Clock, Timer } from '../platform/clock.ts'

interface Waiting {
  readonly id: number
  readonly due: number
  readonly call: () => void
  /** Of a repeating timer. */
  readonly everyMs?: number
}

export class FakeClock implements Clock {
  #now: number
  #wall: number
  #waiting: Waiting[] = []
  #soon: (() => void)[] = []
  #nextId = 0

  constructor(nowMs = 1000, wallMs = Date.UTC(2026, 0, 1)) {
    this.#now = nowMs
    this.#wall = wallMs
  }

  now(): number {
    return this.#now
  }

  /** Whole, as that of the machine. */
  wall(): number {
    return Math.floor(this.#wall)
  }

  after(ms: number, call: () => void): Timer {
    return this.#add({ id: this.#nextId++, due: this.#now + ms, call })
  }

  every(ms: number, call: () => void): Timer {
    return this.#add({ id: this.#nextId++, due: this.#now + ms, call, everyMs: ms })
  }

  soon(call: () => void): void {
    this.#soon.push(call)
  }

  /** Timers that are set. */
  get timers(): number {
    return this.#waiting.length
  }

  /** Whether something was put off by `soon`. */
  get hasSoon(): boolean {
    return this.#soon.length > 0
  }

  /** Moves time and fires what falls due, in the order of its time; timers set meanwhile count too. */
  advance(ms: number): void {
    const end = this.#now + ms
    for (let next = this.#nextBy(end); next !== undefined; next = this.#nextBy(end)) {
      this.#moveTo(next.due)
      if (next.everyMs === undefined) this.#waiting.splice(this.#waiting.indexOf(next), 1)
      else this.#waiting[this.#waiting.indexOf(next)] = { ...next, due: next.due + next.everyMs }
      next.call()
    }
    this.#moveTo(end)
  }

  /** When the next timer falls due, monotonic ms; null where none is set. */
  get nextDue(): number | null {
    return this.#nextBy(Number.POSITIVE_INFINITY)?.due ?? null
  }

  stepWall(ms: number): void {
    this.#wall += ms
  }

  /** Runs what was put off by `soon`, also what that puts off in its turn. */
  drainSoon(): void {
    for (let call = this.#soon.shift(); call !== undefined; call = this.#soon.shift()) call()
  }

  #add(waiting: Waiting): Timer {
    this.#waiting.push(waiting)
    return {
      cancel: () => {
        this.#waiting = this.#waiting.filter(({ id }) => id !== waiting.id)
      },
    }
  }

  /** The earliest that is due by `end`; of equals the one that was set first. */
  #nextBy(end: number): Waiting | undefined {
    let first: Waiting | undefined
    for (const waiting of this.#waiting) {
      if (waiting.due <= end && (first === undefined || waiting.due < first.due)) first = waiting
    }
    return first
  }

  #moveTo(now: number): void {
    if (now <= this.#now) return
    this.#wall += now - this.#now
    this.#now = now
  }
}

/** The next turn of the loop: what was put off by `process.nextTick` and by promises has run. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
