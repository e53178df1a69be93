/**
 * A fleet from its source to its manifest. Reads every agent of the tree, gives each an id of its own, and puts the
 * results back into the tree. A fault of an agent stays with that agent; a fault of the tree is told by a throw.
 * Called by load.ts.
 */
import { basename } from 'node:path'
import { check } from './check.ts'
import { DEFAULTS } from './defaults.ts'
import { invalidManifest, quoted } from './fault.ts'
import type { AgentChild, AgentResult, ChildManifest, FleetManifest, SupervisorManifest } from './fleet-manifest.ts'
import { freeId, idFromName } from './ids.ts'
import type { Root } from './paths.ts'
import { type AgentRead, agentIn, modulesOf, refuseAsSignificant } from './read-agent.ts'
import { faultAt, placeText, type Source } from './source.ts'
import {
  fleetFileSchema,
  fleetObjectSchema,
  type ParsedAgent,
  type ParsedBranch,
  type ParsedNested,
} from './supervisor-schema.ts'
import { duplicate, type Leaf, survey } from './survey.ts'

/** Agents read at the same time: enough to keep the disk busy, few enough for any limit on open files. */
const AT_ONCE = 32

const IN_AGENT = /^(?:children\[\d+\]\.)+agent[.[]/

interface ReadLeaf extends Leaf {
  readonly dir: string
  readonly read: AgentRead
}

async function readLeaf(source: Source, root: Root, leaf: Leaf): Promise<ReadLeaf> {
  const { agent, significant, restart } = leaf.parsed
  const { dir, read } = await agentIn(source, root, [...leaf.path, 'agent'], agent)
  if (!significant || restart !== undefined) return { ...leaf, dir, read }
  const marked = `at ${placeText(source, [...leaf.path, 'significant'])}`
  return { ...leaf, dir, read: refuseAsSignificant(read, marked) }
}

async function readLeaves(source: Source, root: Root, leaves: readonly Leaf[]): Promise<ReadLeaf[]> {
  const read: ReadLeaf[] = []
  for (let start = 0; start < leaves.length; start += AT_ONCE) {
    const batch = leaves.slice(start, start + AT_ONCE)
    read.push(...(await Promise.all(batch.map((leaf) => readLeaf(source, root, leaf)))))
  }
  return read
}

/** Why this agent may not have its id, if so: another has it, or it is the same folder a second time. */
function clash(source: Source, leaf: ReadLeaf, taken: ReadonlyMap<string, string>, folders: ReadonlyMap<string, Leaf>) {
  if (!leaf.read.ok) return undefined
  const { manifest, source: own } = leaf.read
  const twin = manifest.file === null ? undefined : folders.get(leaf.dir)
  if (twin !== undefined) {
    const found = `${quoted(String(leaf.parsed.agent))}, as at ${placeText(source, [...twin.path, 'agent'])}`
    return faultAt(source, [...leaf.path, 'agent'], { expected: 'each agent once', found })
  }
  const other = taken.get(manifest.id)
  return other === undefined ? undefined : faultAt(own, ['id'], duplicate(manifest.id, other))
}

/** Ids in two passes, so that an agent that loaded never loses its id to one that did not. */
function settle(source: Source, leaves: readonly ReadLeaf[], supervisors: ReadonlyMap<string, string>): AgentResult[] {
  const taken = new Map(supervisors)
  const folders = new Map<string, Leaf>()
  const firstPass = leaves.map((leaf): AgentRead => {
    if (!leaf.read.ok) return leaf.read
    const { manifest, source: own } = leaf.read
    const fault = clash(source, leaf, taken, folders)
    if (fault !== undefined) return { ok: false, id: manifest.id, faults: [fault] }
    taken.set(manifest.id, placeText(own, ['id']))
    folders.set(leaf.dir, leaf)
    return leaf.read
  })
  return firstPass.map((read, index): AgentResult => {
    if (read.ok) return { ok: true, manifest: read.manifest }
    const id = freeId(read.id ?? idFromName(nameOf(leaves[index]!)), taken)
    taken.set(id, id)
    return { ok: false, id, error: invalidManifest(read.faults) }
  })
}

/** What a failed agent is called after: its folder, or its place in the list. */
function nameOf({ parsed, path }: Leaf): string {
  return typeof parsed.agent === 'string' ? basename(parsed.agent) : `agent-${Number(path.at(-1)) + 1}`
}

function childOf({ parsed, dir }: ReadLeaf, result: AgentResult): AgentChild {
  const own = result.ok ? result.manifest : undefined
  const override = { restart: parsed.restart ?? null, shutdown: parsed.shutdown ?? null }
  return {
    kind: 'agent',
    id: result.ok ? result.manifest.id : result.id,
    dir,
    restart: override.restart ?? own?.restart.type ?? DEFAULTS.restart.type,
    shutdown: override.shutdown ?? own?.limits.stopTimeoutMs ?? DEFAULTS.limits.stopTimeoutMs,
    override,
    significant: parsed.significant,
    result,
  }
}

function branchOf(
  branch: ParsedBranch | ParsedNested,
  childFor: (parsed: ParsedAgent) => AgentChild,
): SupervisorManifest {
  const { id, strategy, intensity, periodMs, auto_shutdown: autoShutdown, maxChildren, backoff } = branch.supervisor
  const standing = 'significant' in branch ? branch : undefined
  const budget = intensity ?? (periodMs === undefined ? null : DEFAULTS.supervisor.intensity)
  return {
    kind: 'supervisor',
    id,
    strategy,
    intensity: budget,
    periodMs: periodMs ?? DEFAULTS.supervisor.periodMs,
    autoShutdown,
    maxChildren: maxChildren ?? DEFAULTS.supervisor.maxChildren,
    backoff,
    restart: standing?.restart ?? DEFAULTS.nested.restart,
    shutdown: standing?.shutdown ?? DEFAULTS.nested.shutdown,
    significant: standing?.significant ?? false,
    children: branch.children.map(
      (child): ChildManifest => ('children' in child ? branchOf(child, childFor) : childFor(child)),
    ),
  }
}

/** @throws HoltError `InvalidManifest` for what is wrong with the tree itself */
export async function fleetOf(source: Source, root: Root, file: string | null): Promise<FleetManifest> {
  // What is wrong inside an agent's own object is that agent's fault, not the tree's.
  const own = { ...source, faults: source.faults.filter(({ field }) => !IN_AGENT.test(field)) }
  const checked = check(file === null ? fleetObjectSchema : fleetFileSchema, own)
  const capabilities = await modulesOf(source, root, root.dir, 'capabilities')
  if (!checked.ok) throw invalidManifest([...checked.faults, ...capabilities.faults])
  const tree = survey(source, checked.data)
  const faults = [...capabilities.faults, ...tree.faults]
  if (faults.length > 0) throw invalidManifest(faults)
  const leaves = await readLeaves(source, root, tree.leaves)
  const results = settle(source, leaves, tree.supervisors)
  const children = new Map(leaves.map((leaf, index) => [leaf.parsed, childOf(leaf, results[index]!)]))
  const rootSupervisor = branchOf(checked.data, (parsed) => children.get(parsed)!)
  const { spares, maxAgents = null, minFreeMb = null } = checked.data
  return { dir: root.dir, file, root: rootSupervisor, capabilities: capabilities.modules, spares, maxAgents, minFreeMb }
}
