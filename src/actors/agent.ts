/**
 * One agent seen from the host: the only writer of its phase, owner of its inbox, and of at most one live instance. It
 * carries out what `host/commands.ts` and the supervisor ask; it decides nothing about restarts and keeps no intent.
 * Where new work may go is settled in one place, {@link Agent.refresh}.
 */
import {
  axesOf,
  classify,
  type Health,
  type HealthCause,
  mayTakeWork,
  type Standing,
  type Status,
} from '../model/canonical.ts'
import type { DeathRecord } from '../model/death.ts'
import type { CommandState } from '../model/intent.ts'
import { LIVE, type Phase, transition } from '../model/lifecycle.ts'
import { acceptance } from '../model/mailbox-policy.ts'
import type { CommandInfo, RoleInfo } from '../model/wire.ts'
import { settleDeath } from './aftermath.ts'
import { type AgentDeps, type AgentSpec, BootFailure, type Prepared } from './agent-spec.ts'
import { conclude } from './burial.ts'
import { DeadLetters } from './dead-letters.ts'
import { type EndOptions, outranks } from './ending.ts'
import { Inbox } from './inbox.ts'
import { type Ended, failedDelivery, type Instance } from './instance.ts'
import { Invocations } from './invocations.ts'
import { type InstanceEvents, openInstance } from './open-instance.ts'
import { Phases } from './phases.ts'
import { examine, examineBoot, type PostMortem } from './post-mortem.ts'
import { NO_REMAINS } from './pump.ts'
import type { Successor } from './successor.ts'

export class Agent {
  readonly id: string
  readonly deadLetters: DeadLetters
  readonly inbox: Inbox
  spec: AgentSpec
  instance: Instance | null = null
  roles: readonly RoleInfo[] = []
  readonly invocations = new Invocations()
  readonly deaths: DeathRecord[] = []
  /** Starts by the supervisor or by `restart`, those that failed included. */
  restarts = 0
  /** Its files are not those it runs from. */
  changedOnDisk = false
  health: Health = 'good'
  healthCause: HealthCause | null = null
  /** Monotonic ms of the next start, where one is scheduled. */
  nextStartAt: number | null = null
  /** For what acts in its name in this room, and for nobody else. */
  readonly deps: AgentDeps
  readonly #phases: Phases
  #identityVerified = false
  #incarnations = 0
  /** Asked at every ask. */
  #exclusive: ReadonlySet<string> = new Set()
  /** How it is being ended, and by whom. */
  #told: Pick<EndOptions, 'cause' | 'told'> | null = null
  #handOver = false
  /** Its thread is inside a native call, and does not end though it was told to. */
  unkillable = false
  #pauses = 0
  /** A version that is to take over: the one that lives lags what is wanted of it, and begins nothing new. */
  successor: Successor | null = null
  readonly #events: InstanceEvents = {
    onReady: (instance, roles) => this.#onReady(instance, roles),
    onPaused: (n) => this.#onPaused(n),
    onUnkillable: (instance, afterMs) => this.#onUnkillable(instance, afterMs),
    onEnded: (instance, ended) => this.#onEnded(instance, ended),
  }
  #prepared: Prepared | null = null
  #bootSettled: (record: DeathRecord | null) => void = () => {}

  constructor(spec: AgentSpec, deps: AgentDeps) {
    this.id = spec.id
    this.spec = spec
    this.deps = deps
    this.#phases = new Phases(spec.id, spec.autostart ? 'STOPPED' : 'IDLE', deps.clock, (from, to) =>
      deps.onPhase(this, from, to),
    )
    this.deadLetters = new DeadLetters(spec.id, deps.clock, deps.report, deps.onDeadLetter)
    this.inbox = new (deps.inbox ?? Inbox)(spec.id, spec.mailbox, deps.clock, this.deadLetters, deps.journal, {
      abort: (seqs, reason) => this.instance?.abort(seqs, reason),
      whyNot: () => this.whereabouts(),
      isExclusive: (command) => this.#exclusive.has(command),
    })
    this.refresh()
  }

  // --- views -------------------------------------------------------------------------------------------------------

  get phase(): Phase {
    return this.#phases.current
  }

  get standing(): Standing {
    const intent = this.deps.intentOf(this.id)
    return {
      phase: this.phase,
      intent: intent.intent,
      admission: intent.admission,
      superseded: this.successor !== null,
      draining: this.inbox.draining,
      health: this.health,
      identityVerified: this.#identityVerified,
      alive: this.instance?.alive === true,
      startScheduled: this.startScheduled,
      stopCommanded: this.#told !== null,
    }
  }

  get status(): Status {
    return classify(axesOf(this.standing))
  }

  get startScheduled(): boolean {
    if (this.nextStartAt !== null || this.#handOver || this.#told?.told.rule === 'strategy') return true
    return this.unkillable && this.#told === null
  }

  get commandState(): CommandState {
    const { phase, intent, admission, startScheduled, alive } = this.standing
    return { phase, intent, admission, scheduled: startScheduled, alive }
  }

  get lastDeath(): DeathRecord | null {
    return this.deaths.at(-1) ?? null
  }

  commands(): CommandInfo[] {
    return this.roles.flatMap((role) => role.commands)
  }

  /** Where it is, in words, for those who are turned away. */
  whereabouts(): string {
    if (this.inbox.draining) return `the host is draining, it is ${this.phase}`
    if (this.deps.shuttingDown()) return `the host is shutting down, it is ${this.phase}`
    const { intent } = this.standing
    return `it is ${this.phase}${intent === 'running' ? '' : ` (${intent})`}${this.startScheduled ? ', a start is scheduled' : ''}`
  }

  // --- moves -------------------------------------------------------------------------------------------------------

  /**
   * Boots a new instance. Resolves with null once it is ACTIVE, or {@link unkillable}; with the record where it has ended.
   * @param fresh read the manifest and compile again; else what was last accepted serves
   */
  async start(fresh: boolean): Promise<DeathRecord | null> {
    transition(this.id, this.phase, 'BOOTING')
    // First the axes of the new instance, then the phase: whoever sees it move sees Starting.
    this.nextStartAt = null
    this.#handOver = false
    this.#told = null
    this.#identityVerified = false
    this.health = 'good'
    this.healthCause = null
    const { successor } = this
    if (this.#incarnations++ > 0 && !fresh && successor === null) this.restarts++
    this.#phases.move('BOOTING')
    const settled = new Promise<DeathRecord | null>((resolve) => {
      this.#bootSettled = resolve
    })
    this.refresh()
    await successor?.settled
    if (successor?.ready === true && this.#told === null) {
      this.#adopt(successor)
      return settled
    }
    this.successor = null
    const id = this.deps.newId('i')
    const startedAt = this.deps.clock.now()
    this.deps.threads.expect?.([{ name: this.id, heapMb: this.spec.limits.heapMb }])
    let epoch = 0
    try {
      epoch = await this.deps.begin(this.id, id).catch((error) => Promise.reject(new BootFailure('state', error)))
      const prepared = fresh || this.#prepared === null ? await this.deps.prepare(this.id) : this.#prepared
      prepared.accept()
      if (this.#told !== null) throw new BootFailure('thread', new Error('told to stop before the thread was started'))
      this.#boot(id, epoch, prepared)
    } catch (error) {
      this.deps.threads.release?.(this.id)
      const told = this.#told as Pick<EndOptions, 'cause'> | null
      this.#bury(examineBoot(id, epoch, this.deps.clock.now() - startedAt, error, told?.cause ?? null))
    }
    return settled
  }

  /**
   * Ends the instance there is, or the boot under way. Resolves when its thread is gone, at once where there is none:
   * true; or false where the thread cannot be ended.
   */
  async end(options: EndOptions): Promise<boolean> {
    const dropped = options.handOver ? null : this.successor?.drop()
    this.nextStartAt = null
    if (this.phase === 'IDLE') this.#phases.move('STOPPING', 'STOPPED')
    const stands = this.#told === null || outranks(options.told, this.#told.told)
    // A restart along with a sibling leaves it to a command's what becomes of the messages meanwhile.
    if (stands || options.told.rule !== 'strategy') this.#handOver = options.handOver
    if (!LIVE.has(this.phase)) {
      this.#withdrawn()
      await dropped
      return true
    }
    if (stands) this.#told = options
    if (this.phase !== 'STOPPING') this.#phases.move('STOPPING')
    this.refresh()
    const { instance } = this
    if (instance !== null) {
      const late = options.cause === 'shutdown' ? 'shutdown_timeout' : options.cause
      if (options.graceMs <= 0) instance.terminate(options.cause)
      else instance.stop(options.cause, options.graceMs, late)
      if (options.abort) instance.abort('all', `agent '${this.id}' is told to end (${options.cause})`)
    }
    await this.#phases.until(() => !LIVE.has(this.phase) || this.phase === 'BOOTING' || this.unkillable)
    await dropped
    return !this.unkillable
  }

  /** What the instance there is, or was last, was made from. */
  get prepared(): Prepared | null {
    return this.#prepared
  }

  /** Resolves once no thread of it runs. */
  gone(): Promise<void> {
    return this.#phases.until(() => !LIVE.has(this.phase))
  }

  /** Ends the thread now; the supervisor decides what follows. */
  async kill(): Promise<void> {
    // The restart that would have seen to the next instance has been pre-empted.
    if (this.#handOver) this.#told = null
    this.#handOver = false
    this.instance?.terminate('killed')
    const { instance } = this
    await this.#phases.until(() => instance?.alive !== true || this.unkillable)
  }

  /**
   * Shuts the gate between two messages. Resolves when nothing runs any more, or after `timeoutMs`.
   * Where it is not ACTIVE there is nothing to shut: the intent alone takes effect on arrival.
   */
  async pause(timeoutMs: number, abort: boolean): Promise<void> {
    if (this.phase !== 'ACTIVE') return
    this.#phases.move('PAUSING')
    this.refresh()
    this.instance?.pause(++this.#pauses)
    if (abort) this.instance?.abort('all', `agent '${this.id}' is paused`)
    await this.#phases.until(() => this.phase !== 'PAUSING', timeoutMs)
  }

  /** Opens the gate again; returns how many messages were waiting. */
  resume(): { drained: number } {
    const { pump, mailbox } = this.inbox
    pump.reclaim()
    const drained = mailbox.depth - pump.inFlight().length
    if (this.phase === 'PAUSING') this.#phases.move('PAUSED')
    if (this.phase !== 'PAUSED') {
      this.refresh()
      return { drained: 0 }
    }
    this.#phases.move('RESUMING')
    this.instance?.resume()
    this.#phases.move('ACTIVE')
    this.refresh()
    return { drained }
  }

  /** When its next start comes, monotonic ms; null: one that was scheduled is off, and nothing replaces it. */
  schedule(at: number | null): void {
    if (this.nextStartAt === at && (at !== null || !this.#handOver)) return
    this.nextStartAt = at
    if (at !== null) return this.refresh()
    this.#handOver = false
    this.#withdrawn()
  }

  setHealth(health: Health, cause: HealthCause | null, text: string): void {
    if (health === this.health) return
    this.health = health
    this.healthCause = cause
    this.deps.report('agent.health', { health, cause, text }, this.#subject())
    this.refresh()
  }

  /** The one place that decides where new work goes: by the status, and the table of whereabouts. */
  refresh(): void {
    const standing = this.standing
    const mode = acceptance({
      phase: standing.phase,
      running: mayTakeWork(classify(axesOf({ ...standing, draining: false }))),
      suspended: standing.intent === 'suspended',
      successor: this.startScheduled || (standing.phase === 'BOOTING' && this.#incarnations > 1),
    })
    this.inbox.setMode(mode, this.#handOver || standing.phase === 'ACTIVE')
    this.deps.onChange(this)
  }

  /** No timer of its own is left. */
  close(): void {
    this.inbox.asks.close()
    this.deadLetters.close()
  }

  // --- inside ------------------------------------------------------------------------------------------------------

  #subject(): { agent: string; instance?: string; epoch?: number } {
    const { instance } = this
    return instance === null ? { agent: this.id } : { agent: this.id, instance: instance.id, epoch: instance.epoch }
  }

  #boot(id: string, epoch: number, prepared: Prepared): void {
    this.#accept(prepared)
    this.instance = openInstance(this, { id, epoch, prepared }, this.#events)
    this.refresh()
  }

  #accept(prepared: Prepared): void {
    this.#prepared = prepared
    this.changedOnDisk = false
    this.spec = prepared.spec
    this.inbox.configure(prepared.spec.mailbox)
  }

  /** The one that has waited beside the instance before takes its place. */
  #adopt(successor: Successor): void {
    this.successor = null
    successor.prepared.accept()
    this.#accept(successor.prepared)
    const { instance, roles } = successor.take(this.#events)
    this.instance = instance
    this.#onReady(instance, roles)
  }

  #onReady(instance: Instance, roles: readonly RoleInfo[]): void {
    if (this.phase !== 'BOOTING') return
    this.roles = roles
    this.#exclusive = new Set(this.commands().flatMap(({ name, exclusive }) => (exclusive ? [name] : [])))
    this.#identityVerified = true
    const cordoned = this.standing.admission === 'cordoned'
    if (cordoned) instance.pause(++this.#pauses)
    if (roles.some((role) => role.events.includes('boot'))) this.inbox.first('boot')
    this.inbox.attach(instance)
    this.#phases.move('ACTIVE')
    if (cordoned) this.#phases.move('PAUSING', 'PAUSED')
    this.refresh()
    this.#bootSettled(null)
  }

  #onPaused(n: number): void {
    if (this.phase !== 'PAUSING' || n !== this.#pauses) return
    this.#phases.move('PAUSED')
    this.refresh()
  }

  /** Fenced by its epoch, shown, and waited for; or given up, where the manifest says so. */
  #onUnkillable(instance: Instance, afterMs: number): void {
    if (this.instance !== instance) return
    const replaced = this.spec.restart.unkillable === 'replace'
    this.deps.report('agent.unkillable', { afterMs, replaced }, this.#subject())
    if (replaced) return instance.giveUp()
    this.unkillable = true
    this.health = 'bad'
    this.healthCause = 'observed-bad'
    // A command has its answer by now; what follows when the thread ends after all is for the supervisor to say.
    if (this.standing.intent === 'running' && !this.deps.shuttingDown()) {
      this.#told = null
      this.#handOver = false
    }
    if (this.phase === 'STOPPING') this.#phases.recheck()
    else this.#phases.move('STOPPING')
    this.refresh()
    this.#bootSettled(null)
  }

  #onEnded(instance: Instance, ended: Ended): void {
    const found = examine(this.inbox, instance, ended, this.deps.clock)
    this.instance = null
    this.unkillable = false
    this.#bury(found, failedDelivery(ended, found.facts.error))
  }

  /** A death, in order: what follows is decided, the phase moves, the messages get their fates, and it is told. */
  #bury(found: PostMortem, failed?: ReturnType<typeof failedDelivery>): void {
    const record = conclude(this, this.#phases, found, this.#told?.told ?? null)
    if (found.remains !== NO_REMAINS) settleDeath(this.inbox, found.remains, record, { failed, aborted: found.aborted })
    this.#told = null
    this.refresh()
    if (!this.startScheduled) this.#withdrawn()
    this.deps.onDeath(this, record)
    this.#bootSettled(record)
  }

  /** No instance is coming: asks that wait for one are told. Events wait; a stop deletes nothing. */
  #withdrawn(): void {
    this.refresh()
    if (!this.startScheduled) this.inbox.rejectAsks()
  }
}
