/**
 * A container of a Docker Compose service as axes: a row of `docker compose ps --format json` (or of `docker ps`), or what
 * `docker inspect` has of it. The rules as a table: README.md.
 */
import { at, brief, flagAt, isObject, numberAt, shown, textAt } from './document.ts'
import { endByCode } from './exit-code.ts'
import {
  conclude,
  type End,
  endedBy,
  notConforming,
  type Previous,
  type Projection,
  type Subject,
  undecidable,
} from './projection.ts'

const SET_HEALTH_CHECK = 'set `healthcheck` of the service'
const SET_NO_RESTART = "set `restart: 'no'` of the service: the control plane restarts it"

/** Both forms of the document in one. */
interface Container {
  /** Lower case; null where the document has none. */
  readonly state: string | null
  /** `starting`, `healthy`, `unhealthy`; `none` without a health check. */
  readonly health: string
  readonly exitCode: number | null
  readonly outOfMemory: boolean
  readonly error: string | null
  /** Null: the document does not say. */
  readonly restart: string | null
  readonly running: boolean
}

export function containerSubject(document: unknown): Subject {
  const label = (name: string): string | null =>
    textAt(document, 'Config', 'Labels', name) ?? labelsOf(textAt(document, 'Labels')).get(name) ?? null
  const name = (textAt(document, 'Name') ?? textAt(document, 'Names') ?? '?').replace(/^\//, '')
  const image = textAt(document, 'Config', 'Image') ?? textAt(document, 'Image')
  const tag = image === null || image.startsWith('sha256:') ? null : /:([^:/@]+)(?:@|$)/.exec(image)?.[1]
  return {
    runtime: 'compose',
    name: brief(name),
    instance: textAt(document, 'ID') ?? textAt(document, 'Id') ?? '',
    attributes: {
      service: textAt(document, 'Service') ?? label('com.docker.compose.service'),
      replica: label('com.docker.compose.container-number') ?? /[-_](\d+)$/.exec(name)?.[1] ?? null,
      version: label('org.opencontainers.image.version') ?? tag ?? null,
    },
  }
}

/** `a=1,b=2`, as `docker compose ps` has them. */
function labelsOf(text: string | null): ReadonlyMap<string, string> {
  const pairs = (text ?? '').split(',').map((pair) => pair.split('=') as [string, ...string[]])
  return new Map(pairs.map(([name, ...value]) => [name, value.join('=')]))
}

/** @param document a row of `docker compose ps --format json`, or one element of `docker inspect` */
export function projectContainer(document: unknown, previous: Previous = {}): Projection {
  const subject = containerSubject(document)
  if (!isObject(document)) return notAContainer(subject, `found ${shown(document)}`)
  const container = isObject(at(document, 'State')) ? ofInspect(document) : ofPs(document)
  const { state, restart } = container
  if (state === null) return notAContainer(subject, `State is ${shown(at(document, 'State'))}`)
  const reasons = saying(container, state)
  if (state === 'restarting' || (restart !== null && restart !== 'no' && restart !== ''))
    return notConforming(
      subject,
      [...reasons, state === 'restarting' ? 'Docker restarts it by itself' : `restart is ${shown(restart)}`],
      [SET_NO_RESTART],
    )
  return byState(subject, container, state, reasons, previous)
}

const notAContainer = (subject: Subject, found: string): Projection =>
  undecidable(
    subject,
    [`expected a container with a State, ${found}`],
    ['`docker compose ps --all --format json`, or `docker inspect`'],
  )

function byState(
  subject: Subject,
  container: Container,
  state: string,
  reasons: readonly string[],
  previous: Previous,
): Projection {
  switch (state) {
    case 'created':
      return created(subject, container, reasons, previous)
    case 'exited':
    case 'dead':
    case 'removing':
      return over(subject, container, state, reasons, previous)
    case 'running':
    case 'paused':
      return up(subject, container, state, reasons, previous)
    default:
      return undecidable(
        subject,
        [...reasons, 'this State is not known here'],
        ['created, running, paused, restarting, removing, exited or dead'],
      )
  }
}

function created(subject: Subject, container: Container, reasons: readonly string[], previous: Previous): Projection {
  // It stays `created` when its process could not be started, and nothing will try again.
  const failed = (container.exitCode ?? 0) !== 0 || container.error !== null
  const stopped = failed || previous.stopRequested === true
  return conclude(
    subject,
    {
      desiredStatus: stopped ? 'stopped' : 'running',
      alive: false,
      identityVerified: false,
      health: 'good',
      end: failed ? endedBy('boot_failed', container.exitCode) : null,
      reasons,
    },
    previous,
  )
}

/** With `restart: no` an end is an end. */
function over(
  subject: Subject,
  container: Container,
  state: string,
  reasons: readonly string[],
  previous: Previous,
): Projection {
  return conclude(
    subject,
    {
      desiredStatus: 'stopped',
      alive: state === 'removing' && container.running,
      identityVerified: container.health === 'healthy' || container.health === 'unhealthy',
      health: 'good',
      end: endOf(container, previous.stopRequested === true),
      reasons,
    },
    previous,
  )
}

function endOf(container: Container, told: boolean): End {
  const { exitCode, outOfMemory, error } = container
  if (outOfMemory) return endedBy('out_of_memory', exitCode)
  if (error !== null && (exitCode === 126 || exitCode === 127 || exitCode === 128))
    return endedBy('boot_failed', exitCode)
  return endByCode(exitCode, told)
}

function up(
  subject: Subject,
  container: Container,
  state: string,
  reasons: readonly string[],
  previous: Previous,
): Projection {
  const { health } = container
  const judged = health === 'healthy' || health === 'unhealthy'
  if (previous.stopRequested === true)
    return conclude(
      subject,
      {
        desiredStatus: 'stopped',
        alive: true,
        identityVerified: judged,
        health: health === 'unhealthy' ? 'bad' : 'good',
        reasons: [...reasons, 'it was told to stop'],
      },
      previous,
    )
  if (health === 'none') return notConforming(subject, [...reasons, 'it has no health check'], [SET_HEALTH_CHECK])
  if (!judged && health !== 'starting')
    return undecidable(
      subject,
      [...reasons, 'this health is not known here'],
      ['starting, healthy or unhealthy'],
      ['Starting', 'Running', 'Unhealthy', 'Paused'],
    )
  const frozen = state === 'paused'
  return conclude(
    subject,
    {
      desiredStatus: 'running',
      alive: true,
      // Docker has a word of its own for what is still starting: a verdict of either kind ends the start.
      identityVerified: judged,
      health: frozen || health === 'unhealthy' ? 'bad' : 'good',
      healthCause: frozen ? 'unobservable' : 'observed-bad',
      reasons: frozen ? [...reasons, 'the cgroup freezer holds it, and its health check too'] : reasons,
    },
    previous,
  )
}

function saying({ state, health, exitCode, outOfMemory, error }: Container, native: string): readonly string[] {
  const ended = state === 'exited' || state === 'dead' || (exitCode ?? 0) !== 0
  return [
    `state ${brief(native)}`,
    ...(health === 'none' ? [] : [`health ${brief(health)}`]),
    ...(ended && exitCode !== null ? [`exit code ${exitCode}`] : []),
    ...(outOfMemory ? ['OOMKilled'] : []),
    ...(error === null ? [] : [brief(error)]),
  ]
}

function ofInspect(document: object): Container {
  const state = at(document, 'State')
  return {
    state: textAt(state, 'Status')?.toLowerCase() ?? byFlags(state),
    health: textAt(state, 'Health', 'Status')?.toLowerCase() ?? 'none',
    exitCode: numberAt(state, 'ExitCode'),
    outOfMemory: flagAt(state, 'OOMKilled') === true,
    error: textAt(state, 'Error'),
    restart: textAt(document, 'HostConfig', 'RestartPolicy', 'Name'),
    running: flagAt(state, 'Running') === true,
  }
}

/** Docker before 1.9 has no Status. */
function byFlags(state: unknown): string | null {
  for (const [flag, name] of [
    ['Restarting', 'restarting'],
    ['Paused', 'paused'],
    ['Dead', 'dead'],
    ['Running', 'running'],
  ] as const)
    if (flagAt(state, flag) === true) return name
  return flagAt(state, 'Running') === false ? 'exited' : null
}

function ofPs(document: object): Container {
  const status = textAt(document, 'Status') ?? ''
  const said = /\((?:health: )?(starting|healthy|unhealthy)\)/.exec(status)?.[1]
  const code = /^exited \((\d+)\)/i.exec(status)?.[1]
  const state = textAt(document, 'State')?.toLowerCase() ?? null
  return {
    state,
    health: (textAt(document, 'Health') ?? said ?? 'none').toLowerCase(),
    exitCode: numberAt(document, 'ExitCode') ?? (code === undefined ? null : Number(code)),
    outOfMemory: false,
    error: null,
    restart: null,
    running: state === 'removing',
  }
}
