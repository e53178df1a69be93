/**
 * Status: the projection of an agent for people and other systems. A total, pure function of five axes, the same for
 * Holt's own agents and for other runtimes. Never stored.
 */
import type { Admission, Intent } from './intent.ts'
import type { Phase } from './lifecycle.ts'

export const STATUSES = ['Starting', 'Running', 'Paused', 'Unhealthy', 'Stopping', 'Stopped'] as const
export type Status = (typeof STATUSES)[number]

export type Health = 'good' | 'bad'
/** Why health is bad: seen to be bad, or not to be seen at all. */
export type HealthCause = 'observed-bad' | 'unobservable'

/** What the status is made from. The axes belong to the newest instance, alive or not. */
export interface Axes {
  readonly desiredStatus: 'running' | 'stopped'
  /** Set at the instance's first ACTIVE and never cleared. */
  readonly identityVerified: boolean
  /** The host's word, never the agent's. */
  readonly acceptingWork: boolean
  readonly health: Health
  /** Its thread exists. */
  readonly alive: boolean
}

/** The status of these axes; total over all 32 combinations. */
export function classify(axes: Axes): Status {
  if (axes.desiredStatus === 'stopped') return axes.alive ? 'Stopping' : 'Stopped'
  if (!axes.identityVerified) return 'Starting'
  if (axes.health === 'bad' || !axes.alive) return 'Unhealthy'
  return axes.acceptingWork ? 'Running' : 'Paused'
}

/** What the host knows of one agent, from which the axes follow. */
export interface Standing {
  readonly phase: Phase
  readonly intent: Intent
  readonly admission: Admission
  readonly superseded: boolean
  /** Its host is being drained: it works off what it has, and takes nothing from outside. @default false */
  readonly draining?: boolean
  readonly health: Health
  /** The newest instance reached ACTIVE once. */
  readonly identityVerified: boolean
  readonly alive: boolean
  /** A restart or a retry is scheduled or on its way. */
  readonly startScheduled: boolean
  /** STOPPING because a command told it to, not on the way through a crash. */
  readonly stopCommanded: boolean
}

const WANTED: Readonly<Record<Phase, (s: Standing) => boolean>> = {
  BOOTING: () => true,
  IDLE: () => false,
  ACTIVE: () => true,
  PAUSING: () => true,
  PAUSED: () => true,
  RESUMING: () => true,
  STOPPING: (s) => !s.stopCommanded,
  STOPPED: (s) => s.startScheduled,
  FAILED: (s) => s.startScheduled,
}

/** The axes of an agent of Holt's own. */
export function axesOf(s: Standing): Axes {
  return {
    desiredStatus: WANTED[s.phase](s) ? 'running' : 'stopped',
    identityVerified: s.identityVerified,
    acceptingWork: s.phase === 'ACTIVE' && s.admission === 'open' && !s.superseded && s.draining !== true,
    health: s.health,
    alive: s.alive,
  }
}

/** May new work be handed to it? */
export const mayTakeWork = (status: Status): boolean => status === 'Running'

/** May it be doing work at this moment? */
export const mayBeWorking = (status: Status, withinDeadline: boolean): boolean =>
  status === 'Running' || status === 'Paused' || (status === 'Stopping' && withinDeadline)
