/** Intents and epochs: committed before they are answered, compared where asked, and only ever higher. */
import { describe, expect, it } from 'vitest'
import type { IntentChange } from '../../src/model/intent.ts'
import { nextIntent } from '../../src/model/intent.ts'
import { FakeClock } from '../../src/testkit/fake-clock.ts'
import { body, errorOf, tempState, tempStore } from './temp-store.ts'

const START: IntentChange = { intent: 'running', by: 'ann', reason: null, at: 1 }
const PAUSE: IntentChange = { admission: 'cordoned', by: 'bob', reason: 'upgrade', at: 2 }
const STOP: IntentChange = { intent: 'stopped', by: 'eve', reason: 'enough', at: 3 }

describe('an intent', () => {
  it('is nothing until somebody wants something', async () => {
    const store = await tempStore()
    expect(store.intents.read('a')).toBeUndefined()
    await store.epochs.next('a')
    await store.write((tx) => tx.agents.setVersion('a', '1.2.3'))
    expect(store.intents.read('a')).toBeUndefined()
  })

  it('is answered once it is committed, read from then on, and there after a restart', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    const answer = store.intents.commit('a', START)
    expect(store.intents.read('a')).toBeUndefined()
    const first = nextIntent(undefined, START, 'stopped')
    expect(await answer).toEqual(first)
    expect(store.intents.read('a')).toEqual(first)
    const second = nextIntent(first, PAUSE, 'stopped')
    const third = nextIntent(second, STOP, 'stopped')
    expect(await store.intents.commit('a', PAUSE)).toEqual(second)
    expect(await store.intents.commit('a', STOP)).toEqual(third)
    await store.close()
    const again = await tempStore({ dir })
    expect(again.intents.read('a')).toEqual(third)
    expect(third).toMatchObject({ generation: 3, by: 'eve', pausedBy: 'bob', pausedReason: 'upgrade', pausedSince: 2 })
  })

  it('follows those of the same turn', async () => {
    const store = await tempStore()
    const records = await Promise.all([START, PAUSE, STOP].map((change) => store.intents.commit('a', change)))
    expect(records.map(({ generation }) => generation)).toEqual([1, 2, 3])
    expect(records[2]).toMatchObject({ intent: 'stopped', admission: 'cordoned', pausedBy: 'bob' })
    expect(store.commits).toBe(1)
  })

  it('is compared where a generation is given, and the refusal names the present one', async () => {
    const store = await tempStore()
    const none = await errorOf(() => store.intents.commit('a', START, { ifGeneration: 1 }))
    expect(none).toMatchObject({ code: 'GenerationMismatch', details: { agent: 'a', expected: 1, found: 0 } })
    expect(none.message).toContain('found generation 0: nobody has wanted anything of it yet')
    await store.intents.commit('a', START, { ifGeneration: 0 })
    const late = await errorOf(() => store.intents.commit('a', STOP, { ifGeneration: 0 }))
    expect(late).toMatchObject({ code: 'GenerationMismatch', details: { expected: 0, found: 1 } })
    expect(late.message).toContain('found generation 1: running and open, last wanted by ann')
    expect(store.intents.read('a')).toMatchObject({ intent: 'running', generation: 1 })
    expect(await store.intents.commit('a', STOP, { ifGeneration: 1 })).toMatchObject({ generation: 2 })
  })

  it('of two that compare in one turn is committed once', async () => {
    const store = await tempStore()
    const results = await Promise.allSettled(
      [START, STOP].map((change) => store.intents.commit('a', change, { ifGeneration: 0 })),
    )
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(store.intents.read('a')).toMatchObject({ intent: 'running', generation: 1 })
  })

  it('that was not committed is not read', async () => {
    const store = await tempStore()
    const unit = store.write((tx) => {
      tx.agents.changeIntent('a', START)
      tx.agents.nextEpoch('a')
      throw new Error('no')
    })
    await errorOf(() => unit)
    expect(store.intents.read('a')).toBeUndefined()
    const nextOne = await store.epochs.next('a')
    expect(store.epochs.current('a')).toBe(nextOne)
  })
})

describe('an epoch', () => {
  it('grows for each agent, and from one host to the next', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    expect(store.epochs.current('a')).toBe(0)
    expect(await Promise.all(['a', 'a', 'b', 'a'].map((agent) => store.epochs.next(agent)))).toEqual([1, 2, 1, 3])
    expect(store.epochs.current('a')).toBe(3)
    await store.close()
    const again = await tempStore({ dir })
    expect(again.epochs.current('a')).toBe(3)
    expect(await again.epochs.next('a')).toBe(4)
  })

  it('begins at the wall clock in memory, so that it still only grows', async () => {
    const clock = new FakeClock()
    const store = await tempStore({ clock })
    const epoch = store.epochs.next('a')
    clock.drainSoon()
    expect(await epoch).toBe(clock.wall() + 1)
    const closed = store.close()
    clock.drainSoon()
    await closed
  })

  it('is not given again after its agent was removed, also over a restart', async () => {
    const dir = tempState()
    const store = await tempStore({ dir })
    for (let n = 0; n < 5; n++) await store.epochs.next('a')
    await store.removeAgent('a')
    expect(store.epochs.current('a')).toBe(0)
    await store.close()
    const again = await tempStore({ dir })
    expect(await again.epochs.next('a')).toBe(6)
    expect(await again.epochs.next('new')).toBe(6)
  })

  it('that is not the present one may not write, neither a lower nor a made-up higher one', async () => {
    const store = await tempStore({ dir: tempState() })
    await store.epochs.next('a')
    const present = await store.epochs.next('a')
    for (const epoch of [1, 3, 0, -1]) {
      const error = await errorOf(() => store.write((tx) => tx.memory.set('a', 'k', body(1), 1, { epoch })))
      expect(error).toMatchObject({ code: 'StaleEpoch', details: { agent: 'a', epoch, current: 2 } })
      const append = await errorOf(() => store.write((tx) => tx.sessions.append('a', 's', body(1), 1, epoch)))
      expect(append.code).toBe('StaleEpoch')
      const removal = await errorOf(() => store.write((tx) => tx.memory.delete('a', 'k', { epoch })))
      expect(removal.code).toBe('StaleEpoch')
    }
    expect(store.memory.list('a')).toEqual([])
    await store.write((tx) => tx.memory.set('a', 'k', body(1), 1, { epoch: present }))
    await store.write((tx) => tx.memory.set('a', 'host', body(1), 1))
    expect(store.memory.list('a').map(({ key }) => key)).toEqual(['host', 'k'])
  })

  it('fences from the transaction on in which the next one is given', async () => {
    const store = await tempStore({ dir: tempState() })
    const old = await store.epochs.next('a')
    const [, refused] = await Promise.allSettled([
      store.epochs.next('a'),
      store.write((tx) => tx.memory.set('a', 'k', body(1), 1, { epoch: old })),
    ])
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'StaleEpoch' } })
  })
})

describe('agents', () => {
  it('are listed by name with epoch and version', async () => {
    const store = await tempStore({ dir: tempState() })
    await store.epochs.next('b')
    await store.write((tx) => tx.agents.setVersion('b', '1.0.0'))
    await store.intents.commit('a', START)
    expect(store.agents.list()).toEqual([
      { agent: 'a', version: null, epoch: 0 },
      { agent: 'b', version: '1.0.0', epoch: 1 },
    ])
  })
})
