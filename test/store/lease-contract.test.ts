/** What every store of leases holds: compare-and-set by agent, instance and epoch, and only the highest epoch. */
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type LeaseRequest, type LeaseStore, memoryLeases } from '../../src/model/lease.ts'
import { hostSeal } from '../../src/platform/proof.ts'
import { Connection } from '../../src/store/connection.ts'
import { leaseStore } from '../../src/store/leases.ts'
import { MIGRATIONS, migrate, schemaVersion } from '../../src/store/migrations.ts'
import { tempState, tempStore } from './temp-store.ts'

const SEAL = hostSeal('key')
const KINDS: readonly (readonly [string, () => Promise<LeaseStore>])[] = [
  ['in memory', async () => memoryLeases(SEAL)],
  ['in SQLite', async () => leaseStore(await tempStore(), SEAL)],
]
const one = (epoch: number, expiresAt = 100, instance = `i${epoch}`): LeaseRequest => ({
  agent: 'a',
  instance,
  epoch,
  expiresAt,
})

describe.each(KINDS)('leases %s', (_name, make) => {
  it('are taken, read and renewed by who holds them, until they expire', async () => {
    const leases = await make()
    expect(await leases.read('a')).toBeNull()
    expect(await leases.take(one(1), 0)).toBe('held')
    expect(await leases.read('a')).toEqual(one(1))
    expect(await leases.renew([one(1, 150)], 100)).toEqual(['held'])
    expect(await leases.read('a')).toEqual(one(1, 150))
    expect(await leases.renew([one(1, 300)], 151)).toEqual(['expired'])
    expect(await leases.read('a')).toEqual(one(1, 150))
    expect(await leases.take(one(1, 300), 200)).toBe('held')
    expect(await leases.renew([one(1, 400)], 201)).toEqual(['held'])
  })

  it('go to a higher epoch at once, and never back', async () => {
    const leases = await make()
    await leases.take(one(1), 0)
    expect(await leases.take(one(2), 1)).toBe('held')
    expect(await leases.take(one(1), 2)).toBe('stale')
    expect(await leases.renew([one(1)], 2)).toEqual(['stale'])
    expect(await leases.lose(one(1))).toBe(false)
    expect(await leases.read('a')).toEqual(one(2))
    // Nor once the higher one has lost it, or its time is over.
    expect(await leases.lose(one(2))).toBe(true)
    expect(await leases.take(one(1, 900), 800)).toBe('stale')
  })

  it('know an instance of the same epoch and another name for another', async () => {
    const leases = await make()
    await leases.take(one(1), 0)
    const other = one(1, 100, 'other')
    expect(await leases.take(other, 0)).toBe('stale')
    expect(await leases.renew([other], 0)).toEqual(['stale'])
    expect(await leases.lose(other)).toBe(false)
  })

  it('that were lost are not renewed, are lost once, and may be taken again', async () => {
    const leases = await make()
    await leases.take(one(1), 0)
    expect(await leases.lose(one(1))).toBe(true)
    expect(await leases.lose(one(1))).toBe(false)
    expect(await leases.renew([one(1)], 0)).toEqual(['expired'])
    expect(await leases.take(one(1), 0)).toBe('held')
    expect(await leases.lose({ ...one(1), agent: 'nobody' })).toBe(false)
  })

  it('are renewed for all agents in one step, each by its own right', async () => {
    const leases = await make()
    await leases.take(one(1), 0)
    await leases.take({ ...one(5), agent: 'b' }, 0)
    const answers = await leases.renew([one(1, 200), { ...one(4), agent: 'b' }, { ...one(1), agent: 'c' }], 50)
    expect(answers).toEqual(['held', 'stale', 'expired'])
  })

  it('are held by one at most, the highest epoch that has asked, whatever comes in whatever order', async () => {
    const call = fc.record({
      what: fc.constantFrom('take', 'renew', 'lose'),
      epoch: fc.integer({ min: 1, max: 4 }),
      instance: fc.constantFrom('x', 'y'),
      stepMs: fc.nat({ max: 60 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(call, { maxLength: 30 }), async (calls) => {
        const leases = await make()
        let now = 0
        let highest = 0
        for (const { what, epoch, instance, stepMs } of calls) {
          now += stepMs
          const request = one(epoch, now + 50, instance)
          const answer =
            what === 'take'
              ? await leases.take(request, now)
              : what === 'renew'
                ? (await leases.renew([request], now))[0]
                : await leases.lose(request)
          if (answer === 'held' || answer === true) expect(epoch).toBeGreaterThanOrEqual(highest)
          if (answer === 'held') highest = epoch
          expect((await leases.read('a'))?.epoch ?? 0).toBe(highest)
        }
      }),
      { numRuns: 40 },
    )
  })
})

describe('the signature of a lease', () => {
  it('is checked when it is read: one that was changed, or that another host has signed, is none', async () => {
    const store = await tempStore()
    const leases = leaseStore(store, SEAL)
    await leases.take(one(3), 0)
    const signed = await store.write((tx) => tx.leases.get('a')!)
    await store.write((tx) => tx.leases.set({ ...signed, expiresAt: 1e9 }))
    expect(await leases.read('a')).toBeNull()
    expect(await leases.renew([one(3)], 0)).toEqual(['expired'])
    await store.write((tx) => tx.leases.set(signed))
    expect(await leases.read('a')).toEqual(one(3))
    expect(await leaseStore(store, hostSeal('another')).read('a')).toBeNull()
  })
})

describe('a state of the first schema', () => {
  it('is given the table of leases, and keeps what it has', async () => {
    const dir = tempState()
    await (await tempStore({ dir })).close()
    const before = new Connection(join(dir, 'holt.db'))
    before.exec('DROP TABLE leases; PRAGMA user_version = 1')
    before.exec("INSERT INTO agents (agent, epoch) VALUES ('a', 7)")
    expect(schemaVersion(before, MIGRATIONS.length)).toBe(1)
    before.close()
    const store = await tempStore({ dir })
    expect(store.epochs.current('a')).toBe(7)
    const leases = leaseStore(store, SEAL)
    expect(await leases.take(one(8), 0)).toBe('held')
    await store.close()
    const after = new Connection(join(dir, 'holt.db'))
    expect(schemaVersion(after, MIGRATIONS.length)).toBe(MIGRATIONS.length)
    expect(migrate(after)).toBe(0)
    after.close()
  })
})
