/** The streams of each agent, made when somebody first asks for them; told by `host.ts` of what moves. */
import type { Agent } from '../actors/agent.ts'
import type { Phase } from '../model/lifecycle.ts'
import type { AgentSnapshot } from '../model/snapshot.ts'
import { createEveryState, createLatestState, type EveryState, type LatestState } from '../streams/state.ts'
import type { Facts } from './facts.ts'

interface Streams {
  readonly phase: EveryState<Phase>
  readonly snapshot: LatestState<AgentSnapshot>
}

export class AgentStreams {
  readonly #watched: Facts['watched']
  readonly #snapshotOf: (agent: Agent) => AgentSnapshot
  readonly #byAgent = new Map<string, Streams>()

  constructor(watched: Facts['watched'], snapshotOf: (agent: Agent) => AgentSnapshot) {
    this.#watched = watched
    this.#snapshotOf = snapshotOf
  }

  of(agent: Agent): Streams {
    let streams = this.#byAgent.get(agent.id)
    if (streams === undefined) {
      streams = {
        phase: createEveryState(agent.phase, this.#watched(`${agent.id}.phase$`)),
        snapshot: createLatestState(() => this.#snapshotOf(agent), this.#watched(`${agent.id}.snapshot$`)),
      }
      this.#byAgent.set(agent.id, streams)
    }
    return streams
  }

  onPhase(id: string, to: Phase): void {
    this.#byAgent.get(id)?.phase.set(to)
  }

  onChange(id: string): void {
    this.#byAgent.get(id)?.snapshot.touch()
  }

  /** An agent that is one no more. */
  forget(id: string): void {
    const streams = this.#byAgent.get(id)
    this.#byAgent.delete(id)
    streams?.phase.close()
    streams?.snapshot.close()
  }

  close(): void {
    for (const id of [...this.#byAgent.keys()]) this.forget(id)
  }
}
