/**
 * What supervisors of OTP's kind do, told once more and as plainly as may be: every end and every start is immediate, time
 * is a number, and nothing is asynchronous. The property test holds the real ones against it.
 *
 * Every restart is a timer, also one at once; those of one moment come in the order in which they were set. What a
 * supervisor that gives up still ends, and its parent's answer, come while whatever is started next boots.
 */
import { Agent, type Child, type Entry, isWaiting, type Lane, Supervisor, type SupervisorNode } from './otp-tree.ts'

/** `normal` is by itself and in good order; `killed` and `boot` are crashes like any other, `memory` has its own budget. */
export type ModelCause = 'normal' | 'crash' | 'memory'

interface Life {
  readonly uptimeMs: number
  readonly progressed: boolean
}

const STABLE_MS = 10_000
const MEMORY = { intensity: 3, periodMs: 600_000 }

/** Every fleet has one, which is empty here, and takes part in what its siblings suffer. */
const CATALOG: SupervisorNode = {
  kind: 'supervisor',
  id: 'catalog',
  type: 'permanent',
  significant: false,
  backoff: [1000, 300_000],
  strategy: 'one_for_one',
  budget: null,
  autoShutdown: 'never',
  children: [],
}

export class OtpModel {
  readonly root: Supervisor
  readonly agents = new Map<string, Agent>()
  readonly supervisors = new Map<string, Supervisor>()
  now = 0
  #timers = 0
  #late: (() => void)[] = []

  constructor(root: SupervisorNode) {
    this.root = new Supervisor({ ...root, children: [...root.children, CATALOG] }, null)
    const enter = (child: Child): void => {
      if (child instanceof Agent) this.agents.set(child.node.id, child)
      else if (child instanceof Supervisor) {
        this.supervisors.set(child.node.id, child)
        child.children.forEach(enter)
      }
    }
    enter(this.root)
    this.#startAll(this.root)
    this.#settle()
  }

  // --- what happens to it ------------------------------------------------------------------------------------------

  advance(ms: number): void {
    const end = this.now + ms
    for (let next = this.#next(end); next !== null; next = this.#next(end)) {
      this.now = Math.max(this.now, next.due)
      this.#fire(next.supervisor, next.lane)
    }
    this.now = end
  }

  /** These have ended by themselves, in the same moment. */
  die(agents: readonly Agent[], cause: ModelCause): void {
    for (const agent of agents) {
      // One before it has had it ended already.
      if (!agent.up) continue
      agent.up = false
      this.#death(agent, cause, this.#lifeOf(agent))
    }
    this.#settle()
  }

  start(agent: Agent): boolean {
    if (agent.up || agent.waiting) return false
    agent.intent = 'running'
    this.#revive(agent)
    agent.forgive()
    this.#boot(agent)
    this.#settle()
    return true
  }

  stop(agent: Agent, intent: 'stopped' | 'suspended'): boolean {
    if (intent === 'suspended' ? agent.intent !== 'running' : agent.intent === 'stopped') return false
    agent.intent = intent
    agent.parent!.unplan(agent)
    this.#endAgent(agent)
    return true
  }

  restart(agent: Agent): boolean {
    if (!agent.wanted) return false
    agent.parent!.unplan(agent)
    this.#endAgent(agent)
    this.#revive(agent)
    agent.forgive()
    this.#boot(agent)
    this.#settle()
    return true
  }

  kill(agent: Agent): boolean {
    if (!agent.up) return false
    this.die([agent], 'crash')
    return true
  }

  startSupervisor(supervisor: Supervisor): boolean {
    if (supervisor.complete) return false
    this.#startAnew(supervisor)
    return true
  }

  stopSupervisor(supervisor: Supervisor): boolean {
    if (!supervisor.up && !supervisor.comesBack) return false
    supervisor.stopped = true
    supervisor.parent?.unplan(supervisor)
    this.#endSupervisor(supervisor)
    return true
  }

  restartSupervisor(supervisor: Supervisor): boolean {
    if (!supervisor.up) return false
    this.stopSupervisor(supervisor)
    this.#startAnew(supervisor)
    return true
  }

  // --- starting and ending -----------------------------------------------------------------------------------------

  #startAnew(supervisor: Supervisor): void {
    this.#revive(supervisor)
    supervisor.forgive()
    this.#forgiveBelow(supervisor)
    this.#startAll(supervisor)
    this.#settle()
  }

  #forgiveBelow(supervisor: Supervisor): void {
    for (const child of supervisor.children) {
      child.forgive()
      if (!(child instanceof Supervisor)) continue
      child.stopped = false
      this.#forgiveBelow(child)
    }
  }

  /** Those above supervise again; they start nobody. */
  #revive(child: Child): void {
    for (let above = child.parent; above !== null; above = above.parent) {
      if (above.up) continue
      above.forgive()
      this.#takeUp(above)
    }
  }

  #takeUp(supervisor: Supervisor): void {
    supervisor.up = true
    supervisor.stopped = false
    supervisor.end = null
    supervisor.window = []
  }

  /** Starts its children in order. */
  #startAll(supervisor: Supervisor): void {
    this.#takeUp(supervisor)
    supervisor.startedAt = this.now
    for (const child of supervisor.children) {
      this.#plan(supervisor, child, { due: this.now, start: true })
      if (!supervisor.grouped) {
        if (!supervisor.up) return
        this.#runStarts(supervisor, supervisor.laneOf(child))
      }
    }
    if (supervisor.grouped) this.#runStarts(supervisor, supervisor.laneOf(supervisor))
  }

  #runStarts(supervisor: Supervisor, lane: Lane): void {
    for (let head = this.#head(supervisor, lane); head !== null; head = this.#head(supervisor, lane)) {
      const { start, due } = lane.plan.get(head)!
      if (!start || due > this.now) break
      // A boot takes its time: what was to come once nothing is being started comes then.
      const late = this.#late.splice(0)
      lane.plan.delete(head)
      this.#startChild(head)
      for (const call of late) call()
    }
    lane.armed = ++this.#timers
  }

  #startChild(child: Child): void {
    if (!child.parent!.up || !child.wanted) return
    // Of a supervisor that is up, what is missing below it.
    if (child instanceof Supervisor) this.#startAll(child)
    else if (!child.live) this.#boot(child as Agent)
  }

  #boot(agent: Agent): void {
    agent.startedAt = this.now
    agent.progressed = false
    agent.spent = false
    if (agent.badBoots === 0) {
      agent.up = true
      return
    }
    agent.badBoots--
    this.#death(agent, 'crash', { uptimeMs: 0, progressed: false })
  }

  #end(child: Child): void {
    if (child instanceof Agent) this.#endAgent(child)
    else this.#endSupervisor(child as Supervisor)
  }

  #endAgent(agent: Agent): void {
    if (!agent.up) return
    agent.up = false
    agent.spent = false
    this.#lived(agent, this.#lifeOf(agent))
  }

  #lifeOf({ startedAt, progressed }: Agent): Life {
    return { uptimeMs: this.now - startedAt, progressed }
  }

  #endSupervisor(supervisor: Supervisor): void {
    supervisor.up = false
    supervisor.clear()
    for (const child of supervisor.children.toReversed()) this.#end(child)
  }

  // --- deaths ------------------------------------------------------------------------------------------------------

  #death(child: Child, cause: ModelCause, life: Life): void {
    const parent = child.parent
    this.#lived(child, life)
    if (cause === 'memory') child.memory = withinPeriod([...child.memory, this.now], this.now, MEMORY.periodMs)
    if (parent === null || !parent.up || child.planned || parent.ending.has(child)) return
    const { type } = child.node
    if (type === 'temporary' || (type === 'transient' && cause === 'normal')) return this.#endedForItself(child, parent)
    const limit = child instanceof Agent ? child.node.maxRestarts : null
    if ((cause === 'memory' && child.memory.length > MEMORY.intensity) || (limit !== null && child.attempt >= limit)) {
      child.spent = true
      return
    }
    const { budget } = parent.node
    // Delays bound the rate; a budget that nobody has set applies where there are none.
    const counts = budget ?? (child.node.backoff === null ? { intensity: 3, periodMs: 5000 } : null)
    if (counts !== null) {
      parent.window = withinPeriod([...parent.window, this.now], this.now, counts.periodMs)
      if (parent.window.length > counts.intensity) return this.#finish(parent, 'restart_intensity')
    }
    this.#restart(parent, child, this.#nextDelay(child))
  }

  /** What a life amounted to, however it ended. */
  #lived(child: Child, { uptimeMs, progressed }: Life): void {
    const worked = progressed && uptimeMs >= Math.max(STABLE_MS, child.delay)
    if (!worked && uptimeMs < 10 * STABLE_MS) return
    child.attempt = 0
    child.delay = 0
  }

  #nextDelay(child: Child): number {
    child.attempt++
    const { backoff } = child.node
    if (backoff === null || child.attempt === 1) child.delay = 0
    else child.delay = Math.min(Math.max(backoff[0], child.delay * 2), backoff[1])
    return child.delay
  }

  #endedForItself(child: Child, parent: Supervisor): void {
    if (!child.node.significant || parent.node.autoShutdown === 'never') return
    const left = parent.children.some((one) => one !== child && one.node.significant && (one.live || isWaiting(one)))
    if (parent.node.autoShutdown === 'any_significant' || !left) this.#finish(parent, 'shutdown')
  }

  /** By its own rules: at once it restarts nobody any more; then its children end, and its parent takes it as a death. */
  #finish(supervisor: Supervisor, end: 'restart_intensity' | 'shutdown'): void {
    supervisor.up = false
    supervisor.end = end
    supervisor.clear()
    const { startedAt } = supervisor
    this.#late.push(() => {
      if (supervisor.end !== end) return
      for (const child of supervisor.children.toReversed()) this.#end(child)
      const life = { uptimeMs: this.now - startedAt, progressed: true }
      this.#death(supervisor, end === 'shutdown' ? 'normal' : 'crash', life)
    })
  }

  #restart(supervisor: Supervisor, failed: Child, delayMs: number): void {
    const { strategy } = supervisor.node
    const { children } = supervisor
    const from = strategy === 'one_for_all' ? 0 : children.indexOf(failed)
    const group = strategy === 'one_for_one' ? [failed] : children.slice(from)
    const others = group.filter((child) => child !== failed)
    const back = others.filter((child) => {
      if (child.node.type === 'temporary' || !child.wanted) return false
      return child.live || isWaiting(child) || !child.spent
    })
    const lane = supervisor.laneOf(failed)
    this.#plan(supervisor, failed, { due: this.now + delayMs, start: false })
    for (const child of back) this.#plan(supervisor, child, { due: this.now, start: false })
    lane.armed = ++this.#timers
    const up = others.filter(({ live }) => live)
    for (const child of up) {
      if (back.includes(child)) continue
      supervisor.ending.add(child)
      lane.plan.delete(child)
    }
    this.#late.push(() => {
      supervisor.ending.clear()
      if (!supervisor.up) return
      for (const child of up.toReversed()) {
        if (child.live && back.includes(child) === lane.plan.has(child)) this.#end(child)
      }
    })
  }

  // --- plans -------------------------------------------------------------------------------------------------------

  #plan(supervisor: Supervisor, child: Child, entry: Entry): void {
    const { plan } = supervisor.laneOf(child)
    const before = plan.get(child)
    plan.set(child, before === undefined ? entry : { due: Math.max(before.due, entry.due), start: entry.start })
  }

  #head(supervisor: Supervisor, lane: Lane): Child | null {
    return supervisor.children.find((child) => lane.plan.has(child)) ?? null
  }

  /** The next timer of a lane, of those that are due by then. */
  #next(end: number): { supervisor: Supervisor; lane: Lane; due: number } | null {
    let next: { supervisor: Supervisor; lane: Lane; due: number } | null = null
    for (const supervisor of this.supervisors.values()) {
      for (const lane of supervisor.lanes.values()) {
        const due = this.#dueOf(supervisor, lane)
        if (due === null || due > end) continue
        if (lane.armed === -1) lane.armed = ++this.#timers
        if (next === null || due < next.due || (due === next.due && lane.armed < next.lane.armed))
          next = { supervisor, lane, due }
      }
    }
    return next
  }

  #dueOf(supervisor: Supervisor, lane: Lane): number | null {
    const head = this.#head(supervisor, lane)
    if (head === null) return null
    const dues = [...lane.plan.values()].map(({ due }) => due)
    const due = supervisor.node.strategy === 'one_for_all' ? Math.max(...dues) : lane.plan.get(head)!.due
    return Math.max(due, this.now)
  }

  #fire(supervisor: Supervisor, lane: Lane): void {
    const head = this.#head(supervisor, lane)!
    lane.plan.delete(head)
    this.#startChild(head)
    this.#runStarts(supervisor, lane)
    this.#settle()
  }

  /** What comes once nothing is being started. */
  #settle(): void {
    for (let call = this.#late.shift(); call !== undefined; call = this.#late.shift()) call()
  }
}

const withinPeriod = (times: readonly number[], now: number, periodMs: number): number[] =>
  times.filter((at) => now - at <= periodMs)
