/**
 * Fleets made of source text: written to a folder of their own, hosted, and both gone when the test ends. Each agent
 * misbehaves in one way, told beside the test that needs it.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createHost, openHost } from '../src/host/boot.ts'
import type { Host } from '../src/host/host.ts'
import type { HostOptions } from '../src/host/options.ts'
import type { AgentObject } from '../src/manifest/agent-manifest.ts'
import type { ChildObject, FleetObject } from '../src/manifest/fleet-manifest.ts'

/** One agent as text. */
export interface AgentText {
  /** The one role: what {@link role} makes, or a whole module. */
  readonly role: string
  /** More files of the agent's folder, by path. */
  readonly files?: Readonly<Record<string, string>>
  /** Fields of the agent.yml beside id and name, or its whole text. */
  readonly manifest?: Partial<AgentObject> | string
  /** How it stands under its supervisor. */
  readonly child?: Omit<Extract<ChildObject, { agent: unknown }>, 'agent'>
}

export interface FleetText {
  readonly agents: Readonly<Record<string, AgentText>>
  readonly supervisor?: FleetObject['supervisor']
  /** @default every agent, in order */
  readonly children?: readonly ChildObject[]
  /** Capability modules by file name. */
  readonly capabilities?: Readonly<Record<string, string>>
}

/** A role module: `body` are the fields of a role, `top` stands before it. */
export const role = (body: string, top = ''): string =>
  `import { CommandError, defineRole } from 'holt/role'\n${top}\nexport default defineRole({ name: 'role', ${body} })\n`

/** Comes back at once, as often as it takes. */
export const AT_ONCE: Partial<AgentObject> = { restart: { backoff: 'none' } }
/** A budget that no test uses up. */
export const NO_BUDGET: FleetObject['supervisor'] = { id: 'root', intensity: 10_000 }

/** Where an agent's folder is, as seen from the holt.yml. */
export const at = (id: string): string => `agents/${id}`

async function writeAll(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    const file = join(root, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
}

/** Writes the fleet; the folder goes when the test ends. */
export async function writeFleet({ agents, capabilities = {}, children, supervisor }: FleetText): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'holt-fleet-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  const ids = Object.keys(agents)
  const fleet = {
    ...(supervisor === undefined ? {} : { supervisor }),
    children: children ?? ids.map((id) => ({ agent: at(id), ...agents[id]!.child })),
    capabilities: Object.keys(capabilities),
  }
  // JSON is YAML.
  await writeAll(dir, { 'holt.yml': JSON.stringify(fleet), ...capabilities })
  for (const id of ids) await writeAll(join(dir, at(id)), agentFiles(id, agents[id]!))
  return dir
}

function agentFiles(id: string, { role: text, files = {}, manifest = {} }: AgentText): Record<string, string> {
  const yml = typeof manifest === 'string' ? manifest : JSON.stringify({ id, name: id, ...manifest })
  return { 'agent.yml': yml, 'roles/role.ts': text, ...files }
}

type Options = Omit<HostOptions, 'fleet'>

/** A host of this fleet with every agent settled; shut down when the test ends. */
export async function hostFleet(fleet: FleetText | string, options: Options = {}): Promise<Host> {
  const dir = typeof fleet === 'string' ? fleet : await writeFleet(fleet)
  return ended(await createHost({ fleet: dir, log: 'silent', stateDir: ':memory:', ...options }))
}

/** The same before anything is started. */
export async function openFleet(fleet: FleetText | string, options: Options = {}): Promise<Host> {
  const dir = typeof fleet === 'string' ? fleet : await writeFleet(fleet)
  return ended(await openHost({ fleet: dir, log: 'silent', stateDir: ':memory:', ...options }))
}

function ended(host: Host): Host {
  onTestFinished(async () => {
    await host.shutdown({ timeoutMs: 1000 })
  })
  return host
}
