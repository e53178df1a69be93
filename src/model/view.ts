/**
 * What people ask to see of a fleet beside its snapshots: one agent in detail, the tree, who may call what, what waits
 * in a mailbox, and why an agent is where it is. Plain data; times in ms since the epoch unless the name says otherwise.
 */
import type { Limits } from './agent-options.ts'
import type { Status } from './canonical.ts'
import type { InFlight, SupervisorEnd } from './death.ts'
import type { Phase } from './lifecycle.ts'
import type { MessageKind } from './message.ts'
import type { ScheduleView } from './schedule.ts'
import type { AgentSnapshot, FleetSnapshot, WouldChange } from './snapshot.ts'

/** Calls of one handler over all instances. */
export interface HandlerMetrics {
  readonly count: number
  /** How many of them failed; an input that was refused and a handler that was cut short are among them. */
  readonly errors: number
  /** By sample, of the newest instance; null until one has been measured. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
  readonly p99Ms: number | null
}

/** A mounted role. */
export interface Competency {
  readonly name: string
  readonly events: readonly string[]
  readonly commands: readonly string[]
  /** Capabilities it asks for. */
  readonly needs: readonly string[]
}

export interface AgentDetail extends AgentSnapshot {
  /** As the newest instance said. Empty until one has been ACTIVE. */
  readonly equippedCompetencies: readonly Competency[]
  readonly capabilities: readonly { readonly id: string; readonly methods: readonly string[] }[]
  readonly invocationMetrics: Readonly<Record<string, HandlerMetrics>>
  /** Those it is bound to, by name. */
  readonly channels: readonly string[]
  readonly schedules: readonly ScheduleView[]
  /** What instances said that were fenced or had been replaced, by kind (`reply`, `memory`, ...): refused, and counted. */
  readonly fenced: Readonly<Record<string, number>>
  readonly limits: Limits
}

/** A supervisor or an agent where it stands. */
export interface TreeNode {
  readonly id: string
  readonly kind: 'supervisor' | 'agent'
  readonly strategy?: string
  /** Of an agent. */
  readonly phase?: Phase
  /** A supervisor is Running, or Stopped: told to, or it gave up. */
  readonly status: Status
  readonly restarts: number
  /** What a supervisor had done when it gave up. */
  readonly gaveUp?: { readonly restarts: number; readonly withinMs: number }
  /** How a supervisor ended by its own rules, until it supervises again. */
  readonly end?: SupervisorEnd
  /** Of a supervisor, in start order. */
  readonly children?: readonly TreeNode[]
}

/** The answer to a command to a supervisor. */
export interface SupervisorAnswer extends TreeNode {
  /** `stop` and `restart`: agents below it that had to be ended because their time was up. */
  readonly killed?: readonly string[]
  /** Those that even that did not end. */
  readonly stillRunning?: readonly string[]
  /** `dryRun`: the agents whose threads it would end or start. */
  readonly wouldChange?: readonly { readonly agent: string; readonly thread: NonNullable<WouldChange['thread']> }[]
}

export interface CapabilityView {
  readonly id: string
  readonly placement: 'host' | 'pool' | 'agent'
  readonly methods: readonly string[]
  /** Why it cannot be lent now. */
  readonly unavailable?: string
  readonly grantedTo: readonly { readonly agent: string; readonly methods: readonly string[] }[]
}

/** A message that has not begun. */
export interface WaitingMessage {
  readonly id: number
  readonly name: string
  readonly kind: MessageKind
  readonly ageMs: number
  /** The agent that sent it. */
  readonly from?: string
}

export interface MailboxView {
  readonly id: string
  /** What waits. */
  readonly depth: number
  readonly capacity: number
  readonly inFlight: readonly InFlight[]
  /** The first hundred. */
  readonly waiting: readonly WaitingMessage[]
  readonly dropped: number
  readonly ignored: number
  /** Dead letters that are kept. */
  readonly deadLetters: number
}

/** Why an agent is where it is. */
export interface Why {
  readonly agent: string
  readonly status: Status
  /** The first says how it stands, the others how it came to that, the newest first. */
  readonly sentences: readonly string[]
  /** Ids of the death records they speak of. */
  readonly records: readonly string[]
  /** Commands that apply now, and what they would do. */
  readonly wouldChangeIt: readonly string[]
}

export interface Summary {
  readonly name: 'holt'
  readonly version: string
  /** Id of the host. */
  readonly host: string
  readonly uptimeMs: number
  /** Seq of the newest fact: a watcher that begins there is told all that follows. */
  readonly cursor: number
  readonly counts: FleetSnapshot['counts']
}
