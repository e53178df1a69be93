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
  /** Why it was left aside when its supervisor was started; null: it was not. */
  readonly notStarted: string | null
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
      ...told.slice(0, 1).map(decisionOf),
      ...told.slice(1).map((death) => `before that: ${deathSentence(death)}`),
      ...why.above.flatMap(aboveSentences),
    ],
    records: told.map(({ id }) => id),
    wouldChangeIt: why.snapshot.unkillable ? UNKILLABLE_REMEDIES(why.snapshot) : remedies(why),
  }
}

// --- how it stands -----------------------------------------------------------------------------------------------

const standing = ({ phase, intent, status }: AgentSnapshot): string => {
  if (phase === 'STOPPED' && intent !== 'running') return `STOPPED (${intent})`
  return status === 'Unhealthy' ? `${phase} (Unhealthy)` : phase
}

const HEADLINE: Readonly<Record<Phase, (why: WhyCase) => string>> = {
  BOOTING: ({ snapshot, now }) => `it is starting${forLong(snapshot, now)}`,
  IDLE: ({ notStarted }) => notStarted ?? 'it was never started: autostart is off, and nobody has asked for it',
  ACTIVE: (why) => {
    const waits = why.snapshot.status === 'Unhealthy' ? '; new messages wait' : ''
    return `${activity(why)}${forLong(why.snapshot, why.now)}${waits}`
  },
  PAUSING: ({ inFlight }) => `it begins nothing more and finishes ${working(inFlight)}`,
  PAUSED: () => 'its thread is there and begins nothing',
  RESUMING: () => 'it goes on',
  STOPPING: ({ snapshot, inFlight }) => {
    if (snapshot.unkillable) return `${NATIVE}; no other is started before it ends`
    const by = snapshot.command === null ? '' : `, by '${snapshot.command.name}' of '${snapshot.command.by}'`
    return `it is ending${by}, and finishes ${working(inFlight)}`
  },
  STOPPED: (why) => stopped(why),
  FAILED: (why) => {
    if (why.snapshot.nextRestartAt !== null) return nextStart(why.snapshot, why.now)
    if (why.notStarted !== null) return why.notStarted
    const last = why.deaths.at(-1)
    const limit = last?.decision.rule === 'restart_intensity' || last?.decision.rule === 'restart_limit'
    return limit ? notRestarted(last, why) : 'its boot failed, and nothing is scheduled'
  },
}

const NATIVE = 'its thread is inside a native call and cannot be ended: it is fenced'

function activity({ snapshot, inFlight }: WhyCase): string {
  if (snapshot.status === 'Unhealthy') {
    const unseen = snapshot.healthCause === 'unobservable' ? 'no sign of life for too long' : 'seen to be unwell'
    const at = inFlight.length === 0 ? '' : `, at ${working(inFlight)}`
    return `${unseen}${at}`
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
  if (why.notStarted !== null) return why.notStarted
  const last = deaths.at(-1)
  return last === undefined ? 'it is to run and was not started yet' : notRestarted(last, why)
}

/** It is to run and does not: by which rule. */
function notRestarted(last: DeathRecord, why: WhyCase): string {
  const { rule, supervisor, attempt, by } = last.decision
  switch (rule) {
    case 'restart_intensity':
      return `${overIntensity(last, why)}; not restarted`
    case 'restart_limit': {
      const often = `was restarted ${counted(attempt, 'time')} without progress, as often as its restart.maxRestarts allows`
      return `${last.cause === 'out_of_memory' ? overMemory(why) : often}; not restarted, its siblings go on`
    }
    case 'restart_type':
      return 'it has ended, and its restart type does not bring it back from that'
    case 'auto_shutdown':
      return `it has ended, and supervisor '${supervisor}' with it, as it is significant`
    case 'strategy':
      return `it was ended along with sibling '${by ?? ''}', and a temporary child does not come back`
    case 'supervisor':
      return endedWith(why)
    default:
      return NOT_SCHEDULED
  }
}

const NOT_SCHEDULED = 'it is to run, and no start is scheduled'

/** How often, beside its siblings, and what was allowed. */
function overIntensity({ agent, decision: { supervisor } }: DeathRecord, { above, deaths }: WhyCase): string {
  const parent = above.find(({ id }) => id === supervisor)
  if (parent?.end == null) return NOT_SCHEDULED
  const { restarts } = parent.end
  const own = restarts.filter(({ child }) => child === agent).map(({ deathId }) => deathId)
  const verbs = new Set(deaths.filter(({ id }) => own.includes(id)).map(verbOf))
  const verb = verbs.size === 1 ? [...verbs][0]! : 'died'
  const others = restarts.length - own.length
  const among = others === 0 ? '' : ` (and its siblings ${counted(others, 'time')})`
  if (parent.intensity === 0) return `${verb}, and supervisor '${supervisor}' allows no restart (intensity 0)`
  return `${verb} ${counted(own.length, 'time')}${among} ${overBudget(parent, parent.end)} by supervisor '${supervisor}'`
}

function verbOf({ cause, class: kind }: DeathRecord): string {
  if (cause === 'boot_failed' || cause === 'start_timeout') return 'failed to boot'
  return kind === 'normal' ? 'ended' : 'crashed'
}

function overMemory({ deaths }: WhyCase): string {
  const { intensity, periodMs } = MEMORY_BUDGET
  const last = deaths.filter(({ cause }) => cause === 'out_of_memory').slice(-intensity - 1)
  const withinMs = (last.at(-1)?.at ?? 0) - (last[0]?.at ?? 0)
  return `died by memory ${counted(last.length, 'time')} in ${duration(withinMs)}, more than ${intensity} in ${duration(periodMs)} allowed`
}

/** With which supervisor above, and what of that. */
function endedWith({ above, now }: WhyCase): string {
  const parent = above.find(({ end, stopped }) => end !== null || stopped !== null)
  if (parent === undefined) return NOT_SCHEDULED
  const { id, end, stopped } = parent
  const how = end === null ? `which '${stopped?.by ?? ''}' stopped` : ENDED[end.cause]
  const { action, delayMs = 0 } = end?.decision ?? {}
  const next = action === 'restart' && end !== null ? `, and is restarted ${soon(end.at + delayMs - now)}` : undefined
  return `it was ended with supervisor '${id}', ${how}${next ?? '; not restarted'}`
}

const ENDED: Readonly<Record<SupervisorEnd['cause'], string>> = {
  restart_intensity: 'which gave up',
  shutdown: 'which ended with a significant child',
}

const soon = (inMs: number): string => (inMs <= 0 ? 'at once' : `in ${duration(inMs)}`)

const nextStart = ({ nextRestartAt, lastDeath }: AgentSnapshot, now: number): string => {
  const at = nextRestartAt ?? now
  const when = at < now ? 'is due, and waits for those that end or start before it' : soon(at - now)
  if (lastDeath === null) return `it starts ${when}`
  const { attempt, supervisor, rule, action, by = '' } = lastDeath.decision
  if (action !== 'restart') return `it starts ${when}, with its supervisor '${supervisor}'`
  const which = rule === 'strategy' ? `restart along with sibling '${by}'` : `restart ${attempt}`
  return `${which} ${when}, by supervisor '${supervisor}' (${rule})`
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
  const budget = `${counted(end.restarts.length, 'restart')} (${names}) ${overBudget(above, end)}`
  const none = `it allows no restart (intensity 0), and '${names}' would have needed one`
  return [`supervisor '${id}' gave up: ${above.intensity === 0 ? none : budget}`, ...parent]
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
  unresponsive: ({ error }) => `was ended: ${error?.message ?? 'no sign of life for too long'}`,
  killed: () => 'was killed',
  handler_timeout: ({ error }) => `was ended: ${error?.message ?? 'a handler ran too long'}`,
  boot_failed: ({ step, error }) => `did not boot: step '${step ?? 'roles'}' failed: ${error?.message ?? 'no error'}`,
  start_timeout: ({ step, error }) =>
    `did not boot in time, at step '${step ?? 'roles'}'${error === undefined ? '' : `: ${error.message}`}`,
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

const decisionOf = ({ decision, cause }: DeathRecord): string =>
  decisionSentence(decision, cause === 'out_of_memory' && decision.rule === 'restart_limit' ? BY_MEMORY : undefined)

const BY_MEMORY = 'it has died by memory as often as it may'

function decisionSentence(decision: Decision, why: string = NOT_AGAIN[decision.rule]): string {
  const { action, rule, attempt, delayMs = 0, supervisor, by } = decision
  const whose = by === undefined || by === supervisor ? '' : `, by the word of '${by}'`
  if (action !== 'restart') return `no restart, by supervisor '${supervisor}' (${rule})${whose}: ${why}`
  const when = delayMs === 0 ? 'at once' : `after ${duration(delayMs)}`
  if (rule === 'strategy')
    return `restart ${when} along with sibling '${by ?? ''}', by supervisor '${supervisor}' (${rule})`
  return `restart ${attempt} ${when}, by supervisor '${supervisor}' (${rule})`
}

// --- what would change it ----------------------------------------------------------------------------------------

function remedies(why: WhyCase): string[] {
  return [
    ...why.above
      .filter(({ end, stopped }) => end !== null || stopped !== null)
      .map(({ id }) => `\`holt start ${id}\` starts all that supervisor '${id}' keeps`),
    ...why.commands.filter((command) => command !== synonym(why)).map((command) => remedy(command, why)),
  ]
}

/** No command ends its thread. */
const UNKILLABLE_REMEDIES = ({ id }: AgentSnapshot): string[] => [
  `\`holt stop ${id}\` has nothing started once its thread ends`,
  '`holt down` ends the whole process, and the thread with it',
]

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

function counted(count: number, noun: string): string {
  if (noun === 'time' && count === 1) return 'once'
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

const MINUTE_MS = 60_000

/** In the unit that leaves a small number, with one digit after the point where it is not a whole one. */
function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`
  const [value, unit] = ms < 2 * MINUTE_MS ? [ms / 1000, 's'] : [ms / MINUTE_MS, 'min']
  return `${Number(value.toFixed(1))} ${unit}`
}
