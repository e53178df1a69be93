/**
 * The scheduler's way to the agents: where each is, how a due event reaches it, and what is told of it. The rules of time
 * are in the room of the schedules.
 */
import type { Agent } from '../actors/agent.ts'
import type { Directory } from '../actors/directory.ts'
import type { AgentManifest } from '../manifest/agent-manifest.ts'
import { HoltError } from '../model/error.ts'
import type { Report } from '../model/fact.ts'
import type { Fate } from '../model/message.ts'
import type { Clock } from '../platform/clock.ts'
import { checkSchedule } from '../schedules/check.ts'
import { type AgentMode, type Delivered, messageIdOf, type ScheduleReport } from '../schedules/ports.ts'
import { Scheduler } from '../schedules/scheduler.ts'
import type { Store } from '../store/store.ts'

export interface SchedulesDeps {
  readonly clock: Clock
  readonly store: Store
  readonly directory: Directory
  readonly report: Report
}

export function openScheduler({ clock, store, directory, report }: SchedulesDeps): Scheduler {
  return new Scheduler({
    clock,
    store: store.schedules,
    mode: (agent) => modeOf(directory.find(agent)),
    deliver: async (id, { id: schedule, event, payload }, dueAt) => {
      const messageId = messageIdOf(id, schedule, dueAt)
      return delivered(await directory.get(id).inbox.emit(event, payload, { messageId }))
    },
    isAccepted: (messageId) => store.mailboxes.seen(messageId.split(':')[1] ?? '', messageId),
    report: (what) => tell(what, report),
  })
}

/** What may be sent to an agent now. */
function modeOf(agent: Agent | undefined): AgentMode {
  if (agent === undefined) return 'gone'
  if (agent.standing.intent !== 'running') return 'hold'
  if (agent.phase === 'ACTIVE') return 'deliver'
  // A first boot takes nothing: what is due meanwhile is decided once it is up.
  return agent.inbox.takes ? 'queue' : 'hold'
}

const delivered = ({ fate, reason }: Fate): Delivered =>
  reason === undefined ? { outcome: fate } : { outcome: fate, detail: reason }

function tell(what: ScheduleReport, report: Report): void {
  switch (what.kind) {
    case 'fired': {
      const { agent, kind: _, ...data } = what
      return report('schedule.fired', data, { agent })
    }
    case 'skipped': {
      const { agent, kind: _, ...data } = what
      return report('schedule.skipped', data, { agent })
    }
    case 'missed': {
      const { agent, kind: _, ...data } = what
      return report('schedule.missed', data, { agent })
    }
    case 'clock_stepped':
      return report('host.clock_stepped', { byMs: Math.round(what.byMs) })
    case 'not_recorded':
    case 'unreadable': {
      const detail = what.kind === 'unreadable' ? what.detail : messageOf(what.error)
      return report('schedule.failed', { schedule: what.schedule, detail }, { agent: what.agent })
    }
    default:
      what satisfies never
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** @throws HoltError `InvalidManifest` naming the first schedule that cannot be kept, and why */
export function checkSchedules({ id, file, schedules }: AgentManifest): void {
  for (const [index, schedule] of schedules.entries()) {
    const fault = checkSchedule(schedule)
    if (fault === null) continue
    throw new HoltError('InvalidManifest', `${file ?? `agent '${id}'`}: schedules[${index}]: ${fault}`, { index })
  }
}
