/**
 * What people ask to see of a host, read at one moment. Called by `host.ts`; nothing here changes anything, but for
 * `purge`, which is asked for beside the view of a mailbox.
 */
import type { Agent } from '../actors/agent.ts'
import type { Directory } from '../actors/directory.ts'
import { inFlightOf } from '../actors/snapshot.ts'
import type { Grant } from '../capabilities/gate.ts'
import type { Registry } from '../capabilities/registry.ts'
import type { DeathRecord } from '../model/death.ts'
import { type IntentRecord, validCommands } from '../model/intent.ts'
import type { AgentSnapshot, FleetSnapshot } from '../model/snapshot.ts'
import type { AgentDetail, CapabilityView, MailboxView, TreeNode, WaitingMessage, Why } from '../model/view.ts'
import type { Clock } from '../platform/clock.ts'
import type { Scheduler } from '../schedules/scheduler.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import type { Channels } from './channels.ts'
import type { Tree } from './tree.ts'
import { explain } from './why.ts'

export interface ViewParts {
  readonly clock: Clock
  readonly directory: Directory
  readonly registry: Pick<Registry, 'list' | 'offers'>
  readonly intentOf: (agent: string) => IntentRecord
  readonly grantsOf: (agent: string) => readonly Grant[]
  readonly tree: () => Tree
  readonly scheduler: () => Scheduler
  readonly channels: () => Channels
  readonly snapshotOf: (agent: Agent) => AgentSnapshot
  readonly notStarted: (agent: Agent) => string | null
}

/** Messages shown of one mailbox. */
const SHOWN = 100
/** Deaths kept of agents that are none any more. */
const DEPARTED = 256

export class Views {
  readonly #parts: ViewParts
  #departed: readonly DeathRecord[] = []

  constructor(parts: ViewParts) {
    this.#parts = parts
  }

  detail(id: string): AgentDetail {
    const { directory, snapshotOf, grantsOf, channels, scheduler } = this.#parts
    const agent = directory.get(id)
    const { limits } = agent.spec
    return {
      ...snapshotOf(agent),
      equippedCompetencies: agent.roles.map(({ name, events, commands, needs }) => ({
        name,
        events,
        commands: commands.map((command) => command.name),
        needs,
      })),
      capabilities: grantsOf(id).map((grant) => ({ id: grant.id, methods: grant.allow })),
      invocationMetrics: agent.invocations.metrics(),
      channels: channels().of(id),
      schedules: scheduler().list(id),
      fenced: agent.inbox.fates.fenced.counts(),
      limits: {
        heapMb: limits.heapMb,
        bootTimeoutMs: limits.bootTimeoutMs,
        stopTimeoutMs: limits.stopTimeoutMs,
        pauseTimeoutMs: limits.pauseTimeoutMs,
        abortGraceMs: limits.abortGraceMs,
        handlerTimeoutMs: limits.handlerTimeoutMs,
        unresponsiveAfterMs: limits.unresponsiveAfterMs,
        killAfterMs: limits.killAfterMs,
      },
    }
  }

  capabilities(): CapabilityView[] {
    const { directory, registry, grantsOf } = this.#parts
    const unavailable = new Map(registry.offers().map((offer) => [offer.id, offer.unavailable]))
    return registry.list().map(({ id, placement, methods }) => {
      const why = unavailable.get(id)
      const grantedTo = directory.all().flatMap((agent) =>
        grantsOf(agent.id)
          .filter((grant) => grant.id === id)
          .map((grant) => ({ agent: agent.id, methods: grant.allow })),
      )
      return { id, placement, methods, ...(why === undefined ? {} : { unavailable: why }), grantedTo }
    })
  }

  tree(): TreeNode {
    return nodeOf(this.#parts.tree().root)
  }

  /** Of one agent or of all, the newest at the end. */
  deaths(id?: string): DeathRecord[] {
    const { directory } = this.#parts
    if (id !== undefined) return [...directory.get(id).deaths]
    const all = [...this.#departed, ...directory.all().flatMap(({ deaths }) => deaths)]
    // An id that is used again brings along what the state still has of the one before.
    return [...new Map(all.map((record) => [record.id, record])).values()].sort((a, b) => a.at - b.at)
  }

  /** Deaths of an agent that is one no more. */
  remember(deaths: readonly DeathRecord[]): void {
    this.#departed = [...this.#departed, ...deaths].slice(-DEPARTED)
  }

  why(id: string): Why {
    const { clock, directory, intentOf, snapshotOf, tree } = this.#parts
    const agent = directory.get(id)
    return explain({
      snapshot: snapshotOf(agent),
      intent: intentOf(id),
      deaths: agent.deaths,
      inFlight: inFlightOf(agent, clock),
      notStarted: this.#parts.notStarted(agent),
      commands: validCommands(agent.commandState),
      above: tree()
        .above(id)
        .map(({ id: above, end, stopped, options: { intensity, periodMs } }) => ({
          id: above,
          end,
          stopped,
          intensity,
          periodMs,
        })),
      now: clock.wall(),
    })
  }

  mailbox(id: string): MailboxView {
    const agent = this.#parts.directory.get(id)
    const { depth, capacity, dropped, ignored } = this.#parts.snapshotOf(agent).mailbox
    return {
      id,
      depth,
      capacity,
      inFlight: inFlightOf(agent, this.#parts.clock),
      waiting: waitingOf(agent, this.#parts.clock),
      dropped,
      ignored,
      deadLetters: agent.deadLetters.size,
    }
  }
}

function waitingOf({ inbox }: Agent, clock: Clock): WaitingMessage[] {
  const waiting: WaitingMessage[] = []
  const now = clock.now()
  for (const position of inbox.mailbox.positions(inbox.pump.begunTo + 1)) {
    if (waiting.length === SHOWN) break
    const { id, name, meta, at } = inbox.mailbox.letterAt(position)!
    const from = meta?.from === undefined ? {} : { from: meta.from }
    waiting.push({ id, name, kind: meta?.kind ?? 'event', ageMs: Math.max(0, Math.round(now - at)), ...from })
  }
  return waiting
}

/** A supervisor with all below it. */
export function nodeOf({ id, options, up, end, restarts, children }: Supervisor): TreeNode {
  return {
    id,
    kind: 'supervisor',
    strategy: options.strategy,
    status: up ? 'Running' : 'Stopped',
    restarts,
    ...(end?.cause === 'restart_intensity'
      ? { gaveUp: { restarts: end.restarts.length, withinMs: end.withinMs } }
      : {}),
    ...(end === null ? {} : { end }),
    children: children.map(({ member }) =>
      member.kind === 'agent' ? leafOf(member.agent) : nodeOf(member.supervisor),
    ),
  }
}

const leafOf = ({ id, phase, status, restarts }: Agent): TreeNode => ({ id, kind: 'agent', phase, status, restarts })

/** How many agents are in which status. */
export function countsOf(agents: readonly Pick<AgentSnapshot, 'status'>[]): FleetSnapshot['counts'] {
  const counts: { -readonly [K in keyof FleetSnapshot['counts']]: FleetSnapshot['counts'][K] } = {}
  for (const { status } of agents) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
