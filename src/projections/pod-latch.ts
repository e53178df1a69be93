/**
 * Whether a Pod has been Ready once. One document often tells: `Ready` is False from the Pod's first moment and changes
 * its `lastTransitionTime` only when it changes, so that a change after the containers had begun means that it was True.
 */
import { flagAt, momentAt, numberAt, objectsAt, textAt } from './document.ts'

/** What the moments of a document are rounded to. */
const ROUNDING_MS = 1000

/** `True`, `False`, `Unknown`, or whatever else is there; null without the condition. */
export const readyCondition = (pod: object): string | null => textAt(conditionOf(pod), 'status')

const conditionOf = (pod: object): object | undefined =>
  objectsAt(pod, 'status', 'conditions').find((one) => textAt(one, 'type') === 'Ready')

export interface Latch {
  /** Null: the document does not tell. */
  readonly verified: boolean | null
  readonly reasons: readonly string[]
}

const UNTOLD: Latch = { verified: null, reasons: ['the document does not tell whether it was Ready before'] }
const never = (reason: string): Latch => ({ verified: false, reasons: [reason] })
const once = (reason: string): Latch => ({ verified: true, reasons: [reason] })

/** @param statuses `status.containerStatuses`, the objects of it */
export function latchOfPod(pod: object, statuses: readonly object[]): Latch {
  if (readyCondition(pod) === 'True') return once('it is Ready')
  const restarted = statuses.some((one) => (numberAt(one, 'restartCount') ?? 0) > 0)
  if (!restarted && statuses.some((one) => flagAt(one, 'started') === false))
    return never('its startup probe has not succeeded yet')
  const since = momentAt(conditionOf(pod), 'lastTransitionTime')
  if (since === null) return UNTOLD
  const began = momentAt(pod, 'status', 'startTime')
  if (began !== null && since <= began + ROUNDING_MS) return never('it has not been Ready since it began')
  const now = statuses.flatMap((one) => momentAt(one, 'state', 'running', 'startedAt') ?? [])
  const before = statuses.flatMap((one) => momentAt(one, 'lastState', 'terminated', 'startedAt') ?? [])
  const ended = statuses.flatMap((one) => momentAt(one, 'state', 'terminated', 'startedAt') ?? [])
  const starts = restarted ? before : [...now, ...ended]
  if (starts.length === 0) return UNTOLD
  if (since > Math.max(...starts)) return once('it ceased to be Ready after its containers had begun')
  return !restarted && since <= Math.min(...starts) ? never('it has not been Ready since its containers began') : UNTOLD
}
