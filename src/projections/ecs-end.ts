/** Why an ECS task ended: by its stop code, and by its reason where a code covers more than one cause. */
import type { DeathCause } from '../model/death.ts'
import { brief, numberAt, objectsAt, textAt } from './document.ts'
import { endByCode } from './exit-code.ts'
import { type End, endedBy } from './projection.ts'

/** Undefined: by the exit code. */
const OF_STOP_CODE: Readonly<Record<string, DeathCause | undefined>> = {
  TaskFailedToStart: 'boot_failed',
  EssentialContainerExited: undefined,
  UserInitiated: 'shutdown',
  ServiceSchedulerInitiated: 'shutdown',
  SpotInterruption: 'reclaimed',
  TerminationNotice: 'reclaimed',
  InfrastructureHealth: 'reclaimed',
}

/** Reasons that say more than the code they come with, or come without one. */
const OF_REASON: readonly (readonly [RegExp, DeathCause])[] = [
  [/^Host EC2 \(instance [^)]*\) (?:terminated|stopped)/i, 'reclaimed'],
  [/maintenance on the underlying infrastructure/i, 'reclaimed'],
  [/^Your Spot Task was interrupted/i, 'reclaimed'],
  [/failed (?:ELB|container) health checks/i, 'unresponsive'],
  [/^(?:CannotPullContainerError|CannotStartContainerError|ResourceInitializationError)/, 'boot_failed'],
]

/** How the task ended, or is about to, with what says so. */
export function endOfTask(task: object): { readonly end: End; readonly reasons: readonly string[] } {
  const stopCode = textAt(task, 'stopCode')
  const reason = textAt(task, 'stoppedReason')
  const ofContainers = objectsAt(task, 'containers').flatMap((one) => textAt(one, 'reason') ?? [])
  const reasons = [
    ...(stopCode === null ? [] : [`stopCode ${brief(stopCode)}`]),
    ...[...(reason === null ? [] : [reason]), ...ofContainers].map(brief),
  ]
  const cause = causeOf(stopCode, reason, ofContainers)
  const code = exitCodeOf(task)
  if (cause === null) return { end: endByCode(code, false), reasons }
  if (cause === 'undecidable')
    return { end: endedBy(cause, code), reasons: [...reasons, 'this stopCode is not known here'] }
  return { end: endedBy(cause, code), reasons }
}

/** Null: the exit code is all there is. */
function causeOf(
  stopCode: string | null,
  reason: string | null,
  ofContainers: readonly string[],
): DeathCause | 'undecidable' | null {
  // As with Holt's own: out of memory first, whatever else was asked.
  if ([...ofContainers, reason ?? ''].some((text) => /^OutOfMemory/i.test(text))) return 'out_of_memory'
  // Whoever stops a task by hand writes what they like as the reason.
  const free = stopCode === 'UserInitiated'
  const told = OF_REASON.find(([pattern]) => !free && reason !== null && pattern.test(reason))
  if (told !== undefined) return told[1]
  if (stopCode === null) return null
  return Object.hasOwn(OF_STOP_CODE, stopCode) ? (OF_STOP_CODE[stopCode] ?? null) : 'undecidable'
}

/** The first exit code that is not 0, else 0, else null. */
function exitCodeOf(task: object): number | null {
  const codes = objectsAt(task, 'containers').flatMap((one) => numberAt(one, 'exitCode') ?? [])
  return codes.find((code) => code !== 0) ?? codes[0] ?? null
}
