/**
 * A supervisor: starts its children in order, ends them in reverse, and answers each death with the decision of the
 * pure rules (`restart.ts`, `strategy.ts`). It alone writes what is remembered of its children; what is to be started
 * goes to a lane, which looks again just before each start, so that a stop always gets in between.
 */
import type { DeathCase } from '../actors/agent-spec.ts'
import type { DeathCause, Decision, SupervisorEnd, Told } from '../model/death.ts'
import type { Life } from './backoff.ts'
import {
  type Child,
  type ChildSpec,
  comesAlong,
  endChild,
  gone,
  isLive,
  isScheduled,
  lastDecisionOf,
  scheduleChild,
  wantedOf,
  wordOf,
} from './child.ts'
import { budgetOf } from './intensity.ts'
import { type Entry, Lane } from './lane.ts'
import { decideRestart, FRESH_HISTORY, type Restart } from './restart.ts'
import { endsWith, firstOfGroup, isGrouped, shareOf } from './strategy.ts'
import { endOf, reportEnd, Stops } from './supervisor-end.ts'
import {
  NO_DEADLINE,
  type StopOrder,
  type StoppedBy,
  type StopReport,
  type SupervisorDeps,
  type SupervisorOptions,
} from './supervisor-spec.ts'

export class Supervisor {
  readonly options: SupervisorOptions
  /** Restarts over its life; one of a group counts once. */
  restarts = 0
  /** How it ended by its own rules, until it supervises again. */
  end: SupervisorEnd | null = null
  /** Set where an operator had it stopped, until it supervises again. */
  stopped: StoppedBy | null = null
  /** Monotonic ms, where its start is scheduled. */
  nextStartAt: number | null = null
  /** Told when it has ended by its own rules, and asked what is made of it; at the root nobody is. */
  onEnd: ((cause: SupervisorEnd['cause']) => Decision) | null = null
  readonly #deps: SupervisorDeps
  #children: readonly Child[] = []
  readonly #lanes = new Map<string, Lane>()
  #window: readonly Restart[] = []
  /** Who had it ended, or that it was never started; null while it supervises. */
  #down: Told | null
  /** Whose death the group restart under way goes back to. */
  #failing: string | null = null
  readonly #stops = new Stops()

  constructor(options: SupervisorOptions, children: readonly Child[], deps: SupervisorDeps) {
    this.options = options
    this.#deps = deps
    this.#down = { rule: 'supervisor', by: options.id }
    for (const child of children) this.#take(child)
  }

  get id(): string {
    return this.options.id
  }

  /** In start order. */
  get children(): readonly Child[] {
    return this.#children
  }

  /** It supervises: it was started, and has neither been stopped nor ended since. */
  get up(): boolean {
    return this.#down === null
  }

  /** It is at ending its children. */
  get ending(): boolean {
    return this.#stops.underWay
  }

  /**
   * Starts the children in order, each once the one before has settled; those that are up stay so.
   * @param fresh reads their files again; else it is a restart of what was last accepted
   */
  async start(fresh: boolean): Promise<void> {
    while (this.ending) await this.settled()
    this.revive()
    const { clock, heldBackMs } = this.#deps
    const heldMs = ({ id, member }: Child): number => (fresh && member.kind === 'agent' ? (heldBackMs?.(id) ?? 0) : 0)
    const entryOf = (child: Child): Entry => ({ dueAt: clock.now() + heldMs(child), fresh, why: 'start' })
    const wanted = this.#children.filter((child) => this.#wanted(child))
    const groups = isGrouped(this.options.strategy) ? [wanted] : wanted.map((child) => [child])
    for (const group of groups) {
      if (!this.up) return
      const lane = this.#laneOf(group[0]?.id ?? this.id)
      lane.add(new Map(group.map((child) => [child.id, entryOf(child)])))
      await lane.settled()
    }
  }

  /** Takes up supervision again, with a fresh budget; starts nobody. */
  revive(): void {
    this.#down = null
    this.end = null
    this.stopped = null
    this.nextStartAt = null
    this.#window = []
    this.#failing = null
  }

  /** An operator has the child started anew: what it did before is forgotten. */
  forgive(id: string): void {
    this.cancel(id)
    const child = this.#find(id)
    if (child !== undefined) child.history = FRESH_HISTORY
  }

  /** An operator has all below started anew, supervisors that were stopped by themselves too. */
  forgiveAll(): void {
    for (const { id, member } of this.#children) {
      this.forgive(id)
      if (member.kind === 'agent') continue
      member.supervisor.stopped = null
      member.supervisor.forgiveAll()
    }
  }

  /** The start that is scheduled for this child is off; others of its group wait for it no more. */
  cancel(id: string): void {
    this.#lanes.get(this.#laneKey(id))?.remove(id)
    const child = this.#find(id)
    if (child?.member.kind === 'supervisor') scheduleChild(child, null)
  }

  /** It starts again at that time, monotonic ms, and with it all that is wanted below; null: it does not. */
  schedule(at: number | null): void {
    if (this.up) return
    this.nextStartAt = at
    for (const child of this.#children) if (comesAlong(child, this.#deps.intentOf)) scheduleChild(child, at)
  }

  /** A newer manifest of an agent has been accepted. */
  respecify(id: string, spec: ChildSpec): void {
    const child = this.#find(id)
    if (child !== undefined) child.spec = spec
  }

  /** Adds a child to a `dynamic` supervisor. It is not started by this, and a boot of it that fails not answered. */
  add(child: Child, by: string): void {
    child.addedBy = { rule: 'command', by }
    this.#take(child)
  }

  /** It has booted: from now on it is a child like any other. */
  added(id: string): void {
    const child = this.#find(id)
    if (child !== undefined) child.addedBy = null
  }

  /** Ends one child, in its own time: OTP's `terminate_child`. False where it cannot be ended yet. */
  async terminate(id: string, by: string): Promise<boolean> {
    this.cancel(id)
    const child = this.#find(id)
    if (child === undefined) return true
    return (await this.#end(child, { deadline: NO_DEADLINE, rule: 'command', by })).stuck.length === 0
  }

  /** Takes a child out. False where somebody has started it again. */
  remove(id: string): boolean {
    const child = this.#find(id)
    if (child === undefined) return true
    if (isLive(child)) return false
    this.cancel(id)
    this.#children = this.#children.filter((one) => one !== child)
    this.#lanes.delete(id)
    this.#deps.onRemoved(child)
    return true
  }

  /** What follows this death of an agent. Called once a death, before anything else happens. */
  decide(id: string, death: DeathCase): Decision {
    const { draft, told, life } = death
    const child = this.#find(id)!
    return this.#decide(child, {
      deathId: draft.id,
      cause: draft.cause,
      step: draft.step,
      life,
      intent: this.#deps.intentOf(id),
      told: this.#toldBy(wordOf(told ?? child.addedBy, draft.cause, child.due)),
    })
  }

  /** Ends the children in reverse, each by the least of its own time and what is left. */
  async stop(order: StopOrder): Promise<StopReport> {
    this.#down = { rule: order.rule, by: order.by }
    for (const lane of this.#lanes.values()) lane.clear()
    const report = await this.#stops.during(this.#stopAll(order))
    // One that it had begun by its own rules may be under way: it has ended when both have.
    await this.#stops.settled()
    return report
  }

  /** Resolves once no stop is under way, by whomever: what is started before that would be ended by it. */
  settled(): Promise<unknown> {
    return this.#stops.settled()
  }

  // --- children ----------------------------------------------------------------------------------------------------

  #take(child: Child): void {
    this.#children = [...this.#children, child]
    if (child.member.kind === 'supervisor') child.member.supervisor.onEnd = (cause) => this.#childEnded(child, cause)
  }

  #find(id: string): Child | undefined {
    return this.#children.find((child) => child.id === id)
  }

  #laneKey(id: string): string {
    return isGrouped(this.options.strategy) ? this.id : id
  }

  #laneOf(id: string): Lane {
    const key = this.#laneKey(id)
    let lane = this.#lanes.get(key)
    if (lane === undefined) {
      lane = new Lane({
        clock: this.#deps.clock,
        children: () => this.#children,
        together: this.options.strategy === 'one_for_all',
        wanted: (child) => this.#wanted(child),
        end: async (child) => (await this.#end(child, this.#along(child))).stuck.length === 0,
        gone,
        start: (child, entry) => this.#start(child, entry),
        scheduled: scheduleChild,
      })
      this.#lanes.set(key, lane)
    }
    return lane
  }

  #wanted(child: Child): boolean {
    const { shuttingDown, intentOf } = this.#deps
    return this.up && !shuttingDown() && wantedOf(child, intentOf) === 'running'
  }

  async #start(child: Child, { fresh, why }: Entry): Promise<void> {
    if (why === 'restart') this.restarts++
    child.startedAt = this.#deps.clock.now()
    if (child.member.kind === 'supervisor') return child.member.supervisor.start(fresh)
    const { agent } = child.member
    if (isLive(child) || (fresh && why === 'start' && this.#deps.admits?.(agent) === false)) return
    await agent.start(fresh)
  }

  #end(child: Child, order: StopOrder): Promise<StopReport> {
    return endChild(child, order, this.id, this.#deps.clock)
  }

  /** Ended along with a sibling: by whose death that is. What a supervisor keeps is told whether it comes back. */
  #along({ id, member }: Child): StopOrder {
    const back = member.kind === 'agent' || this.#laneOf(id).dueAt(id) !== null
    return { deadline: NO_DEADLINE, rule: back ? 'strategy' : 'supervisor', by: this.#failing ?? id }
  }

  async #stopAll(order: StopOrder): Promise<StopReport> {
    const killed: string[] = []
    const stuck: string[] = []
    for (const child of [...this.#children].reverse()) {
      const report = await this.#end(child, order)
      killed.push(...report.killed)
      stuck.push(...report.stuck)
      // As in OTP, what was added at run time is not there any more when its supervisor is started again.
      if (this.options.strategy === 'dynamic' && !this.up) this.remove(child.id)
    }
    return { killed, stuck }
  }

  // --- deaths ------------------------------------------------------------------------------------------------------

  /** Who had it ended; of a supervisor that has been ended itself, whoever had that. */
  #toldBy(told: Told | null): Told | null {
    return this.#down !== null && (told === null || told.rule === 'strategy') ? this.#down : told
  }

  #decide(
    child: Child,
    death: Pick<Parameters<typeof decideRestart>[0], 'deathId' | 'cause' | 'step' | 'life' | 'intent' | 'told'>,
  ): Decision {
    const { clock, random, shuttingDown } = this.#deps
    const now = clock.now()
    // One of a group that is to be restarted anyway: whatever it died of on the way, the group's restart covers it.
    const planned = this.#laneOf(child.id).has(child.id) && this.up
    const outcome = decideRestart({
      ...death,
      told: death.told ?? (planned ? { rule: 'strategy', by: this.#failing ?? child.id } : null),
      groupDelayMs: Math.max(0, (this.#laneOf(child.id).dueAt(child.id) ?? now) - now),
      supervisor: this.id,
      child: child.id,
      options: child.spec.restart,
      shuttingDown: shuttingDown(),
      history: child.history,
      budget: budgetOf(this.options, child.spec.restart.backoff),
      window: this.#window,
      now,
      random,
    })
    child.history = outcome.history
    child.due = null
    this.#window = outcome.window
    return this.#follow(child, outcome.decision)
  }

  /** What the decision has the supervisor do; an end of a significant child may change it. */
  #follow(child: Child, decision: Decision): Decision {
    if (decision.action === 'give_up') this.#finish('restart_intensity')
    if (decision.action === 'restart' && decision.rule !== 'strategy') this.#restart(child, decision.delayMs ?? 0)
    if (decision.action !== 'none' || decision.rule !== 'restart_type') return decision
    if (child.spec.significant && endsWith(this.options.autoShutdown ?? 'never', this.#significantLeft(child))) {
      this.#finish('shutdown', child)
      return { ...decision, rule: 'auto_shutdown', action: 'shutdown' }
    }
    if (this.options.strategy === 'dynamic') this.#deps.clock.soon(() => this.#removeEnded(child))
    return decision
  }

  /** Somebody may have started it again meanwhile. */
  #removeEnded(child: Child): void {
    if (!isScheduled(child)) this.remove(child.id)
  }

  #significantLeft(ended: Child): number {
    return this.#children.filter(
      (child) => child !== ended && child.spec.significant && (isLive(child) || isScheduled(child)),
    ).length
  }

  /** Plans the restart of a child and of all that share its fate. */
  #restart(failed: Child, delayMs: number): void {
    const now = this.#deps.clock.now()
    const entries = new Map<string, Entry>([[failed.id, { dueAt: now + delayMs, fresh: false, why: 'restart' }]])
    const { from, to } = firstOfGroup(this.options.strategy, this.#children.indexOf(failed))
    const group = this.#children.slice(from, to ?? undefined)
    for (const child of group.filter((one) => one !== failed)) {
      const share = this.#shareOf(child)
      if (share !== 'none') entries.set(child.id, { dueAt: share === 'end' ? null : now, fresh: false, why: 'along' })
    }
    if (entries.size > 1) this.#failing = failed.id
    this.#laneOf(failed.id).add(entries)
  }

  #shareOf(child: Child): 'restart' | 'end' | 'none' {
    return shareOf({
      type: child.spec.restart.type,
      live: isLive(child),
      scheduled: isScheduled(child),
      intent: wantedOf(child, this.#deps.intentOf),
      lastDecision: lastDecisionOf(child),
    })
  }

  // --- its own end -------------------------------------------------------------------------------------------------

  /** It ends by its own rules: at once no child is restarted any more, then all end in reverse, then the parent decides. */
  #finish(cause: SupervisorEnd['cause'], significant?: Child): void {
    if (!this.up) return
    const { clock, report } = this.#deps
    const end = endOf(cause, cause === 'restart_intensity' ? this.#window : [], significant, clock)
    const told = { rule: 'supervisor', by: this.id } as const
    this.#down = told
    this.end = end
    for (const lane of this.#lanes.values()) lane.clear()
    // In a later turn: the death that led to it is still being told.
    const stopped = new Promise<void>((resolve) => clock.soon(resolve)).then(() => {
      reportEnd(report, this.options, end)
      return this.#stopAll({ deadline: NO_DEADLINE, ...told })
    })
    void this.#stops.during(stopped).then(() => {
      if (this.end === end && this.onEnd !== null) this.end = { ...end, decision: this.onEnd(cause) }
    })
  }

  #childEnded(child: Child, cause: DeathCause): Decision {
    const { clock } = this.#deps
    // One that has kept its children for long has got something done; its delays begin anew.
    const life: Life = { uptimeMs: clock.now() - child.startedAt, progressed: true }
    return this.#decide(child, {
      deathId: child.id,
      cause,
      step: undefined,
      life,
      intent: 'running',
      told: this.#toldBy(null),
    })
  }
}
