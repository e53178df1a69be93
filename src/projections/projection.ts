/**
 * What a document of another runtime comes to: the axes and the status that Holt's own agents have, or why there is none.
 * Each runtime finds out its facts (`ecs.ts`, `kubernetes.ts`, `compose.ts`); what follows from them is decided here,
 * once, with the `classify` that the host uses.
 */
import { type Axes, classify, type Health, type HealthCause, STATUSES, type Status } from '../model/canonical.ts'
import { classOf, type DeathCause, type DeathClass } from '../model/death.ts'

export const RUNTIMES = ['ecs', 'kubernetes', 'compose'] as const
export type Runtime = (typeof RUNTIMES)[number]

/** What the caller knows beside the document. All of it may be left out. */
export interface Previous {
  /**
   * The latch of the same instance, from an earlier projection (`axes.identityVerified`): it was past its start then. Left
   * out: not known. A latch that is set stays set.
   */
  readonly identityVerified?: boolean
  /** The control plane hands no new work to it. @default false */
  readonly cordoned?: boolean
  /** It was told to stop, where the runtime does not say so itself (Compose). @default false */
  readonly stopRequested?: boolean
}

/** Which instance it is. */
export interface Subject {
  readonly runtime: Runtime
  /** For people: `namespace/pod`, the service and the task, the container. */
  readonly name: string
  /** Unique and never used again: the task's ARN, the Pod's uid, the container's id. Empty where the document has none. */
  readonly instance: string
  readonly attributes: {
    readonly service: string | null
    readonly replica: string | null
    readonly version: string | null
  }
}

/** How an instance ended; `undecidable` where the document does not say why. */
export interface End {
  readonly cause: DeathCause | 'undecidable'
  readonly class: DeathClass | 'undecidable'
  readonly exitCode?: number
}

export interface Classified extends Subject {
  readonly status: Status
  readonly axes: Axes
  /** In one word: why it ended, else why its health is bad; null where it is alive and well. */
  readonly cause: End['cause'] | HealthCause | null
  /** Null while health is good. */
  readonly healthCause: HealthCause | null
  /** Null while it is alive, and where it has never lived. */
  readonly death: End | null
  readonly reasons: readonly string[]
}

export interface Undecidable extends Subject {
  readonly status: 'undecidable'
  /** What it may be. */
  readonly between: readonly Status[]
  readonly reasons: readonly string[]
  readonly wouldDecide: readonly string[]
}

/** No document of this instance will ever tell its axes, until something is set. */
export interface NotConforming extends Subject {
  readonly status: 'not-conforming'
  readonly reasons: readonly string[]
  readonly toSet: readonly string[]
}

export type Projection = Classified | Undecidable | NotConforming

/** What a runtime's rules found out. */
export interface Findings {
  readonly desiredStatus: Axes['desiredStatus']
  readonly alive: boolean
  /** Null: nothing in the document decides, and neither does `previous`. */
  readonly identityVerified: boolean | null
  readonly health: Health
  readonly healthCause?: HealthCause
  /** Health while it is not past its start: not to be ready yet is nothing bad then. @default as `health` */
  readonly startingHealth?: Health
  readonly end?: End | null
  readonly reasons: readonly string[]
  /** What would decide the latch. */
  readonly wouldDecide?: readonly string[]
}

/** The projection that follows from the findings. */
export function conclude(subject: Subject, findings: Findings, previous: Previous): Projection {
  const latch = previous.identityVerified === true ? true : findings.identityVerified
  if (latch !== null) return classified(subject, findings, latch, previous)
  const either = [false, true].map((verified) => classified(subject, findings, verified, previous))
  const between = [...new Set(either.map(({ status }) => status))]
  if (between.length === 1) return either[0]!
  return undecidable(subject, findings.reasons, findings.wouldDecide ?? [], between)
}

function classified(subject: Subject, found: Findings, identityVerified: boolean, previous: Previous): Classified {
  const { desiredStatus, alive } = found
  const health = identityVerified ? found.health : (found.startingHealth ?? found.health)
  const serving = desiredStatus === 'running' && identityVerified && alive
  const cordoned = previous.cordoned === true
  const axes: Axes = { desiredStatus, identityVerified, acceptingWork: serving && !cordoned, health, alive }
  const status = classify(axes)
  const healthCause = health === 'good' ? null : (found.healthCause ?? 'observed-bad')
  const death = alive ? null : (found.end ?? null)
  return {
    ...subject,
    status,
    axes,
    cause: death?.cause ?? healthCause,
    healthCause,
    death,
    reasons: status === 'Paused' ? [...found.reasons, 'the control plane has cordoned it'] : found.reasons,
  }
}

export const undecidable = (
  subject: Subject,
  reasons: readonly string[],
  wouldDecide: readonly string[],
  between: readonly Status[] = STATUSES,
): Undecidable => ({ ...subject, status: 'undecidable', between, reasons, wouldDecide })

export const notConforming = (
  subject: Subject,
  reasons: readonly string[],
  toSet: readonly string[],
): NotConforming => ({ ...subject, status: 'not-conforming', reasons, toSet })

/** An end by this cause. */
export const endedBy = (cause: DeathCause | 'undecidable', exitCode: number | null = null): End => ({
  cause,
  class: cause === 'undecidable' ? 'undecidable' : classOf(cause),
  ...(exitCode === null ? {} : { exitCode }),
})
