/**
 * The catalog: agents that were installed while the host ran, from a folder or a tarball, and are members of the fleet from
 * then on. What is installed is what the store says; files without a word of it there do not count. So an install is: a
 * draft beside, looked at whole; renamed into its place; one commit. Whatever fails before that leaves all as it was.
 */
import { rm } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { Agent } from '../actors/agent.ts'
import type { Registry } from '../capabilities/registry.ts'
import type { AgentManifest } from '../manifest/agent-manifest.ts'
import type { compileModules } from '../manifest/compile.ts'
import { loadAgent } from '../manifest/load.ts'
import { describeError, HoltError } from '../model/error.ts'
import type { Report } from '../model/fact.ts'
import { preempts } from '../model/intent.ts'
import { LIVE } from '../model/lifecycle.ts'
import type { TreeNode } from '../model/view.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import { contractFiles } from '../platform/paths.ts'
import type { CatalogEntry } from '../store/catalog.ts'
import { MEMORY } from '../store/database.ts'
import type { CatalogItem, InstallAnswer, RemovedWith, UninstallAnswer } from './catalog-answers.ts'
import { Draft, readPackage } from './catalog-draft.ts'
import { fileFault, keepEnv, publish, sizeOf, sweep, sweepVersions } from './catalog-files.ts'
import { digestOf } from './catalog-folder.ts'
import { type Entered, isUp, Members, type MembersDeps } from './catalog-members.ts'
import { held, notInCatalog, speakingOf, stillUp, tooManyAgents } from './catalog-refusals.ts'
import { PACKAGE_LIMITS, versionFolder } from './catalog-rules.ts'
import { withoutEmpty } from './catalog-tree.ts'
import type { Commands } from './commands.ts'
import { checkGrants } from './prepare.ts'
import { checkSchedules } from './schedules.ts'

export interface CatalogDeps extends MembersDeps {
  readonly clock: Clock
  readonly log: Logger
  readonly report: Report
  readonly registry: Registry
  readonly commands: Pick<Commands, 'holding'>
  /** A private folder that goes with the host. */
  readonly cacheDir: string
  readonly compile: typeof compileModules
  readonly maxAgents: number
  /** Agents that are being taken out: nobody wants anything of them any more. Written here alone. */
  readonly leaving: Set<string>
  start(id: string, by: string): Promise<unknown>
  /** Resolves once what is known by now has been written down. */
  flushRecords(): Promise<void>
  shuttingDown(): boolean
}

export interface CatalogOptions {
  /** Says what would change, and changes nothing. @default false */
  readonly dryRun?: boolean
  /** Who asks, as recorded. @default 'program' */
  readonly by?: string
}

type Asked = Required<CatalogOptions>

/** What is to be put into the catalog, and what is there. */
interface Change extends Pick<InstallAnswer, 'change' | 'replaced' | 'runsOn'> {
  readonly entry: CatalogEntry
  readonly before: CatalogEntry | undefined
}

export class Catalog {
  readonly #deps: CatalogDeps
  readonly #root: string
  readonly #members: Members
  /** One at a time, and none before the catalog has been read. */
  #turn: Promise<unknown>
  #open: () => void = () => {}

  constructor(deps: CatalogDeps) {
    const { store, cacheDir } = deps
    this.#deps = deps
    this.#root = join(store.dir === MEMORY ? cacheDir : store.dir, 'catalog')
    this.#members = new Members(deps, this.#root)
    this.#turn = new Promise<void>((open) => {
      this.#open = open
    })
  }

  /**
   * Makes what is installed members of the fleet, and removes what a crash left. Once, before the fleet is started.
   * @returns the manifests of those that could be read; to be adopted by the caller
   */
  async load(): Promise<AgentManifest[]> {
    const entries = this.#deps.store.catalog.list()
    const kept = new Map(entries.map((entry) => [entry.name, versionFolder(entry)]))
    await this.#tidy(() => sweep(this.#root, kept))
    const manifests: AgentManifest[] = []
    for (const entry of entries) {
      const { manifest } = await this.#enter(entry, 'catalog')
      if (manifest !== null) manifests.push(manifest)
    }
    this.#open()
    return manifests
  }

  /** The tree, or a part of it, as it is shown. */
  shown<T extends TreeNode>(node: T): T {
    return withoutEmpty(node, this.#deps.place)
  }

  /** By name. */
  list(): CatalogItem[] {
    return this.#deps.store.catalog.list().map((entry): CatalogItem => {
      const agent = this.#members.find(entry.name)
      return {
        ...entry,
        dir: this.#members.dirOf(entry),
        status: agent?.status ?? null,
        runningVersion: agent !== undefined && LIVE.has(agent.phase) ? agent.spec.version : null,
        fault: agent === undefined ? this.#members.faultOf(entry.name) : null,
      }
    })
  }

  /**
   * Installs an agent, or takes another version of one that is installed. A new one is started if its `autostart` says so;
   * one that runs goes on with what it has, and takes the new files once it is stopped and started.
   * @param source a folder with an agent.yml, or a tarball of one
   * @throws HoltError `InvalidInput` for what cannot be a package, `InvalidManifest`, `GateRefused`, `BootFailed` for a role
   *   that does not compile, `IdTaken`, `TooManyChildren`, `NoSuchSupervisor`, `ShuttingDown`, `StateFull`,
   *   `StateUnwritable` and the store's other faults; then nothing has changed
   */
  async install(source: string, options: CatalogOptions = {}): Promise<InstallAnswer> {
    const asked: Asked = { dryRun: false, by: 'program', ...options }
    const answer = await this.#inTurn(() => this.#install(resolve(source), asked))
    if (!answer.starts || asked.dryRun) return answer
    try {
      await this.#deps.start(answer.name, asked.by)
      return answer
    } catch (error) {
      // It is installed all the same, and stays so.
      return { ...answer, notStarted: describeError(error).message }
    }
  }

  /**
   * Takes an agent out of the fleet with all it had: its place in the tree, its rows in every table, its files.
   * @throws HoltError `InvalidCommand` while it lives or is about to, naming the command to use, and for an agent that is not
   *   of the catalog; `AgentBusy`; `NoSuchAgent`, naming the nearest; the store's faults: then nothing has changed
   */
  uninstall(name: string, options: CatalogOptions = {}): Promise<UninstallAnswer> {
    return this.#inTurn(() => this.#uninstall(name, { dryRun: false, by: 'program', ...options }))
  }

  /** Takes nothing more; resolves once what is under way has ended. */
  async close(): Promise<void> {
    this.#open()
    await this.#turn
  }

  // --- install -----------------------------------------------------------------------------------------------------

  async #install(source: string, { dryRun, by }: Asked): Promise<InstallAnswer> {
    const { clock, store, cacheDir } = this.#deps
    // A dry run leaves no trace in the state, not even for a moment.
    const draft = await Draft.open(dryRun ? join(cacheDir, 'drafts') : this.#root, source, PACKAGE_LIMITS)
    try {
      await readPackage(source, this.#root, PACKAGE_LIMITS, async (entry) => {
        this.#checkOpen()
        await draft.take(entry)
      })
      const dir = await draft.settle()
      const manifest = await this.#checked(dir).catch((error: unknown) => {
        throw speakingOf(source, dir, error)
      })
      const { id: name, version } = manifest
      const digest = await digestOf(dir)
      const plan = await this.#plan({ name, version, source, installedAt: clock.wall(), digest })
      const { change, replaced, runsOn, entry } = plan
      const wanted = store.intents.read(name)?.intent ?? (manifest.autostart ? 'running' : 'stopped')
      const fault = dryRun || change === 'none' ? null : await this.#put(dir, plan, by)
      return {
        ...{ name, version, digest, dir: this.#members.dirOf(entry), change, replaced, runsOn },
        ...{ files: draft.files, bytes: draft.bytes, leftOut: [...draft.leftOut].sort() },
        starts: change === 'installed' && wanted === 'running' && fault === null,
        notStarted: fault,
        dryRun,
      }
    } finally {
      await this.#tidy(() => draft.discard())
    }
  }

  /** Read, held against what the host lends, and compiled, as at a boot; and thrown away again. */
  async #checked(dir: string): Promise<AgentManifest> {
    const { registry, cacheDir, compile } = this.#deps
    const manifest = await loadAgent(dir, { fleetDir: dir })
    checkSchedules(manifest)
    checkGrants(manifest, registry)
    await compile(manifest.roles, { cacheDir, fleetDir: dir, resolveHolt: contractFiles(), commonJs: true })
    return manifest
  }

  /** @throws HoltError `IdTaken`, `NoSuchSupervisor`, `TooManyChildren` where there is no place for it */
  async #plan(entry: CatalogEntry): Promise<Change> {
    const { directory, maxAgents, store } = this.#deps
    const { name, version, digest } = entry
    const before = store.catalog.get(name)
    const agent = this.#members.find(name)
    if (agent === undefined) {
      const fault = this.#members.faultOf(name)
      const code = this.#members.supervisor === null ? 'NoSuchSupervisor' : 'IdTaken'
      if (fault !== null) throw new HoltError(code, fault, { id: name })
      if (directory.all().length >= maxAgents) throw tooManyAgents(maxAgents)
    }
    if (before === undefined) return { entry, before, change: 'installed', replaced: null, runsOn: null }
    const same = before.version === version && before.digest === digest
    const isWhole = same && (await digestOf(this.#members.dirOf(before)).catch(() => null)) === digest
    if (isWhole) return { entry, before, change: 'none', replaced: null, runsOn: null }
    const runsOn = agent !== undefined && isUp(agent) ? agent.spec.version : null
    return { entry, before, change: 'replaced', replaced: before.version, runsOn }
  }

  /** @returns null, or why it is installed and no member of the fleet */
  async #put(dir: string, { entry, before }: Change, by: string): Promise<string | null> {
    const { store, log } = this.#deps
    const { name, version } = entry
    const to = this.#members.dirOf(entry)
    if (before !== undefined) await keepEnv(this.#members.dirOf(before), dir)
    this.#checkOpen()
    const published = await publish(dir, this.#root, to)
    try {
      await store.write((tx) => tx.catalog.set(entry))
    } catch (error) {
      await this.#tidy(() => published.undo())
      throw error
    }
    const fault = await this.#admit(entry, by)
    const instead = before === undefined ? '' : `, in place of ${before.version}`
    log.info({ agent: name, by }, `catalog: '${name}' ${version} is installed${instead}`)
    this.#deps.report('catalog.installed', { name, version, by }, { agent: name })
    await this.#tidy(() => published.keep())
    await this.#tidy(() => sweepVersions(join(this.#root, name), basename(to)))
    return fault
  }

  async #admit(entry: CatalogEntry, by: string): Promise<string | null> {
    const { report, place, adopt } = this.#deps
    const agent = this.#members.find(entry.name)
    if (agent !== undefined) {
      await this.#members.renew(agent)
      return null
    }
    const { fault, manifest } = await this.#enter(entry, by)
    if (fault === null) report('agent.spawned', { supervisor: place.supervisor ?? '', by }, { agent: entry.name })
    if (manifest !== null) adopt(manifest)
    return fault
  }

  async #enter(entry: CatalogEntry, by: string): Promise<Entered> {
    const entered = await this.#members.enter(entry, by)
    const { fault } = entered
    if (fault !== null) this.#deps.log.error({ agent: entry.name }, `catalog: '${entry.name}' is not loaded: ${fault}`)
    return entered
  }

  // --- uninstall ---------------------------------------------------------------------------------------------------

  async #uninstall(name: string, { dryRun, by }: Asked): Promise<UninstallAnswer> {
    const { store, tree, log } = this.#deps
    const entry = store.catalog.get(name)
    if (entry === undefined) {
      const installed = store.catalog.list().map((one) => one.name)
      throw notInCatalog(name, tree.above(name)[0], installed)
    }
    const agent = this.#members.find(name)
    // Where the fleet has another of that name, the rows are that one's.
    const owned = agent !== undefined || !tree.has(name)
    const removed = await this.#countOf(name, agent, owned)
    if (agent !== undefined) this.#checkEnded(agent)
    const answer: UninstallAnswer = { name, version: entry.version, agent: owned, removed, dryRun }
    if (dryRun) return answer
    await this.#removeRows(name, agent, owned)
    log.info({ agent: name, by }, `catalog: '${name}' ${entry.version} is uninstalled`)
    this.#deps.report('catalog.uninstalled', { name, by })
    await this.#tidy(() => rm(join(this.#root, name), { recursive: true, force: true }))
    if (owned) await this.#tidy(() => this.#removeLastWords(name))
    return answer
  }

  /** Out of the store first, so that what was answered holds after a crash; then out of the fleet. */
  async #removeRows(name: string, agent: Agent | undefined, owned: boolean): Promise<void> {
    const { store, leaving } = this.#deps
    leaving.add(name)
    agent?.refresh()
    try {
      await store.write((tx) => {
        if (owned) tx.removeAgent(name)
        tx.catalog.remove(name)
      })
      if (agent !== undefined) this.#members.takeOut(agent)
    } finally {
      leaving.delete(name)
      agent?.refresh()
    }
  }

  /** That it is gone, and what became of messages that waited, has been told meanwhile, and written down as its own. */
  async #removeLastWords(name: string): Promise<void> {
    const { flushRecords, store, tree } = this.#deps
    await flushRecords()
    // Somebody else may have taken the name meanwhile.
    if (!tree.has(name)) await store.removeAgent(name)
  }

  /** @throws HoltError `InvalidCommand`, `AgentBusy` */
  #checkEnded(agent: Agent): void {
    const command = this.#deps.commands.holding(agent.id)
    const up = isUp(agent)
    // One that holds the agent up gives way to what is advised; any other has to be waited for.
    if (command !== null && !(up && preempts('suspend', command.name))) throw held(agent.id, command)
    if (up) throw stillUp(agent)
  }

  async #countOf(name: string, agent: Agent | undefined, owned: boolean): Promise<RemovedWith> {
    const { memory, sessions, mailboxes } = this.#deps.store
    const size = await sizeOf(join(this.#root, name))
    if (!owned) return { ...size, messages: 0, memoryKeys: 0, sessions: 0 }
    let memoryKeys = 0
    for (let page = memory.list(name); page.length > 0; page = memory.list(name, '', { after: page.at(-1)!.key }))
      memoryKeys += page.length
    const messages = agent?.inbox.mailbox.depth ?? mailboxes.depth(name)
    return { ...size, messages, memoryKeys, sessions: sessions.list(name).length }
  }

  // --- turns -------------------------------------------------------------------------------------------------------

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(async () => {
      this.#checkOpen()
      try {
        return await work()
      } catch (error) {
        throw fileFault(this.#root, error)
      }
    })
    this.#turn = done.catch(() => {})
    return done
  }

  #checkOpen(): void {
    if (!this.#deps.shuttingDown()) return
    throw new HoltError('ShuttingDown', 'the host is shutting down: the catalog stays as it is')
  }

  /** What does not change what counts: where it fails, the next start of the host has another go. */
  async #tidy(work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) =>
      this.#deps.log.warn({ error: describeError(error) }, `catalog: ${this.#root} could not be tidied up`),
    )
  }
}
