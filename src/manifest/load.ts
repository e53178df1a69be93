/**
 * The door of this room: a fleet or a single agent, from a folder or from an object. Called by the host at boot and at
 * `reload`. Throws `HoltError` of code `InvalidManifest` and nothing else for what is wrong in a manifest.
 */
import { join } from 'node:path'
import type { AgentManifest } from './agent-manifest.ts'
import { check } from './check.ts'
import { invalidManifest } from './fault.ts'
import type { AgentChild, FleetManifest, SpawnedObject } from './fleet-manifest.ts'
import { openRoot } from './paths.ts'
import { objectSource } from './plain.ts'
import { type AgentRead, agentIn, agentOf, fileSource, readAgent, refuseAsSignificant } from './read-agent.ts'
import { fleetOf } from './read-fleet.ts'
import { spawnedSchema } from './supervisor-schema.ts'

const FLEET_FILE = 'holt.yml'

export interface LoadOptions {
  /** The folder that no path of the agent may leave. @default the agent's own folder */
  readonly fleetDir?: string
  /** How it stands in its fleet: what a significant child may not be is then refused. @default not significant */
  readonly child?: Pick<AgentChild, 'significant' | 'override'>
}

function manifestOf(read: AgentRead): AgentManifest {
  if (read.ok) return read.manifest
  throw invalidManifest(read.faults)
}

/** @throws HoltError `InvalidManifest`, listing every fault of the file */
export async function loadAgent(dir: string, options: LoadOptions = {}): Promise<AgentManifest> {
  const root = await openRoot(options.fleetDir ?? dir)
  const { dir: absolute } = await openRoot(dir)
  const read = await readAgent(root, absolute)
  const weighed = options.child?.significant === true && options.child.override.restart === null
  return manifestOf(weighed ? refuseAsSignificant(read, 'in its fleet') : read)
}

/**
 * @param baseDir the folder that the paths in the object are relative to
 * @throws HoltError `InvalidManifest`, listing every fault of the object
 */
export async function agentFromObject(
  object: unknown,
  baseDir: string,
  options: LoadOptions = {},
): Promise<AgentManifest> {
  const root = await openRoot(options.fleetDir ?? baseDir)
  const { dir } = await openRoot(baseDir)
  return manifestOf(await agentOf(objectSource(object, 'agent object'), root, dir, null))
}

/**
 * The fleet of a folder with a holt.yml. An agent that cannot be loaded is a result that says so.
 * @throws HoltError `InvalidManifest` when the holt.yml itself is wrong
 */
export async function loadFleet(dir: string): Promise<FleetManifest> {
  const root = await openRoot(dir)
  return fleetOf(await fileSource(root, root.dir, FLEET_FILE), root, join(root.dir, FLEET_FILE))
}

/**
 * The fleet of an object; an agent in it is a path relative to `baseDir` or a manifest object.
 * @throws HoltError `InvalidManifest` when the tree itself is wrong
 */
export async function fleetFromObject(object: unknown, baseDir: string): Promise<FleetManifest> {
  const root = await openRoot(baseDir)
  return fleetOf(objectSource(object, 'fleet object'), root, null)
}

/**
 * An agent added at run time, from its folder in the fleet or from its manifest as an object. `restart` and `shutdown`
 * are checked here and left to the caller, as the words of a holt.yml are.
 * @throws HoltError `InvalidManifest`, listing every fault
 */
export async function loadSpawned(
  object: SpawnedObject,
  { fleetDir }: { readonly fleetDir: string },
): Promise<AgentManifest> {
  const root = await openRoot(fleetDir)
  const source = objectSource(object, 'spawned child')
  // What is wrong inside the agent's own object is told with its other faults, below.
  const faults = source.faults.filter(({ field }) => !field.startsWith('agent.'))
  const checked = check(spawnedSchema, { ...source, faults })
  if (!checked.ok) throw invalidManifest(checked.faults)
  const { agent, id } = checked.data
  const manifest = manifestOf((await agentIn(source, root, ['agent'], agent)).read)
  return id === undefined ? manifest : { ...manifest, id }
}
