/** An agent as data, read at one moment. */
import { axesOf, classify } from '../model/canonical.ts'
import type { InFlight } from '../model/death.ts'
import { CELL } from '../model/flight-recorder.ts'
import type { IntentRecord } from '../model/intent.ts'
import type { AgentSnapshot } from '../model/snapshot.ts'
import type { Clock } from '../platform/clock.ts'
import { describeInFlight } from './aftermath.ts'
import type { Agent } from './agent.ts'
import { NO_REMAINS } from './pump.ts'

/** What the agent itself does not know. */
export interface SnapshotContext {
  readonly clock: Clock
  readonly intent: IntentRecord
  readonly supervisor: string
  readonly command: AgentSnapshot['command']
}

export function snapshotOf(agent: Agent, { clock, intent, supervisor, command }: SnapshotContext): AgentSnapshot {
  const { standing, spec } = agent
  const axes = axesOf(standing)
  const inFlight = agent.inbox.pump.inFlight().length
  const tasks = tasksOf(agent)
  const wallNow = clock.wall()
  const toWall = (monotonic: number): number => Math.round(wallNow + monotonic - clock.now())
  return {
    id: agent.id,
    name: spec.name,
    version: spec.version,
    phase: agent.phase,
    status: classify(axes),
    intent: intent.intent,
    admission: intent.admission,
    generation: intent.generation,
    isolation: 'thread',
    supervisor,
    axes,
    healthCause: agent.healthCause,
    unkillable: agent.unkillable,
    superseded: standing.superseded,
    activity: inFlight > 0 ? 'busy' : 'idle',
    instance: instanceOf(agent, clock),
    restarts: agent.restarts,
    nextRestartAt: agent.nextStartAt === null ? null : toWall(agent.nextStartAt),
    changedOnDisk: agent.changedOnDisk,
    command,
    pausedSince: intent.pausedSince,
    pausedBy: intent.pausedBy,
    reason: intent.admission === 'cordoned' ? (intent.pausedReason ?? intent.reason) : intent.reason,
    mailbox: mailboxOf(agent, clock, inFlight),
    tasks,
    heapUsedMb: heapOf(agent),
    lastDeath: agent.lastDeath,
  }
}

/** Messages over all instances: those of dead ones, and what the recorder says of this one. */
export function tasksOf({ inbox, instance }: Agent): AgentSnapshot['tasks'] {
  inbox.pump.reclaim()
  const { received, completed, failed } = inbox.fates.counters
  if (instance === null) return { received, completed, failed }
  return {
    received,
    completed: completed + inbox.pump.doneCount,
    failed: failed + instance.recorder.read(CELL.failed),
  }
}

/** What runs now. */
export function inFlightOf({ inbox, instance }: Agent, clock: Clock): InFlight[] {
  const begunAt = clock.wall() - (clock.now() - (instance?.recorder.turnAt ?? 0))
  return describeInFlight(inbox, { ...NO_REMAINS, inFlight: inbox.pump.inFlight() }, begunAt)
}

/** Of the live instance; of the last one where that has not said yet. */
function heapOf({ instance, lastDeath }: Agent): number | null {
  const live = instance?.recorder.heapUsedMb ?? 0
  return live > 0 ? live : (lastDeath?.heapUsedMb ?? null)
}

function instanceOf({ instance }: Agent, clock: Clock): AgentSnapshot['instance'] {
  if (instance === null) return null
  const { id, epoch, startedAtWall, startedAt } = instance
  return { id, epoch, startedAt: startedAtWall, uptimeMs: Math.round(clock.now() - startedAt) }
}

/** `depth` counts what waits, wherever it waits; what runs is counted beside it. */
export function mailboxOf({ inbox, spec }: Agent, clock: Clock, inFlight: number): AgentSnapshot['mailbox'] {
  const { mailbox, fates } = inbox
  const oldest = mailbox.positions().next()
  return {
    depth: Math.max(0, mailbox.depth - inFlight),
    capacity: spec.mailbox.capacity,
    inFlight,
    oldestAgeMs: oldest.done === true ? null : Math.round(clock.now() - mailbox.timeAt(oldest.value)),
    dropped: fates.counters.dropped,
    ignored: fates.counters.ignored,
  }
}
