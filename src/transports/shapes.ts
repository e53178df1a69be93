/**
 * What operations answer with, as schemas: OpenAPI is made from them, and tests hold real answers against them. Each is
 * typed against the type of the model it describes, so that the two cannot drift apart.
 */

import { z } from 'zod'
import type { CatalogItem, InstallAnswer, RemovedWith, UninstallAnswer } from '../host/catalog-answers.ts'
import type { DrainReport } from '../host/drain.ts'
import type { Output } from '../host/host.ts'
import type { ShutdownReport } from '../host/shutdown.ts'
import type { Access, CreatedToken, TokenView } from '../model/access.ts'
import type { Limits } from '../model/agent-options.ts'
import { type Axes, STATUSES } from '../model/canonical.ts'
import { FACTS, type Fact, type FactKind, type Level } from '../model/fact.ts'
import { type Admission, COMMANDS, type Intent } from '../model/intent.ts'
import { PHASES } from '../model/lifecycle.ts'
import { type DeadLetter, type DeadLetterReason, FATES, type Fate } from '../model/message.ts'
import type { FleetReload, ReloadAnswer, ReloadOutcome } from '../model/reload.ts'
import { MISSED_POLICIES, OVERLAPS, type ScheduleOrigin, type ScheduleView } from '../model/schedule.ts'
import type { AgentSnapshot, CommandExtras, FleetSnapshot, WouldChange } from '../model/snapshot.ts'
import type {
  AgentDetail,
  CapabilityView,
  Competency,
  HandlerMetrics,
  MailboxView,
  Summary,
  SupervisorAnswer,
  TreeNode,
  WaitingMessage,
  Why,
} from '../model/view.ts'
import type { CommandInfo } from '../model/wire.ts'
import { deathRecord, inFlight, messageKind, supervisorEnd } from './death-shapes.ts'
import { extended, objectOf, oneOf } from './shape.ts'

export { deathRecord, errorShape, inFlight } from './death-shapes.ts'

const text = z.string()
const texts = z.array(text)
const number = z.number()
const whole = z.int()
const truth = z.boolean()
const status = z.enum(STATUSES)
const phase = z.enum(PHASES)
const counts = z.partialRecord(status, whole) as unknown as z.ZodType<FleetSnapshot['counts']>

// --- agents and fleet --------------------------------------------------------------------------------------------

const axes = objectOf<Axes>({
  desiredStatus: z.enum(['running', 'stopped']),
  identityVerified: truth,
  acceptingWork: truth,
  health: z.enum(['good', 'bad']),
  alive: truth,
})

const runOutcome = z.enum([...FATES, 'failed', 'pending', 'skipped', 'missed'])

const intent = oneOf<Intent>({ running: true, suspended: true, stopped: true })
const admission = oneOf<Admission>({ open: true, cordoned: true })

export const agentSnapshot = objectOf<AgentSnapshot>({
  id: text,
  name: text,
  version: text,
  phase,
  status,
  intent,
  admission,
  generation: whole,
  isolation: z.literal('thread'),
  supervisor: text,
  axes,
  unkillable: z.boolean(),
  healthCause: z.enum(['observed-bad', 'unobservable']).nullable(),
  superseded: truth,
  activity: z.enum(['busy', 'idle']),
  instance: objectOf<NonNullable<AgentSnapshot['instance']>>({
    id: text,
    epoch: whole,
    startedAt: number,
    uptimeMs: number,
  }).nullable(),
  restarts: whole,
  nextRestartAt: number.nullable(),
  changedOnDisk: truth,
  command: objectOf<NonNullable<AgentSnapshot['command']>>({
    name: z.enum([...COMMANDS, 'reload']),
    since: number,
    by: text,
  }).nullable(),
  pausedSince: number.nullable(),
  pausedBy: text.nullable(),
  reason: text.nullable(),
  mailbox: objectOf<AgentSnapshot['mailbox']>({
    depth: whole,
    capacity: whole,
    inFlight: whole,
    oldestAgeMs: number.nullable(),
    dropped: whole,
    ignored: whole,
  }),
  tasks: objectOf<AgentSnapshot['tasks']>({ received: whole, completed: whole, failed: whole }),
  heapUsedMb: number.nullable(),
  lastDeath: deathRecord.nullable(),
})

const threadChange = z.enum(['ends', 'starts', 'ends and starts'])
const wouldChange = objectOf<WouldChange>({
  intent: z.exactOptional(z.tuple([intent, intent])),
  admission: z.exactOptional(z.tuple([admission, admission])),
  thread: z.exactOptional(threadChange),
})

/** The answer to a command: the snapshot after it, and what the command adds. */
export const commandAnswer = extended<AgentSnapshot & CommandExtras, AgentSnapshot>(agentSnapshot, {
  drained: z.exactOptional(whole),
  inFlight: z.exactOptional(z.array(inFlight)),
  stillRunning: z.exactOptional(z.boolean()),
  wouldChange: z.exactOptional(wouldChange),
})

export const fleetSnapshot = objectOf<FleetSnapshot>({
  host: objectOf<FleetSnapshot['host']>({
    id: text,
    pid: whole,
    version: text,
    startedAt: number,
    uptimeMs: number,
    stateDir: text,
    stateFault: objectOf<NonNullable<FleetSnapshot['host']['stateFault']>>({
      code: text,
      text,
      since: number,
    }).nullable(),
  }),
  agents: z.array(agentSnapshot),
  counts,
})

export const summary = objectOf<Summary>({
  name: z.literal('holt'),
  version: text,
  host: text,
  uptimeMs: number,
  cursor: number,
  counts,
})

const limits = objectOf<Limits>({
  heapMb: number,
  bootTimeoutMs: number,
  stopTimeoutMs: number,
  pauseTimeoutMs: number,
  abortGraceMs: number,
  handlerTimeoutMs: number,
  unresponsiveAfterMs: number,
  killAfterMs: number,
})

const handlerMetrics = objectOf<HandlerMetrics>({
  count: whole,
  errors: whole,
  p50Ms: number.nullable(),
  p95Ms: number.nullable(),
  p99Ms: number.nullable(),
})

const methodsOf = { id: text, methods: texts }

export const scheduleView = objectOf<ScheduleView>({
  id: text,
  event: text,
  cron: text.nullable(),
  everyMs: number.nullable(),
  at: number.nullable(),
  timezone: text,
  overlap: z.enum(OVERLAPS),
  missed: z.enum(MISSED_POLICIES),
  origin: oneOf<ScheduleOrigin>({ manifest: true, runtime: true }),
  nextAt: number.nullable(),
  lastFiredAt: number.nullable(),
  lastOutcome: runOutcome.nullable(),
  lastDetail: text.nullable(),
  running: z.boolean(),
  waiting: whole,
  missedCount: whole,
})

export const agentDetail = extended<AgentDetail, AgentSnapshot>(agentSnapshot, {
  equippedCompetencies: z.array(objectOf<Competency>({ name: text, events: texts, commands: texts, needs: texts })),
  capabilities: z.array(objectOf<AgentDetail['capabilities'][number]>(methodsOf)),
  invocationMetrics: z.record(text, handlerMetrics),
  channels: texts,
  schedules: z.array(scheduleView),
  fenced: z.record(text, whole),
  limits,
})

// --- tree, capabilities, commands --------------------------------------------------------------------------------

export const treeNode: z.ZodType<TreeNode> = objectOf<TreeNode>({
  id: text,
  kind: oneOf<TreeNode['kind']>({ supervisor: true, agent: true }),
  strategy: z.exactOptional(text),
  phase: z.exactOptional(phase),
  status,
  restarts: whole,
  gaveUp: z.exactOptional(objectOf<NonNullable<TreeNode['gaveUp']>>({ restarts: whole, withinMs: number })),
  end: z.exactOptional(supervisorEnd),
  children: z.exactOptional(z.array(z.lazy(() => treeNode))),
})

export const supervisorAnswer = extended<SupervisorAnswer, TreeNode>(treeNode, {
  wouldChange: z.exactOptional(
    z.array(objectOf<NonNullable<SupervisorAnswer['wouldChange']>[number]>({ agent: text, thread: threadChange })),
  ),
  killed: z.exactOptional(texts),
  stillRunning: z.exactOptional(texts),
})

export const capability = objectOf<CapabilityView>({
  id: text,
  placement: z.enum(['host', 'pool', 'agent']),
  methods: texts,
  unavailable: z.exactOptional(text),
  grantedTo: z.array(objectOf<CapabilityView['grantedTo'][number]>({ agent: text, methods: texts })),
})

export const command = objectOf<CommandInfo>({
  name: text,
  role: text,
  summary: text,
  inputSchema: z.exactOptional(z.unknown()),
  exclusive: truth,
})

export const why = objectOf<Why>({ agent: text, status, sentences: texts, records: texts, wouldChangeIt: texts })

// --- messages and facts ------------------------------------------------------------------------------------------

export const fate = objectOf<Fate>({
  fate: z.enum(FATES),
  reason: z.exactOptional(text),
  deathId: z.exactOptional(text),
})

export const deadLetter = objectOf<DeadLetter>({
  id: whole,
  agent: text,
  at: number,
  reason: oneOf<DeadLetterReason>({
    not_accepting: true,
    draining: true,
    overflow: true,
    overloaded: true,
    rejected: true,
    no_handler: true,
    expired: true,
    aborted: true,
    crashed: true,
    quarantined: true,
    transferred: true,
    no_such_agent: true,
    stale_epoch: true,
    handler_error: true,
    purged: true,
  }),
  kind: messageKind,
  name: text,
  // One that was sent without a payload has none in JSON.
  payload: z.optional(z.unknown()),
  from: z.exactOptional(text),
  deliveryCount: whole,
  deathId: z.exactOptional(text),
})

export const mailboxView = objectOf<MailboxView>({
  id: text,
  depth: whole,
  capacity: whole,
  inFlight: z.array(inFlight),
  waiting: z.array(
    objectOf<WaitingMessage>({ id: whole, name: text, kind: messageKind, ageMs: number, from: z.exactOptional(text) }),
  ),
  dropped: whole,
  ignored: whole,
  deadLetters: whole,
})

export const purged = objectOf<{ readonly purged: number }>({ purged: whole })

export const factKind = z.enum(Object.keys(FACTS) as [FactKind, ...FactKind[]])

export const fact = objectOf<Fact>({
  seq: whole,
  at: number,
  kind: factKind,
  agent: z.exactOptional(text),
  instance: z.exactOptional(text),
  epoch: z.exactOptional(whole),
  level: oneOf<Level>({ debug: true, info: true, warn: true, error: true }),
  message: text,
  data: z.record(text, z.unknown()) as unknown as z.ZodType<Fact['data']>,
})

export const output = objectOf<Output>({
  at: number,
  agent: text,
  instance: text,
  stream: oneOf<Output['stream']>({ stdout: true, stderr: true, log: true }),
  level: oneOf<Level>({ debug: true, info: true, warn: true, error: true }),
  text,
  data: z.exactOptional(z.unknown()),
})

const endOfHost = { tookMs: number, killed: texts, stuck: texts }
export const shutdownReport = objectOf<ShutdownReport>(endOfHost)
export const drainReport = objectOf<DrainReport>({
  ...endOfHost,
  drained: z.array(z.strictObject({ agent: text, handled: whole })),
  left: z.array(z.strictObject({ agent: text, waiting: whole })),
})

// --- catalog -----------------------------------------------------------------------------------------------------

export const catalogItem = objectOf<CatalogItem>({
  name: text,
  version: text,
  source: text,
  installedAt: number,
  digest: text,
  dir: text,
  status: status.nullable(),
  runningVersion: text.nullable(),
  fault: text.nullable(),
})

export const installAnswer = objectOf<InstallAnswer>({
  name: text,
  version: text,
  digest: text,
  dir: text,
  change: oneOf<InstallAnswer['change']>({ installed: true, replaced: true, none: true }),
  replaced: text.nullable(),
  runsOn: text.nullable(),
  files: whole,
  bytes: whole,
  leftOut: texts,
  starts: truth,
  notStarted: text.nullable(),
  dryRun: truth,
})

export const uninstallAnswer = objectOf<UninstallAnswer>({
  name: text,
  version: text,
  agent: truth,
  removed: objectOf<RemovedWith>({ files: whole, bytes: whole, messages: whole, memoryKeys: whole, sessions: whole }),
  dryRun: truth,
})

const tokenFields = {
  id: text,
  name: text,
  access: oneOf<Access>({ read: true, control: true, admin: true }),
  createdAt: number,
  lastUsedAt: number.nullable(),
  expiresAt: number.nullable(),
}

export const token = objectOf<TokenView>(tokenFields)

export const createdToken = objectOf<CreatedToken>({ ...tokenFields, token: text })

/** What a dry run would do. */
export const forecast = z.strictObject({ dryRun: z.literal(true), would: z.string() })

const reloadOutcome = { from: text, to: text, changed: texts, replaced: truth }

export const reloadAnswer = extended<ReloadAnswer, AgentSnapshot>(agentSnapshot, {
  reload: objectOf<ReloadOutcome>(reloadOutcome),
})

export const fleetReload = objectOf<FleetReload>({
  agents: z.array(objectOf<FleetReload['agents'][number]>({ id: text, ...reloadOutcome })),
})
