/**
 * The nine phases of an agent and the one table that says which may follow which (docs/semantics.md, "Phases").
 * `actors/agent.ts` is the only writer of a phase; everything else reads. A move that breaks the table is a bug of
 * ours and throws; a command that does not apply is a refusal (`intent.ts`).
 */
import { HoltError } from './error.ts'

export const PHASES = [
  'BOOTING',
  'IDLE',
  'ACTIVE',
  'PAUSING',
  'PAUSED',
  'RESUMING',
  'STOPPING',
  'STOPPED',
  'FAILED',
] as const

/** Where the machine of an agent is. */
export type Phase = (typeof PHASES)[number]

const NEXT: Readonly<Record<Phase, readonly Phase[]>> = {
  BOOTING: ['IDLE', 'ACTIVE', 'FAILED', 'STOPPING'],
  IDLE: ['BOOTING', 'STOPPING'],
  ACTIVE: ['PAUSING', 'STOPPING'],
  PAUSING: ['PAUSED', 'STOPPING'],
  PAUSED: ['RESUMING', 'STOPPING'],
  RESUMING: ['ACTIVE', 'STOPPING'],
  STOPPING: ['STOPPED'],
  STOPPED: ['BOOTING'],
  FAILED: ['BOOTING'],
}

/** Phases in which an instance exists and may have a thread. */
export const LIVE: ReadonlySet<Phase> = new Set<Phase>([
  'BOOTING',
  'ACTIVE',
  'PAUSING',
  'PAUSED',
  'RESUMING',
  'STOPPING',
])

export const canTransition = (from: Phase, to: Phase): boolean => NEXT[from].includes(to)

/**
 * The next phase, or a throw.
 * @throws HoltError `InvalidTransition` when the table does not allow the move.
 */
export function transition(agent: string, from: Phase, to: Phase): Phase {
  if (canTransition(from, to)) return to
  throw new HoltError('InvalidTransition', `agent '${agent}' cannot go from ${from} to ${to}`, {
    agent,
    from,
    to,
    allowed: NEXT[from],
  })
}
