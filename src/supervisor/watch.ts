/**
 * The watchdog's tick: reads every live instance's flight recorder, has `watchdog.ts` judge it, and acts. The host's own
 * lateness is measured by the tick itself, so that a host that slept or was starved kills nobody.
 */
import type { Agent } from '../actors/agent.ts'
import type { Instance } from '../actors/instance.ts'
import { CELL } from '../model/flight-recorder.ts'
import { WATERMARK } from '../model/heap.ts'
import type { Clock, Timer } from '../platform/clock.ts'
import type { Leases, Sighting } from './leases.ts'
import { CALM_MS, judgeLife } from './watchdog.ts'

/** Half a heartbeat: what a thread reports is seen soon after. */
const TICK_MS = 250

/** What was seen of an instance at the last tick. */
interface Seen {
  readonly oldest: number | undefined
  /** How many deliveries were done; what is done is a sign of life too. */
  readonly done: number
  /** Monotonic ms of the tick that saw more of them done. */
  readonly progressedAt: number
  /** For how long the same oldest delivery has been in flight, by ticks; lags are not counted. */
  busyForMs: number
  unresponsive: boolean
  /** For how long it has been well in a row, by ticks. */
  goodForMs: number
}

/** Watches these agents until cancelled. Where there are leases, each tick renews them. */
export function startWatch(agents: () => readonly Agent[], clock: Clock, leases: Leases | null = null): Timer {
  const seen = new WeakMap<Instance, Seen>()
  let last = clock.now()
  return clock.every(TICK_MS, () => {
    const now = clock.now()
    const lagMs = Math.max(0, now - last - TICK_MS)
    last = now
    const sightings: Sighting[] = []
    for (const agent of agents()) {
      const sighting = look(agent, seen, now, lagMs, leases)
      if (sighting !== null) sightings.push(sighting)
    }
    leases?.tick(sightings, TICK_MS, lagMs)
  })
}

/** Acts on what it sees of an agent's instance. @returns what its lease is judged by; null where nobody is to be judged */
function look(
  agent: Agent,
  seen: WeakMap<Instance, Seen>,
  now: number,
  lagMs: number,
  leases: Leases | null,
): Sighting | null {
  const { instance, phase } = agent
  // A boot has its own time-out, an end its own deadline.
  if (instance === null || phase === 'BOOTING' || phase === 'STOPPING') return null
  const { limits } = agent.spec
  const oldest = instance.recorder.inFlight()[0]
  const busy = oldest !== undefined
  const before = seen.get(instance)
  const same = busy && before?.oldest === oldest
  const done = instance.recorder.read(CELL.done)
  const state: Seen = {
    oldest,
    done,
    progressedAt: before?.done === done ? before.progressedAt : now,
    busyForMs: same ? before.busyForMs + TICK_MS : 0,
    unresponsive: before?.unresponsive ?? false,
    goodForMs: before?.goodForMs ?? 0,
  }
  const heartbeatAgeMs = Math.min(instance.recorder.heartbeatAgeMs(now), Math.round(now - state.progressedAt))
  const judgement = judgeLife({
    heartbeatAgeMs,
    hostLagMs: lagMs,
    busyForMs: busy ? state.busyForMs : null,
    unresponsiveAfterMs: limits.unresponsiveAfterMs,
    killAfterMs: limits.killAfterMs,
    handlerTimeoutMs: limits.handlerTimeoutMs,
    wasUnresponsive: state.unresponsive,
    heapUsedMb: instance.recorder.heapUsedMb,
    heapMb: limits.heapMb,
  })
  state.unresponsive = judgement === 'unresponsive' || judgement === 'kill'
  state.goodForMs = judgement === 'good' ? state.goodForMs + TICK_MS : 0
  seen.set(instance, state)
  const calm = state.goodForMs >= CALM_MS && leases?.isLost(instance) !== true
  if (calm) agent.setHealth('good', null, `responsive again for ${CALM_MS} ms`)
  if (judgement === 'unresponsive') agent.setHealth('bad', 'unobservable', `no sign of life for ${heartbeatAgeMs} ms`)
  if (judgement === 'kill')
    instance.terminate('unresponsive', { message: `no sign of life for ${heartbeatAgeMs} ms (limits.killAfterMs)` })
  if (judgement === 'handler_timeout') {
    const message = `a handler ran for more than ${limits.handlerTimeoutMs} ms (limits.handlerTimeoutMs)`
    instance.terminate('handler_timeout', { message })
  }
  if (judgement === 'out_of_memory') {
    const message = `its heap held ${instance.recorder.heapUsedMb.toFixed(1)} MiB, more than ${WATERMARK} of ${limits.heapMb} (limits.heapMb)`
    instance.terminate('out_of_memory', { step: 'watermark', message })
  }
  return { agent, instance, silentMs: heartbeatAgeMs }
}
