/** Deliveries in a thread: batches as they came, read one by one. */
import { describe, expect, it } from 'vitest'
import { AWAITED, type Batch } from '../../src/model/wire.ts'
import { Deliveries } from '../../src/thread/deliveries.ts'

const bare: Batch = { type: 'batch', first: 1, count: 2, names: 'e', text: '[{"n":1},2]' }

const drain = (deliveries: Deliveries): unknown[] => {
  const taken: unknown[] = []
  while (deliveries.nextSeq !== null) taken.push(deliveries.take())
  return taken
}

describe('deliveries', () => {
  it('are none before the first batch and after the last', () => {
    const deliveries = new Deliveries()
    expect([deliveries.nextSeq, deliveries.nextIsSolo]).toEqual([null, false])
    deliveries.add(bare)
    expect(drain(deliveries)).toHaveLength(2)
    expect([deliveries.nextSeq, deliveries.nextIsSolo]).toEqual([null, false])
  })

  it('of a bare batch are events that need nothing', () => {
    const deliveries = new Deliveries()
    deliveries.add(bare)
    const plain = { name: 'e', ask: 0, expires: 0, skip: false, traceparent: '' }
    expect(drain(deliveries)).toEqual([
      { ...plain, seq: 1, payload: { n: 1 } },
      { ...plain, seq: 2, payload: 2 },
    ])
  })

  it('carry each what its column says', () => {
    const deliveries = new Deliveries()
    deliveries.add({
      ...bare,
      names: ['a', 'b'],
      asks: [500, AWAITED],
      expires: [0, 900],
      skip: [1],
      solo: [0],
      traces: ['', '00-1-2-01'],
      rich: [new Map([[1, 2]])],
      richAt: [1],
    })
    expect(deliveries.nextIsSolo).toBe(true)
    expect(deliveries.take()).toEqual({
      seq: 1,
      name: 'a',
      payload: { n: 1 },
      ask: 500,
      expires: 0,
      skip: false,
      traceparent: '',
    })
    expect(deliveries.nextIsSolo).toBe(false)
    const second = { seq: 2, name: 'b', payload: new Map([[1, 2]]), ask: AWAITED, expires: 900, skip: true }
    expect(deliveries.take()).toEqual({ ...second, traceparent: '00-1-2-01' })
  })

  it('go over from batch to batch in order, also where the numbers wrap', () => {
    const deliveries = new Deliveries()
    deliveries.add({ ...bare, first: 2 ** 31 - 1 })
    deliveries.add({ ...bare, first: -(2 ** 31) + 1, text: '[3,4]' })
    const seqs: unknown[] = []
    while (deliveries.nextSeq !== null) {
      seqs.push(deliveries.nextSeq)
      expect(deliveries.take().seq).toBe(seqs.at(-1))
    }
    expect(seqs).toEqual([2 ** 31 - 1, -(2 ** 31), -(2 ** 31) + 1, -(2 ** 31) + 2])
  })
})
