/** What each call takes and answers, as programs see it through `holt/client`. Types only; a test holds them against the table of operations. */
import type { CatalogItem, InstallAnswer, UninstallAnswer } from '../../host/catalog-answers.ts'
import type { DrainReport } from '../../host/drain.ts'
import type { Inspected } from '../../host/inspect.ts'
import type { ShutdownReport } from '../../host/shutdown.ts'
import type { DeathRecord } from '../../model/death.ts'
import type { DeadLetter, Fate } from '../../model/message.ts'
import type { FleetReload, ReloadAnswer } from '../../model/reload.ts'
import type { ScheduleView } from '../../model/schedule.ts'
import type { AgentSnapshot, CommandExtras, FleetSnapshot } from '../../model/snapshot.ts'
import type {
  AgentDetail,
  CapabilityView,
  MailboxView,
  Summary,
  SupervisorAnswer,
  TreeNode,
  Why,
} from '../../model/view.ts'
import type { CommandInfo } from '../../model/wire.ts'

interface Row<I, O> {
  readonly input: I
  readonly output: O
}

type Nothing = Readonly<Record<never, never>>
interface Id {
  readonly id: string
}
interface Dry {
  readonly dryRun?: boolean
}
interface CommandInput extends Id, Dry {
  readonly reason?: string
  readonly ifGeneration?: number
}
interface GracefulInput extends CommandInput {
  readonly now?: boolean
}
/** What a dry run would do. */
export interface Forecast {
  readonly dryRun: true
  readonly would: string
}
type AgentAnswer = AgentSnapshot & CommandExtras
type Letter = { readonly letter: number } & Dry

export interface HostCalls {
  summary: Row<Nothing, Summary>
  status: Row<Nothing, FleetSnapshot>
  list: Row<Nothing, readonly AgentSnapshot[]>
  get: Row<Id, AgentDetail>
  commands: Row<Id, readonly CommandInfo[]>
  capabilities: Row<Nothing, readonly CapabilityView[]>
  tree: Row<Nothing, TreeNode>
  deaths: Row<Partial<Id>, readonly DeathRecord[]>
  why: Row<Id, Why>
  mailbox: Row<Id, MailboxView>
  schedules: Row<Id, readonly ScheduleView[]>
  deadLetters: Row<Partial<Id> & { readonly before?: number; readonly limit?: number }, readonly DeadLetter[]>
  start: Row<CommandInput, AgentAnswer | SupervisorAnswer>
  stop: Row<GracefulInput, AgentAnswer | SupervisorAnswer>
  restart: Row<CommandInput, AgentAnswer | SupervisorAnswer>
  pause: Row<GracefulInput, AgentAnswer>
  resume: Row<CommandInput, AgentAnswer>
  activate: Row<CommandInput, AgentAnswer>
  suspend: Row<CommandInput, AgentAnswer>
  kill: Row<CommandInput, AgentAnswer>
  reload: Row<CommandInput, ReloadAnswer>
  reloadAll: Row<Dry & { readonly reason?: string }, FleetReload>
  emit: Row<Id & Dry & { readonly event: string; readonly payload?: unknown; readonly ttlMs?: number }, Fate | Forecast>
  ask: Row<Id & { readonly command: string; readonly payload?: unknown; readonly timeoutMs?: number }, unknown>
  purge: Row<Id & Dry, { readonly purged: number } | Forecast>
  replay: Row<Letter, Fate | Forecast>
  discard: Row<Letter, DeadLetter | Forecast>
  shutdown: Row<Dry & { readonly timeoutMs?: number }, ShutdownReport | Forecast>
  drain: Row<Dry & { readonly deadlineMs?: number }, DrainReport | Forecast>
  catalog: Row<Nothing, readonly CatalogItem[]>
  install: Row<Readonly<Record<string, unknown>> & { readonly source: string }, InstallAnswer>
  uninstall: Row<Readonly<Record<string, unknown>> & { readonly name: string }, UninstallAnswer>
  inspect: Row<Id & { readonly cpu?: number; readonly heap?: boolean; readonly out?: string }, Inspected>
}
