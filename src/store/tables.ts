/** All tables, as a unit of work is handed them, and what concerns more than one. */
import { AgentMemory } from './agent-memory.ts'
import { Agents } from './agents.ts'
import { Catalog } from './catalog.ts'
import { Channels } from './channels.ts'
import type { Connection } from './connection.ts'
import { Counters } from './counters.ts'
import { DeadLetters } from './dead-letters.ts'
import { Deaths } from './deaths.ts'
import { Effects } from './effects.ts'
import { Facts } from './facts.ts'
import { Instances } from './instances.ts'
import { Leases } from './leases.ts'
import { Mailboxes } from './mailboxes.ts'
import type { Retention } from './retention.ts'
import { Schedules } from './schedules.ts'
import { Sessions } from './sessions.ts'
import { Tokens } from './tokens.ts'
import { Vacuum } from './vacuum.ts'

/** Tables in which every row belongs to an agent, besides `agents` itself. */
const OF_AGENTS = [
  ...['counters', 'instances', 'deaths', 'facts', 'dead_letters', 'mailboxes', 'handled_messages', 'effects'],
  ...['memory', 'sessions', 'session_entries', 'schedules', 'schedule_runs', 'channel_bindings', 'leases'],
] as const

export class Tables {
  readonly agents: Agents
  readonly counters: Counters
  readonly instances: Instances
  readonly leases: Leases
  readonly deaths: Deaths
  readonly facts: Facts
  readonly deadLetters: DeadLetters
  readonly mailboxes: Mailboxes
  readonly memory: AgentMemory
  readonly sessions: Sessions
  readonly effects: Effects
  readonly schedules: Schedules
  readonly channels: Channels
  readonly catalog: Catalog
  readonly tokens: Tokens
  readonly #vacuum: Vacuum
  readonly #removals
  readonly #probe

  /** @param afterCommit calls once the unit of work that is running is on disk */
  constructor(connection: Connection, retention: Retention, afterCommit: (call: () => void) => void) {
    this.agents = new Agents(connection, afterCommit)
    const fence = this.agents.fence.bind(this.agents)
    this.counters = new Counters(connection)
    this.instances = new Instances(connection)
    this.leases = new Leases(connection)
    this.deaths = new Deaths(connection, retention)
    this.facts = new Facts(connection, retention)
    this.deadLetters = new DeadLetters(connection, retention)
    this.mailboxes = new Mailboxes(connection, retention)
    this.memory = new AgentMemory(connection, fence, retention)
    this.sessions = new Sessions(connection, fence, retention)
    this.effects = new Effects(connection, retention)
    this.schedules = new Schedules(connection, retention)
    this.channels = new Channels(connection)
    this.catalog = new Catalog(connection)
    this.tokens = new Tokens(connection)
    this.#vacuum = new Vacuum(connection)
    this.#probe = connection.change("INSERT OR REPLACE INTO meta (name, value) VALUES ('checked_at', ?)")
    this.#removals = OF_AGENTS.map((table) => connection.change(`DELETE FROM ${table} WHERE agent = ?`))
  }

  /** Every row of an agent, in every table. */
  removeAgent(agent: string): void {
    this.agents.remove(agent)
    for (const removal of this.#removals) removal.run(agent)
  }

  /** Writes a little, to see whether that works. */
  probe(now: number): void {
    this.#probe.run(now)
  }

  /** Removes what is past its time, and gives room in the file back. @returns whether there may be more */
  sweep(now: number): boolean {
    this.effects.sweep(now)
    const more = [this.deaths.sweep(now), this.mailboxes.sweep(now), this.#vacuum.sweep()]
    return more.includes(true)
  }
}
