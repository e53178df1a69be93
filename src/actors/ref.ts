/**
 * An agent as programs hold it: the three ways to send, its streams, and every command. A thin face over the agent; it
 * stays valid over restarts. Commands go down to the host as one call.
 */
import type { Observable } from 'rxjs'
import type { AnyRole, CommandArgs, CommandName, EventArgs, EventName, Reply, RoleShape } from '../model/contract.ts'
import type { DeathRecord } from '../model/death.ts'
import type { Command } from '../model/intent.ts'
import type { Phase } from '../model/lifecycle.ts'
import type { AskOptions, DeadLetter, Fate, SendOptions } from '../model/message.ts'
import type { ReloadAnswer } from '../model/reload.ts'
import type { AgentSnapshot, CommandExtras, CommandOptions } from '../model/snapshot.ts'
import type { CommandInfo } from '../model/wire.ts'
import type { Agent } from './agent.ts'

/** What the host adds to an agent to make a ref. */
export interface RefParts {
  readonly phase$: Observable<Phase>
  readonly snapshot$: Observable<AgentSnapshot>
  snapshot(): AgentSnapshot
  command(command: Command, options?: CommandOptions): Promise<AgentSnapshot & CommandExtras>
  reload(options?: CommandOptions): Promise<ReloadAnswer>
}

export class AgentRef<R extends RoleShape = AnyRole> {
  readonly id: string
  readonly #agent: Agent
  readonly #parts: RefParts

  constructor(agent: Agent, parts: RefParts) {
    this.id = agent.id
    this.#agent = agent
    this.#parts = parts
  }

  /** Every phase, from the present one on, none left out. */
  get phase$(): Observable<Phase> {
    return this.#parts.phase$
  }

  /** The newest snapshot, at most one a turn. */
  get snapshot$(): Observable<AgentSnapshot> {
    return this.#parts.snapshot$
  }

  get phase(): Phase {
    return this.#agent.phase
  }

  snapshot(): AgentSnapshot {
    return this.#parts.snapshot()
  }

  /** The newest at the end; the last 64. */
  deaths(): readonly DeathRecord[] {
    return [...this.#agent.deaths]
  }

  /** The newest at the end; the last 256. */
  deadLetters(): readonly DeadLetter[] {
    return this.#agent.deadLetters.list()
  }

  /** What its roles answer to, as the newest instance said. Empty until one has been ACTIVE. */
  commands(): readonly CommandInfo[] {
    return this.#agent.commands()
  }

  /**
   * Sends an event. True: accepted, and its fate is counted. False: not accepted, and counted as dropped or ignored;
   * see {@link hasRoom} and {@link room} for the polite way.
   * @throws HoltError `NotCloneable` naming the field
   */
  tell<N extends EventName<R>>(name: N, ...[payload, options]: EventArgs<R, N, SendOptions>): boolean {
    return this.#agent.inbox.tell(name, payload, options)
  }

  /**
   * Sends an event and settles with its final fate, or with `queued` where the agent is not ACTIVE. Waits for room.
   * @throws HoltError `NotCloneable`; `Overloaded` where the overflow policy is `reject` and the mailbox is full
   */
  emit<N extends EventName<R>>(name: N, ...[payload, options]: EventArgs<R, N, SendOptions>): Promise<Fate> {
    return this.#agent.inbox.emit(name, payload, options)
  }

  /**
   * Asks and settles exactly once: with the reply, or a HoltError `Timeout`, `AgentDied`, `NoSuchCommand`, `InvalidInput`,
   * `NotAccepting`, `CommandBusy`, `Overloaded`, `Aborted`, `NotCloneable`, or the handler's own error.
   */
  ask<N extends CommandName<R>>(name: N, ...[payload, options]: CommandArgs<R, N, AskOptions>): Promise<Reply<R, N>> {
    return this.#agent.inbox.ask(name, payload, options) as Promise<Reply<R, N>>
  }

  /** Whether a `tell` would be accepted now. */
  get hasRoom(): boolean {
    return this.#agent.inbox.hasRoom
  }

  /** Resolves once there is room again, or the agent's whereabouts change. */
  room(): Promise<void> {
    return this.#agent.inbox.room()
  }

  start(options?: CommandOptions): Promise<AgentSnapshot> {
    return this.#parts.command('start', options)
  }

  activate(options?: CommandOptions): Promise<AgentSnapshot> {
    return this.#parts.command('activate', options)
  }

  suspend(options?: CommandOptions): Promise<AgentSnapshot> {
    return this.#parts.command('suspend', options)
  }

  stop(options?: CommandOptions): Promise<AgentSnapshot> {
    return this.#parts.command('stop', options)
  }

  restart(options?: CommandOptions): Promise<AgentSnapshot> {
    return this.#parts.command('restart', options)
  }

  kill(options?: CommandOptions): Promise<AgentSnapshot> {
    return this.#parts.command('kill', options)
  }

  /** Replaces what it runs from by what its files say now, in front of whoever sends. @throws HoltError as `host.reload` */
  reload(options?: CommandOptions): Promise<ReloadAnswer> {
    return this.#parts.reload(options)
  }

  /** `inFlight`: what was still running when the time-out passed; it stays PAUSING until that has ended. */
  pause(options?: CommandOptions): Promise<AgentSnapshot & Pick<CommandExtras, 'inFlight'>> {
    return this.#parts.command('pause', options)
  }

  /** `drained`: how many messages were waiting. */
  resume(options?: CommandOptions): Promise<AgentSnapshot & Pick<CommandExtras, 'drained'>> {
    return this.#parts.command('resume', options)
  }
}
