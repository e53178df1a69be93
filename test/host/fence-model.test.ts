/**
 * A model of instances over the real store: leases, epochs, crashes, instances that are given up and wake, commands, and
 * successors that boot beside, in random order. Never are the writes of two instances accepted at the same time.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LeaseClaim } from '../../src/model/lease.ts'
import { hostSeal } from '../../src/platform/proof.ts'
import { leaseStore } from '../../src/store/leases.ts'
import type { Store } from '../../src/store/store.ts'
import { tempStore } from '../store/temp-store.ts'

const AGENT = 'a'
const TTL_MS = 15
const SEED = process.env['HOLT_FENCE_SEED']
const RUNS = Number(process.env['HOLT_FENCE_RUNS'] ?? 60)

/** Every instance there ever was may still speak: its thread may be one that cannot be ended. */
interface World {
  readonly store: Store
  readonly leases: ReturnType<typeof leaseStore>
  readonly all: LeaseClaim[]
  /** The instance the host believes in; null: none. */
  current: LeaseClaim | null
  /** One that boots beside it. */
  beside: LeaseClaim | null
  now: number
}

async function begin(world: World, beside: boolean): Promise<LeaseClaim> {
  const instance = `i${world.all.length}`
  const epoch = await world.store.write((tx) =>
    beside ? tx.agents.nextEpochBeside(AGENT) : tx.agents.nextEpoch(AGENT),
  )
  const claim = { agent: AGENT, instance, epoch }
  world.all.push(claim)
  return claim
}

const request = (world: World, claim: LeaseClaim) => ({ ...claim, expiresAt: world.now + TTL_MS })

/** A reload, a crash, a lease or a command: to add a kind of event, add a row. */
const EVENTS = {
  start: async (world: World) => {
    if (world.current !== null) return
    world.beside = null
    world.current = await begin(world, false)
    await world.leases.take(request(world, world.current), world.now)
  },
  crash: async (world: World) => {
    world.current = null
    world.beside = null
  },
  /** Its thread goes on: it is among `all`, and its successor starts at once. */
  giveUp: async (world: World) => {
    world.current = null
    await EVENTS.start(world)
  },
  stop: async (world: World) => {
    if (world.current !== null) await world.leases.lose(world.current)
    world.current = null
    world.beside = null
  },
  boot: async (world: World) => {
    if (world.current !== null && world.beside === null) world.beside = await begin(world, true)
  },
  handOver: async (world: World) => {
    if (world.beside === null) return
    world.store.bringIntoForce(AGENT)
    world.current = world.beside
    world.beside = null
    await world.leases.take(request(world, world.current), world.now)
  },
  renew: async (world: World) => {
    if (world.current !== null) await world.leases.renew([request(world, world.current)], world.now)
  },
  lose: async (world: World) => {
    if (world.current !== null) await world.leases.lose(world.current)
  },
  regain: async (world: World) => {
    if (world.current !== null) await world.leases.take(request(world, world.current), world.now)
  },
  /** A thread that was given up tries for the lease by itself. */
  zombieTakes: async (world: World) => {
    for (const claim of world.all)
      if (claim !== world.current && claim !== world.beside) await world.leases.take(request(world, claim), world.now)
  },
  time: async (world: World) => {
    world.now += 10
  },
}
type EventName = keyof typeof EVENTS

/** Whoever speaks now: the instances whose writes are accepted. */
async function accepted({ store, all }: World): Promise<LeaseClaim[]> {
  const tries = await Promise.all(
    all.map((claim) =>
      store
        .write((tx) => tx.agents.fence(AGENT, claim.epoch))
        .then(
          () => [claim],
          () => [],
        ),
    ),
  )
  return tries.flat()
}

describe('the fence, over random lives', () => {
  it('never lets two instances write, and only the newest holds the lease', async () => {
    const names = fc.constantFrom(...(Object.keys(EVENTS) as EventName[]))
    await fc.assert(
      fc.asyncProperty(fc.array(names, { maxLength: 40 }), async (events) => {
        const store = await tempStore()
        const leases = leaseStore(store, hostSeal('key'))
        const world: World = { store, leases, all: [], current: null, beside: null, now: 1000 }
        let heldBy = 0
        for (const event of events) {
          await EVENTS[event](world)
          const speaking = await accepted(world)
          expect(speaking.length).toBeLessThanOrEqual(1)
          if (world.current !== null) expect(speaking).toEqual([world.current])
          const lease = await leases.read(AGENT)
          // A lease only ever goes up.
          if (lease !== null) expect(lease.epoch).toBeGreaterThanOrEqual(heldBy)
          heldBy = lease?.epoch ?? heldBy
          const holds = lease !== null && lease.expiresAt >= world.now
          if (holds && world.current !== null) expect(lease.epoch).toBeLessThanOrEqual(world.current.epoch)
        }
        await store.close()
      }),
      { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: Number(SEED) }) },
    )
  })
})
