/**
 * A running host as a program holds it: its agents, its streams, and its end. Made by `boot.ts`, which joins the parts.
 */
import type { Observable } from 'rxjs'
import type { Agent } from '../actors/agent.ts'
import { Directory } from '../actors/directory.ts'
import { AgentRef } from '../actors/ref.ts'
import { snapshotOf } from '../actors/snapshot.ts'
import type { Published } from '../model/channel.ts'
import type { AnyRole, RoleShape } from '../model/contract.ts'
import type { DeathRecord } from '../model/death.ts'
import type { Fact } from '../model/fact.ts'
import type { Command } from '../model/intent.ts'
import type { Phase } from '../model/lifecycle.ts'
import type { DeadLetter } from '../model/message.ts'
import type { Output } from '../model/output.ts'
import type { FleetReload, ReloadAnswer } from '../model/reload.ts'
import type { ScheduleRun, ScheduleView } from '../model/schedule.ts'
import type { AgentSnapshot, CommandExtras, CommandOptions, FleetSnapshot } from '../model/snapshot.ts'
import type { Spawned, SpawnOptions } from '../model/spawn.ts'
import type {
  AgentDetail,
  CapabilityView,
  MailboxView,
  Summary,
  SupervisorAnswer,
  TreeNode,
  Why,
} from '../model/view.ts'
import type { Logger } from '../platform/log.ts'
import { type Bus, createBus } from '../streams/bus.ts'
import { createLatestState, type LatestState } from '../streams/state.ts'
import { where } from '../streams/where.ts'
import { AgentStreams } from './agent-streams.ts'
import type { Catalog } from './catalog.ts'
import type { DeadLetterOffice } from './dead-letters.ts'
import { type Drain, drainer } from './drain.ts'
import type { FactQuery } from './fact-log.ts'
import type { HostParts } from './host-parts.ts'
import { Inspections } from './inspect.ts'
import type { LogQuery } from './logs.ts'
import { Metrics } from './metrics.ts'
import type { ShutdownReport } from './shutdown.ts'
import type { Tokens } from './tokens.ts'
import { countsOf, Views } from './views.ts'

export type { Output } from '../model/output.ts'
export type { HostIdentity, HostParts } from './host-parts.ts'

/** The snapshot of an agent after it and what it adds, or a supervisor with all below it. */
export type CommandAnswer = (AgentSnapshot & CommandExtras) | SupervisorAnswer

/** Lines kept for a subscriber that does not keep up. */
const OUTPUT_LIMIT = 16_384

export class Host {
  readonly directory = new Directory()
  readonly inspections: Inspections
  readonly drain: Drain
  /** Figures for Prometheus. */
  readonly metrics: Metrics
  /** Who may call over the network. */
  readonly tokens: Tokens
  /** What is not to be shown to whoever calls. */
  readonly secrets: HostParts['secrets']
  readonly log: Logger
  readonly #parts: HostParts
  readonly #streams: AgentStreams
  readonly #refs = new Map<string, AgentRef>()
  readonly #deaths: Bus<DeathRecord>
  readonly #deadLetters: Bus<DeadLetter>
  readonly #output: Bus<Output>
  readonly #fleet: LatestState<FleetSnapshot>
  readonly #views: Views
  /** Null: they have been called. */
  #onClose: Set<() => void> | null = new Set()
  #started: Promise<void> | null = null
  #settled = false
  #ended: Promise<ShutdownReport> | null = null

  constructor(parts: HostParts) {
    this.#parts = parts
    this.tokens = parts.tokens
    this.secrets = parts.secrets
    this.log = parts.log
    const { watched } = parts.facts
    this.inspections = new Inspections({ ...parts, directory: this.directory })
    this.drain = drainer({ ...parts, directory: this.directory, shutdown: (options) => this.shutdown(options) })
    this.metrics = new Metrics({ ...parts, directory: this.directory })
    const snapshotOf = (agent: Agent): AgentSnapshot => this.snapshotOf(agent)
    this.#views = new Views({ ...parts, directory: this.directory, snapshotOf })
    this.#streams = new AgentStreams(watched, snapshotOf)
    this.#deaths = createBus(watched('deaths$'))
    this.#deadLetters = createBus(watched('deadLetters$'))
    this.#output = createBus({ ...watched('output$'), limit: OUTPUT_LIMIT, slice: 1024 })
    this.#fleet = createLatestState(() => this.fleet(), watched('fleet$'))
  }

  get fleetDir(): string {
    return this.#parts.fleetDir
  }

  /** Everything the runtime reports. A subscriber that does not keep up gets `stream.gap` in place of what it missed. */
  get facts$(): Observable<Fact> {
    return this.#parts.facts.bus.stream$
  }

  /** The newest fleet, at most one a turn. */
  get fleet$(): Observable<FleetSnapshot> {
    return this.#fleet.stream$
  }

  get deaths$(): Observable<DeathRecord> {
    return this.#deaths.stream$
  }

  get deadLetters$(): Observable<DeadLetter> {
    return this.#deadLetters.stream$
  }

  /** What agents print and log, by line, in order. */
  get output$(): Observable<Output> {
    return this.#output.stream$
  }

  /**
   * An agent by id; give the type of its role to have names and payloads checked: `host.agent<typeof search>('librarian')`.
   * @throws HoltError `NoSuchAgent`, naming the nearest id
   */
  agent<R extends RoleShape = AnyRole>(id: string): AgentRef<R> {
    const agent = this.directory.get(id)
    let ref = this.#refs.get(id)
    if (ref === undefined) {
      const { phase, snapshot } = this.#streams.of(agent)
      ref = new AgentRef(agent, {
        phase$: phase.stream$,
        snapshot$: snapshot.stream$,
        snapshot: () => this.snapshotOf(agent),
        command: (command, options) => this.#parts.commands().run(agent, command, options),
        reload: (options) => this.#parts.reloads().one(agent, options),
      })
      this.#refs.set(id, ref)
    }
    return ref as unknown as AgentRef<R>
  }

  /** In the order of the manifest. */
  agents(): AgentRef[] {
    return this.directory.all().map(({ id }) => this.agent(id))
  }

  fleet(): FleetSnapshot {
    const { identity, clock } = this.#parts
    const agents = this.directory.all().map((agent) => this.snapshotOf(agent))
    const stateFault = this.#parts.stateFault()
    const host = { ...identity, stateFault, pid: process.pid, uptimeMs: clock.wall() - identity.startedAt }
    return { host, agents, counts: countsOf(agents) }
  }

  summary(): Summary {
    const { identity, clock } = this.#parts
    const { id, version, startedAt } = identity
    return {
      name: 'holt',
      version,
      host: id,
      uptimeMs: clock.wall() - startedAt,
      cursor: this.cursor,
      counts: countsOf(this.directory.all()),
    }
  }

  /** @throws HoltError `NoSuchAgent`; so do the other views of one agent */
  detail(id: string): AgentDetail {
    return this.#views.detail(id)
  }

  tree(): TreeNode {
    return this.#parts.catalog().shown(this.#views.tree())
  }

  /** What is lent, and to whom. */
  capabilities(): readonly CapabilityView[] {
    return this.#views.capabilities()
  }

  /** How instances ended, of one agent or of all, the newest at the end. */
  deaths(id?: string): readonly DeathRecord[] {
    return this.#views.deaths(id)
  }

  /** Why an agent is where it is, and what would change it. */
  why(id: string): Why {
    return this.#views.why(id)
  }

  mailbox(id: string): MailboxView {
    return this.#views.mailbox(id)
  }

  /** Takes out what waits for an agent and has not been handed to its thread; each message becomes a dead letter. */
  purge(id: string): { readonly purged: number } {
    return { purged: this.directory.get(id).inbox.purge() }
  }

  /** The number of the newest fact: a watcher that comes with it is told all that follows. */
  get cursor(): number {
    return this.#parts.facts.newest
  }

  /** `running` from when every agent has settled until `shutdown` is called. */
  get stage(): 'starting' | 'running' | 'ending' {
    if (this.#ended !== null) return 'ending'
    return this.#settled ? 'running' : 'starting'
  }

  /** Why nothing can be saved; null: it can. */
  get stateFault(): FleetSnapshot['host']['stateFault'] {
    return this.#parts.stateFault()
  }

  /** Facts from a cursor on, or from now on. @throws HoltError `NoSuchAgent` */
  facts(query: FactQuery = {}): Observable<Fact> {
    if (query.id !== undefined) this.directory.get(query.id)
    return this.#parts.facts.from(query)
  }

  /** What agents print and log from now on, of one agent or of all. */
  output(id?: string): Observable<Output> {
    if (id === undefined) return this.output$
    const { id: agent } = this.directory.get(id)
    return where(this.output$, (output) => output.agent === agent)
  }

  /**
   * What agents have printed and logged; ends with the newest line there is, or follows.
   * @throws HoltError `NoSuchAgent`
   */
  logs(query: LogQuery = {}): Observable<Output> {
    const { id } = query
    const ids = id === undefined ? this.directory.all().map((agent) => agent.id) : [this.directory.get(id).id]
    return this.#parts.logs.open(ids, query, this.output$)
  }

  /**
   * A command to an agent, or to a supervisor, which takes `start`, `stop` and `restart`.
   * @throws HoltError as the command does; `NoSuchAgent`, naming the nearest id of either
   */
  command(id: string, command: Command, options?: CommandOptions): Promise<CommandAnswer> {
    const { tree, commands, supervisorCommands } = this.#parts
    const supervisor = tree().supervisors.get(id)
    if (supervisor !== undefined) return supervisorCommands().run(supervisor, command, options)
    return commands().run(this.directory.get(id, tree().supervisors.keys()), command, options)
  }

  /**
   * Adds an agent to a `dynamic` supervisor; resolves once it is ACTIVE. One whose boot fails was not added.
   * @throws HoltError `NoSuchSupervisor`, `TooManyChildren`, `IdTaken`, `InvalidManifest`, `BootFailed`, `ShuttingDown`
   */
  spawn(supervisor: string, options: SpawnOptions): Promise<Spawned> {
    return this.#parts.spawn(supervisor, options)
  }

  /**
   * Ends a child of a `dynamic` supervisor and takes it out; what waits for it become dead letters.
   * @throws HoltError `NoSuchAgent`, `NoSuchSupervisor` where it is no such child
   */
  remove(id: string): Promise<void> {
    return this.#parts.remove(this.directory.get(id))
  }

  /** Starts the fleet by intent; resolves once every agent has settled. A second call gets the same. */
  start(): Promise<void> {
    this.#started ??= this.#parts.start().then(() => {
      this.#settled = true
    })
    return this.#started
  }

  /**
   * Ends the fleet in reverse start order within one deadline; intents stay as they are. A second call gets the same
   * report. Past the deadline what did not end is killed and named.
   */
  shutdown(options: { readonly timeoutMs?: number; readonly by?: string } = {}): Promise<ShutdownReport> {
    this.#ended ??= this.#parts.shutdown(options).finally(() => this.#close())
    return this.#ended
  }

  /**
   * Calls once the host has ended, before `shutdown` resolves: for what stands in front of it, like a socket.
   * @returns takes it back
   */
  onClose(call: () => void): () => void {
    if (this.#onClose === null) call()
    this.#onClose?.add(call)
    return () => void this.#onClose?.delete(call)
  }

  /** Agents that are installed at run time: listed, installed, uninstalled. */
  get catalog(): Pick<Catalog, 'list' | 'install' | 'uninstall'> {
    return this.#parts.catalog()
  }

  /** Replaces what one agent runs from, or all do, by what their files say now. */
  async reload(id: string, options?: CommandOptions): Promise<ReloadAnswer> {
    return this.#parts.reloads().one(this.directory.get(id), options)
  }

  /** Agents that run, and whose files on disk are not those they run from. */
  changedOnDisk(): Promise<string[]> {
    return this.#parts.reloads().changed()
  }

  /** @see Reloads.all */
  reloadAll(options?: CommandOptions): Promise<FleetReload> {
    return this.#parts.reloads().all(options)
  }

  /** Dead letters: listed, sent again, thrown away. */
  get deadLetters(): DeadLetterOffice {
    return this.#parts.deadLetters()
  }

  /**
   * Hands an event to every agent that is bound to the channel, in order.
   * @throws HoltError `NotCloneable`
   */
  publish(channel: string, event: string, payload?: unknown): Published {
    return this.#parts.channels().publish(channel, event, payload)
  }

  /** @throws HoltError `NoSuchAgent` */
  schedules(id: string): readonly ScheduleView[] {
    return this.#parts.scheduler().list(this.directory.get(id).id)
  }

  /** The newest runs of a schedule, newest first. @throws HoltError `NoSuchAgent` */
  scheduleRuns(id: string, schedule: string, limit = 100): Promise<readonly ScheduleRun[]> {
    return this.#parts.scheduler().history(this.directory.get(id).id, schedule, limit)
  }

  /** Where it can be spoken to, for the text that refuses a second host of the same state. */
  reachableAt(socket: string | null): void {
    this.#parts.reachableAt(socket)
  }

  // --- told by join.ts ---------------------------------------------------------------------------------------------

  snapshotOf(agent: Agent): AgentSnapshot {
    const { clock, intentOf, tree, commands } = this.#parts
    const supervisor = tree().above(agent.id)[0]?.id ?? ''
    return snapshotOf(agent, { clock, intent: intentOf(agent.id), supervisor, command: commands().holding(agent.id) })
  }

  /** An agent that its supervisor has taken out. Its deaths are remembered. */
  forget(id: string): void {
    const agent = this.directory.get(id)
    agent.inbox.purge()
    agent.close()
    this.#views.remember(agent.deaths)
    this.directory.remove(id)
    this.#parts.logs.forget(id)
    this.metrics.forget(id)
    this.#refs.delete(id)
    this.#streams.forget(id)
    this.#fleet.touch()
  }

  onPhase(agent: Agent, to: Phase): void {
    this.#streams.onPhase(agent.id, to)
  }

  onChange(agent: Agent): void {
    this.#streams.onChange(agent.id)
    this.#fleet.touch()
  }

  onDeath(record: DeathRecord): void {
    this.metrics.onDeath(record)
    this.#deaths.publish(record)
  }

  onDeadLetter(read: () => DeadLetter): void {
    if (this.#deadLetters.listenerCount > 0) this.#deadLetters.publish(read())
  }

  onOutput(output: Output): void {
    this.#parts.logs.take(output)
    this.#output.publish(output)
  }

  #close(): void {
    this.#streams.close()
    for (const stream of [this.#deaths, this.#deadLetters, this.#output, this.#fleet, this.#parts.facts.bus])
      stream.close()
    const calls = this.#onClose ?? []
    this.#onClose = null
    for (const call of calls) call()
  }
}
