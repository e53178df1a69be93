/** Status: all 32 combinations of axes, and the table of phase by intent. */
import { describe, expect, it } from 'vitest'
import {
  type Axes,
  axesOf,
  classify,
  mayBeWorking,
  mayTakeWork,
  STATUSES,
  type Standing,
  type Status,
} from '../../src/model/canonical.ts'
import { PHASES } from '../../src/model/lifecycle.ts'

const BOOLS = [true, false] as const

const combinations: Axes[] = (['running', 'stopped'] as const).flatMap((desiredStatus) =>
  BOOLS.flatMap((identityVerified) =>
    BOOLS.flatMap((acceptingWork) =>
      (['good', 'bad'] as const).flatMap((health) =>
        BOOLS.map((alive) => ({ desiredStatus, identityVerified, acceptingWork, health, alive })),
      ),
    ),
  ),
)

describe('the status of each combination of axes', () => {
  it('is total over 32, and every status is reached', () => {
    expect(combinations).toHaveLength(32)
    expect(new Set(combinations.map(classify))).toEqual(new Set(STATUSES))
  })

  it.each(combinations)(
    '$desiredStatus, verified $identityVerified, accepting $acceptingWork, $health, alive $alive',
    (axes) => {
      const expected: [boolean, Status][] = [
        [axes.desiredStatus === 'stopped' && axes.alive, 'Stopping'],
        [axes.desiredStatus === 'stopped', 'Stopped'],
        [!axes.identityVerified, 'Starting'],
        [axes.health === 'bad', 'Unhealthy'],
        [!axes.alive, 'Unhealthy'],
        [!axes.acceptingWork, 'Paused'],
        [true, 'Running'],
      ]
      expect(classify(axes)).toBe(expected.find(([applies]) => applies)?.[1])
    },
  )

  it('is counted out: 8 each stopping and stopped, 8 starting, 6 unhealthy, one paused, one running', () => {
    const counts = Object.fromEntries(STATUSES.map((s) => [s, combinations.filter((a) => classify(a) === s).length]))
    expect(counts).toEqual({ Stopping: 8, Stopped: 8, Starting: 8, Unhealthy: 6, Paused: 1, Running: 1 })
  })
})

/** A sound instance that serves. */
const SERVING: Standing = {
  phase: 'ACTIVE',
  intent: 'running',
  admission: 'open',
  superseded: false,
  health: 'good',
  identityVerified: true,
  alive: true,
  startScheduled: false,
  stopCommanded: false,
}

const NEW = { identityVerified: false }
const ENDED = { alive: false }
const COMMANDED = { phase: 'STOPPING', stopCommanded: true } as const

describe('the status of phase by intent', () => {
  it.each<[string, Partial<Standing>, Status]>([
    ['BOOTING', { phase: 'BOOTING', ...NEW }, 'Starting'],
    ['BOOTING before it has a thread', { phase: 'BOOTING', ...NEW, ...ENDED }, 'Starting'],
    ['BOOTING while cordoned', { phase: 'BOOTING', ...NEW, admission: 'cordoned' }, 'Starting'],
    ['IDLE', { phase: 'IDLE', ...NEW, ...ENDED }, 'Stopped'],
    ['IDLE, stopped', { phase: 'IDLE', ...NEW, ...ENDED, intent: 'stopped' }, 'Stopped'],
    ['ACTIVE', {}, 'Running'],
    ['ACTIVE and cordoned', { admission: 'cordoned' }, 'Paused'],
    ['ACTIVE and superseded', { superseded: true }, 'Paused'],
    ['ACTIVE and not healthy', { health: 'bad' }, 'Unhealthy'],
    ['ACTIVE, cordoned and not healthy', { health: 'bad', admission: 'cordoned' }, 'Unhealthy'],
    ...(['PAUSING', 'PAUSED', 'RESUMING'] as const).flatMap((phase): [string, Partial<Standing>, Status][] => [
      [phase, { phase, admission: 'cordoned' }, 'Paused'],
      [`${phase}, open again`, { phase, admission: 'open' }, 'Paused'],
      [`${phase} and not healthy`, { phase, health: 'bad' }, 'Unhealthy'],
    ]),
    ['STOPPING by command, alive', COMMANDED, 'Stopping'],
    ['STOPPING by command, not healthy', { ...COMMANDED, health: 'bad' }, 'Stopping'],
    ['STOPPING by command, in its boot', { ...COMMANDED, ...NEW }, 'Stopping'],
    ['STOPPING by command, suspended', { ...COMMANDED, intent: 'suspended' }, 'Stopping'],
    ['STOPPING by command, thread gone', { ...COMMANDED, ...ENDED, intent: 'stopped' }, 'Stopped'],
    ['STOPPING on the way through a crash', { phase: 'STOPPING', ...ENDED }, 'Unhealthy'],
    ['STOPPED in back-off', { phase: 'STOPPED', ...ENDED, startScheduled: true }, 'Unhealthy'],
    ['STOPPED with nothing scheduled', { phase: 'STOPPED', ...ENDED }, 'Stopped'],
    ['STOPPED, suspended', { phase: 'STOPPED', ...ENDED, intent: 'suspended' }, 'Stopped'],
    ['STOPPED, stopped', { phase: 'STOPPED', ...ENDED, intent: 'stopped' }, 'Stopped'],
    ['FAILED with a retry scheduled', { phase: 'FAILED', ...NEW, ...ENDED, startScheduled: true }, 'Starting'],
    ['FAILED with none', { phase: 'FAILED', ...NEW, ...ENDED }, 'Stopped'],
    ['FAILED, suspended', { phase: 'FAILED', ...NEW, ...ENDED, intent: 'suspended' }, 'Stopped'],
  ])('%s', (_name, standing, expected) => {
    expect(classify(axesOf({ ...SERVING, ...standing }))).toBe(expected)
  })

  it('is Running in ACTIVE alone, open, current, healthy and verified', () => {
    const standings = PHASES.flatMap((phase) =>
      BOOLS.flatMap((superseded) =>
        BOOLS.flatMap((identityVerified) =>
          (['open', 'cordoned'] as const).flatMap((admission) =>
            (['good', 'bad'] as const).map((health) => ({
              ...SERVING,
              phase,
              superseded,
              identityVerified,
              admission,
              health,
            })),
          ),
        ),
      ),
    )
    expect(standings.filter((standing) => classify(axesOf(standing)) === 'Running')).toEqual([SERVING])
  })
})

describe('the two questions', () => {
  it('may it take new work: only when Running', () => {
    expect(STATUSES.filter(mayTakeWork)).toEqual(['Running'])
  })

  it('may it be doing work: when Running or Paused, or Stopping within its deadline', () => {
    expect(STATUSES.filter((status) => mayBeWorking(status, true))).toEqual(['Running', 'Paused', 'Stopping'])
    expect(STATUSES.filter((status) => mayBeWorking(status, false))).toEqual(['Running', 'Paused'])
  })
})
