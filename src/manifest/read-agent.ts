/**
 * One agent from its source to its manifest: the schema, then the modules it names, with all faults of both in one
 * list. Called by load.ts for a single agent and by read-fleet.ts for each of a fleet. Never throws for what is wrong
 * in a manifest.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentManifest } from './agent-manifest.ts'
import { check, valueAt } from './check.ts'
import { describe, type Fault, type Path } from './fault.ts'
import { ID } from './fields.ts'
import { locate, locateModule, modulesIn, type Root } from './paths.ts'
import { readSmallFile } from './read-file.ts'
import { agentSchema } from './schema.ts'
import { faultAt, part, type Source, unreadable } from './source.ts'
import { yamlSource } from './yaml.ts'

export const AGENT_FILE = 'agent.yml'
const ROLES_FOLDER = 'roles'

/** `source` is for a refusal of what is right by itself and wrong in its fleet. */
export type AgentRead =
  | { readonly ok: true; readonly manifest: AgentManifest; readonly source: Source }
  | { readonly ok: false; readonly id: string | null; readonly faults: readonly Fault[] }

/** A file of the fleet as a source, by the name of the file in its folder. */
export async function fileSource(root: Root, dir: string, name: string): Promise<Source> {
  const file = join(dir, name)
  const refuse = (expected: string, found: string, hint?: string): Source =>
    unreadable(file, [{ file, line: null, column: null, field: '', expected, found, ...(hint ? { hint } : {}) }])
  const located = await locate(root, dir, name, 'file')
  if (!located.ok) {
    const other = name.replace(/\.yml$/, '.yaml')
    const hint = existsSync(join(dir, other)) ? `rename ${other} to ${name}` : undefined
    return refuse(located.finding.expected, located.finding.found, hint)
  }
  const read = await readSmallFile(file)
  return read.ok ? yamlSource(read.bytes, file) : refuse(read.finding.expected, read.finding.found)
}

/** The modules listed in a field, as absolute paths, and a fault for each that is not there. What is no path is the schema's. */
export async function modulesOf(source: Source, root: Root, dir: string, field: string) {
  const listed = valueAt(source.value, [field])
  const modules: string[] = []
  const faults: Fault[] = []
  for (const [index, path] of (Array.isArray(listed) ? listed : []).entries()) {
    if (typeof path !== 'string' || path === '') continue
    const located = await locateModule(root, dir, path)
    const at: Path = [field, index]
    if (!located.ok) faults.push(faultAt(source, at, located.finding))
    else if (modules.includes(located.path)) {
      faults.push(faultAt(source, at, { expected: 'each module once', found: describe(path) }))
    } else modules.push(located.path)
  }
  return { modules, faults }
}

async function rolesOf(source: Source, root: Root, dir: string) {
  if (valueAt(source.value, [ROLES_FOLDER]) !== undefined) return modulesOf(source, root, dir, ROLES_FOLDER)
  const faults: Fault[] = []
  const modules: string[] = []
  for (const path of await modulesIn(dir, ROLES_FOLDER)) {
    const located = await locateModule(root, dir, path)
    if (located.ok) modules.push(located.path)
    else faults.push(faultAt(source, [ROLES_FOLDER], located.finding))
  }
  if (modules.length === 0 && faults.length === 0) {
    const expected = `at least one role, by the field roles or as a module in ${join(dir, ROLES_FOLDER)}`
    faults.push(faultAt(source, [ROLES_FOLDER], { expected, found: 'none' }))
  }
  return { modules, faults }
}

function readableId(source: Source): string | null {
  const id = valueAt(source.value, ['id'])
  return typeof id === 'string' && ID.test(id) ? id : null
}

/** @param dir folder that the agent's paths are relative to */
export async function agentOf(source: Source, root: Root, dir: string, file: string | null): Promise<AgentRead> {
  const id = readableId(source)
  const checked = check(agentSchema, source)
  if (!checked.ok && (typeof source.value !== 'object' || source.value === null)) {
    return { ok: false, id, faults: checked.faults }
  }
  const roles = await rolesOf(source, root, dir)
  const faults = [...(checked.ok ? [] : checked.faults), ...roles.faults]
  if (!checked.ok || faults.length > 0) return { ok: false, id, faults }
  const manifest: AgentManifest = { ...checked.data, roles: roles.modules, dir, file }
  return { ok: true, manifest, source }
}

export async function readAgent(root: Root, dir: string): Promise<AgentRead> {
  const source = await fileSource(root, dir, AGENT_FILE)
  return agentOf(source, root, dir, join(dir, AGENT_FILE))
}

/**
 * The agent that a field names by its folder or holds as a map.
 * @param at the field, in a manifest of the fleet's folder
 */
export async function agentIn(
  source: Source,
  root: Root,
  at: Path,
  agent: unknown,
): Promise<{ readonly dir: string; readonly read: AgentRead }> {
  if (typeof agent !== 'string') {
    return { dir: root.dir, read: await agentOf(part(source, at, agent), root, root.dir, null) }
  }
  const located = await locate(root, root.dir, agent, 'folder')
  if (located.ok) return { dir: located.path, read: await readAgent(root, located.path) }
  return { dir: located.path, read: { ok: false, id: null, faults: [faultAt(source, at, located.finding)] } }
}

/**
 * An agent that its fleet calls significant, without a word on how it is restarted: then its own file may not say
 * `permanent`, or it would never end for good.
 * @param marked where it is called so
 */
export function refuseAsSignificant(read: AgentRead, marked: string): AgentRead {
  if (!read.ok || read.manifest.restart.type !== 'permanent') return read
  const at = ['restart', 'type']
  const written = valueAt(read.source.value, at)
  const finding = {
    expected: `transient or temporary, since the agent is significant ${marked}`,
    found: written === undefined ? `${read.manifest.restart.type} (the default)` : describe(written),
    hint: 'or set restart beside significant',
  }
  return { ok: false, id: read.manifest.id, faults: [faultAt(read.source, at, finding)] }
}
