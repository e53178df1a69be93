/** A Kubernetes Pod as axes. The rules as a table: README.md; the latch: `pod-latch.ts`; the cause: `pod-end.ts`. */
import { at, brief, flagAt, isObject, numberAt, objectsAt, shown, textAt } from './document.ts'
import { endOfContainer, endOfPod } from './pod-end.ts'
import { latchOfPod, readyCondition } from './pod-latch.ts'
import { conclude, notConforming, type Previous, type Projection, type Subject, undecidable } from './projection.ts'

const SET_READINESS_PROBE = 'set `readinessProbe` in a container of the Pod'

export function podSubject(document: unknown): Subject {
  const label = (name: string): string | null => textAt(document, 'metadata', 'labels', name)
  const name = textAt(document, 'metadata', 'name') ?? '?'
  const namespace = textAt(document, 'metadata', 'namespace')
  const owner = objectsAt(document, 'metadata', 'ownerReferences').find((one) => flagAt(one, 'controller') === true)
  const service = label('app.kubernetes.io/name') ?? label('app') ?? textAt(owner, 'name')
  return {
    runtime: 'kubernetes',
    name: brief(namespace === null ? name : `${namespace}/${name}`),
    instance: textAt(document, 'metadata', 'uid') ?? '',
    attributes: {
      service,
      replica: label('apps.kubernetes.io/pod-index') ?? /-(\d+)$/.exec(name)?.[1] ?? name.split('-').at(-1) ?? null,
      version: label('app.kubernetes.io/version') ?? label('version') ?? imageTag(document),
    },
  }
}

function imageTag(document: unknown): string | null {
  const image = textAt(objectsAt(document, 'spec', 'containers')[0], 'image')
  return image === null ? null : (/:([^:/@]+)(?:@|$)/.exec(image)?.[1] ?? null)
}

/** What a Pod's rules look at. */
interface Pod {
  readonly document: object
  readonly subject: Subject
  readonly previous: Previous
  readonly phase: string
  readonly statuses: readonly object[]
  readonly reasons: readonly string[]
}

/** @param document one Pod, as `kubectl get pod -o json` has it */
export function projectPod(document: unknown, previous: Previous = {}): Projection {
  const subject = podSubject(document)
  const kind = textAt(document, 'kind')
  if (!isObject(document) || (kind !== null && kind !== 'Pod'))
    return undecidable(
      subject,
      [`expected a Pod, found ${kind === null ? shown(document) : `kind ${shown(kind)}`}`],
      ['a Pod as `kubectl get pod -o json` has it'],
    )
  const phase = textAt(document, 'status', 'phase')
  if (phase === null)
    return undecidable(
      subject,
      [`status.phase is ${shown(at(document, 'status', 'phase'))}`],
      ['`status.phase`: the API server has set none yet, or the document was cut'],
    )
  const statuses = objectsAt(document, 'status', 'containerStatuses')
  const pod: Pod = { document, subject, previous, phase, statuses, reasons: said(document, phase, statuses) }
  if (phase === 'Succeeded' || phase === 'Failed') return over(pod)
  if (textAt(document, 'metadata', 'deletionTimestamp') !== null) return terminating(pod)
  return wanted(pod)
}

function said(document: object, phase: string, statuses: readonly object[]): readonly string[] {
  const reason = textAt(document, 'status', 'reason')
  const message = textAt(document, 'status', 'message')
  const containers = statuses.flatMap((one) => {
    const name = textAt(one, 'name') ?? '?'
    const waiting = textAt(one, 'state', 'waiting', 'reason')
    const terminated = textAt(one, 'state', 'terminated', 'reason')
    const code = numberAt(one, 'state', 'terminated', 'exitCode')
    const restarts = numberAt(one, 'restartCount') ?? 0
    const state =
      waiting ?? (terminated === null ? null : `${terminated}${code === null ? '' : ` (exit code ${code})`}`)
    const again = restarts > 0 ? `, ${restarts} restart${restarts === 1 ? '' : 's'}` : ''
    return state === null && restarts === 0 ? [] : [brief(`container '${name}' ${state ?? 'running'}${again}`)]
  })
  return [
    ...(reason === null ? [] : [brief(reason)]),
    ...(message === null ? [] : [brief(message)]),
    ...containers,
    `phase ${brief(phase)}`,
  ]
}

/** Succeeded and Failed are final: nothing will start it again. */
function over({ document, subject, previous, statuses, reasons }: Pod): Projection {
  const { end, reasons: why } = endOfPod(document, statuses)
  return conclude(
    subject,
    {
      desiredStatus: 'stopped',
      alive: false,
      identityVerified: latchOfPod(document, statuses).verified ?? false,
      health: 'good',
      end,
      reasons: [...why, ...reasons],
    },
    previous,
  )
}

/** Deletion was asked for. It is Stopping until its containers have ended. */
function terminating({ document, subject, previous, statuses, reasons }: Pod): Projection {
  const alive = statuses.length === 0 || statuses.some((one) => at(one, 'state', 'terminated') === undefined)
  const { end, reasons: why } = endOfPod(document, statuses)
  return conclude(
    subject,
    {
      desiredStatus: 'stopped',
      alive,
      identityVerified: latchOfPod(document, statuses).verified ?? false,
      health: 'good',
      end,
      reasons: ['deletionTimestamp is set', ...why, ...reasons],
    },
    previous,
  )
}

function wanted(pod: Pod): Projection {
  const { document, subject, phase, reasons } = pod
  if (phase !== 'Pending' && phase !== 'Running' && phase !== 'Unknown')
    return undecidable(subject, ['this phase is not known here', ...reasons], ['a phase of the Pod life cycle'])
  const containers = objectsAt(document, 'spec', 'containers')
  if (containers.length === 0)
    return undecidable(subject, ['`spec.containers` is missing', ...reasons], ['the whole Pod, with its spec'])
  const sidecars = objectsAt(document, 'spec', 'initContainers').filter(
    (one) => textAt(one, 'restartPolicy') === 'Always',
  )
  if (![...containers, ...sidecars].some((one) => isObject(at(one, 'readinessProbe'))))
    return notConforming(subject, ['no container has a readiness probe', ...reasons], [SET_READINESS_PROBE])
  if (phase === 'Unknown' || textAt(document, 'status', 'reason') === 'NodeLost') return lost(pod)
  return phase === 'Pending' ? pending(pod) : running(pod)
}

function pending({ document, subject, previous, statuses, reasons }: Pod): Projection {
  const init = objectsAt(document, 'status', 'initContainerStatuses')
  const waiting = [...init, ...statuses].flatMap((one) => textAt(one, 'state', 'waiting', 'reason') ?? [])
  const stuck = waiting.some((reason) => /(?:BackOff|Err|Error|InvalidImageName)/.test(reason))
  const unplaced = objectsAt(document, 'status', 'conditions').find(
    (one) => textAt(one, 'type') === 'PodScheduled' && textAt(one, 'status') === 'False',
  )
  const why = unplaced === undefined ? [] : [brief(textAt(unplaced, 'message') ?? 'not scheduled yet')]
  return conclude(
    subject,
    {
      desiredStatus: 'running',
      alive: [...init, ...statuses].some(isRunning),
      identityVerified: false,
      health: stuck ? 'bad' : 'good',
      reasons: [...why, ...reasons],
    },
    previous,
  )
}

const isRunning = (status: object): boolean => isObject(at(status, 'state', 'running'))

/** The node is out of sight. Nothing says that the Pod was still starting, unless its latch does. */
function lost({ document, subject, previous, statuses, reasons }: Pod): Projection {
  const latch = latchOfPod(document, statuses)
  return conclude(
    subject,
    {
      desiredStatus: 'running',
      alive: true,
      identityVerified: previous.identityVerified ?? latch.verified ?? true,
      health: 'bad',
      healthCause: 'unobservable',
      reasons: ['its node cannot be seen', ...reasons],
    },
    previous,
  )
}

function running(pod: Pod): Projection {
  const { document, subject, previous, statuses, reasons } = pod
  const ready = readyCondition(document)
  const base = { desiredStatus: 'running', alive: statuses.length === 0 || statuses.some(isRunning) } as const
  if (ready === 'True')
    return conclude(
      subject,
      { ...base, identityVerified: true, health: 'good', reasons: ['Ready', ...reasons] },
      previous,
    )
  if (ready !== 'False' && ready !== 'Unknown')
    return undecidable(
      subject,
      [ready === null ? 'it has no condition Ready' : `Ready is ${shown(ready)}, which is not known here`, ...reasons],
      ['the condition Ready in `status.conditions`'],
      ['Starting', 'Running', 'Unhealthy', 'Paused'],
    )
  const unseen = ready === 'Unknown'
  const down = statuses.filter((one) => !isRunning(one) && hasEnded(one))
  const latch = latchOfPod(document, statuses)
  const looping = down.length > 0
  return conclude(
    subject,
    {
      ...base,
      // A process that has begun and ended is past its start: a crash loop is Unhealthy, as `kubectl` shows it.
      identityVerified: looping ? true : (latch.verified ?? previous.identityVerified ?? null),
      health: 'bad',
      healthCause: unseen ? 'unobservable' : 'observed-bad',
      startingHealth: 'good',
      end: looping ? endOfContainer(down[0]!) : null,
      reasons: [
        unseen ? 'whether it is Ready cannot be seen' : 'not Ready',
        ...(looping ? [] : latch.reasons),
        ...reasons,
      ],
      wouldDecide: ['whether it was Ready before (`previous`)', 'when Ready changed (`lastTransitionTime`)'],
    },
    previous,
  )
}

/** It has run and does not now: it waits for the next attempt, or has just ended. */
const hasEnded = (status: object): boolean =>
  textAt(status, 'state', 'waiting', 'reason') === 'CrashLoopBackOff' ||
  isObject(at(status, 'state', 'terminated')) ||
  isObject(at(status, 'lastState', 'terminated'))
