/** Random trees of supervisors and agents, as the model takes them and as a host does, and random things done to them. */
import fc from 'fast-check'
import type { ChildObject, FleetObject } from '../../src/manifest/fleet-manifest.ts'
import { COMMANDS } from '../../src/model/intent.ts'
import type { FakeBehaviour } from '../../src/testkit/index.ts'
import type { Blow } from './chaos.ts'
import type { AgentNode, Node, SupervisorNode } from './otp-tree.ts'

type Unnamed<T> = T extends Node ? Omit<T, 'id' | 'children'> & { children?: readonly Unnamed<Node>[] } : never

const types = fc.constantFrom('permanent', 'permanent', 'transient', 'temporary' as const)
const backoffs = fc.constantFrom(null, null, [1000, 8000] as const, [300, 300] as const)

const agents: fc.Arbitrary<Unnamed<AgentNode>> = fc.record({
  kind: fc.constant('agent' as const),
  type: types,
  significant: fc.boolean(),
  backoff: backoffs,
  maxRestarts: fc.constantFrom(null, null, 0, 1, 2),
})

const supervisors = (depth: number): fc.Arbitrary<Unnamed<SupervisorNode>> =>
  fc.record({
    kind: fc.constant('supervisor' as const),
    type: types,
    significant: fc.boolean(),
    backoff: backoffs,
    strategy: fc.constantFrom('one_for_one', 'one_for_all', 'rest_for_one'),
    budget: fc.option(fc.record({ intensity: fc.nat({ max: 3 }), periodMs: fc.constantFrom(1000, 5000, 60_000) }), {
      freq: 3,
    }),
    autoShutdown: fc.constantFrom('never', 'never', 'any_significant', 'all_significant'),
    children: fc.array(depth === 0 ? agents : fc.oneof(agents, agents, supervisors(depth - 1)), {
      minLength: 1,
      maxLength: 4,
    }),
  }) as fc.Arbitrary<Unnamed<SupervisorNode>>

/** Up to three levels; ids are given in the order of the tree, `a1`, `a2`, … and `root`, `s1`, … */
export const trees: fc.Arbitrary<SupervisorNode> = supervisors(2).map((root) => {
  const counts = { a: 0, s: 0 }
  const named = (node: Unnamed<Node>, parent: Unnamed<SupervisorNode> | null): Node => {
    const id = parent === null ? 'root' : node.kind === 'agent' ? `a${++counts.a}` : `s${++counts.s}`
    // What may not be significant is refused by the manifest.
    const significant = node.significant && node.type !== 'permanent' && (parent?.autoShutdown ?? 'never') !== 'never'
    if (node.kind === 'agent') return { ...node, id, significant } as AgentNode
    const children = (node.children ?? []).map((child) => named(child, node as Unnamed<SupervisorNode>))
    return { ...node, id, significant, children } as SupervisorNode
  }
  return named(root, null) as SupervisorNode
})

const restartOf = (backoff: Node['backoff']) =>
  backoff === null ? 'none' : { minMs: backoff[0], maxMs: backoff[1], factor: 2, jitter: 0 }

function supervisorObject({ id, strategy, budget, autoShutdown, backoff }: SupervisorNode) {
  return { id, strategy, ...(budget ?? {}), auto_shutdown: autoShutdown, backoff: restartOf(backoff) }
}

function childObject(node: Node): ChildObject {
  const standing = { restart: node.type, ...(node.significant ? { significant: true } : {}) }
  if (node.kind === 'supervisor')
    return { supervisor: supervisorObject(node), children: node.children.map(childObject), ...standing } as ChildObject
  const restart = {
    backoff: restartOf(node.backoff),
    ...(node.maxRestarts === null ? {} : { maxRestarts: node.maxRestarts }),
  }
  return {
    agent: { id: node.id, name: node.id, roles: ['role.js'], restart, limits: { bootTimeoutMs: 800 } },
    ...standing,
  } as ChildObject
}

export const fleetObject = (root: SupervisorNode): FleetObject =>
  ({ supervisor: supervisorObject(root), children: root.children.map(childObject) }) as FleetObject

/** One thing that is done; agents and supervisors by a number that is cut to how many there are. */
export type Act =
  | { readonly do: 'die'; readonly who: readonly number[]; readonly how: 'crash' | 'exit' | 'stop' | 'outOfMemory' }
  | { readonly do: 'work' | 'start' | 'stop' | 'suspend' | 'restart' | 'kill'; readonly who: number }
  | { readonly do: 'badBoots'; readonly who: number; readonly count: number }
  | { readonly do: 'startAll' | 'stopAll' | 'restartAll'; readonly who: number }
  | { readonly do: 'wait'; readonly ms: number }

const who = fc.nat({ max: 40 })
const deaths: fc.Arbitrary<Act> = fc.record({
  do: fc.constant('die' as const),
  who: fc.array(who, { minLength: 1, maxLength: 3 }),
  how: fc.constantFrom('crash', 'crash', 'exit', 'stop', 'outOfMemory'),
})

export const acts: fc.Arbitrary<Act> = fc.oneof(
  { arbitrary: deaths, weight: 10 },
  {
    arbitrary: fc.record({ do: fc.constantFrom('work', 'start', 'stop', 'suspend', 'restart', 'kill'), who }),
    weight: 6,
  },
  {
    arbitrary: fc.record({ do: fc.constant('badBoots' as const), who, count: fc.integer({ min: 1, max: 5 }) }),
    weight: 2,
  },
  { arbitrary: fc.record({ do: fc.constantFrom('startAll', 'stopAll', 'restartAll'), who }), weight: 2 },
  {
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 37, 250, 999, 4321, 12_345) }),
    weight: 5,
  },
) as fc.Arbitrary<Act>

const behaviours: fc.Arbitrary<FakeBehaviour> = fc.constantFrom<FakeBehaviour[]>(
  { boot: { step: 'roles', error: new Error('a bad boot') } },
  { boot: 'never' },
  { stopMs: 200 },
  { stopMs: 3000 },
  { stubborn: true },
  { unkillable: true, stubborn: true },
)

export const blows: fc.Arbitrary<Blow> = fc.oneof(
  {
    arbitrary: fc.record({
      do: fc.constant('die'),
      who,
      how: fc.constantFrom('crash', 'crash', 'exit', 'stop', 'outOfMemory', 'hang'),
    }),
    weight: 10,
  },
  {
    arbitrary: fc.record({ do: fc.constant('agent'), who, command: fc.constantFrom(...COMMANDS), now: fc.boolean() }),
    weight: 8,
  },
  {
    arbitrary: fc.record({
      do: fc.constant('supervisor'),
      who,
      command: fc.constantFrom('start', 'stop', 'restart'),
      now: fc.boolean(),
    }),
    weight: 4,
  },
  {
    arbitrary: fc.record({
      do: fc.constant('behave'),
      who,
      count: fc.integer({ min: 1, max: 4 }),
      behaviour: behaviours,
    }),
    weight: 4,
  },
  {
    arbitrary: fc.record({ do: fc.constant('spawn'), restart: fc.constantFrom('permanent', 'transient', 'temporary') }),
    weight: 2,
  },
  { arbitrary: fc.record({ do: fc.constant('remove'), who }), weight: 1 },
  { arbitrary: fc.constant({ do: 'release' }), weight: 1 },
  // Null: the next comes in the same turn.
  {
    arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(null, 0, 0, 1, 100, 700, 2500, 12_000) }),
    weight: 8,
  },
) as fc.Arbitrary<Blow>
