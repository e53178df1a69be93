/** The rules of each runtime where the real documents do not reach: what is missing, unknown, or at an edge. */
import { describe, expect, it } from 'vitest'
import { type Previous, type Projection, project, projectAll, subjectOf } from '../../src/projections/index.ts'

/** `Stopped exit`, `undecidable Starting|Unhealthy`, `not-conforming`. */
function word(projection: Projection): string {
  if (projection.status === 'not-conforming') return projection.status
  if (projection.status === 'undecidable')
    return `undecidable ${projection.between.length === 6 ? 'any' : projection.between.join('|')}`
  return [projection.status, projection.cause].filter((part) => part !== null).join(' ')
}

const task = (last: string | undefined, desired: string | undefined, more: object = {}): object => ({
  taskArn: 'arn:aws:ecs:us-west-2:111122223333:task/burrow/1',
  ...(last === undefined ? {} : { lastStatus: last }),
  ...(desired === undefined ? {} : { desiredStatus: desired }),
  containers: [],
  ...more,
})

describe('an ECS task', () => {
  it.each<[string, string | undefined, string | undefined, object, Previous, string]>([
    ['has no lastStatus', undefined, 'RUNNING', {}, {}, 'undecidable any'],
    ['has no desiredStatus', 'RUNNING', undefined, {}, {}, 'undecidable any'],
    ['has no desiredStatus and has ended', 'STOPPED', undefined, {}, {}, 'Stopped undecidable'],
    ['has a lastStatus nobody knows', 'NAPPING', 'RUNNING', {}, {}, 'undecidable any'],
    ['has one and is to stop', 'NAPPING', 'STOPPED', {}, {}, 'undecidable Stopping|Stopped'],
    ['has a healthStatus nobody knows', 'RUNNING', 'RUNNING', { healthStatus: 'FINE' }, {}, 'undecidable any'],
    ['is deactivated', 'DEACTIVATING', 'RUNNING', {}, {}, 'Stopping'],
    ['is deleted', 'DELETED', 'STOPPED', { stopCode: 'UserInitiated' }, {}, 'Stopped shutdown'],
    [
      'was well and is UNKNOWN',
      'RUNNING',
      'RUNNING',
      { healthStatus: 'UNKNOWN' },
      { identityVerified: true },
      'Unhealthy unobservable',
    ],
    [
      'is out of sight',
      'RUNNING',
      'RUNNING',
      { healthStatus: 'UNKNOWN', connectivity: 'DISCONNECTED' },
      {},
      'undecidable Starting|Unhealthy',
    ],
    [
      'was stopped for a code nobody knows',
      'STOPPED',
      'STOPPED',
      { stopCode: 'Hibernation' },
      {},
      'Stopped undecidable',
    ],
    [
      'was stopped by hand for a reason of any kind',
      'STOPPED',
      'STOPPED',
      { stopCode: 'UserInitiated', stoppedReason: 'it failed container health checks' },
      {},
      'Stopped shutdown',
    ],
    [
      'failed its container health check',
      'STOPPED',
      'STOPPED',
      { stopCode: 'ServiceSchedulerInitiated', stoppedReason: 'Task failed container health checks' },
      {},
      'Stopped unresponsive',
    ],
    [
      'exited without a code',
      'STOPPED',
      'STOPPED',
      { stopCode: 'EssentialContainerExited', containers: [{ exitCode: null }] },
      {},
      'Stopped undecidable',
    ],
    [
      'broke',
      'STOPPED',
      'STOPPED',
      { stopCode: 'EssentialContainerExited', containers: [{ exitCode: 0 }, { exitCode: 139 }] },
      {},
      'Stopped crash',
    ],
  ])('that %s', (_, last, desired, more, previous, expected) => {
    expect(word(project('ecs', task(last, desired, more), previous))).toBe(expected)
  })

  it('has service, replica and version', () => {
    const document = {
      ...task('RUNNING', 'RUNNING'),
      group: 'service:digger',
      taskDefinitionArn: 'arn:x:task-definition/digger:12',
    }
    expect(subjectOf('ecs', document).attributes).toEqual({ service: 'digger', replica: '1', version: '12' })
  })
})

const AT = (seconds: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString()
interface PodShape {
  readonly ready?: string
  /** Seconds after the Pod began at which Ready changed. */
  readonly since?: number
  readonly restarts?: number
  readonly started?: boolean
  readonly state?: object
  readonly lastState?: object
  readonly phase?: string
  readonly more?: object
}
const pod = ({
  ready = 'False',
  since,
  restarts = 0,
  started,
  state,
  lastState = {},
  phase = 'Running',
  more = {},
}: PodShape): object => ({
  kind: 'Pod',
  metadata: { name: 'walker-0', namespace: 'burrow', uid: 'u', ...more },
  spec: { containers: [{ name: 'main', readinessProbe: {} }] },
  status: {
    phase,
    startTime: AT(0),
    conditions: [{ type: 'Ready', status: ready, ...(since === undefined ? {} : { lastTransitionTime: AT(since) }) }],
    containerStatuses: [
      {
        name: 'main',
        restartCount: restarts,
        ...(started === undefined ? {} : { started }),
        lastState,
        state: state ?? { running: { startedAt: AT(5) } },
      },
    ],
  },
})

describe('a Pod', () => {
  const OOM = { terminated: { reason: 'OOMKilled', exitCode: 137, startedAt: AT(5) } }
  it.each<[string, PodShape, Previous, string]>([
    ['not Ready since it began', { since: 0 }, {}, 'Starting'],
    ['not Ready since a moment after it began, before its containers', { since: 3 }, {}, 'Starting'],
    ['that ceased to be Ready', { since: 60 }, {}, 'Unhealthy observed-bad'],
    ['not Ready since nobody knows', {}, {}, 'undecidable Starting|Unhealthy'],
    ['not Ready since nobody knows, and known not to have been', {}, { identityVerified: false }, 'Starting'],
    ['not Ready since nobody knows, and known to have been', {}, { identityVerified: true }, 'Unhealthy observed-bad'],
    [
      'not Ready since it began, and known to have been: a latch stays',
      { since: 0 },
      { identityVerified: true },
      'Unhealthy observed-bad',
    ],
    ['whose startup probe is pending', { started: false }, {}, 'Starting'],
    ['whose startup probe is pending again', { started: false, restarts: 1 }, {}, 'undecidable Starting|Unhealthy'],
    [
      'restarted, that had been Ready',
      { restarts: 1, since: 60, lastState: OOM, state: { running: { startedAt: AT(61) } } },
      {},
      'Unhealthy observed-bad',
    ],
    [
      'restarted, of which too little is known',
      { restarts: 1, since: 60, state: { running: { startedAt: AT(61) } } },
      {},
      'undecidable Starting|Unhealthy',
    ],
    ['whose readiness cannot be seen', { ready: 'Unknown', since: 60 }, {}, 'Unhealthy unobservable'],
    ['with a condition nobody knows', { ready: 'Perhaps' }, {}, 'undecidable Starting|Running|Unhealthy|Paused'],
    ['in a phase nobody knows', { phase: 'Hibernating' }, {}, 'undecidable any'],
    ['on a lost node, never Ready', { phase: 'Unknown', since: 0 }, {}, 'Starting unobservable'],
    ['that is deleted and runs', { ready: 'True', more: { deletionTimestamp: AT(70) } }, {}, 'Stopping'],
    [
      'that is deleted and has ended',
      { since: 70, more: { deletionTimestamp: AT(70) }, state: { terminated: { exitCode: 0 } } },
      {},
      'Stopped shutdown',
    ],
    [
      'that is deleted and ran out of memory',
      { since: 70, more: { deletionTimestamp: AT(70) }, state: OOM },
      {},
      'Stopped out_of_memory',
    ],
    ['cordoned and not Ready', { since: 60 }, { cordoned: true }, 'Unhealthy observed-bad'],
  ])('%s', (_, shape, previous, expected) => {
    expect(word(project('kubernetes', pod(shape), previous))).toBe(expected)
  })

  it('of which a part is missing says which', () => {
    const whole = pod({ since: 60 }) as { spec?: object; status: { phase?: string } }
    const { spec: _, ...bare } = whole
    expect(project('kubernetes', bare)).toMatchObject({
      status: 'undecidable',
      reasons: [expect.stringContaining('spec'), expect.anything()],
    })
    expect(project('kubernetes', { kind: 'Pod' })).toMatchObject({
      status: 'undecidable',
      wouldDecide: [expect.stringContaining('phase')],
    })
    expect(project('kubernetes', { kind: 'Service', spec: {} })).toMatchObject({
      reasons: ["expected a Pod, found kind 'Service'"],
    })
  })

  it('is found in an event of a watch', () => {
    expect(project('kubernetes', { type: 'MODIFIED', object: pod({ ready: 'True' }) }).status).toBe('Running')
  })

  it('in a list with junk has its own line', () => {
    const list = { kind: 'List', items: [pod({ ready: 'True' }), null, 'x', 7, {}] }
    expect(projectAll('kubernetes', list).map(({ status }) => status)).toEqual([
      'Running',
      ...Array(4).fill('undecidable'),
    ])
  })
})

describe('a container of Compose', () => {
  const ps = (State: string, more: object = {}): object => ({
    ID: '1',
    Name: 'burrow-web-2',
    Service: 'web',
    State,
    ...more,
  })
  it.each<[string, object, Previous, string]>([
    ['created', ps('created'), {}, 'Starting'],
    ['created, and told to stop', ps('created'), { stopRequested: true }, 'Stopped'],
    ['in a state nobody knows', ps('napping'), {}, 'undecidable any'],
    [
      'of a health nobody knows',
      ps('running', { Health: 'fine' }),
      {},
      'undecidable Starting|Running|Unhealthy|Paused',
    ],
    ['without a state', { ID: '1', Name: 'x' }, {}, 'undecidable any'],
    ['in capitals, as older ones write', ps('Running', { Health: 'Healthy' }), {}, 'Running'],
    ['paused while it was starting', ps('paused', { Health: 'starting' }), {}, 'Starting unobservable'],
    ['being removed', ps('removing', { Health: 'healthy' }), {}, 'Stopping'],
    ['that restarts', ps('restarting'), {}, 'not-conforming'],
    ['that exited with 3', ps('exited', { ExitCode: 3 }), {}, 'Stopped exit'],
    ['that exited on SIGTERM', ps('exited', { ExitCode: 143 }), {}, 'Stopped shutdown'],
    ['whose exit code is in its Status', ps('exited', { Status: 'Exited (139) 2 hours ago' }), {}, 'Stopped crash'],
    [
      'restarted unless stopped',
      {
        Id: '1',
        State: { Status: 'running', Health: { Status: 'healthy' } },
        HostConfig: { RestartPolicy: { Name: 'unless-stopped' } },
      },
      {},
      'not-conforming',
    ],
    ['of Docker 1.8', { Id: '1', State: { Running: false, Paused: false, ExitCode: 0 } }, {}, 'Stopped normal'],
  ])('%s', (_, document, previous, expected) => {
    expect(word(project('compose', document, previous))).toBe(expected)
  })

  it('has service, replica and version', () => {
    expect(subjectOf('compose', ps('running', { Image: 'burrow/web:3.2' })).attributes).toEqual({
      service: 'web',
      replica: '2',
      version: '3.2',
    })
  })
})
