/** An Amazon ECS task, as DescribeTasks has it, as axes. The rules as a table: README.md. */
import { at, brief, isObject, objectsAt, shown, textAt } from './document.ts'
import { endOfTask } from './ecs-end.ts'
import { conclude, notConforming, type Previous, type Projection, type Subject, undecidable } from './projection.ts'

const BEFORE: ReadonlySet<string> = new Set(['PROVISIONING', 'PENDING', 'ACTIVATING'])
/** A task that is here never comes back, whatever its desired status says. */
const ENDING: ReadonlySet<string> = new Set(['DEACTIVATING', 'STOPPING', 'DEPROVISIONING'])
const ENDED: ReadonlySet<string> = new Set(['STOPPED', 'DELETED'])
const HEALTH: ReadonlySet<string> = new Set(['HEALTHY', 'UNHEALTHY', 'UNKNOWN'])

const SET_HEALTH_CHECK = 'set `healthCheck` in a container definition of the task definition'

export function taskSubject(document: unknown): Subject {
  const arn = textAt(document, 'taskArn') ?? textAt(document, 'arn') ?? ''
  const definition = textAt(document, 'taskDefinitionArn')?.split('/').at(-1) ?? null
  const service = textAt(document, 'group')?.replace(/^(?:service|family):/, '') ?? definition?.split(':')[0] ?? null
  const task = arn.split('/').at(-1) ?? ''
  return {
    runtime: 'ecs',
    name: brief([service, task].filter(Boolean).join('/')) || '?',
    instance: arn,
    attributes: { service, replica: task === '' ? null : task, version: definition?.split(':').at(-1) ?? null },
  }
}

/** @param document one task of DescribeTasks, RunTask or StopTask, or the detail of its state change event */
export function projectTask(document: unknown, previous: Previous = {}): Projection {
  const subject = taskSubject(document)
  const last = textAt(document, 'lastStatus')
  if (!isObject(document) || last === null) return notATask(subject, document)
  const desired = textAt(document, 'desiredStatus')
  const reasons = [`lastStatus ${brief(last)}, desiredStatus ${desired === null ? 'missing' : brief(desired)}`]
  if (ENDED.has(last) || ENDING.has(last) || desired === 'STOPPED') return ended(subject, document, last, previous)
  if (!BEFORE.has(last) && last !== 'RUNNING')
    return undecidable(
      subject,
      [...reasons, 'this lastStatus is not known here'],
      ['a lastStatus of the task life cycle'],
    )
  if (desired !== 'RUNNING' && desired !== 'PENDING')
    return undecidable(
      subject,
      [...reasons, 'nothing says whether it is to run'],
      ['`desiredStatus`, RUNNING or STOPPED'],
    )
  if (last === 'RUNNING') return running(subject, document, previous, reasons)
  const alive = objectsAt(document, 'containers').some((one) => textAt(one, 'lastStatus') === 'RUNNING')
  return conclude(
    subject,
    { desiredStatus: 'running', alive, identityVerified: false, health: 'good', reasons },
    previous,
  )
}

function notATask(subject: Subject, document: unknown): Projection {
  const failure = textAt(document, 'reason')
  if (failure !== null && textAt(document, 'arn') !== null)
    return undecidable(
      subject,
      [`DescribeTasks failed for it: ${brief(failure)}`],
      ['a task that the cluster still knows'],
    )
  const found = isObject(document) ? `lastStatus is ${shown(at(document, 'lastStatus'))}` : `found ${shown(document)}`
  return undecidable(subject, [`expected a task with a lastStatus, ${found}`], ['a task as DescribeTasks has it'])
}

function ended(subject: Subject, task: object, last: string, previous: Previous): Projection {
  const { end, reasons } = endOfTask(task)
  const code = end.exitCode === undefined ? [] : [`exit code ${end.exitCode}`]
  const said = [`lastStatus ${brief(last)}`, ...reasons, ...code]
  const known = ENDED.has(last) || ENDING.has(last) || BEFORE.has(last) || last === 'RUNNING'
  if (!known)
    return undecidable(
      subject,
      [...said, 'this lastStatus is not known here'],
      ['a lastStatus of the task life cycle'],
      ['Stopping', 'Stopped'],
    )
  const alive = !ENDED.has(last)
  const health = healthOf(task) === 'UNHEALTHY' ? 'bad' : 'good'
  const verified = wasJudged(task)
  return conclude(
    subject,
    { desiredStatus: 'stopped', alive, identityVerified: verified, health, end, reasons: said },
    previous,
  )
}

function running(subject: Subject, task: object, previous: Previous, reasons: readonly string[]): Projection {
  const health = healthOf(task)
  if (health === null)
    return notConforming(
      subject,
      [...reasons, 'no container has a healthStatus (an event of EventBridge never has one: take describe-tasks)'],
      [SET_HEALTH_CHECK],
    )
  const said = [...reasons, `healthStatus ${brief(health)}`]
  if (!HEALTH.has(health))
    return undecidable(subject, [...said, 'this healthStatus is not known here'], ['HEALTHY, UNHEALTHY or UNKNOWN'])
  const here = { desiredStatus: 'running', alive: true } as const
  if (textAt(task, 'connectivity') === 'DISCONNECTED')
    return conclude(
      subject,
      {
        ...here,
        identityVerified: health === 'UNKNOWN' ? latchOf(previous) : true,
        health: 'bad',
        healthCause: 'unobservable',
        reasons: [...said, 'the agent of its container instance is disconnected'],
        wouldDecide: ['whether it was HEALTHY before (`previous`)'],
      },
      previous,
    )
  if (health === 'UNKNOWN')
    return conclude(
      subject,
      {
        ...here,
        identityVerified: latchOf(previous),
        health: 'bad',
        healthCause: 'unobservable',
        startingHealth: 'good',
        reasons: [...said, 'no health check has answered yet, or there is none'],
        wouldDecide: [
          'whether it was HEALTHY before (`previous`), or a later document',
          `without a health check no document will: ${SET_HEALTH_CHECK}`,
        ],
      },
      previous,
    )
  return conclude(
    subject,
    { ...here, identityVerified: true, health: health === 'HEALTHY' ? 'good' : 'bad', reasons: said },
    previous,
  )
}

const latchOf = ({ identityVerified }: Previous): boolean | null => identityVerified ?? null

/** A verdict of either kind ends the start: ECS has a state of its own, UNKNOWN, for what is still starting. */
function wasJudged(task: object): boolean {
  const health = healthOf(task)
  return health === 'HEALTHY' || health === 'UNHEALTHY'
}

/** Of the task, else of its containers; null where neither has one. */
function healthOf(task: object): string | null {
  const own = textAt(task, 'healthStatus')
  if (own !== null) return own
  const each = objectsAt(task, 'containers').flatMap((one) => textAt(one, 'healthStatus') ?? [])
  if (each.length === 0) return null
  return (
    each.find((one) => one !== 'HEALTHY' && one !== 'UNKNOWN') ?? each.find((one) => one === 'HEALTHY') ?? 'UNKNOWN'
  )
}
