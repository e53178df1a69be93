/**
 * Where everything is joined: agents, supervisors, commands and streams become one host. Read this file to see who is
 * handed what.
 */
import { Spares } from '../actors/spares.ts'
import type { Threads } from '../actors/spawn.ts'
import { Watches } from '../actors/watches.ts'
import type { Registry } from '../capabilities/registry.ts'
import type { AgentManifest } from '../manifest/agent-manifest.ts'
import type { compileModules } from '../manifest/compile.ts'
import { loadEnv } from '../manifest/env.ts'
import type { FleetManifest } from '../manifest/fleet-manifest.ts'
import { loadFleet } from '../manifest/load.ts'
import type { HoltError } from '../model/error.ts'
import type { Intent } from '../model/intent.ts'
import type { Spawned, SpawnOptions } from '../model/spawn.ts'
import type { Clock, Timer } from '../platform/clock.ts'
import { newId } from '../platform/id.ts'
import { type MemoryReading, readMemory } from '../platform/memory.ts'
import type { Scheduler } from '../schedules/scheduler.ts'
import type { Store } from '../store/store.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import type { SupervisorDeps } from '../supervisor/supervisor-spec.ts'
import { startWatch } from '../supervisor/watch.ts'
import { type AgentMaker, agentMaker } from './agents.ts'
import { Catalog } from './catalog.ts'
import { beingUninstalled } from './catalog-refusals.ts'
import { type CatalogPlace, withCatalog } from './catalog-tree.ts'
import { Channels } from './channels.ts'
import { type CommandDeps, Commands } from './commands.ts'
import { DeadLetterOffice } from './dead-letters.ts'
import { Drift } from './drift.ts'
import { createFacts } from './facts.ts'
import { reportStarted, startBelow } from './fleet-start.ts'
import { Host, type HostParts } from './host.ts'
import { commitFirstIntents, intentReader } from './intents.ts'
import { restoreMailbox } from './journals.ts'
import { openLeases } from './leases.ts'
import { Logs } from './logs.ts'
import { type CheckedOptions, checkTimeout } from './options.ts'
import { Records } from './records.ts'
import { heldBackMs, recover, tellHostDied } from './recover.ts'
import { Reloads } from './reload.ts'
import { fleetChanges } from './reload-changes.ts'
import { request } from './requests.ts'
import { Room } from './room.ts'
import { openScheduler } from './schedules.ts'
import { Secrets } from './secrets.ts'
import { type ShutdownReport, shutDown } from './shutdown.ts'
import { remove, spawn } from './spawn.ts'
import { stateFaultOf } from './state-fault.ts'
import { SupervisorCommands } from './supervisor-commands.ts'
import { Tokens } from './tokens.ts'
import { manifestsOf, Tree } from './tree.ts'
import { VERSION } from './version.ts'
import { nodeOf } from './views.ts'

/** The world a host lives in; tests hand in another. */
export interface Surroundings {
  readonly clock: Clock
  readonly random: () => number
  /** Null: real threads, with the spares that the fleet asks for. */
  readonly threads: Threads | null
  readonly compile: typeof compileModules
  /** @default that of the machine */
  readonly memory?: () => MemoryReading
}

export interface JoinParts extends Omit<CheckedOptions, 'maxAgents' | 'minFreeMb'> {
  readonly maxAgents: number
  readonly minFreeMb: number
  readonly manifest: FleetManifest
  readonly cacheDir: string
  readonly registry: Registry
  readonly store: Store
  /** Who is told that the state cannot be saved; the host, once there is one. */
  readonly faults: { tell: (fault: HoltError) => void }
  /** Last of all: timers, compiler, folders. */
  readonly release: () => Promise<void>
  readonly surroundings: Surroundings
}

/** A host that knows nothing yet of those before it. */
export interface Joined {
  readonly host: Host
  /**
   * Takes over what the hosts before this one have left: intents, deaths, mailboxes, schedules, installed agents. Before
   * anybody may ask or send anything: an answer would lack what was, and what is sent would come before what has waited.
   */
  takeOver(): Promise<void>
}

export const join = (parts: JoinParts): Joined => new Assembly(parts)

/** The parts of one host, in the order in which they are handed to one another. */
class Assembly implements Joined {
  readonly host: Host
  readonly #parts: JoinParts
  readonly #clock: Clock
  readonly #secrets = new Secrets()
  readonly #facts
  readonly #logs: Logs
  readonly #spares: Spares
  readonly #threads: Threads
  readonly #room: Room
  readonly #watches = new Watches()
  readonly #intentOf
  readonly #records: Records
  readonly #scheduler: Scheduler
  readonly #channels: Channels
  readonly #deadLetters: DeadLetterOffice
  readonly #maker: AgentMaker
  readonly #catalogPlace: CatalogPlace
  readonly #catalog: Catalog
  /** Agents that are being uninstalled: nothing is wanted of them any more. */
  readonly #leaving = new Set<string>()
  readonly #tree: Tree
  readonly #commands: Commands
  readonly #supervisorCommands: SupervisorCommands
  readonly #drift: Drift
  readonly #reloads: Reloads
  readonly #watch: Timer
  #started = false
  #ending = false

  constructor(parts: JoinParts) {
    const { manifest, surroundings, log, store } = parts
    const { clock } = surroundings
    this.#parts = parts
    this.#clock = clock
    this.#spares = new Spares(manifest.spares, clock)
    this.#threads = surroundings.threads ?? this.#spares
    this.#records = new Records(store, clock, () => this.host.directory.all())
    this.#facts = createFacts(clock, log, store.facts.lastSeq(), this.#secrets, this.#records)
    const logParts = { stateDir: store.dir, clock, log, options: parts.logs, watched: this.#facts.watched('logs') }
    this.#logs = new Logs(logParts)
    const { intents } = store
    this.#intentOf = intentReader({ ...intents, read: (id) => (this.#leaving.has(id) ? undefined : intents.read(id)) })
    this.host = new Host(this.#hostParts())
    const { report } = this.#facts
    parts.faults.tell = ({ code, message: text }) => report('state.degraded', { code, text })
    const { directory } = this.host
    this.#scheduler = openScheduler({ clock, store, directory, report })
    this.#channels = new Channels(store, directory, clock)
    this.#deadLetters = new DeadLetterOffice(store, this.#records, directory)
    const shuttingDown = (): boolean => this.#ending
    const own = { tree: () => this.#tree, commands: () => this.#commands }
    this.#room = new Room({ ...parts, ...own, clock, report, directory, read: surroundings.memory ?? readMemory })
    const supervisorOf = (agent: string): Supervisor => this.#tree.above(agent)[0]!
    this.#maker = agentMaker({
      ...parts,
      clock,
      host: this.host,
      report,
      intentOf: this.#intentOf,
      supervisorOf,
      shuttingDown,
      watches: this.#watches,
      threads: this.#threads,
      records: this.#records,
      secrets: this.#secrets,
      onAccepted: (accepted) => this.#adopt(accepted),
      onMoved: ({ id }) => this.#scheduler.wake(id),
      compile: surroundings.compile,
      request: (from, name, payload) => request(this.#requestDeps(), from, name, payload),
    })
    this.#catalogPlace = withCatalog(manifest.root)
    this.#tree = new Tree(this.#catalogPlace.root, this.#maker.make, this.#supervisorDeps())
    this.#commands = new Commands(this.#commandDeps(supervisorOf))
    this.#supervisorCommands = new SupervisorCommands({
      clock,
      report,
      tree: this.#tree,
      commands: this.#commands,
      node: (supervisor) => this.#catalog.shown(nodeOf(supervisor)),
      start: (supervisor, fresh) => startBelow(supervisor, this.#threads, fresh),
      shuttingDown,
    })
    this.#drift = new Drift(() => directory.all(), clock)
    this.#reloads = new Reloads({
      directory,
      commands: this.#commands,
      drift: this.#drift,
      fleetChanges: async () => (manifest.file === null ? [] : fleetChanges(manifest, await loadFleet(manifest.dir))),
    })
    this.#catalog = this.#openCatalog()
    this.#watch = startWatch(() => this.host.directory.all(), clock, openLeases(store, clock, parts.lease))
  }

  // --- who is handed what ------------------------------------------------------------------------------------------

  #hostParts(): HostParts {
    const { log, manifest, registry, store } = this.#parts
    return {
      clock: this.#clock,
      log,
      fleetDir: manifest.dir,
      facts: this.#facts,
      intentOf: this.#intentOf,
      identity: { id: newId('h'), version: VERSION, startedAt: this.#clock.wall(), stateDir: store.dir },
      stateFault: () => stateFaultOf(store.health),
      tree: () => this.#tree,
      commands: () => this.#commands,
      supervisorCommands: () => this.#supervisorCommands,
      reloads: () => this.#reloads,
      notStarted: (agent) => this.#room.whyNot(agent),
      registry,
      grantsOf: (agent) => this.#maker.grantsOf(agent),
      spawn: (supervisor, options) => this.#spawn(supervisor, options, 'program'),
      remove: (agent) => remove(this.#tree, agent, 'program'),
      scheduler: () => this.#scheduler,
      channels: () => this.#channels,
      deadLetters: () => this.#deadLetters,
      catalog: () => this.#catalog,
      logs: this.#logs,
      tokens: new Tokens(store, this.#clock),
      secrets: this.#secrets,
      reachableAt: (socket) => store.setSocket(socket),
      start: () => this.#start(),
      shutdown: (options) => this.#shutDown(options),
    }
  }

  #supervisorDeps(): SupervisorDeps {
    const { clock, random } = this.#parts.surroundings
    return {
      clock,
      random,
      report: this.#facts.report,
      intentOf: (agent) => this.#intentOf(agent).intent,
      shuttingDown: () => this.#ending,
      // Only at the start of the host: by then nobody has asked for anything.
      heldBackMs: (agent) => {
        if (this.#started || this.#intentOf(agent).intent !== 'running') return 0
        return heldBackMs(this.host.directory.get(agent).deaths)
      },
      admits: (agent) => this.#room.admits(agent),
      onRemoved: ({ id }) => this.#forget(id),
    }
  }

  #commandDeps(supervisorOf: CommandDeps['supervisorOf']): CommandDeps {
    return {
      clock: this.#clock,
      intents: this.#parts.store.intents,
      report: this.#facts.report,
      supervisorOf,
      shuttingDown: () => this.#ending,
      revive: (agent, stands) => this.#tree.revive(agent, stands),
      checkGate: async (agent) => {
        // Whoever still holds one that has been taken out starts nothing with it.
        const found = this.host.directory.get(agent)
        if (this.#leaving.has(agent)) throw beingUninstalled(agent)
        await this.#maker.checkGate(agent)
        this.#room.check(found)
      },
      checkRoom: (agent) => this.#room.checkAside(agent),
      snapshot: (agent) => this.host.snapshotOf(agent),
      recorded: () => this.#records.flush(),
    }
  }

  #openCatalog(): Catalog {
    const { surroundings, manifest: _, ...parts } = this.#parts
    return new Catalog({
      ...parts,
      clock: this.#clock,
      report: this.#facts.report,
      directory: this.host.directory,
      tree: this.#tree,
      commands: this.#commands,
      place: this.#catalogPlace,
      compile: surroundings.compile,
      leaving: this.#leaving,
      make: this.#maker.make,
      adopt: (manifest) => this.#adopt(manifest),
      start: (id, by) => this.host.command(id, 'start', { by }),
      flushRecords: () => this.#records.flush(),
      shuttingDown: () => this.#ending,
    })
  }

  #requestDeps(): Parameters<typeof request>[0] {
    return {
      directory: this.host.directory,
      store: this.#parts.store,
      clock: this.#clock,
      watches: this.#watches,
      channels: this.#channels,
      scheduler: this.#scheduler,
      spawn: (supervisor, options, by) => this.#spawn(supervisor, options, by),
    }
  }

  // --- what it does ------------------------------------------------------------------------------------------------

  async takeOver(): Promise<void> {
    const { directory } = this.host
    const installed = await this.#catalog.load()
    await this.#recover()
    for (const agent of directory.all()) await restoreMailbox(this.#parts.store, agent)
    await this.#scheduler.load()
    for (const accepted of [...manifestsOf(this.#parts.manifest.root), ...installed]) this.#adopt(accepted)
    const { intents } = this.#parts.store
    await commitFirstIntents(intents, directory.all(), this.#clock)
  }

  async #start(): Promise<void> {
    // Holt does not read it for anything else; what is wrong with it is nobody's loss.
    this.#secrets.learn(Object.values(await loadEnv(this.#parts.manifest.dir).catch(() => ({}))))
    const { directory } = this.host
    const began = this.#clock.now()
    await startBelow(this.#tree.root, this.#threads, true)
    this.#started = true
    if (this.#ending) return
    if (this.#threads === this.#spares) this.#spares.fill(directory.all().map(({ spec }) => spec.limits.heapMb))
    reportStarted(this.#facts.report, directory.all(), this.#clock.now() - began)
  }

  /** What an agent's manifest says of channels and schedules holds from its acceptance on; also while it does not run. */
  #adopt({ id, channels, schedules }: AgentManifest): void {
    const failed = (what: string) => (error: unknown) => {
      const text = error instanceof Error ? error.message : String(error)
      this.#parts.log.error({ agent: id }, `the ${what} of agent '${id}' could not be kept: ${text}`)
    }
    this.#scheduler.replaceManifest(id, schedules).catch(failed('schedules'))
    this.#channels.bind(id, channels).catch(failed('channels'))
  }

  /** What the host before this one did not live to write. */
  async #recover(): Promise<void> {
    const { store } = this.#parts
    const supervisorOf = (agent: string): string => this.#tree.above(agent)[0]?.id ?? ''
    const intentOf = (agent: string): Intent => this.#intentOf(agent).intent
    const deaths = await recover({ store, clock: this.#clock, newId, supervisorOf, intentOf })
    tellHostDied(deaths, this.host, this.#facts.report)
  }

  #shutDown({ timeoutMs = this.#parts.shutdownTimeoutMs, by = 'program' }): Promise<ShutdownReport> {
    checkTimeout(timeoutMs)
    this.#ending = true
    this.#watch.cancel()
    this.#drift.close()
    this.#room.close()
    const { registry, store } = this.#parts
    // First nothing more is sent by the clock; in the end the last outcomes are waited for.
    const sending = this.#scheduler.close()
    const release = async (): Promise<void> => {
      await this.#catalog.close()
      await sending
      await this.#records.close(this.host.directory.all())
      await this.#logs.close()
      await store.close().catch((error: unknown) => this.#parts.log.error({ error }, 'the state could not be closed'))
      await this.#parts.release()
    }
    const { directory } = this.host
    const { root } = this.#tree
    const deps = {
      clock: this.#clock,
      report: this.#facts.report,
      root,
      directory,
      registry,
      spares: this.#spares,
      release,
    }
    return shutDown(deps, timeoutMs, by)
  }

  #spawn(supervisor: string, options: SpawnOptions, by: string): Promise<Spawned> {
    const deps = {
      clock: this.#clock,
      report: this.#facts.report,
      intents: this.#parts.store.intents,
      fleetDir: this.#parts.manifest.dir,
      tree: this.#tree,
      make: this.#maker.make,
      directory: this.host.directory,
      maxAgents: this.#parts.maxAgents,
      room: this.#room,
      shuttingDown: () => this.#ending,
    }
    return spawn(deps, supervisor, options, by)
  }

  /** A child that its supervisor has taken out. */
  #forget(id: string): void {
    const supervisor = this.#tree.above(id)[0]?.id ?? ''
    this.#tree.forget(id)
    this.#maker.forget(id)
    this.#records.forget(id)
    this.#channels.forget(id)
    void this.#scheduler.removeAgent(id).catch(() => {})
    void this.#parts.store.write((tx) => tx.agents.remove(id)).catch(() => {})
    this.host.forget(id)
    this.#facts.report('agent.removed', { supervisor }, { agent: id })
  }
}
