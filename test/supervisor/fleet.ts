/** Fleets on the testkit, told in a line an agent, and what became of them told in a line a move. */
import { onTestFinished } from 'vitest'
import type { AgentObject } from '../../src/manifest/agent-manifest.ts'
import type { ChildObject, FleetObject } from '../../src/manifest/fleet-manifest.ts'
import type { Decision } from '../../src/model/death.ts'
import type { Fact, FactKind } from '../../src/model/fact.ts'
import type { Phase } from '../../src/model/lifecycle.ts'
import type { AgentSnapshot } from '../../src/model/snapshot.ts'
import { createTestHost, type Probe, probe, type TestHost, type TestHostOptions } from '../../src/testkit/index.ts'

type SupervisorObject = NonNullable<FleetObject['supervisor']>
type Standing = Pick<ChildObject, 'restart' | 'shutdown' | 'significant'>

/** An agent that comes back at once, as often as it takes. */
export const agent = (id: string, standing: Standing = {}, manifest: Partial<AgentObject> = {}): ChildObject => ({
  agent: { id, name: id, restart: { backoff: 'none' }, ...manifest },
  ...standing,
})

/** A supervisor that comes back at once. */
export const under = (
  supervisor: SupervisorObject,
  children: readonly ChildObject[] | undefined,
  standing: Standing = {},
): ChildObject => ({
  supervisor: { backoff: 'none', ...supervisor },
  ...(children === undefined ? {} : { children }),
  ...standing,
})

/** A budget that no test uses up. */
export const WIDE = { intensity: 10_000 } as const

export class TestedFleet {
  readonly kit: TestHost
  readonly #facts: Probe<Fact>

  constructor(kit: TestHost) {
    this.kit = kit
    this.#facts = probe(kit.host.facts$)
  }

  get host() {
    return this.kit.host
  }

  /** Has the newest thread of each do something at the same time, and lets `ms` pass. */
  async have(ids: string | readonly string[], act: 'crash' | 'stop' | 'outOfMemory' | 'hang', ms = 0): Promise<void> {
    for (const id of [ids].flat()) this.kit.threads.of(id)[act]()
    await this.kit.advance(ms)
  }

  /** Ends and starts since last asked: `c ended`, `b failed`, `b up`. */
  moves(): string[] {
    const words: Partial<Record<string, string>> = { STOPPED: 'ended', FAILED: 'failed', ACTIVE: 'up' }
    return this.facts('agent.phase').flatMap(({ agent: id, data }) => {
      const word = words[data.to]
      return word === undefined ? [] : [`${id} ${word}`]
    })
  }

  /** Facts of this kind since last asked for it. */
  facts<K extends FactKind>(kind: K): Fact<K>[] {
    const all = this.#facts.take()
    this.#facts.seen.push(...all.filter((fact) => fact.kind !== kind))
    return all.filter((fact): fact is Fact<K> => fact.kind === kind)
  }

  phases(): Record<string, Phase> {
    return Object.fromEntries(this.host.agents().map(({ id, phase }) => [id, phase]))
  }

  /** Ids of those that are ACTIVE, in the order of the manifest. */
  up(): string {
    return this.host
      .agents()
      .filter(({ phase }) => phase === 'ACTIVE')
      .map(({ id }) => id)
      .join(' ')
  }

  snapshot(id: string): AgentSnapshot {
    return this.host.agent(id).snapshot()
  }

  /** After its last death. */
  decision(id: string): Decision {
    return this.host.deaths(id).at(-1)!.decision
  }

  causes(id: string): string[] {
    return this.host.deaths(id).map(({ cause }) => cause)
  }

  /** Live threads of each agent that has any. */
  threads(): Record<string, number> {
    const counts: Record<string, number> = {}
    for (const { agent: id } of this.kit.threads.alive) counts[id] = (counts[id] ?? 0) + 1
    return counts
  }

  /** Carries out a command, moving the clock as far as that needs. */
  command(id: string, command: Parameters<TestHost['host']['command']>[1], options: object = {}) {
    return this.kit.finish(this.host.command(id, command, { by: 'ops', ...options }))
  }

  supervisor(id: string) {
    const find = (node: ReturnType<TestHost['host']['tree']>): typeof node | undefined =>
      node.id === id ? node : node.children?.map(find).find((found) => found !== undefined)
    return find(this.host.tree())!
  }
}

/** A host of this tree, closed when the test ends. */
export async function fleetOf(
  supervisor: Partial<SupervisorObject>,
  children: readonly ChildObject[] | undefined,
  options: Partial<TestHostOptions> = {},
): Promise<TestedFleet> {
  const tree = { supervisor: { id: 'root', ...supervisor }, ...(children === undefined ? {} : { children }) }
  const kit = await createTestHost({ fleet: tree, ...options })
  onTestFinished(() => kit.close())
  return new TestedFleet(kit)
}
