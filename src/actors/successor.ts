/**
 * The instance that is to take an agent over from the one that lives: booted beside it, handed nothing before the other
 * has ended, and dropped where it does not become ready. Until then the epoch of the other is in force, so that at no
 * time both are heard.
 */
import { classOf, type DeathRecord, judge } from '../model/death.ts'
import type { RoleInfo } from '../model/wire.ts'
import type { Agent } from './agent.ts'
import type { Prepared } from './agent-spec.ts'
import type { Ended, Instance } from './instance.ts'
import { type InstanceEvents, openInstance } from './open-instance.ts'

export class Successor {
  readonly prepared: Prepared
  readonly #agent: Agent
  readonly #by: string
  #instance: Instance | null = null
  #roles: readonly RoleInfo[] | null = null
  #dropped = false
  /** Who is told of its life once it has been taken. */
  #taker: InstanceEvents | null = null
  #settle: (record: DeathRecord | null) => void = () => {}
  #gone: () => void = () => {}
  /** Null: it is ready; else how it has ended, or that it never began. */
  readonly settled: Promise<DeathRecord | null>
  /** Its thread has ended, or there was none. */
  readonly gone: Promise<void>

  /** @param by who asked for it */
  constructor(agent: Agent, prepared: Prepared, by: string) {
    this.#agent = agent
    this.prepared = prepared
    this.#by = by
    this.settled = new Promise((resolve) => {
      this.#settle = resolve
    })
    this.gone = new Promise((resolve) => {
      this.#gone = resolve
    })
  }

  /** It can be taken now. */
  get ready(): boolean {
    return this.#roles !== null && this.#instance?.alive === true && !this.#dropped
  }

  /** Resolves once it has settled. @throws what the state could not be written for */
  async boot(): Promise<void> {
    const id = this.#agent.deps.newId('i')
    try {
      const epoch = await this.#agent.deps.beginNext(this.#agent.id, id)
      this.#instance = openInstance(
        this.#agent,
        { id, epoch, prepared: this.prepared },
        {
          onReady: (_, roles) => this.#onReady(roles),
          onPaused: (n) => this.#taker?.onPaused(n),
          onUnkillable: (instance, afterMs) => this.#onUnkillable(instance, afterMs),
          onEnded: (instance, ended) => this.#onEnded(instance, ended),
        },
      )
    } catch (error) {
      this.#withdraw()
      this.#settle(null)
      this.#gone()
      throw error
    }
    if (this.#dropped) this.#instance.terminate('shutdown')
    await this.settled
  }

  /** The agent runs from it. */
  get taken(): boolean {
    return this.#taker !== null
  }

  /** Hands it over: its life is the taker's from now on. */
  take(taker: InstanceEvents): { readonly instance: Instance; readonly roles: readonly RoleInfo[] } {
    this.#taker = taker
    this.#agent.deps.bringIntoForce(this.#agent.id)
    this.#gone()
    return { instance: this.#instance!, roles: this.#roles! }
  }

  /** It is not wanted any more. Resolves once it has gone, or cannot be ended. */
  drop(): Promise<void> {
    this.#dropped = true
    this.#withdraw()
    this.#instance?.terminate('shutdown')
    return this.gone
  }

  /** The instance there is goes on. */
  #withdraw(): void {
    if (this.#agent.successor !== this) return
    this.#agent.successor = null
    this.#agent.refresh()
  }

  #onReady(roles: readonly RoleInfo[]): void {
    if (this.#dropped) return
    this.#roles = roles
    this.#settle(null)
  }

  /** It is fenced by its epoch in any case, and nobody waits for it. */
  #onUnkillable(instance: Instance, afterMs: number): void {
    if (this.#taker !== null) return this.#taker.onUnkillable(instance, afterMs)
    this.#agent.deps.report(
      'agent.unkillable',
      { afterMs, replaced: true },
      { agent: this.#agent.id, instance: instance.id, epoch: instance.epoch },
    )
    instance.giveUp()
  }

  #onEnded(instance: Instance, ended: Ended): void {
    if (this.#taker !== null) return this.#taker.onEnded(instance, ended)
    this.#roles = null
    this.#withdraw()
    const { clock, newId, hide, onDropped } = this.#agent.deps
    const { step, error, cause, exitCode } = judge(ended)
    const { recorder, epoch, startedAt } = instance
    const draft = hide({
      id: newId('d'),
      agent: this.#agent.id,
      instance: instance.id,
      epoch,
      cause,
      class: classOf(cause),
      ...(step === undefined ? {} : { step }),
      ...(error === undefined ? {} : { error }),
      ...(exitCode === undefined ? {} : { exitCode }),
      uptimeMs: Math.round(clock.now() - startedAt),
      at: clock.wall(),
      inFlight: [],
      unflushed: 0,
      mailboxDepth: this.#agent.inbox.mailbox.depth,
      heapUsedMb: recorder.heapUsedMb > 0 ? recorder.heapUsedMb : null,
    })
    const record = onDropped(this.#agent, draft, this.#by)
    this.#settle(record)
    this.#gone()
  }
}

/**
 * Boots what has been prepared beside the instance there is, which begins nothing new. The next `start` of the agent that is
 * not fresh takes it. Resolves once it is ready, or has ended.
 * @throws what the state could not be written for
 */
export async function succeed(agent: Agent, prepared: Prepared, by: string): Promise<Successor> {
  const successor = new Successor(agent, prepared, by)
  agent.successor = successor
  agent.refresh()
  await successor.boot()
  return successor
}
