/**
 * Death watch: who is to be told of whose death. A watch belongs to the instance that asked for it and is answered
 * once, by the event `down`, which goes past capacity and pause and comes after all that the dead one had posted.
 */
import type { DeathRecord } from '../model/death.ts'
import type { Down } from '../model/message.ts'
import type { Agent } from './agent.ts'
import type { Instance } from './instance.ts'

interface Watch {
  readonly watcher: Agent
  readonly instance: Instance
}

export class Watches {
  /** By the agent that is watched. */
  readonly #watches = new Map<string, Watch[]>()
  /** The last death that an instance was told of, by agent. */
  readonly #told = new WeakMap<Instance, Map<string, string>>()

  /**
   * From now on until the first death; at once where the target has none living, unless this very instance has been told of
   * that death: then it waits for the next, so that whoever watches again at every `down` is told of each death once.
   */
  watch(watcher: Agent, target: Agent): void {
    const { instance } = watcher
    if (instance === null) return
    const last = target.lastDeath
    const known = this.#told.get(instance)?.get(target.id) === (last?.id ?? '')
    if (target.instance === null && target.phase !== 'BOOTING' && !known) {
      this.#tell({ watcher, instance }, target.id, last)
      return
    }
    const watches = this.#watches.get(target.id)
    if (watches === undefined) this.#watches.set(target.id, [{ watcher, instance }])
    else watches.push({ watcher, instance })
  }

  /** All that this agent's instance has asked for of the target. */
  unwatch(watcher: Agent, target: string): void {
    this.#keep(target, (watch) => watch.watcher !== watcher)
  }

  /** An instance has died: those who watch are told, and what it watched itself is forgotten. */
  onDeath(agent: Agent, record: DeathRecord): void {
    const watches = this.#watches.get(agent.id) ?? []
    this.#watches.delete(agent.id)
    for (const target of [...this.#watches.keys()]) this.#keep(target, ({ watcher }) => watcher !== agent)
    for (const watch of watches) this.#tell(watch, agent.id, record)
  }

  #tell(watch: Watch, agent: string, record: DeathRecord | null): void {
    const { watcher, instance } = watch
    if (watcher.instance !== instance) return
    const told = this.#told.get(instance) ?? new Map<string, string>()
    this.#told.set(instance, told.set(agent, record?.id ?? ''))
    const down: Down = { agent, instance: record?.instance ?? null, record }
    watcher.inbox.notify('down', down)
  }

  #keep(target: string, wanted: (watch: Watch) => boolean): void {
    const left = this.#watches.get(target)?.filter(wanted) ?? []
    if (left.length === 0) this.#watches.delete(target)
    else this.#watches.set(target, left)
  }
}
