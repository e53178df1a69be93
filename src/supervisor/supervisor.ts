/**
 * A supervisor: starts its children in order, ends them in reverse, and answers each death with the decision of the pure
 * rules. It alone writes what is remembered of its children. Restarts go through the clock, one at a time a child, and
 * the intent is read again just before a start, so that a stop always gets in between. Strategy: `one_for_one`.
 */
import type { DeathCase } from '../actors/agent-spec.ts'
import type { Decision } from '../model/death.ts'
import type { Report } from '../model/fact.ts'
import type { Intent } from '../model/intent.ts'
import type { Clock } from '../platform/clock.ts'
import { type Child, graceMs, toldToEnd } from './child.ts'
import { BUDGET_DEFAULTS, type BudgetSetting, budgetOf } from './intensity.ts'
import { decideRestart, FRESH_HISTORY } from './restart.ts'

export interface SupervisorOptions extends BudgetSetting {
  readonly id: string
  readonly strategy: 'one_for_one'
}

export interface SupervisorDeps {
  readonly clock: Clock
  readonly random: () => number
  readonly report: Report
  intentOf(agent: string): Intent
  shuttingDown(): boolean
}

/** What is known when a supervisor has given up. */
export interface GaveUp {
  readonly restarts: number
  readonly withinMs: number
}

/** An operator's stop. */
export interface StoppedBy {
  readonly by: string
  /** Wall clock. */
  readonly at: number
  readonly reason: string | null
}

/** Agents that had to be ended because their time was up, and those that even that did not end. */
export interface StopReport {
  readonly killed: string[]
  readonly stuck: string[]
}

/** How long past its grace a thread is waited for before it is named stuck. */
const STUCK_MS = 1000

export class Supervisor {
  readonly options: SupervisorOptions
  readonly children: readonly Child[]
  /** Restarts over its life. */
  restarts = 0
  gaveUp: GaveUp | null = null
  /** Set where an operator had it stopped, until it supervises again. */
  stopped: StoppedBy | null = null
  /** Told when it gives up; at the root nobody is. */
  onGaveUp: (() => void) | null = null
  readonly #deps: SupervisorDeps
  readonly #byId: ReadonlyMap<string, Child>
  #window: readonly number[] = []
  #up = false
  #ending: Promise<unknown> = Promise.resolve()

  constructor(options: SupervisorOptions, children: readonly Child[], deps: SupervisorDeps) {
    this.options = options
    this.children = children
    this.#byId = new Map(children.map((child) => [child.id, child]))
    this.#deps = deps
    for (const child of children) {
      if (child.member.kind === 'supervisor') child.member.supervisor.onGaveUp = () => this.#childGaveUp(child)
    }
  }

  get id(): string {
    return this.options.id
  }

  /** It supervises: it was started, and has neither been stopped nor given up since. */
  get up(): boolean {
    return this.#up
  }

  /**
   * Starts the children in order, each once the one before has settled.
   * @param fresh reads their files again; else it is a restart of what was last accepted
   */
  async start(fresh: boolean): Promise<void> {
    this.revive()
    for (const child of this.children) {
      if (!this.#up) return
      await this.#start(child, fresh)
    }
  }

  /** Takes up supervision again, with a fresh budget; starts nobody. */
  revive(): void {
    this.#up = true
    this.gaveUp = null
    this.stopped = null
    this.#window = []
  }

  /** An operator has the child started anew: what it did before is forgotten. */
  forgive(id: string): void {
    const child = this.#byId.get(id)
    if (child === undefined) return
    this.cancel(id)
    child.history = FRESH_HISTORY
  }

  /** An operator has all below started anew. */
  forgiveAll(): void {
    for (const { id, member } of this.children) {
      this.forgive(id)
      if (member.kind === 'supervisor') member.supervisor.forgiveAll()
    }
  }

  /** The restart that is scheduled for this child is off. */
  cancel(id: string): void {
    const child = this.#byId.get(id)
    child?.timer?.cancel()
    if (child !== undefined) child.timer = null
  }

  /** What follows this death of an agent. Called once a death, before anything else happens. */
  decide(id: string, death: DeathCase): Decision {
    const child = this.#byId.get(id)!
    return this.#decide(child, {
      cause: death.draft.cause,
      step: death.draft.step,
      life: death.life,
      intent: this.#deps.intentOf(id),
      commanded: death.commanded || !this.#up,
    })
  }

  /** Ends the children in reverse within `deadlineMs` (monotonic). */
  stop(deadlineMs: number): Promise<StopReport> {
    this.#up = false
    const report = this.#stopAll(deadlineMs)
    this.#ending = Promise.allSettled([this.#ending, report])
    return report
  }

  /** Resolves once no stop is under way, by whomever: what is started before that would be ended by it. */
  async settled(): Promise<void> {
    await this.#ending
  }

  // --- inside ------------------------------------------------------------------------------------------------------

  async #stopAll(deadlineMs: number): Promise<StopReport> {
    const killed: string[] = []
    const stuck: string[] = []
    for (const child of [...this.children].reverse()) {
      this.cancel(child.id)
      if (child.member.kind === 'supervisor') {
        const report = await child.member.supervisor.stop(deadlineMs)
        killed.push(...report.killed)
        stuck.push(...report.stuck)
        continue
      }
      const { agent } = child.member
      const left = Math.max(0, deadlineMs - this.#deps.clock.now())
      const grace = graceMs(child.spec.shutdown, left)
      const before = agent.lastDeath
      // Its turn came when the time was up: it had no chance to end by itself.
      const tooLate = left === 0 && child.spec.shutdown !== 'brutal_kill'
      if (!(await this.#within(agent.end(toldToEnd(grace)), grace + STUCK_MS))) stuck.push(child.id)
      else if (agent.lastDeath !== before && (tooLate || agent.lastDeath?.cause === 'shutdown_timeout'))
        killed.push(child.id)
    }
    return { killed, stuck }
  }

  async #start(child: Child, fresh: boolean): Promise<void> {
    if (child.member.kind === 'supervisor') return child.member.supervisor.start(fresh)
    const { agent } = child.member
    if (this.#deps.intentOf(child.id) !== 'running' || this.#deps.shuttingDown()) return
    if (agent.phase === 'STOPPED' || agent.phase === 'FAILED' || agent.phase === 'IDLE') await agent.start(fresh)
  }

  #decide(
    child: Child,
    death: Pick<Parameters<typeof decideRestart>[0], 'cause' | 'step' | 'life' | 'intent' | 'commanded'>,
  ): Decision {
    const { clock, random, shuttingDown } = this.#deps
    const outcome = decideRestart({
      ...death,
      supervisor: this.id,
      options: child.spec.restart,
      shuttingDown: shuttingDown(),
      history: child.history,
      budget: budgetOf(this.options, child.spec.restart.backoff),
      window: this.#window,
      now: clock.now(),
      random,
    })
    child.history = outcome.history
    this.#window = outcome.window
    if (outcome.decision.action === 'restart') this.#schedule(child, outcome.decision.delayMs ?? 0)
    if (outcome.decision.action === 'give_up') clock.soon(() => void this.#giveUp())
    return outcome.decision
  }

  #schedule(child: Child, delayMs: number): void {
    this.cancel(child.id)
    child.timer = this.#deps.clock.after(delayMs, () => {
      child.timer = null
      this.restarts++
      void this.#restart(child)
    })
  }

  /** The last look before a start: whether it is still wanted. */
  async #restart(child: Child): Promise<void> {
    if (!this.#up || this.#deps.shuttingDown()) return
    if (child.member.kind === 'agent' && this.#deps.intentOf(child.id) !== 'running')
      return child.member.agent.unschedule()
    await this.#start(child, false)
  }

  async #giveUp(): Promise<void> {
    if (this.gaveUp !== null) return
    const { clock, report } = this.#deps
    const { intensity = BUDGET_DEFAULTS.intensity, periodMs = BUDGET_DEFAULTS.periodMs } = this.options
    const withinMs = clock.now() - (this.#window[0] ?? clock.now())
    this.gaveUp = { restarts: this.#window.length, withinMs }
    report('supervisor.gave_up', { supervisor: this.id, restarts: this.#window.length, withinMs, intensity, periodMs })
    await this.stop(Number.MAX_SAFE_INTEGER)
    this.onGaveUp?.()
  }

  #childGaveUp(child: Child): void {
    this.#decide(child, {
      cause: 'restart_intensity',
      step: undefined,
      life: { uptimeMs: 0, progressed: false },
      intent: 'running',
      commanded: !this.#up,
    })
  }

  async #within(work: Promise<unknown>, ms: number): Promise<boolean> {
    let late = (): void => {}
    const limit = new Promise<boolean>((resolve) => {
      late = () => resolve(false)
    })
    const timer = this.#deps.clock.after(ms, late)
    const done = await Promise.race([work.then(() => true), limit])
    timer.cancel()
    return done
  }
}
