/**
 * What an agent is made from and what it is handed: its accepted spec, what a boot needs, and the ways up. The host
 * fills these in; an actor knows no manifest, no capability and no store.
 */
import type { MessagePort } from 'node:worker_threads'
import type { Limits, MailboxOptions } from '../model/agent-options.ts'
import type { BootStep, DeathRecord, Decision, Told } from '../model/death.ts'
import type { Report } from '../model/fact.ts'
import type { IntentRecord } from '../model/intent.ts'
import type { Phase } from '../model/lifecycle.ts'
import type { DeadLetter } from '../model/message.ts'
import type { FromThread, ModuleSource, Mount } from '../model/wire.ts'
import type { Clock } from '../platform/clock.ts'
import type { NewId } from '../platform/id.ts'
import type { Agent } from './agent.ts'
import type { DeadMessage } from './dead-letters.ts'
import type { Inbox } from './inbox.ts'
import type { InstanceSpec } from './instance.ts'
import type { JournalStore } from './journal.ts'
import type { Router } from './outbound.ts'
import type { Threads } from './spawn.ts'

/** The part of a manifest that the actor itself uses. Times in ms. */
export interface AgentSpec {
  readonly id: string
  readonly name: string
  readonly version: string
  readonly autostart: boolean
  readonly mailbox: MailboxOptions
  readonly limits: Limits
  readonly restart: {
    /** Whether a successor is started before a thread that cannot be ended has ended. @default 'wait' */
    readonly unkillable: 'wait' | 'replace'
  }
}

/** What one boot needs, made by the host: manifest, environment, modules and grants, all checked. */
export interface Prepared {
  readonly spec: AgentSpec
  readonly env: Readonly<Record<string, string>>
  readonly roles: readonly ModuleSource[]
  /** Files it was made from, by path, with a mark that changes with each write. */
  readonly files: ReadonlyMap<string, string>
  readonly mounts: readonly Mount[]
  readonly lend: ((port: MessagePort, isCurrent: () => boolean) => { close(): void }) | null
  /** Called once it is what the agent runs from: what its manifest says of more than the thread holds from then on. */
  accept(): void
}

/** The longest pause between two signs of life; a quarter of what is allowed leaves room for one that comes late. */
const HEARTBEAT_MS = 500

/** How often an instance gives a sign of life. */
export const heartbeatMsOf = ({ unresponsiveAfterMs }: Limits): number =>
  Math.min(HEARTBEAT_MS, unresponsiveAfterMs / 4)

/** The spec of one instance of a prepared agent. */
export function instanceSpec(
  prepared: Prepared,
  identity: Pick<InstanceSpec, 'id' | 'epoch' | 'agent' | 'threads'>,
  isNewest: () => boolean,
): InstanceSpec {
  const { spec, env, roles, mounts, lend } = prepared
  return {
    ...identity,
    heapMb: spec.limits.heapMb,
    bootTimeoutMs: spec.limits.bootTimeoutMs,
    stopTimeoutMs: spec.limits.stopTimeoutMs,
    concurrency: spec.mailbox.concurrency,
    durable: spec.mailbox.durable,
    heartbeatMs: heartbeatMsOf(spec.limits),
    env,
    roles,
    mounts,
    lend: lend === null ? null : (port, isCurrent) => lend(port, () => isCurrent() && isNewest()),
  }
}

/** A boot that failed before there was a thread; `cause` is what was thrown. */
export class BootFailure extends Error {
  readonly step: BootStep

  constructor(step: BootStep, cause: unknown) {
    super(`boot failed at step '${step}'`, { cause })
    this.name = 'BootFailure'
    this.step = step
  }
}

/** A death before it is decided what follows. */
export interface DeathCase {
  readonly draft: Omit<DeathRecord, 'decision'>
  /** Who had it ended; null where nobody had. */
  readonly told: Told | null
  readonly life: { readonly uptimeMs: number; readonly progressed: boolean }
}

export interface AgentDeps {
  readonly clock: Clock
  readonly newId: NewId
  /** Commits that this instance begins, with the agent's next epoch. Rejects where that cannot be saved. */
  begin(agent: string, instance: string): Promise<number>
  /** The same for one that boots beside the instance there is, whose epoch stays in force. */
  beginNext(agent: string, instance: string): Promise<number>
  /** From now on the newest epoch of the agent is in force. */
  bringIntoForce(agent: string): void
  /** Keeps the record of an instance that never had the agent's messages, and answers with it. */
  onDropped(agent: Agent, draft: DeathCase['draft'], by: string): DeathRecord
  readonly router: Router
  readonly threads: Threads
  /** Another kind of inbox, where messages are traced. @default Inbox */
  readonly inbox?: typeof Inbox
  /** Where durable mailboxes are written down. */
  readonly journal: JournalStore
  readonly report: Report
  intentOf(agent: string): IntentRecord
  shuttingDown(): boolean
  /** @throws BootFailure naming the step */
  prepare(agent: string): Promise<Prepared>
  /** The supervisor's word on what follows a death; called once a death, before anything is settled. */
  decide(agent: string, death: DeathCase): Decision
  /** The record without what is not to be shown in its error. */
  hide(record: DeathCase['draft']): DeathCase['draft']
  onPhase(agent: Agent, from: Phase, to: Phase): void
  onChange(agent: Agent): void
  onDeath(agent: Agent, record: DeathRecord): void
  onDeadLetter(agent: string, message: DeadMessage, read: () => DeadLetter): void
  onOutput(agent: Agent, message: Extract<FromThread, { type: 'lines' | 'log' }>): void
}
