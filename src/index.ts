/** The public names of the package `holt`. */
export { AgentRef } from './actors/ref.ts'
export { createHost } from './host/boot.ts'
export type { CatalogItem, InstallAnswer, UninstallAnswer } from './host/catalog-answers.ts'
export type { DrainOptions, DrainReport } from './host/drain.ts'
export { Host, type Output } from './host/host.ts'
export type { HostOptions } from './host/options.ts'
export type { ShutdownReport } from './host/shutdown.ts'
export type { TracingApi } from './host/tracing-api.ts'
export type { AgentObject } from './manifest/agent-manifest.ts'
export type { FleetObject } from './manifest/fleet-manifest.ts'
export type { Axes, Health, HealthCause, Status } from './model/canonical.ts'
export type { Published } from './model/channel.ts'
export type { AnyRole, RoleShape } from './model/contract.ts'
export type { DeathCause, DeathClass, DeathRecord, Decision, InFlight } from './model/death.ts'
export { type ErrorCode, type ErrorShape, HoltError } from './model/error.ts'
export type { Fact, FactKind } from './model/fact.ts'
export type { Admission, Command, Intent } from './model/intent.ts'
export type { Phase } from './model/lifecycle.ts'
export type { AskOptions, DeadLetter, Down, Fate, SendOptions } from './model/message.ts'
export type { ScheduleInput, ScheduleRun, ScheduleView } from './model/schedule.ts'
export type { AgentSnapshot, CommandExtras, CommandOptions, FleetSnapshot } from './model/snapshot.ts'
export type { Spawned, SpawnOptions } from './model/spawn.ts'
export type {
  AgentDetail,
  CapabilityView,
  MailboxView,
  Summary,
  SupervisorAnswer,
  TreeNode,
  Why,
} from './model/view.ts'
export { type Served, type ServeOptions, serve } from './transports/serve.ts'
