/**
 * The epoch and the lease. The epoch is a number per agent that only grows, one for each instance: only the highest is
 * believed, and whatever an older one says is refused and counted. A lease is the host's word, for a short time, that an
 * instance may speak. The lease is the hint, the epoch is the truth. Pure rules, and leases in memory; the host's are in
 * `store/leases.ts`, and a cluster's store would be a third that passes the same tests.
 */

/** Where epochs come from. The number it resolves to is higher than any before for that agent. */
export interface EpochStore {
  next(agent: string): Promise<number>
  current(agent: string): number
}

/** Whether something of this epoch is to be believed. */
export const isCurrent = (epoch: number, current: number): boolean => epoch === current

/** Who wants to hold the lease of an agent. */
export interface LeaseClaim {
  readonly agent: string
  readonly instance: string
  readonly epoch: number
}

export interface Lease extends LeaseClaim {
  /** By the clock of whoever asks, ms. Held while that is not later; 0: it was lost. */
  readonly expiresAt: number
}

/**
 * `held`: it is; `expired`: its time was over, or it was lost, and it may be taken again; `stale`: another instance, of an
 * epoch as high or higher, has had it: this one never gets it again.
 */
export type LeaseAnswer = 'held' | 'expired' | 'stale'

export interface LeaseRequest extends LeaseClaim {
  /** Until when, by the same clock as `now`, ms. */
  readonly expiresAt: number
}

/** Compare-and-set by agent, instance and epoch. Each call is one step: nobody sees half of it. */
export interface LeaseStore {
  /** Takes it from any lower epoch, and again where it had expired or was lost. */
  take(request: LeaseRequest, now: number): Promise<LeaseAnswer>
  /** All in one step; answers in their order. Only who holds it renews it. */
  renew(requests: readonly LeaseRequest[], now: number): Promise<readonly LeaseAnswer[]>
  /** Gives it up. @returns whether it was this one's */
  lose(claim: LeaseClaim): Promise<boolean>
  /** Who holds it, or held it last; null: nobody has, or what is there was not signed by this host. */
  read(agent: string): Promise<Lease | null>
}

/** Signs leases, and knows its own signature. */
export interface Seal {
  sign(text: string): string
  verify(text: string, signature: string): boolean
}

export interface SignedLease extends Lease {
  readonly signature: string
}

const textOf = ({ agent, instance, epoch, expiresAt }: Lease): string =>
  JSON.stringify([agent, instance, epoch, expiresAt])

export const signLease = ({ agent, instance, epoch, expiresAt }: Lease, seal: Seal): SignedLease => {
  const lease = { agent, instance, epoch, expiresAt }
  return { ...lease, signature: seal.sign(textOf(lease)) }
}

/** The lease, where this host has signed it; one of another host, or changed by anybody, is none. */
export function trusted(lease: SignedLease | undefined, seal: Seal): Lease | null {
  if (lease === undefined || !seal.verify(textOf(lease), lease.signature)) return null
  const { signature: _, ...rest } = lease
  return rest
}

const isSame = (a: LeaseClaim, b: LeaseClaim): boolean => a.instance === b.instance && a.epoch === b.epoch

/** May it take the lease, where this is the present one? */
export function judgeTake(present: Lease | null, claim: LeaseClaim): LeaseAnswer {
  if (present === null || isSame(present, claim) || claim.epoch > present.epoch) return 'held'
  return 'stale'
}

/** May it renew the lease, where this is the present one? */
export function judgeRenew(present: Lease | null, claim: LeaseClaim, now: number): LeaseAnswer {
  if (present === null) return 'expired'
  if (!isSame(present, claim)) return claim.epoch > present.epoch ? 'expired' : 'stale'
  return present.expiresAt !== 0 && now <= present.expiresAt ? 'held' : 'expired'
}

/** Whether it may be lost by this one. */
export const isHolder = (present: Lease | null, claim: LeaseClaim): boolean =>
  present !== null && present.expiresAt !== 0 && isSame(present, claim)

/** Where signed leases are kept, one an agent. */
export interface LeaseShelf {
  get(agent: string): SignedLease | undefined
  set(lease: SignedLease): void
}

/** The three changes over a shelf; whoever calls sees to it that each is one step. */
export class LeaseRules {
  readonly #shelf: LeaseShelf
  readonly #seal: Seal

  constructor(shelf: LeaseShelf, seal: Seal) {
    this.#shelf = shelf
    this.#seal = seal
  }

  read(agent: string): Lease | null {
    return trusted(this.#shelf.get(agent), this.#seal)
  }

  take(request: LeaseRequest): LeaseAnswer {
    const answer = judgeTake(this.read(request.agent), request)
    if (answer === 'held') this.#shelf.set(signLease(request, this.#seal))
    return answer
  }

  renew(request: LeaseRequest, now: number): LeaseAnswer {
    const answer = judgeRenew(this.read(request.agent), request, now)
    if (answer === 'held') this.#shelf.set(signLease(request, this.#seal))
    return answer
  }

  lose(claim: LeaseClaim): boolean {
    if (!isHolder(this.read(claim.agent), claim)) return false
    this.#shelf.set(signLease({ ...claim, expiresAt: 0 }, this.#seal))
    return true
  }
}

/** Leases in memory. */
export function memoryLeases(seal: Seal): LeaseStore {
  const kept = new Map<string, SignedLease>()
  const rules = new LeaseRules({ get: (agent) => kept.get(agent), set: (lease) => kept.set(lease.agent, lease) }, seal)
  return {
    take: async (request) => rules.take(request),
    renew: async (requests, now) => requests.map((request) => rules.renew(request, now)),
    lose: async (claim) => rules.lose(claim),
    read: async (agent) => rules.read(agent),
  }
}
