/**
 * What becomes of a message by where its agent is: the table of docs/semantics.md, "Where the agent is", as one pure
 * function, and the overflow rule.
 */
import type { Phase } from './lifecycle.ts'

export const OVERFLOWS = ['drop-newest', 'drop-oldest', 'reject'] as const
export type Overflow = (typeof OVERFLOWS)[number]

/** `deliver`: into the window; `queue`: kept for later; `ignore`: counted and told, not kept. */
export type Acceptance = 'deliver' | 'queue' | 'ignore'

export interface Whereabouts {
  readonly phase: Phase
  /** `status === 'Running'`. */
  readonly running: boolean
  readonly suspended: boolean
  /** A next instance is scheduled, or the one that boots follows another. */
  readonly successor: boolean
}

const QUEUE_IF_SUCCESSOR = (w: Whereabouts): Acceptance => (w.successor || w.suspended ? 'queue' : 'ignore')
const QUEUE = (): Acceptance => 'queue'

const ACCEPTANCE: Readonly<Record<Phase, (w: Whereabouts) => Acceptance>> = {
  BOOTING: QUEUE_IF_SUCCESSOR,
  IDLE: QUEUE_IF_SUCCESSOR,
  ACTIVE: (w) => (w.running ? 'deliver' : 'queue'),
  PAUSING: QUEUE,
  PAUSED: QUEUE,
  RESUMING: QUEUE,
  STOPPING: QUEUE_IF_SUCCESSOR,
  STOPPED: QUEUE_IF_SUCCESSOR,
  FAILED: QUEUE_IF_SUCCESSOR,
}

export const acceptance = (where: Whereabouts): Acceptance => ACCEPTANCE[where.phase](where)

export type Admitted = 'push' | 'drop-newest' | 'drop-oldest' | 'reject'

/**
 * Whether one more message may queue.
 * @param waiting what arrived since the agent left ACTIVE and still waits
 * @param bound `capacity`, or the backlog during a planned hand-over
 */
export function admit(waiting: number, bound: number, overflow: Overflow): Admitted {
  if (waiting < bound) return 'push'
  return overflow === 'drop-oldest' && waiting === 0 ? 'drop-newest' : overflow
}
