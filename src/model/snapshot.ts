/** The shapes people and programs see of a fleet. Plain data; times in ms since the epoch unless the name says otherwise. */
import type { Axes, HealthCause, Status } from './canonical.ts'
import type { DeathRecord, InFlight } from './death.ts'
import type { Admission, Holding, Intent } from './intent.ts'
import type { Phase } from './lifecycle.ts'

export interface AgentSnapshot {
  readonly id: string
  readonly name: string
  readonly version: string
  readonly phase: Phase
  readonly status: Status
  readonly intent: Intent
  readonly admission: Admission
  readonly generation: number
  readonly isolation: 'thread'
  /** Id of the supervisor above it. */
  readonly supervisor: string
  readonly axes: Axes
  readonly healthCause: HealthCause | null
  /** Its thread is inside a native call and does not end though it was told to; it is fenced. */
  readonly unkillable: boolean
  readonly superseded: boolean
  readonly activity: 'busy' | 'idle'
  readonly instance: {
    readonly id: string
    readonly epoch: number
    readonly startedAt: number
    readonly uptimeMs: number
  } | null
  readonly restarts: number
  readonly nextRestartAt: number | null
  /** A newer file lies on disk; cordons nothing. Not looked for in this version: always false. */
  readonly changedOnDisk: boolean
  /** The command that holds the agent. */
  readonly command: { readonly name: Holding; readonly since: number; readonly by: string } | null
  readonly pausedSince: number | null
  readonly pausedBy: string | null
  readonly reason: string | null
  readonly mailbox: {
    readonly depth: number
    readonly capacity: number
    readonly inFlight: number
    readonly oldestAgeMs: number | null
    readonly dropped: number
    readonly ignored: number
  }
  readonly tasks: { readonly received: number; readonly completed: number; readonly failed: number }
  readonly heapUsedMb: number | null
  readonly lastDeath: DeathRecord | null
}

export interface FleetSnapshot {
  readonly host: {
    readonly id: string
    readonly pid: number
    readonly version: string
    readonly startedAt: number
    readonly uptimeMs: number
    readonly stateDir: string
    /** Why nothing can be saved now, and since when; null while all is well. */
    readonly stateFault: { readonly code: string; readonly text: string; readonly since: number } | null
  }
  readonly agents: readonly AgentSnapshot[]
  readonly counts: Readonly<Partial<Record<Status, number>>>
}

/** What a command would change: from, to. Empty where it changes no intent. */
export interface WouldChange {
  readonly intent?: readonly [from: Intent, to: Intent]
  readonly admission?: readonly [from: Admission, to: Admission]
  /** It would end the thread that is there, or start one. */
  readonly thread?: 'ends' | 'starts' | 'ends and starts'
}

/** What a command adds to the snapshot it answers with. */
export interface CommandExtras {
  /** `resume`: messages that were waiting. */
  readonly drained?: number
  /** `pause`: what was still running when it answered. */
  readonly inFlight?: readonly InFlight[]
  /** `stop`, `suspend`, `kill`: its thread could not be ended yet. */
  readonly stillRunning?: boolean
  /** `dryRun`: what the command would change. */
  readonly wouldChange?: WouldChange
}

/** Options of every command. */
export interface CommandOptions {
  /** Who asks, as recorded. @default 'program' */
  readonly by?: string
  /** Why, as recorded. @default null */
  readonly reason?: string
  /** `stop` and `pause`: without grace. @default false */
  readonly now?: boolean
  /** Only where this is the intent's generation; 0: nobody has wanted anything yet. @default any */
  readonly ifGeneration?: number
  /** Says what would change, and changes nothing. @default false */
  readonly dryRun?: boolean
}
