/**
 * The catalog: agents that were installed while the host ran, from a folder or a tarball, and are members of the fleet from
 * then on. What is installed is what the store says; files without a word of it there do not count. So an install is: a
 * draft beside, looked at whole; renamed into its place; one commit. Whatever fails before that leaves all as it was.
 */
import { realpath, rm, stat } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { Agent } from '../actors/agent.ts'
import type { Directory } from '../actors/directory.ts'
import type { Registry } from '../capabilities/registry.ts'
import type { AgentManifest } from '../manifest/agent-manifest.ts'
import type { compileModules } from '../manifest/compile.ts'
import { DEFAULTS } from '../manifest/defaults.ts'
import type { AgentChild, AgentResult } from '../manifest/fleet-manifest.ts'
import { loadAgent } from '../manifest/load.ts'
import { describeError, HoltError } from '../model/error.ts'
import type { Report } from '../model/fact.ts'
import { validCommands } from '../model/intent.ts'
import { LIVE } from '../model/lifecycle.ts'
import { nearest } from '../model/nearest.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import { contractFiles } from '../platform/paths.ts'
import type { CatalogEntry } from '../store/catalog.ts'
import { MEMORY } from '../store/database.ts'
import type { Store } from '../store/store.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import type { CatalogItem, InstallAnswer, RemovedWith, UninstallAnswer } from './catalog-answers.ts'
import { Draft } from './catalog-draft.ts'
import { fileFault, isWithin, keepEnv, publish, sizeOf, sweep, sweepVersions } from './catalog-files.ts'
import { digestOf, readFolder } from './catalog-folder.ts'
import { badPackage, PACKAGE_LIMITS, type PackageLimits, type TakeEntry, versionFolder } from './catalog-rules.ts'
import type { Commands } from './commands.ts'
import { checkGrants } from './prepare.ts'
import { checkSchedules } from './schedules.ts'
import type { Tree } from './tree.ts'

export interface CatalogDeps {
  readonly clock: Clock
  readonly log: Logger
  readonly report: Report
  readonly store: Store
  readonly directory: Directory
  readonly registry: Registry
  readonly tree: Tree
  readonly commands: Pick<Commands, 'holding'>
  /** Of the supervisor of installed agents; null where the fleet can have none. */
  readonly supervisor: string | null
  /** A private folder that goes with the host. */
  readonly cacheDir: string
  readonly compile: typeof compileModules
  readonly maxAgents: number
  /** Agents that are being taken out: nobody wants anything of them any more. Written here alone. */
  readonly leaving: Set<string>
  make(child: AgentChild, read: () => Promise<AgentManifest>): Agent
  /** What the manifest says of channels and schedules holds from now on. */
  adopt(manifest: AgentManifest): void
  start(id: string, by: string): Promise<unknown>
  /** Resolves once what is known by now has been written down. */
  flushRecords(): Promise<void>
  shuttingDown(): boolean
  /** @default {@link PACKAGE_LIMITS} */
  readonly limits?: PackageLimits
}

export interface CatalogOptions {
  /** Says what would change, and changes nothing. @default false */
  readonly dryRun?: boolean
  /** Who asks, as recorded. @default 'program' */
  readonly by?: string
}

type Asked = Required<CatalogOptions>
type Put = Pick<InstallAnswer, 'change' | 'runsOn'>

export class Catalog {
  readonly #deps: CatalogDeps
  readonly #root: string
  readonly #limits: PackageLimits
  /** Those that are members of the fleet by the catalog. */
  readonly #ours = new Set<string>()
  /** One at a time, and none before the catalog has been read. */
  #turn: Promise<unknown>
  #open: () => void = () => {}

  constructor(deps: CatalogDeps) {
    this.#deps = deps
    this.#root = join(deps.store.dir === MEMORY ? deps.cacheDir : deps.store.dir, 'catalog')
    this.#limits = deps.limits ?? PACKAGE_LIMITS
    this.#turn = new Promise<void>((open) => {
      this.#open = open
    })
  }

  /** Makes what is installed members of the fleet, and removes what a crash left. Once, before the fleet is started. */
  async load(): Promise<void> {
    const { store, log } = this.#deps
    const entries = store.catalog.list()
    const kept = new Map(entries.map((entry) => [entry.name, versionFolder(entry)]))
    await this.#tidy(() => sweep(this.#root, kept))
    for (const entry of entries) {
      const fault = this.#faultOf(entry.name)
      if (fault === null) this.#enter(entry, await this.#result(entry))
      else log.error({ agent: entry.name }, `agent '${entry.name}' of the catalog is not loaded: ${fault}`)
    }
    this.#open()
  }

  /** By name. */
  list(): CatalogItem[] {
    const { store, directory } = this.#deps
    return store.catalog.list().map((entry): CatalogItem => {
      const agent = this.#ours.has(entry.name) ? directory.find(entry.name) : undefined
      const live = agent !== undefined && LIVE.has(agent.phase)
      return {
        ...entry,
        dir: this.#dirOf(entry),
        status: agent?.status ?? null,
        runningVersion: live ? agent.spec.version : null,
        fault: agent === undefined ? this.#faultOf(entry.name) : null,
      }
    })
  }

  /**
   * Installs an agent, or takes another version of one that is installed. A new one is started if its `autostart` says so;
   * one that runs goes on with what it has, and takes the new files at its next `start`.
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
    const draft = await Draft.open(dryRun ? join(cacheDir, 'drafts') : this.#root, source, this.#limits)
    try {
      await this.#read(source, async (entry) => {
        this.#checkOpen()
        await draft.take(entry)
      })
      const dir = await draft.settle()
      const manifest = await this.#checked(dir)
      const { id: name, version } = manifest
      const entry = { name, version, source, installedAt: clock.wall(), digest: await digestOf(dir) }
      const before = store.catalog.get(name)
      const put = await this.#plan(entry, before)
      if (!dryRun && put.change !== 'none') await this.#put(dir, entry, before, manifest, by)
      const wanted = store.intents.read(name)?.intent ?? (manifest.autostart ? 'running' : 'stopped')
      return {
        ...{ name, version, digest: entry.digest, dir: this.#dirOf(entry) },
        ...put,
        replaced: put.change === 'replaced' ? (before?.version ?? null) : null,
        ...{ files: draft.files, bytes: draft.bytes, leftOut: [...draft.leftOut].sort() },
        starts: put.change === 'installed' && wanted === 'running',
        notStarted: null,
        dryRun,
      }
    } finally {
      await this.#tidy(() => draft.discard())
    }
  }

  async #read(source: string, take: TakeEntry): Promise<void> {
    const real = await realpath(source).catch((error: unknown) => {
      throw badPackage(source, `expected a folder or a tarball, found nothing (${describeError(error).code})`, error)
    })
    const stats = await stat(real)
    if (stats.isFile()) return (await import('./tarball.ts')).readTarball(real, this.#limits, take)
    if (!stats.isDirectory()) throw badPackage(source, 'expected a folder or a tarball, found neither')
    const root = await realpath(this.#root).catch(() => this.#root)
    if (isWithin(real, root))
      throw badPackage(source, `expected the folder of one agent, found one with the catalog itself in it (${root})`)
    return readFolder(real, take)
  }

  /** Read, held against what the host lends, and compiled, as at a boot; and thrown away again. */
  async #checked(dir: string): Promise<AgentManifest> {
    const { registry, cacheDir, compile } = this.#deps
    const manifest = await loadAgent(dir, { fleetDir: dir })
    checkSchedules(manifest)
    checkGrants(manifest, registry)
    await compile(manifest.roles, { cacheDir, fleetDir: dir, resolveHolt: contractFiles() })
    return manifest
  }

  /** @throws HoltError where there is no place for it */
  async #plan(entry: CatalogEntry, before: CatalogEntry | undefined): Promise<Put> {
    const { directory, maxAgents } = this.#deps
    const { name, version, digest } = entry
    if (!this.#ours.has(name)) {
      const fault = this.#faultOf(name)
      if (fault !== null)
        throw new HoltError(this.#supervisor === null ? 'NoSuchSupervisor' : 'IdTaken', fault, { id: name })
      if (directory.all().length >= maxAgents)
        throw new HoltError('TooManyChildren', `the host may have ${maxAgents} agents, and has them: raise maxAgents`, {
          max: maxAgents,
        })
    }
    if (before === undefined) return { change: 'installed', runsOn: null }
    const same = before.version === version && before.digest === digest
    if (same && (await digestOf(this.#dirOf(before)).catch(() => null)) === digest)
      return { change: 'none', runsOn: null }
    const agent = directory.find(name)
    const goesOn = agent !== undefined && isUp(agent)
    return { change: 'replaced', runsOn: goesOn ? agent.spec.version : null }
  }

  async #put(
    dir: string,
    entry: CatalogEntry,
    before: CatalogEntry | undefined,
    manifest: AgentManifest,
    by: string,
  ): Promise<void> {
    const { store, directory, report, log } = this.#deps
    const place = this.#dirOf(entry)
    if (before !== undefined) await keepEnv(this.#dirOf(before), dir)
    this.#checkOpen()
    const published = await publish(dir, this.#root, place)
    try {
      await store.write((tx) => tx.catalog.set(entry))
    } catch (error) {
      await this.#tidy(() => published.undo())
      throw error
    }
    const { name, version } = entry
    if (this.#ours.has(name)) this.#renew(directory.get(name), manifest)
    else {
      this.#enter(entry, { ok: true, manifest: await this.#load(name) })
      report('agent.spawned', { supervisor: this.#supervisor?.id ?? '', by }, { agent: name })
    }
    log.info(
      { agent: name },
      `catalog: '${name}' ${version} installed by ${by}${before === undefined ? '' : `, in place of ${before.version}`}`,
    )
    await this.#tidy(() => published.keep())
    await this.#tidy(() => sweepVersions(join(this.#root, name), basename(place)))
  }

  /** A newer manifest of one that is no instance now is what it is; one that runs is what it was started with. */
  #renew(agent: Agent, manifest: AgentManifest): void {
    if (isUp(agent)) return
    agent.spec = manifest
    this.#deps.adopt(manifest)
  }

  // --- members of the fleet ----------------------------------------------------------------------------------------

  #enter({ name }: CatalogEntry, result: AgentResult): void {
    const { make, tree, adopt } = this.#deps
    const child = childOf(name, result.ok ? result.manifest.dir : this.#root, result)
    const agent = make(child, () => this.#load(name))
    tree.add(this.#supervisor!, child, agent)
    this.#ours.add(name)
    if (result.ok) adopt(result.manifest)
  }

  /** What cannot be read is a member too, one that does not boot and says why. */
  async #result({ name }: CatalogEntry): Promise<AgentResult> {
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
    const dir = this.#dirOf(entry)
    const manifest = await loadAgent(dir, { fleetDir: dir })
    if (manifest.id === name) return manifest
    throw new HoltError(
      'InvalidManifest',
      `${dir}: id: expected '${name}', as it was installed, found '${manifest.id}'. Install it again`,
    )
  }

  get #supervisor(): Supervisor | null {
    const { supervisor, tree } = this.#deps
    return supervisor === null ? null : (tree.supervisors.get(supervisor) ?? null)
  }

  #dirOf(entry: CatalogEntry): string {
    return join(this.#root, entry.name, versionFolder(entry))
  }

  /** Why an agent of this name cannot be a member by the catalog; null where it can. */
  #faultOf(name: string): string | null {
    const { tree } = this.#deps
    if (this.#supervisor === null)
      return `the root supervisor '${tree.root.id}' is dynamic, and what is added to it does not stay. Give the fleet a root of another strategy, with '${tree.root.id}' below it`
    if (this.#ours.has(name) || !tree.has(name)) return null
    return `the fleet has '${name}' already, not by the catalog: change one of the two ids, or take it out of holt.yml`
  }

  // --- uninstall ---------------------------------------------------------------------------------------------------

  async #uninstall(name: string, { dryRun, by }: Asked): Promise<UninstallAnswer> {
    const { store, directory, tree, log, leaving, flushRecords } = this.#deps
    const entry = store.catalog.get(name)
    if (entry === undefined) throw this.#notHere(name)
    const agent = this.#ours.has(name) ? directory.find(name) : undefined
    // Where the fleet has another of that name, the rows are that one's.
    const owned = agent !== undefined || !tree.has(name)
    const removed = await this.#countOf(entry, agent, owned)
    if (agent !== undefined) this.#checkEnded(agent)
    const answer: UninstallAnswer = { name, version: entry.version, agent: owned, removed, dryRun }
    if (dryRun) return answer
    leaving.add(name)
    agent?.refresh()
    try {
      await flushRecords()
      await store.write((tx) => {
        if (owned) tx.removeAgent(name)
        tx.catalog.remove(name)
      })
      if (agent !== undefined) this.#takeOut(agent)
    } finally {
      leaving.delete(name)
      agent?.refresh()
    }
    log.info({ agent: name }, `catalog: '${name}' ${entry.version} uninstalled by ${by}`)
    await this.#tidy(() => rm(join(this.#root, name), { recursive: true, force: true }))
    if (owned) await this.#tidy(() => this.#removeLastWords(name))
    return answer
  }

  #takeOut(agent: Agent): void {
    // What is torn down is not remembered either.
    agent.deaths.length = 0
    this.#ours.delete(agent.id)
    this.#supervisor?.remove(agent.id)
  }

  /** That it is gone, and what became of messages that waited, has been told meanwhile, and written down as its own. */
  async #removeLastWords(name: string): Promise<void> {
    await this.#deps.flushRecords()
    await this.#deps.store.removeAgent(name)
  }

  /** @throws HoltError `InvalidCommand`, `AgentBusy` */
  #checkEnded(agent: Agent): void {
    const { id, phase, startScheduled } = agent
    const held = this.#deps.commands.holding(id)
    if (held !== null)
      throw new HoltError(
        'AgentBusy',
        `agent '${id}' is held by '${held.name}' of ${held.by}: 'uninstall' has to wait`,
        { command: held.name, by: held.by, since: held.since },
      )
    if (!isUp(agent)) return
    const valid = validCommands(agent.commandState)
    const next = valid.includes('suspend') ? `Suspend it first: holt suspend ${id}` : 'Wait until it has ended'
    const waiting = startScheduled && !LIVE.has(phase) ? ' with a start scheduled' : ''
    throw new HoltError('InvalidCommand', `Cannot uninstall agent '${id}' in ${phase}${waiting}. ${next}`, {
      phase,
      valid,
    })
  }

  async #countOf(entry: CatalogEntry, agent: Agent | undefined, owned: boolean): Promise<RemovedWith> {
    const { memory, sessions, mailboxes } = this.#deps.store
    const { name } = entry
    const size = await sizeOf(join(this.#root, name))
    if (!owned) return { ...size, messages: 0, memoryKeys: 0, sessions: 0 }
    let memoryKeys = 0
    for (let page = memory.list(name); page.length > 0; page = memory.list(name, '', { after: page.at(-1)!.key }))
      memoryKeys += page.length
    const messages = agent?.inbox.mailbox.depth ?? mailboxes.depth(name)
    return { ...size, messages, memoryKeys, sessions: sessions.list(name).length }
  }

  #notHere(name: string): HoltError {
    const { store, directory } = this.#deps
    if (directory.find(name) !== undefined)
      return new HoltError(
        'InvalidCommand',
        `agent '${name}' is part of the fleet's holt.yml, not of the catalog. Take it out there, then restart the host`,
        { agent: name },
      )
    const names = store.catalog.list().map((entry) => entry.name)
    const close = nearest(name, names)
    const hint =
      close === undefined ? `In it: ${names.slice(0, 10).join(', ') || 'nothing'}` : `Did you mean '${close}'?`
    return new HoltError('NoSuchAgent', `there is no '${name}' in the catalog. ${hint}`, {
      agent: name,
      ...(close === undefined ? {} : { nearest: close }),
    })
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
    if (this.#deps.shuttingDown())
      throw new HoltError('ShuttingDown', 'the host is shutting down: the catalog stays as it is')
  }

  /** What does not change what counts: where it fails, the next start of the host has another go. */
  async #tidy(work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) =>
      this.#deps.log.warn({ error: describeError(error) }, `catalog: ${this.#root} could not be tidied up`),
    )
  }
}

/** It has an instance, or is about to have one. */
const isUp = ({ phase, startScheduled }: Agent): boolean => LIVE.has(phase) || startScheduled

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
