/**
 * What each operation takes and answers, as programs see it through `holt/client`. Types only; a test holds each of them
 * against the schemas of its row in the table of operations, both ways.
 */
import type { CatalogItem, InstallAnswer, UninstallAnswer } from '../../host/catalog-answers.ts'
import type { DrainReport } from '../../host/drain.ts'
import type { Inspected } from '../../host/inspect.ts'
import type { ShutdownReport } from '../../host/shutdown.ts'
import type { Access, CreatedToken, TokenView } from '../../model/access.ts'
import type { DeathRecord } from '../../model/death.ts'
import type { Fact, FactKind } from '../../model/fact.ts'
import type { Forecast } from '../../model/forecast.ts'
import type { DeadLetter, Fate } from '../../model/message.ts'
import type { Output } from '../../model/output.ts'
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
type AgentAnswer = AgentSnapshot & CommandExtras
type Letter = { readonly letter: number } & Dry

/** Operations that answer once. */
export interface HostCalls {
  summary: Row<Nothing, Summary>
  status: Row<Nothing, FleetSnapshot>
  list: Row<Nothing, AgentSnapshot[]>
  get: Row<Id, AgentDetail>
  commands: Row<Id, CommandInfo[]>
  capabilities: Row<Nothing, CapabilityView[]>
  tree: Row<Nothing, TreeNode>
  deaths: Row<Partial<Id>, DeathRecord[]>
  why: Row<Id, Why>
  mailbox: Row<Id, MailboxView>
  schedules: Row<Id, ScheduleView[]>
  deadLetters: Row<Partial<Id> & { readonly before?: number; readonly limit?: number }, DeadLetter[]>
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
  catalog: Row<Nothing, CatalogItem[]>
  install: Row<Dry & { readonly source: string }, InstallAnswer>
  uninstall: Row<Dry & { readonly name: string }, UninstallAnswer>
  inspect: Row<Id & { readonly cpu?: number; readonly heap?: boolean; readonly out?: string }, Inspected>
  tokens: Row<Nothing, TokenView[]>
  tokenCreate: Row<{ readonly name: string; readonly access?: Access; readonly expiresInMs?: number }, CreatedToken>
  tokenRevoke: Row<Id, TokenView>
}

/** Operations that tell one value after the other; the output is of each. */
export interface HostStreams {
  watch: Row<Partial<Id> & { readonly since?: number; readonly kinds?: FactKind[] }, Fact>
  logs: Row<
    Partial<Id> & {
      readonly follow?: boolean
      readonly since?: number
      readonly grep?: string
      readonly tail?: number
    },
    Output
  >
}
