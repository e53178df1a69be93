/** What a supervisor is made from and handed, and the shapes of a stop: orders go down the tree, reports come up. */
import type { Agent } from '../actors/agent.ts'
import type { Told } from '../model/death.ts'
import type { Report } from '../model/fact.ts'
import type { Intent } from '../model/intent.ts'
import type { Clock } from '../platform/clock.ts'
import type { Child } from './child.ts'
import type { BudgetSetting } from './intensity.ts'
import type { AutoShutdown, Strategy } from './strategy.ts'

export interface SupervisorOptions extends BudgetSetting {
  readonly id: string
  readonly strategy: Strategy
  /** @default 'never' */
  readonly autoShutdown?: AutoShutdown
  /** Of a `dynamic` one. @default null, no limit */
  readonly maxChildren?: number | null
}

export interface SupervisorDeps {
  readonly clock: Clock
  readonly random: () => number
  readonly report: Report
  intentOf(agent: string): Intent
  shuttingDown(): boolean
  /** Ms by which an agent's start is put off when its supervisor is started: it may be what the host died of. @default 0 */
  heldBackMs?(agent: string): number
  /** Whether an agent that has not run before may start along with its supervisor; asked once, just before. @default true */
  admits?(agent: Agent): boolean
  /** A child of a `dynamic` supervisor has ended and does not come back: it is one of its children no more. */
  onRemoved(child: Child): void
}

/** An operator's stop. */
export interface StoppedBy {
  readonly by: string
  /** Wall clock. */
  readonly at: number
  readonly reason: string | null
}

/** A stop of a tree: until when, and by whose word. */
export interface StopOrder {
  /** Monotonic ms. */
  readonly deadline: number
  /** Whose deadline that is. @default `by` */
  readonly dueBy?: string
  readonly rule: Told['rule']
  readonly by: string
}

/** Agents that had to be ended because their time was up, and those that even that did not end. */
export interface StopReport {
  readonly killed: readonly string[]
  readonly stuck: readonly string[]
}

/** As long as each child's own `shutdown` allows. */
export const NO_DEADLINE = Number.MAX_SAFE_INTEGER
