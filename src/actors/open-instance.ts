/** Makes an instance and joins it to its agent: what its thread says goes where it belongs. */
import type { RoleInfo } from '../model/wire.ts'
import type { Agent } from './agent.ts'
import { instanceSpec, type Prepared } from './agent-spec.ts'
import { refuse } from './fence.ts'
import { type Ended, Instance } from './instance.ts'
import { Outbound } from './outbound.ts'

/** What whoever has opened an instance decides. */
export interface InstanceEvents {
  onReady(instance: Instance, roles: readonly RoleInfo[]): void
  /** Nothing runs any more since `pause` number `n`. */
  onPaused(n: number): void
  onUnkillable(instance: Instance, afterMs: number): void
  onEnded(instance: Instance, ended: Ended): void
}

export interface Opening {
  readonly id: string
  readonly epoch: number
  readonly prepared: Prepared
}

export function openInstance(agent: Agent, opening: Opening, events: InstanceEvents): Instance {
  const { deps } = agent
  const { id, epoch, prepared } = opening
  const subject = { agent: agent.id, instance: id, epoch }
  const outbound = new Outbound(agent, deps.router, (answers) => instance.post(answers))
  const spec = { id, epoch, agent: agent.id, threads: deps.threads }
  const instance: Instance = new Instance(
    instanceSpec(prepared, spec, () => agent.instance === instance),
    {
      onReady: (roles) => events.onReady(instance, roles),
      onPaused: (n) => events.onPaused(n),
      onBell: () => agent.inbox.pump.onBell(),
      onFlush: (flush) => {
        if (flush.sends !== undefined) outbound.take(flush.sends, instance.recorder)
        agent.inbox.onFlush(flush)
      },
      onOutput: (message) => {
        if (message.type === 'histogram' || message.type === 'handlers') agent.invocations.take(message)
        else deps.onOutput(agent, message)
      },
      onLost: (what, count) => deps.report('agent.lost', { what, count }, subject),
      onUnkillable: (afterMs) => events.onUnkillable(instance, afterMs),
      onFenced: (flush) => refuse(agent, instance, flush),
      onGivenUpEnded: () => {
        agent.inbox.fates.fenced.flush(agent, epoch)
        deps.report('agent.unkillable_ended', {}, subject)
      },
      onEnded: (ended) => events.onEnded(instance, ended),
    },
    deps.clock,
  )
  return instance
}
