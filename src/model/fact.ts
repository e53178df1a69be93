/**
 * Every fact the runtime reports, in one table: its level and its own sentence, so that log, journal and stream agree.
 */

export type Level = 'debug' | 'info' | 'warn' | 'error'

interface FactRow<D> {
  readonly level: Level
  readonly say: (data: D) => string
}

const fact = <D extends object>(level: Level, say: (data: D) => string): FactRow<D> => ({ level, say })

export const FACTS = {
  'host.started': fact<{ agents: number; tookMs: number }>(
    'info',
    (d) => `host is up: ${d.agents} agents settled in ${d.tookMs} ms`,
  ),
  'host.heaps_exceed_memory': fact<{ heapsMb: number; memoryMb: number }>(
    'warn',
    (d) =>
      `the heaps of all agents add up to ${d.heapsMb} MB, and there are ${d.memoryMb} MB: lower limits.heapMb, or host fewer agents`,
  ),
  'host.draining': fact<{ by: string; deadlineMs: number }>(
    'info',
    (d) => `host is draining (${d.by}), within ${d.deadlineMs} ms: it takes nothing more from outside`,
  ),
  'host.drained': fact<{ handled: number; waiting: string[] }>('info', ({ handled, waiting }) =>
    waiting.length === 0
      ? `host is drained: ${handled} messages were worked off`
      : `${handled} messages were worked off; the time was up for: ${waiting.join(', ')}`,
  ),
  'host.stopping': fact<{ by: string; deadlineMs: number }>(
    'info',
    (d) => `host is shutting down (${d.by}), within ${d.deadlineMs} ms`,
  ),
  'host.stopped': fact<{ killed: string[]; stuck: string[] }>('info', ({ killed, stuck }) => {
    if (killed.length + stuck.length === 0) return 'host stopped, every agent ended in time'
    const past = killed.length === 0 ? '' : `; killed past the deadline: ${killed.join(', ')}`
    return `host stopped${past}${stuck.length === 0 ? '' : `; could not be ended: ${stuck.join(', ')}`}`
  }),
  'agent.phase': fact<{ from: string; to: string; status: string }>(
    'debug',
    (d) => `${d.from} to ${d.to} (${d.status})`,
  ),
  'agent.intent': fact<{ intent: string; admission: string; by: string; reason: string | null; generation: number }>(
    'info',
    (d) => `intent is ${d.intent}, admission ${d.admission}, by ${d.by}${d.reason === null ? '' : ` (${d.reason})`}`,
  ),
  'agent.command': fact<{ command: string; by: string; reason: string | null; outcome: string }>(
    'info',
    (d) => `'${d.command}' by ${d.by}${d.reason === null ? '' : ` (${d.reason})`}: ${d.outcome}`,
  ),
  'agent.died': fact<{ deathId: string; cause: string; class: string; text: string }>('warn', (d) => d.text),
  'agent.not_started': fact<{ text: string }>('warn', (d) => `not started for want of memory: ${d.text}`),
  'agent.ended': fact<{ deathId: string; cause: string; class: string; text: string }>('info', (d) => d.text),
  'agent.restart_scheduled': fact<{ delayMs: number; attempt: number; supervisor: string; along?: string }>(
    'info',
    (d) =>
      `restart ${d.along === undefined ? d.attempt : `along with '${d.along}'`} ${d.delayMs === 0 ? 'at once' : `in ${Math.round(d.delayMs)} ms`}, by supervisor '${d.supervisor}'`,
  ),
  'agent.health': fact<{ health: string; cause: string | null; text: string }>('warn', (d) => d.text),
  'agent.lost': fact<{ what: 'lines' | 'sends'; count: number }>('warn', (d) =>
    d.what === 'lines'
      ? `${d.count} lines of output dropped: the agent printed faster than they could be taken`
      : `${d.count} messages to other agents dropped: the agent sent faster than they could be taken`,
  ),
  'message.dead_letter': fact<{ reason: string; name: string; count: number }>('warn', (d) =>
    d.count === 1
      ? `'${d.name}' is a dead letter: ${d.reason}`
      : `${d.count} more dead letters (${d.reason}), the last one '${d.name}'`,
  ),
  'message.stale_epoch': fact<{ what: string; epoch: number; current: number; count: number }>('warn', (d) => {
    const what = d.count === 1 ? `${d.what} of epoch ${d.epoch}` : `${d.count} times ${d.what} of epoch ${d.epoch}`
    return `${what} refused: ${d.epoch === d.current ? 'it is fenced' : `epoch ${d.current} is in force`}`
  }),
  'agent.lease_lost': fact<{ silentMs: number; recoverMs: number }>(
    'warn',
    (d) =>
      `its lease is lost after ${d.silentMs} ms without a sign of life: fenced, and ended unless it proves its identity within ${d.recoverMs} ms`,
  ),
  'agent.lease_regained': fact<{ lostForMs: number; held: number }>(
    'info',
    (d) =>
      `has proved its identity again after ${d.lostForMs} ms: it has its lease, what it had said is taken (${d.held})`,
  ),
  'capability.refused': fact<{ what: string }>('warn', (d) => `a capability call was refused: ${d.what}`),
  'supervisor.gave_up': fact<{
    supervisor: string
    restarts: number
    withinMs: number
    intensity: number
    periodMs: number
    /** The children whose deaths filled the budget, oldest first. */
    filledBy: readonly string[]
  }>(
    'error',
    (d) =>
      `supervisor '${d.supervisor}' gave up: ${d.restarts} restarts in ${Math.round(d.withinMs)} ms (${d.filledBy.join(', ')}), more than ${d.intensity} in ${d.periodMs} ms allowed`,
  ),
  'supervisor.ended': fact<{ supervisor: string; child: string }>(
    'info',
    (d) => `supervisor '${d.supervisor}' ended: its significant child '${d.child}' has ended (auto_shutdown)`,
  ),
  'agent.unkillable': fact<{ afterMs: number; replaced: boolean }>(
    'error',
    (d) =>
      `its thread is inside a native call and cannot be ended (${d.afterMs} ms after it was told to): ${d.replaced ? 'fenced and replaced' : 'fenced; no other is started before it ends'}`,
  ),
  'agent.unkillable_ended': fact<Record<string, never>>('info', () => 'a thread that could not be ended has ended'),
  'agent.spawned': fact<{ supervisor: string; by: string }>(
    'info',
    (d) => `added under supervisor '${d.supervisor}' by ${d.by}`,
  ),
  'agent.removed': fact<{ supervisor: string }>('info', (d) => `is a child of supervisor '${d.supervisor}' no more`),
  'supervisor.command': fact<{ supervisor: string; command: string; by: string; outcome: string }>(
    'info',
    (d) => `'${d.command}' of supervisor '${d.supervisor}' by ${d.by}: ${d.outcome}`,
  ),
  'catalog.installed': fact<{ name: string; version: string; by: string }>(
    'info',
    (d) => `version ${d.version} of '${d.name}' installed by ${d.by}`,
  ),
  'catalog.uninstalled': fact<{ name: string; by: string }>('info', (d) => `'${d.name}' uninstalled by ${d.by}`),
  'schedule.fired': fact<{ schedule: string; dueAt: number; outcome: string; detail?: string }>(
    'debug',
    (d) => `schedule '${d.schedule}': ${d.outcome}${d.detail === undefined ? '' : ` (${d.detail})`}`,
  ),
  'schedule.skipped': fact<{ schedule: string; dueAt: number; detail: string }>(
    'warn',
    (d) => `schedule '${d.schedule}' was skipped: ${d.detail}`,
  ),
  'schedule.missed': fact<{ schedule: string; count: number; more: boolean; detail: string }>(
    'warn',
    (d) => `schedule '${d.schedule}' missed ${d.more ? 'at least ' : ''}${d.count} due times: ${d.detail}`,
  ),
  'schedule.failed': fact<{ schedule: string; detail: string }>(
    'error',
    (d) => `schedule '${d.schedule}' cannot be kept: ${d.detail}`,
  ),
  'host.clock_stepped': fact<{ byMs: number }>(
    'warn',
    (d) => `the wall clock was set by ${d.byMs} ms, or the machine slept`,
  ),
  'state.degraded': fact<{ code: string; text: string }>('error', (d) => d.text),
  'observer.failed': fact<{ stream: string; error: string }>(
    'error',
    (d) => `an observer of ${d.stream} threw and was cut off: ${d.error}`,
  ),
  'stream.gap': fact<{
    stream: string
    missed: number
    /** Whoever came back with this cursor finds that the log does not have all that was after it. */
    since?: number
  }>('warn', (d) => {
    if (d.since === undefined) return `a slow subscriber of ${d.stream} missed ${d.missed}`
    return d.missed === 0
      ? `cursor ${d.since} is not of this log: what follows is all the log has`
      : `${d.missed} after cursor ${d.since} are not in the log any more`
  }),
} as const

export type FactKind = keyof typeof FACTS
export type FactData<K extends FactKind> = (typeof FACTS)[K] extends FactRow<infer D> ? D : never

/** Something that happened; `seq` grows by one per host. `at` in ms since the epoch. */
export interface Fact<K extends FactKind = FactKind> {
  readonly seq: number
  readonly at: number
  readonly kind: K
  readonly agent?: string
  readonly instance?: string
  readonly epoch?: number
  readonly level: Level
  readonly message: string
  readonly data: FactData<K>
}

/** Whom a fact is about. */
export type FactSubject = Pick<Fact, 'agent' | 'instance' | 'epoch'>

/** Takes a fact; the one way facts go up. */
export type Report = <K extends FactKind>(kind: K, data: FactData<K>, subject?: FactSubject) => void

/** The fact with its level and sentence. */
export function makeFact<K extends FactKind>(
  seq: number,
  at: number,
  kind: K,
  data: FactData<K>,
  subject: FactSubject = {},
): Fact<K> {
  const row = FACTS[kind] as unknown as FactRow<FactData<K>>
  return { seq, at, kind, ...subject, level: row.level, message: row.say(data), data }
}
