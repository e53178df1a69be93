/**
 * Deaths: the closed union of causes, the class of each, the record, and the one function that reads a cause out of
 * the evidence an ended thread leaves.
 */
import { describeError, type ErrorShape } from './error.ts'

const CLASS_OF = {
  normal: 'normal',
  shutdown: 'normal',
  suspended: 'normal',
  reclaimed: 'reclaimed',
  host_died: 'reclaimed',
  crash: 'crash',
  exit: 'crash',
  out_of_memory: 'crash',
  unresponsive: 'crash',
  killed: 'crash',
  handler_timeout: 'crash',
  boot_failed: 'crash',
  start_timeout: 'crash',
  shutdown_timeout: 'crash',
  lease_lost: 'crash',
  restart_intensity: 'crash',
} as const

/** Why an instance ended. `restart_intensity` is a supervisor's own, when it gave up. */
export type DeathCause = keyof typeof CLASS_OF
export type DeathClass = (typeof CLASS_OF)[DeathCause]

export const DEATH_CAUSES = Object.keys(CLASS_OF) as DeathCause[]

export const classOf = (cause: DeathCause): DeathClass => CLASS_OF[cause]

/** The step of the boot that failed. */
export type BootStep =
  | 'state'
  | 'manifest'
  | 'env'
  | 'identity'
  | 'gate'
  | 'compile'
  | 'thread'
  | 'credential'
  | 'roles'
  | 'needs'
  | 'capabilities'

/** What a record names beside the cause: the step of a boot, or the mark that a heap had passed. */
export type DeathStep = BootStep | 'watermark'

/** Steps whose failure will not change by itself: only an explicit start leaves FAILED. */
const FINAL_STEPS: ReadonlySet<DeathStep> = new Set<DeathStep>(['manifest', 'env', 'identity', 'gate', 'needs'])

export const isFinalStep = (step: DeathStep | undefined): boolean => step !== undefined && FINAL_STEPS.has(step)

/** A message that had begun and not ended when its instance died. */
export interface InFlight {
  /** Number of the delivery within the instance, from 1. */
  readonly seq: number
  readonly name: string
  /** Number of the message within the agent's mailbox, from 1; 0 for an instance's own `boot`. */
  readonly id: number
  readonly kind: 'event' | 'ask'
  /** Wall clock, ms; the thread reads its clock once in 16 messages while it is behind, so up to 16 messages early. */
  readonly begunAt: number
}

/** Who ends an instance, by which rule. */
export interface Told {
  /**
   * `command`: an operator's, which also sees to what comes next; `strategy`: its supervisor restarts it along with a
   * sibling; `supervisor`: its supervisor ends; `host_shutdown`.
   */
  readonly rule: 'command' | 'strategy' | 'supervisor' | 'host_shutdown'
  /** The operator; the sibling that died; the supervisor that ended, or whose deadline it was. */
  readonly by: string
}

/** What was decided after a death, by which rule. */
export interface Decision {
  readonly rule:
    | Told['rule']
    | 'restart_type'
    | 'backoff'
    | 'restart_intensity'
    | 'restart_limit'
    | 'final_boot_failure'
    | 'intent'
    | 'auto_shutdown'
    /** The host had died; it starts again by its intent. */
    | 'recovery'
  /** `give_up` and `shutdown` end the supervisor: by its budget, and by the end of a significant child. */
  readonly action: 'restart' | 'none' | 'give_up' | 'shutdown'
  readonly delayMs?: number
  readonly supervisor: string
  /** Restarts in a row without progress, this one included. */
  readonly attempt: number
  /** Who had it ended, where somebody had; see {@link Told}. */
  readonly by?: string
}

/** One per instance. Times in ms since the epoch. */
export interface DeathRecord {
  readonly id: string
  readonly agent: string
  readonly instance: string
  readonly epoch: number
  readonly cause: DeathCause
  readonly class: DeathClass
  readonly step?: DeathStep
  readonly error?: ErrorShape
  readonly exitCode?: number
  readonly signal?: string
  readonly uptimeMs: number
  readonly at: number
  readonly inFlight: readonly InFlight[]
  /** Messages that were handled, but whose replies and sends may not have left the thread. */
  readonly unflushed: number
  readonly mailboxDepth: number
  readonly heapUsedMb: number | null
  readonly decision: Decision
}

/** What is known when a thread has ended. */
export interface Evidence {
  /** Why the host ended it, where it did. */
  readonly told?: DeathCause
  /** What the host saw that made it do so. */
  readonly seen?: { readonly step?: DeathStep; readonly message: string }
  /** What the thread itself reported before it ended. */
  readonly reported?: {
    readonly cause: 'crash' | 'normal' | 'boot_failed'
    readonly step?: BootStep
    readonly error?: ErrorShape
  }
  /** The `error` event of the worker. */
  readonly thrown?: unknown
  readonly exitCode: number
  /** It had never become ACTIVE. */
  readonly booting: boolean
  /** How far the boot had come. @default 'roles' */
  readonly step?: BootStep
}

export interface Verdict {
  readonly cause: DeathCause
  readonly step?: DeathStep
  readonly error?: ErrorShape
  readonly exitCode?: number
}

/** Exit code of a thread whose top-level await can never settle (Node). */
const UNSETTLED_AWAIT = 13

/**
 * The cause of an end. In order: out of memory (V8 says so, whatever else was asked); what the host had told it to
 * do; what the thread reported; the error event; a bare exit. During boot all but a command count as a failed boot.
 */
export function judge(evidence: Evidence): Verdict {
  const { told, reported, thrown, exitCode, booting } = evidence
  const last = thrown === undefined ? undefined : describeError(thrown)
  if (last?.code === 'ERR_WORKER_OUT_OF_MEMORY') return { cause: 'out_of_memory', error: last, exitCode }
  const error = reported?.error ?? last ?? observed(evidence)
  if (told !== undefined) return { cause: told, ...(error === undefined ? {} : { error }), ...stepOf(evidence) }
  if (reported !== undefined && (!booting || reported.cause !== 'crash'))
    return { cause: reported.cause, ...(error === undefined ? {} : { error }), ...stepOf(evidence) }
  if (booting)
    return { cause: 'boot_failed', step: evidence.step ?? 'roles', error: error ?? bootExit(exitCode), exitCode }
  if (error !== undefined) return { cause: 'crash', error, exitCode }
  return { cause: 'exit', error: ownExit(exitCode), exitCode }
}

const observed = ({ seen }: Evidence): ErrorShape | undefined =>
  seen === undefined ? undefined : { name: 'Observed', message: seen.message }

const stepOf = ({ reported, booting, told, seen, step = 'roles' }: Evidence): { step?: DeathStep } => {
  if (seen?.step !== undefined) return { step: seen.step }
  if (reported?.step !== undefined) return { step: reported.step }
  return booting && told === 'start_timeout' ? { step } : {}
}

const bootExit = (code: number): ErrorShape => ({
  name: 'BootFailed',
  message:
    code === UNSETTLED_AWAIT
      ? 'module never finished loading (exit 13): a top-level await in a role never settles'
      : `the thread exited with code ${code} before it was ready`,
})

const ownExit = (code: number): ErrorShape => ({
  name: 'Exit',
  message: `the agent ended itself with process.exit(${code}), without an error`,
})

/** How a supervisor ended by its own rules, and what its parent made of it. */
export interface SupervisorEnd {
  /** `restart_intensity`: it gave up; `shutdown`: a significant child had ended. */
  readonly cause: 'restart_intensity' | 'shutdown'
  /** Wall clock, ms. */
  readonly at: number
  /** Restarts that filled its budget, oldest first, with the deaths they followed; empty for `shutdown`. */
  readonly restarts: readonly { readonly child: string; readonly deathId: string }[]
  /** From the first of them to the last. */
  readonly withinMs: number
  /** The significant child that ended. */
  readonly child?: string
  /** The parent's; null at the root, and until the parent has decided. */
  readonly decision: Decision | null
}
