/**
 * An agent as its manifest describes it. `AgentManifest` is what the loader returns: checked, every default filled in,
 * paths absolute. `AgentObject` is what an embedding program may write in place of an agent.yml. Types only.
 */

import type { Limits, MailboxOptions, Unkillable } from '../model/agent-options.ts'
import type { ScheduleInput } from '../model/schedule.ts'

/** `permanent`: always; `transient`: not after a normal end; `temporary`: never. */
export type RestartType = 'permanent' | 'transient' | 'temporary'

/** How long a child is given to stop: milliseconds, none at all, or as long as it takes. */
export type Shutdown = number | 'brutal_kill' | 'infinity'

export interface Backoff {
  /** Delay of the second restart, ms. @default 1000 */
  readonly minMs: number
  /** Longest delay, ms. @default 300000 */
  readonly maxMs: number
  /** Growth from one delay to the next; 1 to 100. @default 2 */
  readonly factor: number
  /** Part of the delay that is random; 0 to 1. @default 0.2 */
  readonly jitter: number
}

export interface RestartOptions {
  /** @default 'permanent' */
  readonly type: RestartType
  /** Delays between restarts, or `none` for plain OTP. @default 1 s doubling to 5 min */
  readonly backoff: Backoff | 'none'
  /** Up this long with progress, an agent's delays begin anew, ms. @default 10000 */
  readonly stableMs: number
  /** Restarts without progress after which the agent is left stopped; null is no limit. @default null */
  readonly maxRestarts: number | null
  /** Whether a successor may start while the old thread cannot be ended. @default 'wait' */
  readonly unkillable: Unkillable
}

/** A capability the agent may call. */
export interface Grant {
  readonly id: string
  /** Methods it may call. @default none */
  readonly allow: readonly string[]
}

export interface AgentManifest {
  /** `^[a-z][a-z0-9-]{0,62}$`, unique in the fleet. */
  readonly id: string
  /** For people; 1 to 200 bytes. */
  readonly name: string
  /** @default '0.0.0' */
  readonly version: string
  /** Started with the host, as long as no other intent was given. @default true */
  readonly autostart: boolean
  /** Absolute paths of the role modules. @default every module in roles/, sorted */
  readonly roles: readonly string[]
  /** @default none */
  readonly capabilities: readonly Grant[]
  readonly mailbox: MailboxOptions
  readonly limits: Limits
  readonly restart: RestartOptions
  /** Channels whose events reach the agent. @default none */
  readonly channels: readonly string[]
  /** Events that are sent to it by the clock. @default none */
  readonly schedules: readonly ScheduleInput[]
  readonly isolation: 'thread'
  /** Folder of the agent: where its `.env` and its roles are looked for. */
  readonly dir: string
  /** The agent.yml; null where the manifest was handed over as an object. */
  readonly file: string | null
}

/** An agent.yml as an object: the same names, defaults and bounds; roles are relative to the base folder. */
export interface AgentObject {
  readonly id: string
  readonly name: string
  readonly version?: string
  readonly autostart?: boolean
  readonly roles?: readonly string[]
  readonly capabilities?: readonly { readonly id: string; readonly allow?: readonly string[] }[]
  readonly mailbox?: Partial<MailboxOptions>
  readonly limits?: Partial<Limits>
  readonly restart?: {
    readonly type?: RestartType
    readonly backoff?: Partial<Backoff> | 'none'
    readonly stableMs?: number
    readonly maxRestarts?: number
    readonly unkillable?: Unkillable
  }
  readonly channels?: readonly string[]
  readonly schedules?: readonly ScheduleInput[]
  readonly isolation?: 'thread'
}
