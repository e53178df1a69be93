/** Why a Pod, or a container of it, ended. */
import type { DeathCause } from '../model/death.ts'
import { brief, numberAt, objectsAt, textAt } from './document.ts'
import { endByCode } from './exit-code.ts'
import { type End, endedBy } from './projection.ts'

/** `status.reason` of a Pod that is over. */
const OF_REASON: Readonly<Record<string, DeathCause>> = {
  Evicted: 'reclaimed',
  Preempted: 'reclaimed',
  Preempting: 'reclaimed',
  NodeLost: 'reclaimed',
  // A node that shuts down in good order, in the words of three generations of the kubelet.
  Shutdown: 'reclaimed',
  NodeShutdown: 'reclaimed',
  Terminated: 'reclaimed',
  // Refused by the kubelet: no container was started.
  UnexpectedAdmissionError: 'boot_failed',
  NodeAffinity: 'boot_failed',
  MatchNodeSelector: 'boot_failed',
  OutOfcpu: 'boot_failed',
  OutOfmemory: 'boot_failed',
  OutOfpods: 'boot_failed',
  // activeDeadlineSeconds.
  DeadlineExceeded: 'killed',
}

/** In order: out of memory; who took the place away; what the kubelet says; the exit code. */
export function endOfPod(
  pod: object,
  statuses: readonly object[],
): { readonly end: End; readonly reasons: readonly string[] } {
  const worst = statuses.find((one) => isOutOfMemory(one)) ?? statuses.find(hasFailed) ?? statuses[0]
  const ofContainer = worst === undefined ? endedBy('undecidable') : endOfContainer(worst)
  if (ofContainer.cause === 'out_of_memory') return { end: ofContainer, reasons: [] }
  const code = ofContainer.exitCode ?? null
  const disruption = objectsAt(pod, 'status', 'conditions').find(
    (one) => textAt(one, 'type') === 'DisruptionTarget' && textAt(one, 'status') === 'True',
  )
  if (disruption !== undefined) {
    const why = [textAt(disruption, 'reason'), textAt(disruption, 'message')].flatMap((text) => text ?? [])
    return { end: endedBy('reclaimed', code), reasons: why.map(brief) }
  }
  const reason = textAt(pod, 'status', 'reason')
  if (reason !== null && Object.hasOwn(OF_REASON, reason))
    return { end: endedBy(OF_REASON[reason]!, code), reasons: [] }
  if (textAt(pod, 'metadata', 'deletionTimestamp') !== null) return { end: endedBy('shutdown', code), reasons: [] }
  return { end: ofContainer, reasons: [] }
}

const terminatedOf = (status: object, key: string): string | null =>
  textAt(status, 'state', 'terminated', key) ?? textAt(status, 'lastState', 'terminated', key)

const codeOf = (status: object): number | null =>
  numberAt(status, 'state', 'terminated', 'exitCode') ?? numberAt(status, 'lastState', 'terminated', 'exitCode')

const isOutOfMemory = (status: object): boolean => /^OOM ?Killed$/.test(terminatedOf(status, 'reason') ?? '')

const hasFailed = (status: object): boolean => (codeOf(status) ?? 0) !== 0

/** How a container ended the last time. */
export function endOfContainer(status: object): End {
  const code = codeOf(status)
  if (isOutOfMemory(status)) return endedBy('out_of_memory', code)
  const reason = terminatedOf(status, 'reason')
  // The kubelet makes the code 137 up where it has lost the container.
  if (reason === 'ContainerStatusUnknown') return endedBy('undecidable', code)
  if (reason === 'ContainerCannotRun' || reason === 'StartError') return endedBy('boot_failed', code)
  return endByCode(code, false)
}
