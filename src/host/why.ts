/**
 * Why an agent is where it is, in sentences: how it stands and by whose word, how it came to that, and which commands
 * would change it. A pure function of snapshot, intent, death records and the supervisors above; the commands are those
 * of the table.
 */
import type { DeathCause, DeathRecord, Decision, InFlight, SupervisorEnd } from '../model/death.ts'
import type { Command, IntentRecord } from '../model/intent.ts'
import { LIVE, type Phase } from '../model/lifecycle.ts'
import type { AgentSnapshot } from '../model/snapshot.ts'
import type { Why } from '../model/view.ts'
import { BUDGET_DEFAULTS, MEMORY_BUDGET } from '../supervisor/intensity.ts'
import type { StoppedBy } from '../supervisor/supervisor-spec.ts'

/** All that bears on the answer. */
export interface WhyCase {
  readonly snapshot: AgentSnapshot
  readonly intent: IntentRecord
  /** The newest at the end. */
  readonly deaths: readonly DeathRecord[]
  readonly inFlight: readonly InFlight[]
  /** Those that apply, from the table. */
  readonly commands: readonly Command[]
  /** From the supervisor right above to the root. */
  readonly above: readonly {
    readonly id: string
    readonly end: SupervisorEnd | null
    readonly stopped: StoppedBy | null
    /** Its budget, where one is set. */
    readonly intensity: number | undefined
    readonly periodMs: number | undefined
  }[]
  /** Wall clock. */
  readonly now: number
}

/** Deaths told of; the rest are in the records. */
const TOLD = 3

export function explain(why: WhyCase): Why {
  const told = why.deaths.slice(-TOLD).reverse()
  return {
    agent: why.snapshot.id,
    status: why.snapshot.status,
    sentences: [
      `${standing(why.snapshot)}: ${HEADLINE[why.snapshot.phase](why)}`,
      ...admissionOf(why),
      ...told.slice(0, 1).map((death) => (isLive(why) ? `before that: ${deathSentence(death)}` : deathSentence(death))),
      ...told.slice(0, 1).map(({ decision }) => decisionSentence(decision)),
      ...told.slice(1).map((death) => `before that: ${deathSentence(death)}`),
      ...why.above.flatMap(aboveSentences),
    ],
    records: told.map(({ id }) => id),
    wouldChangeIt: [
      ...why.above
        .filter(({ end, stopped }) => end !== null || stopped !== null)
        .map(({ id }) => `\`holt start ${id}\` starts all that supervisor '${id}' keeps`),
      ...why.commands.filter((command) => command !== synonym(why)).map((command) => remedy(command, why)),
    ],
  }
}

// --- how it stands -----------------------------------------------------------------------------------------------

const standing = ({ phase, intent, status }: AgentSnapshot): string => {
  if (phase === 'STOPPED' && intent !== 'running') return `STOPPED (${intent})`
  return status === 'Unhealthy' ? `${phase} (Unhealthy)` : phase
}

const HEADLINE: Readonly<Record<Phase, (why: WhyCase) => string>> = {
  BOOTING: ({ snapshot, now }) => `it is starting${forLong(snapshot, now)}`,
  IDLE: () => 'it was never started: autostart is off, and nobody has asked for it',
  ACTIVE: (why) => `${activity(why)}${forLong(why.snapshot, why.now)}`,
  PAUSING: ({ inFlight }) => `it begins nothing more and finishes ${working(inFlight)}`,
  PAUSED: () => 'its thread is there and begins nothing',
  RESUMING: () => 'it goes on',
  STOPPING: ({ snapshot, inFlight }) => {
    const by = snapshot.command === null ? '' : `, by '${snapshot.command.name}' of '${snapshot.command.by}'`
    return `it is ending${by}, and finishes ${working(inFlight)}`
  },
  STOPPED: (why) => stopped(why),
  FAILED: ({ snapshot, now }) =>
    snapshot.nextRestartAt === null ? 'its boot failed, and nothing is scheduled' : nextStart(snapshot, now),
}

function activity({ snapshot, inFlight }: WhyCase): string {
  if (snapshot.unkillable) return 'its thread is inside a native call and cannot be ended: it is fenced'
  if (snapshot.status === 'Unhealthy') {
    const unseen = snapshot.healthCause === 'unobservable' ? 'no sign of life for too long' : 'seen to be unwell'
    return `${unseen}; new messages wait`
  }
  return inFlight.length === 0 ? 'it runs and is idle' : `it runs and is at ${working(inFlight)}`
}

const working = (inFlight: readonly InFlight[]): string =>
  inFlight.length === 0 ? 'nothing' : inFlight.map(messageText).join(', ')

const forLong = ({ instance }: AgentSnapshot, now: number): string =>
  instance === null ? '' : `, instance '${instance.id}' for ${duration(now - instance.startedAt)}`

function stopped(why: WhyCase): string {
  const { snapshot, intent, deaths, now } = why
  if (snapshot.nextRestartAt !== null) return nextStart(snapshot, now)
  if (intent.intent !== 'running') {
    if (intent.generation === 0) return 'it was never started, and nobody has asked for it'
    return `${intent.intent} ${byWhom(intent)}`
  }
  const last = deaths.at(-1)
  return last === undefined ? 'it is to run and was not started yet' : notRestarted(last, why)
}

/** It is to run and does not: by which limit, where one was reached. */
function notRestarted({ cause, decision, agent }: DeathRecord, { above }: WhyCase): string {
  const { rule, supervisor, attempt } = decision
  const parent = above.find(({ id }) => id === supervisor)
  if (rule === 'restart_intensity' && parent?.end != null) {
    const own = parent.end.restarts.filter(({ child }) => child === agent).length
    const others = parent.end.restarts.length - own
    const among = others === 0 ? '' : ` (and its siblings ${counted(others, 'time')})`
    return `crashed ${counted(own, 'time')}${among} ${overBudget(parent, parent.end)} by supervisor '${supervisor}'; not restarted`
  }
  if (rule === 'restart_limit' && cause === 'out_of_memory')
    return `died by memory more than ${counted(MEMORY_BUDGET.intensity, 'time')} in ${duration(MEMORY_BUDGET.periodMs)}; not restarted, its siblings go on`
  if (rule === 'restart_limit')
    return `was restarted ${counted(attempt, 'time')} without progress, as often as its restart.maxRestarts allows; not restarted, its siblings go on`
  return 'it is to run, and no start is scheduled'
}

const nextStart = ({ nextRestartAt, lastDeath }: AgentSnapshot, now: number): string => {
  const inMs = Math.max(0, (nextRestartAt ?? now) - now)
  const when = inMs === 0 ? 'at once' : `in ${duration(inMs)}`
  if (lastDeath === null) return `it starts ${when}`
  const { attempt, supervisor, rule } = lastDeath.decision
  return `restart ${attempt} ${when}, by supervisor '${supervisor}' (${rule})`
}

function admissionOf({ snapshot, intent }: WhyCase): string[] {
  if (snapshot.admission === 'open') return []
  const { pausedReason: reason } = intent
  const since = snapshot.pausedSince ?? intent.at
  return [`paused ${byWhom({ by: snapshot.pausedBy ?? intent.by, at: since, reason })}: nothing new is begun`]
}

function aboveSentences(above: WhyCase['above'][number]): string[] {
  const { id, end, stopped } = above
  if (end === null)
    return stopped === null ? [] : [`supervisor '${id}' was stopped ${byWhom(stopped)}, and this agent with it`]
  const parent = end.decision === null ? [] : [`supervisor '${id}': ${decisionSentence(end.decision)}`]
  if (end.cause === 'shutdown')
    return [`supervisor '${id}' ended with its significant child '${end.child ?? ''}' (auto_shutdown)`, ...parent]
  const names = [...new Set(end.restarts.map(({ child }) => child))].join(', ')
  return [
    `supervisor '${id}' gave up: ${counted(end.restarts.length, 'restart')} (${names}) ${overBudget(above, end)}`,
    ...parent,
  ]
}

/** In how long, and what was allowed. */
function overBudget(
  above: Pick<WhyCase['above'][number], 'intensity' | 'periodMs'>,
  { withinMs }: SupervisorEnd,
): string {
  const { intensity = BUDGET_DEFAULTS.intensity, periodMs = BUDGET_DEFAULTS.periodMs } = above
  return `in ${duration(withinMs)}, more than ${intensity} in ${duration(periodMs)} allowed`
}

const byWhom = ({ by, at, reason }: Pick<IntentRecord, 'by' | 'at' | 'reason'>): string =>
  `by '${by}' at ${new Date(at).toISOString()}${reason === null ? '' : `, reason: ${reason}`}`

// --- how it came to that -----------------------------------------------------------------------------------------

const CAUSE: Readonly<Record<DeathCause, (death: DeathRecord) => string>> = {
  normal: () => 'ended itself',
  shutdown: () => 'ended, as it was told to',
  suspended: () => 'ended, as it was suspended',
  reclaimed: () => 'was reclaimed',
  host_died: () => 'ended with its host',
  crash: ({ error }) => `crashed: ${error?.message ?? 'no error was given'}`,
  exit: ({ exitCode }) => `ended its thread by process.exit, code ${exitCode ?? 0}`,
  out_of_memory: ({ heapUsedMb, step, error }) =>
    step === 'watermark'
      ? `was ended before it ran out of memory: ${error?.message ?? 'above the watermark'}`
      : `ran out of memory${heapUsedMb === null ? '' : ` (last seen at ${Math.round(heapUsedMb)} MB)`}`,
  unresponsive: ({ error }) => `was ended: it gave no sign of life${error === undefined ? '' : ` (${error.message})`}`,
  killed: () => 'was killed',
  handler_timeout: () => 'was ended: a handler ran too long',
  boot_failed: ({ step, error }) => `did not boot: step '${step ?? 'roles'}' failed: ${error?.message ?? 'no error'}`,
  start_timeout: ({ step }) => `did not boot in time: it was at step '${step ?? 'roles'}'`,
  shutdown_timeout: () => 'was ended: it did not stop in time',
  lease_lost: () => 'was ended: it lost its lease',
  restart_intensity: () => 'ended: too many restarts',
}

function deathSentence(death: DeathRecord): string {
  const { cause, inFlight, at, instance } = death
  const flying = inFlight.length === 0 ? '' : `, while it handled ${working(inFlight)}`
  return `${CAUSE[cause](death)}${flying} (instance '${instance}', at ${new Date(at).toISOString()})`
}

const messageText = ({ name, id }: InFlight): string => `'${name}' (message ${id})`

const NOT_AGAIN: Readonly<Record<Decision['rule'], string>> = {
  restart_type: 'its restart type does not bring it back from that',
  backoff: 'its delays ended it',
  restart_intensity: 'that was one restart more than the supervisor allows',
  restart_limit: 'it has had as many restarts without progress as it may',
  final_boot_failure: 'that will not change by itself',
  intent: 'it is not wanted running',
  command: 'a command ended it',
  strategy: 'a sibling died, and a temporary child is ended with it and does not come back',
  supervisor: 'its supervisor ended',
  auto_shutdown: 'it is significant, and its supervisor ends with it',
  recovery: 'it was not wanted running when the host came back',
  host_shutdown: 'the host is shutting down',
}

function decisionSentence({ action, rule, attempt, delayMs = 0, supervisor, by }: Decision): string {
  const whose = by === undefined || by === supervisor ? '' : `, by the word of '${by}'`
  if (action !== 'restart') return `no restart, by supervisor '${supervisor}' (${rule})${whose}: ${NOT_AGAIN[rule]}`
  const when = delayMs === 0 ? 'at once' : `after ${duration(delayMs)}`
  if (rule === 'strategy')
    return `restart ${when} along with sibling '${by ?? ''}', by supervisor '${supervisor}' (${rule})`
  return `restart ${attempt} ${when}, by supervisor '${supervisor}' (${rule})`
}

// --- what would change it ----------------------------------------------------------------------------------------

/** `start` and `activate` do the same; only the one that fits is named. */
const synonym = ({ snapshot }: WhyCase): Command => (snapshot.intent === 'suspended' ? 'start' : 'activate')

/** What a command would do: to an agent with a thread, to one whose start is scheduled, to one that just lies there. */
const REMEDY: Readonly<Record<Command, readonly [live: string, scheduled: string, ended: string]>> = {
  start: ['starts it', 'starts it', 'reads its files again and starts it'],
  activate: ['starts it', 'starts it', 'reads its files again and starts it'],
  pause: [
    'lets it finish what it is at and begin nothing more',
    'has it begin nothing once it is up',
    'has it begin nothing once it is up',
  ],
  resume: ['lets it go on', 'lets it begin once it is up', 'lets it begin once it is up'],
  suspend: [
    'frees its thread and keeps its mailbox',
    'cancels the start; messages wait',
    'has messages wait for it until it is activated',
  ],
  stop: [
    'ends it, and it takes no more',
    'cancels the start, and it takes no more',
    'records that it is not wanted running',
  ],
  restart: ['ends it and starts it anew', 'starts it now, with fresh delays', 'starts it, with fresh delays'],
  kill: [
    'ends its thread now; the supervisor decides what follows',
    'ends its thread now; the supervisor decides what follows',
    'ends its thread now',
  ],
}

function remedy(command: Command, why: WhyCase): string {
  const { snapshot } = why
  const [live, scheduled, ended] = REMEDY[command]
  const effect = isLive(why) ? live : snapshot.nextRestartAt === null ? ended : scheduled
  const waits = command === 'resume' || command === 'activate' ? `; ${waiting(snapshot)}` : ''
  return `\`holt ${command} ${snapshot.id}\` ${effect}${waits}`
}

const waiting = ({ mailbox }: AgentSnapshot): string => {
  if (mailbox.depth === 0) return 'nothing waits'
  return mailbox.depth === 1 ? '1 message waits' : `${mailbox.depth} messages wait`
}

const isLive = ({ snapshot }: WhyCase): boolean => LIVE.has(snapshot.phase)

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

const duration = (ms: number): string =>
  ms < 1000 ? `${Math.max(0, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`
