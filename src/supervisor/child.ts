/**
 * What a supervisor knows of a child: how it is started and ended, by what rules it comes back, and where it stands.
 * An agent and a supervisor are children of the same kind.
 */
import type { Agent, EndOptions } from '../actors/agent.ts'
import type { Timer } from '../platform/clock.ts'
import type { ChildHistory, RestartOptions } from './restart.ts'
import { FRESH_HISTORY } from './restart.ts'
import type { Supervisor } from './supervisor.ts'

/** Ms to end in, or OTP's words: at once, or as long as it takes. */
export type Shutdown = number | 'brutal_kill' | 'infinity'

/** How a child stands under its supervisor. */
export interface ChildSpec {
  readonly restart: RestartOptions
  readonly shutdown: Shutdown
}

/** A child with what the supervisor's loop remembers of it. Written by `supervisor.ts` alone. */
export interface Child {
  readonly id: string
  readonly member:
    | { readonly kind: 'agent'; readonly agent: Agent }
    | { readonly kind: 'supervisor'; readonly supervisor: Supervisor }
  readonly spec: ChildSpec
  history: ChildHistory
  /** The restart that is scheduled. */
  timer: Timer | null
}

export const newChild = (id: string, member: Child['member'], spec: ChildSpec): Child => ({
  id,
  member,
  spec,
  history: FRESH_HISTORY,
  timer: null,
})

/** How long it may take to end, with so much left of the overall deadline. */
export function graceMs(shutdown: Shutdown, leftMs: number): number {
  if (shutdown === 'brutal_kill') return 0
  return shutdown === 'infinity' ? leftMs : Math.min(shutdown, leftMs)
}

/** How an agent is ended by its supervisor. */
export const toldToEnd = (grace: number): EndOptions => ({
  cause: 'shutdown',
  graceMs: grace,
  abort: false,
  handOver: false,
})
