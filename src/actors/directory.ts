/** The agents of a host by id, in the order of the manifest. */
import { HoltError } from '../model/error.ts'
import { nearest } from '../model/nearest.ts'
import type { Agent } from './agent.ts'

export class Directory {
  readonly #agents = new Map<string, Agent>()

  add(agent: Agent): void {
    this.#agents.set(agent.id, agent)
  }

  remove(id: string): void {
    this.#agents.delete(id)
  }

  find(id: string): Agent | undefined {
    return this.#agents.get(id)
  }

  /**
   * @param others ids that could have been meant as well
   * @throws HoltError `NoSuchAgent`, naming the nearest id
   */
  get(id: string, others: Iterable<string> = []): Agent {
    const agent = this.#agents.get(id)
    if (agent !== undefined) return agent
    const close = nearest(id, [...this.#agents.keys(), ...others])
    const hint =
      close === undefined
        ? `Agents: ${[...this.#agents.keys()].slice(0, 10).join(', ') || 'none'}`
        : `Did you mean '${close}'?`
    throw new HoltError('NoSuchAgent', `there is no agent '${id}'. ${hint}`, {
      agent: id,
      ...(close === undefined ? {} : { nearest: close }),
    })
  }

  all(): Agent[] {
    return [...this.#agents.values()]
  }
}
