/**
 * The leases of all live instances, as the watch's tick carries them out: all are renewed in one step of the store, one
 * that is lost fences its instance, and one that is asked back is proved first. What cannot be written down takes no
 * lease from anybody: the host's own word, by the monotonic clock, stands.
 */
import type { Agent } from '../actors/agent.ts'
import type { Instance } from '../actors/instance.ts'
import type { LeaseAnswer, LeaseClaim, LeaseRequest, LeaseStore } from '../model/lease.ts'
import type { Clock } from '../platform/clock.ts'
import { isSilent, judgeLease, type LeaseTerms } from './lease.ts'

interface Held {
  readonly claim: LeaseClaim
  /** It is written down; else it is taken with the next renewal. */
  stored: boolean
  wasSilent: boolean
  /** By ticks; null: it is not lost. */
  lostForMs: number | null
}

/** What a tick saw of one instance. */
export interface Sighting {
  readonly agent: Agent
  readonly instance: Instance
  readonly silentMs: number
}

export class Leases {
  readonly #store: LeaseStore
  readonly #clock: Clock
  readonly #terms: LeaseTerms
  readonly #held = new Map<Instance, Held>()
  #renewAt = Number.NEGATIVE_INFINITY

  constructor(store: LeaseStore, clock: Clock, terms: LeaseTerms) {
    this.#store = store
    this.#clock = clock
    this.#terms = terms
  }

  /** Fenced, until it has proved its identity again. */
  isLost(instance: Instance): boolean {
    return (this.#held.get(instance)?.lostForMs ?? null) !== null
  }

  /** @param tickMs what a tick takes where the host is not late */
  tick(sightings: readonly Sighting[], tickMs: number, hostLagMs: number): void {
    if (this.#terms.ttlMs === 0) return
    this.#release()
    const now = this.#clock.now()
    const due = now >= this.#renewAt
    if (due) this.#renewAt = now + this.#terms.renewEveryMs
    const wanted: LeaseRequest[] = []
    for (const { agent, instance, silentMs } of sightings) {
      const held = this.#of(agent, instance)
      if (held.lostForMs !== null) held.lostForMs += tickMs
      const signs = { silentMs, hostLagMs, proof: instance.proof, ...held }
      const judgement = judgeLease(signs, this.#terms)
      held.wasSilent = isSilent(signs, this.#terms)
      if (judgement === 'fresh' && (due || !held.stored)) {
        const expiresAt = this.#clock.wall() + this.#terms.ttlMs - Math.max(0, silentMs - hostLagMs)
        if (held.stored) wanted.push({ ...held.claim, expiresAt })
        else this.#take(instance, held, expiresAt)
      }
      if (judgement === 'lose') this.#lose(agent, instance, held, silentMs)
      if (judgement === 'challenge') instance.challenge()
      if (judgement === 'regain') this.#regain(agent, instance, held)
      if (judgement === 'end') this.#end(instance)
    }
    if (wanted.length > 0) this.#renew(wanted)
  }

  #of(agent: Agent, instance: Instance): Held {
    let held = this.#held.get(instance)
    if (held === undefined) {
      const claim = { agent: agent.id, instance: instance.id, epoch: instance.epoch }
      held = { claim, stored: false, wasSilent: false, lostForMs: null }
      this.#held.set(instance, held)
    }
    return held
  }

  /** Those of threads that have ended. */
  #release(): void {
    for (const [instance, { claim, stored }] of this.#held) {
      if (instance.alive) continue
      this.#held.delete(instance)
      if (stored) this.#store.lose(claim).catch(() => {})
    }
  }

  #take(instance: Instance, held: Held, expiresAt: number): void {
    // It is tried again with the next renewal, where it cannot be written down.
    held.stored = true
    this.#store.take({ ...held.claim, expiresAt }, this.#clock.wall()).then(
      (answer) => this.#answered(instance, answer),
      () => {
        held.stored = false
      },
    )
  }

  #renew(wanted: readonly LeaseRequest[]): void {
    this.#store.renew(wanted, this.#clock.wall()).then(
      (answers) => {
        const instances = new Map([...this.#held].map(([instance, { claim }]) => [claim.instance, instance]))
        answers.forEach((answer, index) => {
          const instance = instances.get(wanted[index]!.instance)
          if (instance !== undefined) this.#answered(instance, answer)
        })
      },
      () => {},
    )
  }

  #answered(instance: Instance, answer: LeaseAnswer): void {
    const held = this.#held.get(instance)
    if (held === undefined || !instance.alive) return
    // Its time had run out because the host did not run, or its clock was set: it takes it again at the next tick.
    if (answer === 'expired') held.stored = false
    if (answer === 'stale') {
      instance.fence()
      instance.terminate('lease_lost', { message: 'another instance of a higher epoch has its lease' })
    }
  }

  #lose(agent: Agent, instance: Instance, held: Held, silentMs: number): void {
    held.lostForMs = 0
    instance.fence()
    if (held.stored) this.#store.lose(held.claim).catch(() => {})
    held.stored = false
    const { ttlMs, recoverMs } = this.#terms
    const text = `no sign of life for ${silentMs} ms: its lease of ${ttlMs} ms is lost, it is fenced`
    agent.deps.report('agent.lease_lost', { silentMs, recoverMs }, subjectOf(held.claim))
    agent.setHealth('bad', 'unobservable', text)
  }

  #regain(agent: Agent, instance: Instance, held: Held): void {
    const lostForMs = held.lostForMs ?? 0
    held.lostForMs = null
    held.wasSilent = false
    this.#take(instance, held, this.#clock.wall() + this.#terms.ttlMs)
    agent.deps.report('agent.lease_regained', { lostForMs, held: instance.held }, subjectOf(held.claim))
    instance.unfence()
  }

  #end(instance: Instance): void {
    const { recoverMs } = this.#terms
    const message =
      instance.proof === 'wrong'
        ? 'it lost its lease, and could not prove its identity again'
        : `it lost its lease, and did not prove its identity again within ${recoverMs} ms`
    instance.terminate('lease_lost', { message })
  }
}

const subjectOf = ({ agent, instance, epoch }: LeaseClaim): LeaseClaim => ({ agent, instance, epoch })
