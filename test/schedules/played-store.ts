/** A store of schedules in memory that keeps the contract: calls in order, one commit each, and what a crash leaves. */
import type { ScheduleRun } from '../../src/model/schedule.ts'
import type { ScheduleRow, ScheduleStore } from '../../src/schedules/store-contract.ts'

const keyOf = (agent: string, id: string): string => `${agent}/${id}`

export class PlayedStore implements ScheduleStore {
  readonly rows = new Map<string, ScheduleRow>()
  readonly runs = new Map<string, ScheduleRun>()
  commits = 0
  /** Set: commits fail with it. */
  broken: Error | null = null
  /** Set: commits wait until `goOn`. */
  held = false
  #waiting: (() => void)[] = []

  async load() {
    const pending = [...this.runs.values()].filter(({ outcome }) => outcome === 'pending')
    return { rows: [...this.rows.values()], pending: pending.toSorted((a, b) => a.dueAt - b.dueAt) }
  }

  save(row: ScheduleRow | null, runs: readonly ScheduleRun[]): Promise<void> {
    return this.#commit(() => {
      if (row !== null) this.rows.set(keyOf(row.agent, row.id), structuredClone(row))
      for (const run of runs) this.runs.set(`${keyOf(run.agent, run.schedule)}/${run.dueAt}`, { ...run })
    })
  }

  remove(agent: string, id: string): Promise<void> {
    return this.#commit(() => void this.rows.delete(keyOf(agent, id)))
  }

  removeAgent(agent: string): Promise<void> {
    return this.#commit(() => {
      for (const map of [this.rows, this.runs]) {
        for (const key of [...map.keys()].filter((one) => one.startsWith(`${agent}/`))) map.delete(key)
      }
    })
  }

  async history(agent: string, id: string, limit: number): Promise<readonly ScheduleRun[]> {
    const of = [...this.runs.values()].filter((run) => run.agent === agent && run.schedule === id)
    return of.toSorted((a, b) => b.dueAt - a.dueAt).slice(0, limit)
  }

  /** Lets through what was held; from now on nothing is. */
  goOn(): void {
    this.held = false
    for (const commit of this.#waiting.splice(0)) commit()
  }

  /** What is on disk, for the next host. */
  afterCrash(): PlayedStore {
    const next = new PlayedStore()
    for (const [key, row] of this.rows) next.rows.set(key, row)
    for (const [key, run] of this.runs) next.runs.set(key, run)
    return next
  }

  #commit(change: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const now = (): void => {
        if (this.broken !== null) return reject(this.broken)
        change()
        this.commits++
        resolve()
      }
      if (this.held) this.#waiting.push(now)
      else now()
    })
  }
}
