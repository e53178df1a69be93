/** Table `leases`: who may speak for an agent and until when, signed by the host. The rules are in `model/lease.ts`. */
import { LeaseRules, type LeaseStore, type Seal, type SignedLease } from '../model/lease.ts'
import type { Connection } from './connection.ts'
import { integer, text } from './rows.ts'
import type { Store } from './store.ts'

const ROW = { agent: text, instance: text, epoch: integer, expiresAt: integer, signature: text }

/** The table's step of the schema. */
export const LEASES_SCHEMA = `
CREATE TABLE leases (
  agent TEXT PRIMARY KEY NOT NULL,
  instance TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,          -- 0: it was lost
  signature TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`

export class Leases {
  readonly #get
  readonly #set

  constructor(connection: Connection) {
    this.#get = connection.query(ROW, 'FROM leases WHERE agent = ?')
    this.#set = connection.insert(
      'leases',
      ['agent', 'instance', 'epoch', 'expires_at', 'signature'],
      `ON CONFLICT (agent) DO UPDATE SET instance = excluded.instance, epoch = excluded.epoch,
        expires_at = excluded.expires_at, signature = excluded.signature`,
    )
  }

  /** As it was written, by whomever. */
  get(agent: string): SignedLease | undefined {
    return this.#get.get(agent)
  }

  set({ agent, instance, epoch, expiresAt, signature }: SignedLease): void {
    this.#set.run(agent, instance, epoch, expiresAt, signature)
  }
}

/** The leases of a store, signed with `seal`. Each call rejects where the state cannot be saved, as `Store.write`. */
export function leaseStore(store: Pick<Store, 'write'>, seal: Seal): LeaseStore {
  return {
    take: (request) => store.write((tx) => new LeaseRules(tx.leases, seal).take(whole(request))),
    renew: (requests, now) =>
      store.write((tx) => {
        const rules = new LeaseRules(tx.leases, seal)
        return requests.map((request) => rules.renew(whole(request), now))
      }),
    lose: (claim) => store.write((tx) => new LeaseRules(tx.leases, seal).lose(claim)),
    read: (agent) => store.write((tx) => new LeaseRules(tx.leases, seal).read(agent)),
  }
}

const whole = <T extends { readonly expiresAt: number }>(request: T): T => ({
  ...request,
  expiresAt: Math.floor(request.expiresAt),
})
