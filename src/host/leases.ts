/** The leases of a host: kept in its state, signed with a key of its own that ends with it. */
import type { Clock } from '../platform/clock.ts'
import { newSecret } from '../platform/id.ts'
import { hostSeal } from '../platform/proof.ts'
import { leaseStore } from '../store/leases.ts'
import type { Store } from '../store/store.ts'
import type { LeaseTerms } from '../supervisor/lease.ts'
import { Leases } from '../supervisor/leases.ts'

export const openLeases = (store: Store, clock: Clock, terms: LeaseTerms): Leases =>
  new Leases(leaseStore(store, hostSeal(newSecret())), clock, terms)
