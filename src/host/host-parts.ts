/** What a host is made of, and handed by `join.ts`; for `host.ts` alone. */
import type { Agent } from '../actors/agent.ts'
import type { IntentRecord } from '../model/intent.ts'
import type { FleetSnapshot } from '../model/snapshot.ts'
import type { Spawned, SpawnOptions } from '../model/spawn.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import type { Scheduler } from '../schedules/scheduler.ts'
import type { Catalog } from './catalog.ts'
import type { Channels } from './channels.ts'
import type { Commands } from './commands.ts'
import type { DeadLetterOffice } from './dead-letters.ts'
import type { Facts } from './facts.ts'
import type { Logs } from './logs.ts'
import type { Reloads } from './reload.ts'
import type { Secrets } from './secrets.ts'
import type { ShutdownReport } from './shutdown.ts'
import type { SupervisorCommands } from './supervisor-commands.ts'
import type { Tokens } from './tokens.ts'
import type { Tree } from './tree.ts'
import type { ViewParts } from './views.ts'

export interface HostIdentity {
  readonly id: string
  readonly version: string
  readonly startedAt: number
  readonly stateDir: string
}

export interface HostParts {
  readonly clock: Clock
  readonly log: Logger
  /** The folder that the fleet was read from, or that its paths are relative to. */
  readonly fleetDir: string
  readonly identity: HostIdentity
  readonly stateFault: () => FleetSnapshot['host']['stateFault']
  readonly facts: Facts
  readonly intentOf: (agent: string) => IntentRecord
  /** Called once all agents exist. */
  readonly tree: () => Tree
  readonly commands: () => Commands
  readonly supervisorCommands: () => SupervisorCommands
  readonly reloads: () => Reloads
  /** Why an agent that is to run was left aside when its supervisor was started; null: it was not. */
  readonly notStarted: ViewParts['notStarted']
  readonly registry: ViewParts['registry']
  readonly grantsOf: ViewParts['grantsOf']
  readonly spawn: (supervisor: string, options: SpawnOptions) => Promise<Spawned>
  readonly remove: (agent: Agent) => Promise<void>
  readonly scheduler: () => Scheduler
  readonly channels: () => Channels
  readonly deadLetters: () => DeadLetterOffice
  readonly catalog: () => Catalog
  readonly logs: Logs
  readonly tokens: Tokens
  readonly secrets: Secrets
  readonly reachableAt: (socket: string | null) => void
  readonly start: () => Promise<void>
  readonly shutdown: (options: { timeoutMs?: number; by?: string }) => Promise<ShutdownReport>
}
