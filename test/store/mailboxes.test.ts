/** Durable messages: in order of acceptance until they are done, and none of them twice. */
import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../src/testkit/fake-clock.ts'
import { message } from './samples.ts'
import { tempState, tempStore } from './temp-store.ts'

describe('a mailbox', () => {
  it('comes back whole and in order, each agent its own', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    const full = message('m1', {
      kind: 'ask',
      payload: { encoding: 'v8', body: Buffer.from([255, 0]) },
      from: 'sender',
      senderSeq: 7,
      expiresAt: 99,
      deliveryCount: 2,
    })
    await store.write((tx) => {
      for (const one of [full, message('z'), message('a')]) tx.mailboxes.append('a', one)
      tx.mailboxes.append('b', message('m1'))
    })
    await store.close()
    const again = await tempStore({ dir })
    expect(again.mailboxes.load('a')).toEqual([
      { ...full, number: 1 },
      { ...message('z'), number: 2 },
      { ...message('a'), number: 3 },
    ])
    expect(again.mailboxes.load('b').map(({ id }) => id)).toEqual(['m1'])
    expect([again.mailboxes.depth('a'), again.mailboxes.depth('none')]).toEqual([3, 0])
  })

  it('takes an id once: not while it waits, and not after it was done', async () => {
    const store = await tempStore()
    const append = (): Promise<boolean> => store.write((tx) => tx.mailboxes.append('a', message('m1')))
    expect(await Promise.all([append(), append()])).toEqual([true, false])
    expect(store.mailboxes.seen('a', 'm1')).toBe(true)
    await store.write((tx) => tx.mailboxes.settle('a', ['m1'], 5))
    expect([store.mailboxes.depth('a'), store.mailboxes.seen('a', 'm1')]).toEqual([0, true])
    expect(await append()).toBe(false)
    expect(store.mailboxes.seen('b', 'm1')).toBe(false)
    expect(await store.write((tx) => tx.mailboxes.append('b', message('m1')))).toBe(true)
  })

  it('takes back what was removed and not done, as a replay does', async () => {
    const store = await tempStore()
    await store.write((tx) => tx.mailboxes.append('a', message('m1')))
    await store.write((tx) => tx.mailboxes.remove('a', ['m1']))
    expect([store.mailboxes.depth('a'), store.mailboxes.seen('a', 'm1')]).toEqual([0, false])
    expect(await store.write((tx) => tx.mailboxes.append('a', message('m1', { deliveryCount: 3 })))).toBe(true)
    expect(store.mailboxes.load('a')).toMatchObject([{ id: 'm1', deliveryCount: 3 }])
  })

  it('settles, removes and counts deliveries of the ids that are given, of that agent alone', async () => {
    const store = await tempStore()
    await store.write((tx) => {
      for (const agent of ['a', 'b']) for (const id of ['1', '2', '3', '"']) tx.mailboxes.append(agent, message(id))
      tx.mailboxes.bumpDelivery('a', ['2', '"'])
      tx.mailboxes.bumpDelivery('a', ['"', 'none'])
      tx.mailboxes.settle('a', ['1', 'none'], 5)
      tx.mailboxes.settle('a', [], 5)
      tx.mailboxes.remove('b', ['3'])
    })
    const waiting = (agent: string) => store.mailboxes.load(agent).map(({ id, deliveryCount }) => [id, deliveryCount])
    expect(waiting('a')).toEqual([
      ['2', 1],
      ['3', 0],
      ['"', 2],
    ])
    expect(waiting('b')).toEqual([
      ['1', 0],
      ['2', 0],
      ['"', 0],
    ])
  })

  it('knows the id of one that was done and never waited, as a message that was handled at once', async () => {
    const store = await tempStore()
    await store.write((tx) => tx.mailboxes.settle('a', ['m1'], 5))
    expect(await store.write((tx) => tx.mailboxes.append('a', message('m1')))).toBe(false)
  })
})

describe('ids that were done', () => {
  it('are forgotten after their time, by a sweep', async () => {
    const clock = new FakeClock()
    const store = await tempStore({ clock, limits: { handledForMs: 120_000 } })
    const settle = (id: string): void => {
      void store.write((tx) => tx.mailboxes.settle('a', [id], clock.wall()))
      clock.drainSoon()
    }
    const minute = (): void => {
      clock.advance(60_000)
      clock.drainSoon()
    }
    settle('early')
    minute()
    settle('late')
    minute()
    expect(['early', 'late'].map((id) => store.mailboxes.seen('a', id))).toEqual([true, true])
    minute()
    expect(['early', 'late'].map((id) => store.mailboxes.seen('a', id))).toEqual([false, true])
    const closed = store.close()
    clock.drainSoon()
    await closed
  })

  it('are forgotten past their number, the oldest first', async () => {
    const store = await tempStore({ limits: { handled: 10 } })
    for (let n = 0; n < 25; n++) await store.write((tx) => tx.mailboxes.settle('a', [`m${n}`], 5))
    const seen = Array.from({ length: 25 }, (_, n) => store.mailboxes.seen('a', `m${n}`))
    expect(seen).toEqual(Array.from({ length: 25 }, (_, n) => n >= 15))
  })
})

describe('effects of a message', () => {
  const once = (n: number, id = 'm1') => ({ n, id })

  it('happen once each, with the write they belong to or not at all', async () => {
    const store = await tempStore()
    const effect = ({ n, id }: ReturnType<typeof once>, bad = false): Promise<boolean> =>
      store.write((tx) => {
        const first = tx.effects.once('a', id, n, 5)
        if (first) tx.counters.add('a', { made: 1 })
        if (bad) throw new Error('no')
        return first
      })
    await effect(once(0), true).catch(() => {})
    expect(await Promise.all([once(0), once(0), once(1), once(0, 'm2')].map((one) => effect(one)))).toEqual([
      true,
      false,
      true,
      true,
    ])
    expect(store.counters.read('a')).toEqual({ made: 3 })
  })

  it('are known until the message is done, and for their time where it never is, but always while it waits', async () => {
    const clock = new FakeClock()
    const store = await tempStore({ clock, limits: { handledForMs: 1000 } })
    const run = <T>(work: Parameters<typeof store.write<T>>[0]): Promise<T> => {
      const result = store.write(work)
      clock.drainSoon()
      return result
    }
    await run((tx) => {
      tx.mailboxes.append('a', message('waits'))
      tx.mailboxes.append('a', message('done'))
      for (const id of ['waits', 'done', 'dead']) tx.effects.once('a', id, 0, clock.wall())
      tx.mailboxes.settle('a', ['done'], clock.wall())
      tx.effects.forget('a', ['done'])
      tx.effects.forget('never wrote', ['done'])
    })
    const known = (): Promise<boolean[]> =>
      run((tx) => {
        const first = ['waits', 'done', 'dead'].map((id) => tx.effects.once('a', id, 0, clock.wall()))
        throw Object.assign(new Error('undone'), { first })
      }).catch(({ first }: { first: boolean[] }) => first.map((one) => !one))
    expect(await known()).toEqual([true, false, true])
    clock.advance(60_000)
    clock.drainSoon()
    expect(await known()).toEqual([true, false, false])
    const closed = store.close()
    clock.drainSoon()
    await closed
  })
})
