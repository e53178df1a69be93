/** What differs between two versions of an agent, and between two readings of holt.yml. Pure. */
import type { Prepared } from '../actors/agent-spec.ts'
import type { ChildManifest, FleetManifest, SupervisorManifest } from '../manifest/fleet-manifest.ts'

/** Fields of the manifest by path, down to two levels; `roles` for their code, `env` for its variables. Never a value. */
export function changesOf(before: Prepared | null, after: Prepared): string[] {
  if (before === null) return []
  const fields = differences(before.spec as object, after.spec as object, 2).filter((path) => path !== 'roles')
  const code = same(before.roles, after.roles) ? [] : ['roles']
  return [...fields, ...code, ...(same(before.env, after.env) ? [] : ['env'])]
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function differences(before: object, after: object, depth: number): string[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].flatMap((key) => {
    const [a, b] = [Reflect.get(before, key), Reflect.get(after, key)]
    if (same(a, b)) return []
    if (depth <= 1 || !isPlain(a) || !isPlain(b)) return [key]
    return differences(a, b, depth - 1).map((inner) => `${key}.${inner}`)
  })
}

/** What of a fleet's file only a start of the host takes up, a sentence each. */
export function fleetChanges(before: FleetManifest, after: FleetManifest): string[] {
  const own = (['capabilities', 'spares', 'maxAgents', 'minFreeMb'] as const).filter(
    (key) => !same(before[key], after[key]),
  )
  return [...own.map((key) => `${key} differ`), ...supervisorChanges(before.root, after.root)]
}

function supervisorChanges(before: SupervisorManifest, after: SupervisorManifest): string[] {
  const { children: was, ...old } = before
  const { children: is, ...now } = after
  const options = differences(old, now, 1).map((key) => `supervisor '${before.id}': ${key} differs`)
  const [wasIds, isIds] = [was, is].map((children) => children.map(({ id }) => id)) as [string[], string[]]
  const added = isIds.filter((id) => !wasIds.includes(id)).map((id) => `child '${id}' was added`)
  const removed = wasIds.filter((id) => !isIds.includes(id)).map((id) => `child '${id}' was removed`)
  const kept = wasIds.filter((id) => isIds.includes(id))
  const moved = same(
    kept,
    isIds.filter((id) => wasIds.includes(id)),
  )
    ? []
    : [`the children of supervisor '${before.id}' are in another order`]
  const inner = kept.flatMap((id) => childChanges(of(was, id), of(is, id)))
  return [...options, ...added, ...removed, ...moved, ...inner]
}

const of = (children: readonly ChildManifest[], id: string): ChildManifest => children.find((child) => child.id === id)!

function childChanges(before: ChildManifest, after: ChildManifest): string[] {
  if (before.kind === 'supervisor' && after.kind === 'supervisor') return supervisorChanges(before, after)
  if (before.kind !== after.kind) return [`child '${before.id}' is another kind`]
  // What the agent's own file says is taken up by its reload.
  const fields = (['dir', 'override', 'significant'] as const).filter(
    (key) => !same(Reflect.get(before, key), Reflect.get(after, key)),
  )
  return fields.map((key) => `child '${before.id}': ${key === 'override' ? 'restart or shutdown' : key} differs`)
}
