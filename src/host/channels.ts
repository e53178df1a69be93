/**
 * Channels: an event published on one goes to every agent that is bound to it, as if it had been sent to each in turn, so
 * that what one publisher says arrives everywhere in the order in which it was said. Bindings are those of the manifests,
 * kept on disk: an agent that is suspended stays bound.
 */
import type { Directory } from '../actors/directory.ts'
import type { Published } from '../model/channel.ts'
import type { SendOptions } from '../model/message.ts'
import type { Clock } from '../platform/clock.ts'
import type { Store } from '../store/store.ts'

export class Channels {
  readonly #store: Store
  readonly #directory: Directory
  readonly #clock: Clock
  /** Agents by channel, in the order in which they were bound. */
  readonly #bound = new Map<string, Set<string>>()

  constructor(store: Store, directory: Directory, clock: Clock) {
    this.#store = store
    this.#directory = directory
    this.#clock = clock
    for (const { channel, agent } of store.channels.list()) this.#agentsOf(channel).add(agent)
  }

  /** An agent is bound to these and to no others. */
  async bind(agent: string, channels: readonly string[]): Promise<void> {
    const wanted = new Set(channels)
    const before = this.of(agent)
    const gone = before.filter((channel) => !wanted.has(channel))
    const added = channels.filter((channel) => !before.includes(channel))
    if (gone.length === 0 && added.length === 0) return
    for (const channel of gone) this.#agentsOf(channel).delete(agent)
    for (const channel of added) this.#agentsOf(channel).add(agent)
    const at = this.#clock.wall()
    await this.#store.write((tx) => {
      for (const channel of gone) tx.channels.unbind(channel, agent)
      for (const channel of added) tx.channels.bind(channel, agent, at)
    })
  }

  /** An agent that is one no more. */
  forget(agent: string): void {
    for (const agents of this.#bound.values()) agents.delete(agent)
  }

  /** By name. */
  of(agent: string): string[] {
    return [...this.#bound].flatMap(([channel, agents]) => (agents.has(agent) ? [channel] : [])).sort()
  }

  /**
   * Hands an event to all that are bound; an agent does not hear itself.
   * @param options its `messageId` is for durable mailboxes: one that has it already does not take it twice
   */
  publish(channel: string, event: string, payload: unknown, from?: string, options?: SendOptions): Published {
    const agents = [...(this.#bound.get(channel) ?? [])].filter((agent) => agent !== from)
    let accepted = 0
    for (const id of agents)
      if (this.#directory.find(id)?.inbox.tell(event, payload, options, from) === true) accepted++
    return { bound: agents.length, accepted }
  }

  #agentsOf(channel: string): Set<string> {
    const agents = this.#bound.get(channel) ?? new Set<string>()
    this.#bound.set(channel, agents)
    return agents
  }
}
