/** Payloads on disk: what comes back is what was sent. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Copied, decodeBody, encodePayload } from '../../src/model/payload.ts'
import { restoreBody, type StoredBody, storeBody } from '../../src/store/stored-body.ts'
import { body, errorOf, tempState, tempStore } from './temp-store.ts'

const roundTrip = (value: unknown): unknown => decodeBody(restoreBody(storeBody(encodePayload(value))))

describe('a stored body', () => {
  it.each([
    ['small plain data', { n: 1, deep: ['ä😀', null, true] }],
    ['large plain data', { text: 'x'.repeat(10_000) }],
    ['undefined', undefined],
    ['a date', { at: new Date(5) }],
    ['a map and a set', new Map([[{ k: 1 }, new Set([1n, -0, Number.NaN])]])],
    ['bytes', { bytes: new Uint8Array([0, 255]), floats: new Float64Array([0.5]) }],
    ['an error', new RangeError('out')],
    ['half of a surrogate pair', '\ud800'],
  ])('is the same as what was sent: %s', (_what, value) => {
    expect(roundTrip(value)).toEqual(value)
  })

  it('keeps cycles', () => {
    const ring: { self?: unknown } = {}
    ring.self = ring
    const back = roundTrip(ring) as typeof ring
    expect(back.self).toBe(back)
  })

  it('is the same for anything that can be sent', () => {
    fc.assert(
      fc.property(fc.anything({ withDate: true, withMap: true, withSet: true, withTypedArray: true }), (value) => {
        expect(roundTrip(value)).toEqual(decodeBody(encodePayload(value)))
      }),
    )
  })

  it('hands out bytes of its own, never a view on the row', () => {
    const stored = storeBody(encodePayload({ head: 'secret'.repeat(50), bytes: new Uint8Array([1, 2, 3]) }))
    const back = decodeBody(restoreBody(stored)) as { bytes: Uint8Array }
    expect(back.bytes.buffer.byteLength).toBe(3)
  })

  it('says what another thread could be handed and a disk cannot', async () => {
    const { port1 } = new MessageChannel()
    const error = await errorOf(() => storeBody(new Copied(port1)))
    port1.close()
    expect(error).toMatchObject({ code: 'NotCloneable' })
    expect(error.message).toContain('cannot be kept on disk')
  })

  it('that was damaged is told as such', async () => {
    const error = await errorOf(() => restoreBody({ encoding: 'v8', body: Buffer.from('nonsense') }))
    expect(error.code).toBe('StateCorrupt')
  })

  it('is text that people can read where it is JSON, and comes back to the byte', async () => {
    const store = await tempStore({ dir: tempState() })
    const values: StoredBody[] = [
      body({ n: 1 }),
      { encoding: 'json', body: '' },
      { encoding: 'v8', body: Buffer.alloc(0) },
      { encoding: 'v8', body: Buffer.from([0, 255, 0]) },
    ]
    await store.write((tx) => values.map((value, n) => tx.memory.set('a', String(n), value, 5)))
    expect(store.memory.list('a').map(({ value }) => value)).toEqual(values)
  })
})
