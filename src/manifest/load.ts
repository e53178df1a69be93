/**
 * The door of this room: a fleet or a single agent, from a folder or from an object. Called by the host at boot and at
 * `reload`. Throws `HoltError` of code `InvalidManifest` and nothing else for what is wrong in a manifest.
 */
import { join } from 'node:path'
import type { AgentManifest } from './agent-manifest.ts'
import { invalidManifest } from './fault.ts'
import type { FleetManifest } from './fleet-manifest.ts'
import { openRoot } from './paths.ts'
import { objectSource } from './plain.ts'
import { type AgentRead, agentOf, fileSource, readAgent } from './read-agent.ts'
import { fleetOf } from './read-fleet.ts'

const FLEET_FILE = 'holt.yml'

export interface LoadOptions {
  /** The folder that no path of the agent may leave. @default the agent's own folder */
  readonly fleetDir?: string
}

function manifestOf(read: AgentRead): AgentManifest {
  if (read.ok) return read.manifest
  throw invalidManifest(read.faults)
}

/** @throws HoltError `InvalidManifest`, listing every fault of the file */
export async function loadAgent(dir: string, options: LoadOptions = {}): Promise<AgentManifest> {
  const root = await openRoot(options.fleetDir ?? dir)
  const { dir: absolute } = await openRoot(dir)
  return manifestOf(await readAgent(root, absolute))
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
