/**
 * Installed agents as members of the fleet: under which supervisor they stand, where the files of each are, and how they
 * come in and go out. What is installed, the store says; nothing is written here.
 */
import { join } from 'node:path'
import type { Agent } from '../actors/agent.ts'
import type { Directory } from '../actors/directory.ts'
import type { AgentManifest } from '../manifest/agent-manifest.ts'
import { DEFAULTS } from '../manifest/defaults.ts'
import type { AgentChild, AgentResult } from '../manifest/fleet-manifest.ts'
import { loadAgent } from '../manifest/load.ts'
import { describeError, HoltError } from '../model/error.ts'
import { LIVE } from '../model/lifecycle.ts'
import type { CatalogEntry } from '../store/catalog.ts'
import type { Store } from '../store/store.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import { versionFolder } from './catalog-rules.ts'
import type { CatalogPlace } from './catalog-tree.ts'
import type { Tree } from './tree.ts'

export interface MembersDeps {
  readonly store: Store
  readonly directory: Directory
  readonly tree: Tree
  readonly place: Pick<CatalogPlace, 'supervisor' | 'made'>
  make(child: AgentChild, read: () => Promise<AgentManifest>): Agent
  /** What the manifest says of channels and schedules holds from now on. */
  adopt(manifest: AgentManifest): void
}

/** What became of it: why it is no member, or what its manifest says where that can be read. */
export interface Entered {
  readonly fault: string | null
  readonly manifest: AgentManifest | null
}

export class Members {
  readonly #deps: MembersDeps
  readonly #root: string
  readonly #ids = new Set<string>()

  /** @param root the folder of the catalog */
  constructor(deps: MembersDeps, root: string) {
    this.#deps = deps
    this.#root = root
  }

  get supervisor(): Supervisor | null {
    const { place, tree } = this.#deps
    const { supervisor } = place
    return supervisor === null ? null : (tree.supervisors.get(supervisor) ?? null)
  }

  /** The agent of an entry; undefined where it is no member by the catalog. */
  find(name: string): Agent | undefined {
    return this.#ids.has(name) ? this.#deps.directory.find(name) : undefined
  }

  /** Where the files of an entry are. */
  dirOf(entry: CatalogEntry): string {
    return join(this.#root, entry.name, versionFolder(entry))
  }

  /** Why an agent of this name cannot be a member by the catalog; null where it can, or is. */
  faultOf(name: string): string | null {
    const { tree } = this.#deps
    const { id } = tree.root
    if (this.supervisor === null)
      return `the root supervisor '${id}' is dynamic, and what is added to it does not stay. Give the fleet a root of another strategy, with '${id}' below it`
    if (this.#ids.has(name) || !tree.has(name)) return null
    return `the fleet has '${name}' already, not by the catalog: change one of the two ids, or take that one out of holt.yml`
  }

  /** Makes what is installed a member. What cannot be read is one too: it does not boot, and says why. */
  async enter(entry: CatalogEntry, by: string): Promise<Entered> {
    const { make, tree } = this.#deps
    const { name } = entry
    const result = await this.#result(name)
    const fault = this.faultOf(name)
    if (fault !== null) return { fault, manifest: null }
    const child = childOf(name, this.dirOf(entry), result)
    const agent = make(child, () => this.#load(name))
    const supervisor = this.supervisor!
    tree.add(supervisor, child, agent, by)
    // It stays, also where its first boot fails.
    supervisor.added(name)
    this.#ids.add(name)
    return { fault: null, manifest: result.ok ? result.manifest : null }
  }

  /** One that is no instance now is what its newer manifest says; one that runs is what it was started with. */
  async renew(agent: Agent): Promise<void> {
    const result = await this.#result(agent.id)
    if (!result.ok || isUp(agent)) return
    agent.spec = result.manifest
    this.#deps.adopt(result.manifest)
  }

  /** Takes out one that has ended, and forgets how. */
  takeOut(agent: Agent): void {
    agent.deaths.length = 0
    this.#ids.delete(agent.id)
    this.supervisor?.remove(agent.id)
  }

  // --- inside ------------------------------------------------------------------------------------------------------

  async #result(name: string): Promise<AgentResult> {
    try {
      return { ok: true, manifest: await this.#load(name) }
    } catch (error) {
      const known = error instanceof HoltError ? error : new HoltError('InvalidManifest', describeError(error).message)
      return { ok: false, id: name, error: known }
    }
  }

  /** The manifest of the version that is installed now. @throws HoltError `InvalidManifest` */
  async #load(name: string): Promise<AgentManifest> {
    const entry = this.#deps.store.catalog.get(name)
    if (entry === undefined) throw new HoltError('InvalidManifest', `agent '${name}' is not in the catalog any more`)
    const dir = this.dirOf(entry)
    const manifest = await loadAgent(dir, { fleetDir: dir })
    if (manifest.id === name) return manifest
    const text = `${dir}: id: expected '${name}', as it was installed, found '${manifest.id}'. Install it again`
    throw new HoltError('InvalidManifest', text)
  }
}

/** It has an instance, or is about to have one. */
export const isUp = ({ phase, startScheduled }: Agent): boolean => LIVE.has(phase) || startScheduled

const childOf = (id: string, dir: string, result: AgentResult): AgentChild => ({
  kind: 'agent',
  id,
  dir,
  restart: result.ok ? result.manifest.restart.type : DEFAULTS.restart.type,
  shutdown: result.ok ? result.manifest.limits.stopTimeoutMs : DEFAULTS.limits.stopTimeoutMs,
  significant: false,
  override: { restart: null, shutdown: null },
  result,
})
