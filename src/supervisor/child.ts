/**
 * What a supervisor knows of a child: how it is started and ended, by what rules it comes back, and where it stands.
 * An agent and a supervisor are children of the same kind; the differences end in this file.
 */
import type { Agent } from '../actors/agent.ts'
import type { DeathCause, Decision, Told } from '../model/death.ts'
import type { Intent } from '../model/intent.ts'
import { LIVE } from '../model/lifecycle.ts'
import type { Clock } from '../platform/clock.ts'
import type { ChildHistory, RestartOptions } from './restart.ts'
import { FRESH_HISTORY } from './restart.ts'
import type { Supervisor } from './supervisor.ts'
import type { StopOrder, StopReport } from './supervisor-spec.ts'

/** Ms to end in, or OTP's words: at once, or as long as it takes. */
export type Shutdown = number | 'brutal_kill' | 'infinity'

/** How a child stands under its supervisor. */
export interface ChildSpec {
  readonly restart: RestartOptions
  readonly shutdown: Shutdown
  /** Its own end may end the supervisor, by `autoShutdown`. Never of a `permanent` one. */
  readonly significant: boolean
}

export type Member =
  | { readonly kind: 'agent'; readonly agent: Agent }
  | { readonly kind: 'supervisor'; readonly supervisor: Supervisor }

/** A child with what the supervisor's loop remembers of it. Written by `supervisor.ts`, and `due` by {@link endChild}. */
export interface Child {
  readonly id: string
  readonly member: Member
  /** An agent's changes when a newer manifest of it has been accepted. */
  spec: ChildSpec
  history: ChildHistory
  /** Monotonic ms of the last start, of a supervisor. */
  startedAt: number
  /** Of the orders to end, the one whose deadline comes first; null once it has ended. Of an agent. */
  due: StopOrder | null
  /** Whoever adds it at run time, until its first boot has ended: that is for them to answer. */
  addedBy: Told | null
}

export const newChild = (id: string, member: Member, spec: ChildSpec): Child => ({
  id,
  member,
  spec,
  history: FRESH_HISTORY,
  startedAt: 0,
  due: null,
  addedBy: null,
})

/** It runs, or is on its way up or down: before it can be started it has to end. */
export const isLive = ({ member }: Child): boolean =>
  member.kind === 'agent' ? LIVE.has(member.agent.phase) : member.supervisor.up || member.supervisor.ending

/** It is on its way down, by whomever. */
export const isEnding = ({ member }: Child): boolean =>
  member.kind === 'agent' ? member.agent.phase === 'STOPPING' : member.supervisor.ending

/** Resolves once it is not {@link isEnding}. */
export const gone = ({ member }: Child): Promise<unknown> =>
  member.kind === 'agent' ? member.agent.gone() : member.supervisor.settled()

export function isScheduled(child: Child): boolean {
  const { member } = child
  if (isLive(child)) return false
  return member.kind === 'agent' ? member.agent.startScheduled : member.supervisor.nextStartAt !== null
}

export const lastDecisionOf = ({ member }: Child): Decision | null =>
  member.kind === 'agent' ? (member.agent.lastDeath?.decision ?? null) : (member.supervisor.end?.decision ?? null)

/** What is left of an order for a child that may take `shutdown`; whose deadline it is goes with it. */
function narrow(order: StopOrder, shutdown: Shutdown, supervisor: string, now: number): StopOrder {
  if (shutdown === 'infinity') return order
  const own = now + (shutdown === 'brutal_kill' ? 0 : shutdown)
  return own < order.deadline ? { ...order, deadline: own, dueBy: supervisor } : order
}

/** How long past its grace a thread is waited for before it is named stuck. */
const STUCK_MS = 2000

/** What is wanted of it. A supervisor that an operator stopped stays so until one starts it. */
export function wantedOf({ id, member }: Child, intentOf: (agent: string) => Intent): Intent {
  if (member.kind === 'agent') return intentOf(id)
  return member.supervisor.stopped === null ? 'running' : 'stopped'
}

/** It is down, and starts with its supervisor. */
export const comesAlong = (child: Child, intentOf: (agent: string) => Intent): boolean =>
  !isLive(child) && wantedOf(child, intentOf) === 'running'

/** Its start is to come then, monotonic ms; null: it does not. */
export const scheduleChild = ({ member }: Child, at: number | null): void =>
  member.kind === 'agent' ? member.agent.schedule(at) : member.supervisor.schedule(at)

/** Who had it ended; where its time was up before it had ended, whose time that was. */
export function wordOf(told: Told | null, cause: DeathCause, due: StopOrder | null): Told | null {
  if (told === null || cause !== 'shutdown_timeout') return told
  return told.rule === 'supervisor' || told.rule === 'host_shutdown' ? { ...told, by: due?.dueBy ?? told.by } : told
}

/** Ends a child of this supervisor, by the least of its own time and what the order leaves. */
export async function endChild(child: Child, widest: StopOrder, supervisor: string, clock: Clock): Promise<StopReport> {
  const order = narrow(widest, child.spec.shutdown, supervisor, clock.now())
  if (child.member.kind === 'supervisor') return child.member.supervisor.stop(order)
  if (isLive(child) && order.deadline < (child.due?.deadline ?? Number.POSITIVE_INFINITY)) child.due = order
  const { agent } = child.member
  const graceMs = Math.max(0, order.deadline - clock.now())
  const before = agent.lastDeath
  // Its turn came when the time was up: it had no chance to end by itself.
  const tooLate = graceMs === 0 && child.spec.shutdown !== 'brutal_kill'
  const ended = agent.end({
    cause: tooLate ? 'shutdown_timeout' : 'shutdown',
    graceMs,
    abort: false,
    handOver: false,
    told: { rule: order.rule, by: order.by },
  })
  if (!(await orLate(ended, graceMs + STUCK_MS, clock))) return { killed: [], stuck: [child.id] }
  const wasKilled = agent.lastDeath !== before && agent.lastDeath?.cause === 'shutdown_timeout'
  return { killed: wasKilled ? [child.id] : [], stuck: [] }
}

/** What the work answers, or false where it takes longer. */
async function orLate(work: Promise<boolean>, ms: number, clock: Clock): Promise<boolean> {
  let late = (): void => {}
  const limit = new Promise<boolean>((resolve) => {
    late = () => resolve(false)
  })
  const timer = clock.after(ms, late)
  const done = await Promise.race([work, limit])
  timer.cancel()
  return done
}
