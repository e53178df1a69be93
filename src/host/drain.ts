/**
 * A planned interruption of the host: nothing more is taken from outside, agents work off what they have, and the host
 * ends. As long as any agent works it may send to any other, so none ends before all are through; then they end in
 * reverse start order. `host.ts` hangs it on a host.
 */
import type { Agent } from '../actors/agent.ts'
import type { Directory } from '../actors/directory.ts'
import { HoltError } from '../model/error.ts'
import type { Report } from '../model/fact.ts'
import { type Forecast, forecast } from '../model/forecast.ts'
import { LIVE } from '../model/lifecycle.ts'
import { type Clock, MAX_TIMER_MS } from '../platform/clock.ts'
import type { Scheduler } from '../schedules/scheduler.ts'
import type { ShutdownReport } from './shutdown.ts'

export interface DrainOptions {
  /** For working off; the end after it has its own time. @default 30000 */
  readonly deadlineMs?: number
  readonly by?: string
}

export interface DrainReport extends ShutdownReport {
  /** Agents that had something to work off, in start order, and how many messages each has handled meanwhile. */
  readonly drained: readonly { readonly agent: string; readonly handled: number }[]
  /** What nobody came to; a durable mailbox keeps it for the next host. */
  readonly left: readonly { readonly agent: string; readonly waiting: number }[]
}

export type Drain = (options?: DrainOptions) => Promise<DrainReport>

export interface DrainDeps {
  readonly clock: Clock
  readonly facts: { readonly report: Report }
  readonly directory: Directory
  readonly scheduler: () => Pick<Scheduler, 'close'>
  shutdown(options: { readonly by: string }): Promise<ShutdownReport>
}

export const DRAIN_MS = 30_000
/** How often it is looked whether all are through: they tell nobody. */
const LOOK_MS = 20
/** Looks in a row that find nothing: what one agent has just sent to another is on its way between two turns. */
const QUIET_LOOKS = 2

/** A second call gets the report of the first. @throws HoltError `InvalidOption` */
export function drainer(deps: DrainDeps): Drain {
  let report: Promise<DrainReport> | null = null
  return async ({ deadlineMs = DRAIN_MS, by = 'program' } = {}) => {
    if (!(deadlineMs >= 0 && deadlineMs <= MAX_TIMER_MS))
      throw new HoltError('InvalidOption', `deadlineMs: expected 0 to ${MAX_TIMER_MS}, found ${deadlineMs}`)
    report ??= drain(deps, deadlineMs, by)
    return report
  }
}

async function drain(deps: DrainDeps, deadlineMs: number, by: string): Promise<DrainReport> {
  const { clock, facts, directory } = deps
  const began = clock.now()
  facts.report('host.draining', { by, deadlineMs })
  // What has been begun by the clock is waited for by the shutdown.
  deps
    .scheduler()
    .close()
    .catch(() => {})
  const before = new Map(directory.all().map((agent) => [agent.id, completed(agent)]))
  await quiet(deps, began + deadlineMs)
  const late = directory.all().filter(hasWork)
  const drained = directory.all().flatMap((agent) => {
    const handled = completed(agent) - (before.get(agent.id) ?? 0)
    return handled > 0 ? [{ agent: agent.id, handled }] : []
  })
  const left = directory
    .all()
    .filter(({ inbox }) => inbox.mailbox.depth > 0)
    .map(({ id, inbox }) => ({ agent: id, waiting: inbox.mailbox.depth }))
  const handled = drained.reduce((sum, one) => sum + one.handled, 0)
  facts.report('host.drained', { handled, waiting: late.map(({ id }) => id) })
  const ended = await Promise.all(late.map((agent) => reclaim(agent, by)))
  const { killed, stuck } = await deps.shutdown({ by })
  const reclaimed = late.filter((_, at) => ended[at] === true).map(({ id }) => id)
  const all = [...reclaimed, ...killed.filter((id) => !reclaimed.includes(id))]
  return { tookMs: Math.round(clock.now() - began), drained, left, killed: all, stuck }
}

/** Resolves when no agent has anything left to do, or at the deadline. */
async function quiet({ clock, directory }: DrainDeps, deadline: number): Promise<void> {
  for (let looks = 0; looks < QUIET_LOOKS && clock.now() < deadline; ) {
    // Also those that an agent has added meanwhile.
    for (const agent of directory.all().filter(({ inbox }) => !inbox.draining)) {
      agent.inbox.draining = true
      agent.refresh()
    }
    await new Promise<void>((resolve) => void clock.after(Math.min(LOOK_MS, deadline - clock.now()), resolve))
    looks = directory.all().some(hasWork) ? 0 : looks + 1
  }
}

/** It works, or will: one that is cordoned, suspended or stopped begins nothing, and one that has failed for good neither. */
function hasWork(agent: Agent): boolean {
  const { phase, intent, admission } = agent.standing
  agent.inbox.pump.reclaim()
  if (agent.inbox.pump.inFlight().length > 0) return true
  if (intent !== 'running' || admission === 'cordoned' || agent.inbox.mailbox.depth === 0) return false
  return phase === 'ACTIVE' || phase === 'BOOTING' || agent.startScheduled
}

/** Aborts what an agent is at. True: its thread was ended for it. */
async function reclaim(agent: Agent, by: string): Promise<boolean> {
  const wasLive = LIVE.has(agent.phase)
  const ended = await agent.end({
    cause: 'reclaimed',
    graceMs: agent.spec.limits.abortGraceMs,
    abort: true,
    handOver: false,
    told: { rule: 'host_shutdown', by },
  })
  return wasLive && ended
}

/** Over all its instances; of the one that runs, as its thread has written it down. */
function completed({ inbox, instance }: Agent): number {
  inbox.pump.reclaim()
  return inbox.fates.counters.completed + (instance === null ? 0 : inbox.pump.doneCount)
}

/** @param agents in start order */
export function drainForecast(agents: readonly Agent[]): Forecast {
  const working = agents.filter(hasWork).map(({ id, inbox }) => `${id} (${inbox.mailbox.depth})`)
  const first = working.length === 0 ? 'nothing is left to work off' : `first these work off: ${working.join(', ')}`
  return forecast(`take nothing more from outside and end the host; ${first}`)
}
