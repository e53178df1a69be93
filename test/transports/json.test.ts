/** Any value as plain JSON: what becomes of each kind, and that nothing throws. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { asJson, toJson } from '../../src/transports/json.ts'

const deep = (levels: number): unknown => (levels === 0 ? 'end' : { in: deep(levels - 1) })

describe('toJson', () => {
  it.each<[string, unknown, unknown]>([
    ['plain data', { a: [1, 'x', null, true] }, { a: [1, 'x', null, true] }],
    ['nothing', undefined, undefined],
    ['what JSON leaves out', { a: undefined, f: () => 1, s: Symbol('s') }, {}],
    ['the same in a list', [undefined, () => 1], [null, null]],
    ['numbers JSON has not', [Number.NaN, Number.POSITIVE_INFINITY, -1.5], [null, null, -1.5]],
    ['a bigint', 12n, '12'],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a map of texts', new Map([['a', new Set([1])]]), { a: [1] }],
    ['a map of anything', new Map([[1, 'a']]), [[1, 'a']]],
    ['bytes', new Uint8Array([1, 2]), [1, 2]],
    [
      'an error',
      Object.assign(new RangeError('far'), { code: 'E' }),
      { name: 'RangeError', message: 'far', code: 'E' },
    ],
    ['an array buffer', new ArrayBuffer(2), {}],
  ])('%s', (_what, value, expected) => {
    expect(toJson(value)).toEqual(expected)
  })

  it('marks what goes round, and not what is there twice', () => {
    const shared = { n: 1 }
    const round: Record<string, unknown> = { a: shared, b: shared }
    round['round'] = [round]
    expect(toJson(round)).toEqual({ a: { n: 1 }, b: { n: 1 }, round: ['[circular]'] })
  })

  it('ends somewhere', () => {
    expect(JSON.stringify(toJson(deep(600)))).toContain('[too deep]')
  })

  it('survives what cannot be read', () => {
    const angry = {
      get field(): number {
        throw new Error('not yours')
      },
    }
    expect(toJson({ angry })).toEqual({ angry: '[unreadable: not yours]' })
  })

  it('keeps a key that every object has', () => {
    const value: unknown = JSON.parse('{ "__proto__": 1 }')
    expect(JSON.stringify(toJson(value))).toBe('{"__proto__":1}')
  })
})

describe('asJson', () => {
  it('is written as toJson is, whatever the value', () => {
    const values = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
    })
    const odd = fc.oneof(
      values,
      fc.constantFrom(Symbol('s'), () => 1, Object.assign([1], { toJSON: () => 2 })),
    )
    fc.assert(
      fc.property(fc.oneof(odd, fc.array(odd), fc.dictionary(fc.string(), odd)), (value) => {
        expect(JSON.stringify(asJson(value))).toBe(JSON.stringify(toJson(value)))
      }),
      { numRuns: 1000 },
    )
  })
})
