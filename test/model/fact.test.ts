/** Facts: each kind has its level and its own sentence. */
import { describe, expect, it } from 'vitest'
import { FACTS, type FactData, type FactKind, makeFact } from '../../src/model/fact.ts'

const SAMPLES: { readonly [K in FactKind]: readonly [FactData<K>, string] } = {
  'host.started': [{ agents: 2, tookMs: 80 }, 'host is up: 2 agents settled in 80 ms'],
  'host.draining': [
    { by: 'ann', deadlineMs: 9000 },
    'host is draining (ann), within 9000 ms: it takes nothing more from outside',
  ],
  'host.drained': [{ handled: 3, waiting: [] }, 'host is drained: 3 messages were worked off'],
  'catalog.installed': [
    { name: 'greeter', version: '1.0.0', by: 'ann' },
    "version 1.0.0 of 'greeter' installed by ann",
  ],
  'catalog.uninstalled': [{ name: 'greeter', by: 'ann' }, "'greeter' uninstalled by ann"],
  'host.stopping': [{ by: 'SIGTERM', deadlineMs: 9000 }, 'host is shutting down (SIGTERM), within 9000 ms'],
  'host.heaps_exceed_memory': [
    { heapsMb: 6400, memoryMb: 4096 },
    'the heaps of all agents add up to 6400 MB, and there are 4096 MB: lower limits.heapMb, or host fewer agents',
  ],
  'host.stopped': [{ killed: [], stuck: [] }, 'host stopped, every agent ended in time'],
  'agent.phase': [{ from: 'BOOTING', to: 'ACTIVE', status: 'Running' }, 'BOOTING to ACTIVE (Running)'],
  'agent.intent': [
    { intent: 'suspended', admission: 'open', by: 'ann', reason: 'upgrade', generation: 2 },
    'intent is suspended, admission open, by ann (upgrade)',
  ],
  'agent.not_started': [{ text: 'no room' }, 'not started for want of memory: no room'],
  'agent.command': [
    { command: 'stop', by: 'ann', reason: 'upgrade', outcome: 'done' },
    "'stop' by ann (upgrade): done",
  ],
  'agent.died': [{ deathId: 'd1', cause: 'crash', class: 'crash', text: 'died of a crash' }, 'died of a crash'],
  'agent.ended': [{ deathId: 'd1', cause: 'shutdown', class: 'normal', text: 'was stopped' }, 'was stopped'],
  'agent.restart_scheduled': [
    { delayMs: 1000.4, attempt: 2, supervisor: 'root' },
    "restart 2 in 1000 ms, by supervisor 'root'",
  ],
  'agent.health': [{ health: 'bad', cause: 'unobservable', text: 'no heartbeat for 5 s' }, 'no heartbeat for 5 s'],
  'agent.lost': [
    { what: 'lines', count: 12 },
    '12 lines of output dropped: the agent printed faster than they could be taken',
  ],
  'message.dead_letter': [{ reason: 'overflow', name: 'add', count: 1 }, "'add' is a dead letter: overflow"],
  'message.stale_epoch': [
    { what: 'a reply', epoch: 1, current: 2, count: 1 },
    'a reply of epoch 1 refused: epoch 2 is in force',
  ],
  'agent.lease_lost': [
    { silentMs: 15_250, recoverMs: 30_000 },
    'its lease is lost after 15250 ms without a sign of life: fenced, and ended unless it proves its identity within 30000 ms',
  ],
  'agent.lease_regained': [
    { lostForMs: 500, held: 2 },
    'has proved its identity again after 500 ms: it has its lease, what it had said is taken (2)',
  ],
  'capability.refused': [
    { what: "'text.drop' is not granted" },
    "a capability call was refused: 'text.drop' is not granted",
  ],
  'supervisor.gave_up': [
    {
      supervisor: 'root',
      restarts: 4,
      withinMs: 30.2,
      intensity: 3,
      periodMs: 5000,
      filledBy: ['a', 'b', 'a', 'a'],
    },
    "supervisor 'root' gave up: 4 restarts in 30 ms (a, b, a, a), more than 3 in 5000 ms allowed",
  ],
  'supervisor.ended': [
    { supervisor: 'inner', child: 'main' },
    "supervisor 'inner' ended: its significant child 'main' has ended (auto_shutdown)",
  ],
  'agent.unkillable': [
    { afterMs: 1000, replaced: false },
    'its thread is inside a native call and cannot be ended (1000 ms after it was told to): fenced; no other is started before it ends',
  ],
  'agent.unkillable_ended': [{}, 'a thread that could not be ended has ended'],
  'agent.spawned': [{ supervisor: 'pool', by: 'ann' }, "added under supervisor 'pool' by ann"],
  'agent.removed': [{ supervisor: 'pool' }, "is a child of supervisor 'pool' no more"],
  'supervisor.command': [
    { supervisor: 'root', command: 'stop', by: 'ops', outcome: 'Stopped' },
    "'stop' of supervisor 'root' by ops: Stopped",
  ],
  'schedule.fired': [
    { schedule: 'nightly', dueAt: 1, outcome: 'queued', detail: 'it is PAUSED' },
    "schedule 'nightly': queued (it is PAUSED)",
  ],
  'schedule.skipped': [
    { schedule: 'nightly', dueAt: 1, detail: 'running since 1' },
    "schedule 'nightly' was skipped: running since 1",
  ],
  'schedule.missed': [
    { schedule: 'nightly', count: 2, more: true, detail: 'the host was down' },
    "schedule 'nightly' missed at least 2 due times: the host was down",
  ],
  'schedule.failed': [{ schedule: 'nightly', detail: 'disk full' }, "schedule 'nightly' cannot be kept: disk full"],
  'host.clock_stepped': [{ byMs: -7 }, 'the wall clock was set by -7 ms, or the machine slept'],
  'state.degraded': [{ code: 'StateFull', text: 'the disk is full' }, 'the disk is full'],
  'observer.failed': [{ stream: 'facts$', error: 'boom' }, 'an observer of facts$ threw and was cut off: boom'],
  'stream.gap': [{ stream: 'facts$', missed: 7 }, 'a slow subscriber of facts$ missed 7'],
}

describe('a fact', () => {
  it.each(Object.keys(FACTS) as FactKind[])('%s says its sentence at its level', (kind) => {
    const [data, message] = SAMPLES[kind]
    expect(makeFact(1, 1000, kind, data as never, { agent: 'greeter', epoch: 3 })).toEqual({
      seq: 1,
      at: 1000,
      kind,
      agent: 'greeter',
      epoch: 3,
      level: FACTS[kind].level,
      message,
      data,
    })
  })

  it.each([
    ['host.stopped', { killed: ['a', 'b'], stuck: [] }, 'host stopped; killed past the deadline: a, b'],
    [
      'host.stopped',
      { killed: ['a'], stuck: ['b'] },
      'host stopped; killed past the deadline: a; could not be ended: b',
    ],
    ['agent.restart_scheduled', { delayMs: 0, attempt: 1, supervisor: 's' }, "restart 1 at once, by supervisor 's'"],
    [
      'agent.restart_scheduled',
      { delayMs: 2000, attempt: 0, supervisor: 's', along: 'b' },
      "restart along with 'b' in 2000 ms, by supervisor 's'",
    ],
    [
      'agent.unkillable',
      { afterMs: 1000, replaced: true },
      'its thread is inside a native call and cannot be ended (1000 ms after it was told to): fenced and replaced',
    ],
    [
      'message.dead_letter',
      { reason: 'expired', name: 'x', count: 5 },
      "5 more dead letters (expired), the last one 'x'",
    ],
  ] as const)('%s has a second way to say it', (kind, data, message) => {
    expect(makeFact(1, 1, kind, data as never).message).toBe(message)
  })
})
