/** Payloads: what arrives is what a structured clone at the call would have been, and refusals name the field. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HoltError } from '../../src/model/error.ts'
import { type Body, Copied, decodeBody, encodePayload } from '../../src/model/payload.ts'
import { BodyColumnBuilder, readColumn } from '../../src/model/payload-column.ts'

/** As it arrives in a thread: through a column and a port. */
function arrive(...bodies: Body[]): unknown[] {
  const builder = new BodyColumnBuilder()
  for (const body of bodies) builder.add(body)
  return readColumn(structuredClone(builder.build(), { transfer: builder.transfer ?? [] }))
}

const roundTrip = (value: unknown): unknown => arrive(encodePayload(value))[0]

function refusal(value: unknown, transfer?: readonly ArrayBuffer[]): HoltError {
  try {
    encodePayload(value, transfer)
  } catch (error) {
    expect(error).toBeInstanceOf(HoltError)
    return error as HoltError
  }
  throw new Error('was encoded')
}

function nested(depth: number, leaf: unknown): unknown {
  let value = leaf
  for (let i = 0; i < depth; i++) value = { d: value }
  return value
}

describe('a payload arrives as a structured clone would', () => {
  const hole = Object.assign(new Array(3), { 0: 1, 2: 3 })
  const match = 'abc'.match(/b/)
  const cycle: { name: string; self?: unknown } = { name: 'ring' }
  cycle.self = cycle
  class Point {
    x = 1
    #secret = 2
    sum(): number {
      return this.x + this.#secret
    }
  }

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a text', 'hello'],
    ['a lone surrogate', '\ud800'],
    ['a long text', 'x'.repeat(100_000)],
    ['NaN', Number.NaN],
    ['minus nothing', -0],
    ['infinity', Number.NEGATIVE_INFINITY],
    ['such numbers within', { a: [Number.NaN, -0, Number.POSITIVE_INFINITY] }],
    ['a bigint', 2n ** 80n],
    ['a field that is undefined', { a: undefined, b: 1 }],
    ['an undefined in an array', [undefined, 1]],
    ['a hole', hole],
    ['a long array with a hole', Object.assign(Array.from({ length: 1000 }), { 999: 1 })],
    ['an array with named fields', Object.assign([1, 2], { total: 3 })],
    ['a match, which is one', match],
    ['a date', { at: new Date(0) }],
    ['a map and a set', { m: new Map<unknown, unknown>([[1, { a: 1 }]]), s: new Set([1, 'a']) }],
    ['a regular expression', /a+/gi],
    ['an error', new RangeError('x')],
    ['typed arrays', { f: new Float64Array([1, 2]), b: new Uint8Array([1]), v: new DataView(new ArrayBuffer(4)) }],
    ['an ArrayBuffer', new Uint8Array([1, 2, 3]).buffer],
    ['boxed values', { n: Object(1), s: Object('a') }],
    ['a class instance', new Point()],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 })],
    ['a field called __proto__', JSON.parse('{"__proto__": {"a": 1}, "b": 2}')],
    ['an object with a toJSON that is no function', { toJSON: 1 }],
    ['a symbol key, which a clone leaves out', { [Symbol('s')]: 1, a: 1 }],
    ['keys that are numbers', { 2: 'b', 1: 'a', x: 0 }],
    ['a cycle', cycle],
    ['deep nesting', nested(40, { leaf: [1, 2n] })],
    ['very deep nesting', nested(500, 'leaf')],
    ['many fields', Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, { i }]))],
  ])('%s', (_name, value) => {
    expect(roundTrip(value)).toStrictEqual(structuredClone(value))
  })

  it('whatever it is made of', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withSparseArray: true,
      withNullPrototype: true,
      withBoxedValues: true,
      maxDepth: 4,
    })
    fc.assert(
      fc.property(anything, (value) => {
        expect(roundTrip(value)).toStrictEqual(structuredClone(value))
      }),
      { numRuns: 500 },
    )
  })

  it('small plain data as JSON text, where JSON changes nothing', () => {
    const plain = { n: 1, tags: ['a'], on: true, none: null }
    expect(encodePayload(plain)).toStrictEqual(plain)
    expect(encodePayload(plain)).not.toBe(plain)
    expect(encodePayload(null)).toBeNull()
    for (const other of [{ n: -0 }, { at: new Date() }, { u: undefined }, 'x'.repeat(1000)]) {
      expect(encodePayload(other)).toBeInstanceOf(Copied)
    }
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), (value) => {
        expect(roundTrip(value)).toStrictEqual(structuredClone(value))
      }),
    )
  })

  it('a clone that keeps the sameness of what it holds twice, when it is not plain', () => {
    const shared = new Map([['a', 1]])
    const { a, b } = roundTrip({ a: shared, b: shared }) as { a: unknown; b: unknown }
    expect(a).toBe(b)
  })
})

describe('what is sent is what the caller had at the call', () => {
  it.each<[string, () => { value: unknown; change: () => void }]>([
    [
      'a small object',
      () => {
        const value = { n: 1 }
        return { value, change: () => void Object.assign(value, { n: 2 }) }
      },
    ],
    [
      'a large object',
      () => {
        const value = { rows: Array.from({ length: 1000 }, (_, i) => ({ i })) }
        return { value, change: () => void value.rows.splice(0, 1, { i: -1 }) }
      },
    ],
    [
      'bytes',
      () => {
        const value = new Uint8Array([1, 2, 3])
        return { value, change: () => void value.fill(9) }
      },
    ],
    [
      'a map within',
      () => {
        const value = { m: new Map([['a', 1]]) }
        return { value, change: () => void value.m.set('a', 2) }
      },
    ],
  ])('%s changed afterwards arrives unchanged', (_name, make) => {
    const { value, change } = make()
    const before = structuredClone(value)
    const body = encodePayload(value)
    change()
    expect(arrive(body)[0]).toEqual(before)
    expect(arrive(body)[0]).toEqual(before)
  })
})

describe('bytes cut from a larger buffer', () => {
  const pooled = (): Buffer => {
    const bytes = Buffer.from('hello')
    expect(bytes.buffer.byteLength).toBeGreaterThan(5)
    return bytes
  }

  it.each<[string, (bytes: Buffer) => unknown, (arrived: never) => ArrayBufferView]>([
    ['alone', (bytes) => bytes, (arrived) => arrived],
    ['in a field', (bytes) => ({ bytes }), ({ bytes }: { bytes: Uint8Array }) => bytes],
    ['beside a date', (bytes) => ({ bytes, at: new Date() }), ({ bytes }: { bytes: Uint8Array }) => bytes],
    ['in an array beside a date', (bytes) => [new Date(), [bytes]], ([, [bytes]]: [Date, [Uint8Array]]) => bytes],
    ['in a map', (bytes) => new Map([['a', bytes]]), (map: Map<string, Uint8Array>) => map.get('a')!],
    ['as a key of a map', (bytes) => new Map([[bytes, 1]]), (map: Map<Uint8Array, 1>) => [...map.keys()][0]!],
    ['in a set', (bytes) => new Set([bytes]), (set: Set<Uint8Array>) => [...set][0]!],
    ['as another view', (b) => new DataView(b.buffer, b.byteOffset, 5), (view: DataView) => view],
    ['as signed bytes', (b) => new Int8Array(b.buffer, b.byteOffset, 5), (view: Int8Array) => view],
  ])('%s arrive without their neighbours (C026)', (_name, wrap, unwrap) => {
    const view = unwrap(roundTrip(wrap(pooled())) as never)
    expect(view.buffer.byteLength).toBe(5)
    expect(Buffer.from(view.buffer as ArrayBuffer).toString()).toBe('hello')
  })

  it('are copied and leave the pool whole (C026)', () => {
    const bytes = pooled()
    encodePayload(bytes)
    encodePayload({ bytes, at: new Date() })
    expect(bytes.toString()).toBe('hello')
    expect(Buffer.from('eA==', 'base64').toString()).toBe('x')
  })

  it('do not take the pool along when it is to be moved (C026)', () => {
    const bytes = pooled()
    const before = Buffer.from('before')
    let body: Body | undefined
    try {
      body = encodePayload(bytes, [bytes.buffer as ArrayBuffer])
    } catch (error) {
      expect(error).toMatchObject({ code: 'NotCloneable' })
    }
    expect([before, Buffer.from('eA==', 'base64'), bytes].map(String)).toEqual(['before', 'x', 'hello'])
    if (body !== undefined) expect(arrive(body)).toEqual([new Uint8Array(Buffer.from('hello'))])
  })
})

describe('a transferred buffer', () => {
  it('leaves the caller with nothing and arrives whole', () => {
    const bytes = new Uint8Array([1, 2, 3])
    const body = encodePayload({ bytes }, [bytes.buffer])
    expect(bytes.byteLength).toBe(0)
    expect(arrive(body)).toEqual([{ bytes: new Uint8Array([1, 2, 3]) }])
  })

  it('moves on with its column, among others', () => {
    const { buffer } = new Uint8Array([7])
    const bodies = [encodePayload(1), encodePayload({ buffer }, [buffer]), encodePayload(new Date(5))]
    expect(arrive(...bodies)).toEqual([1, { buffer: new Uint8Array([7]).buffer }, new Date(5)])
  })

  it('that is gone already is a refusal, and takes no other along', () => {
    const gone = new ArrayBuffer(4)
    structuredClone(gone, { transfer: [gone] })
    const whole = new ArrayBuffer(4)
    expect(refusal({ gone, whole }, [whole, gone]).code).toBe('NotCloneable')
    expect(whole.byteLength).toBe(4)
  })

  it('stays with the caller when the rest cannot be cloned', () => {
    const buffer = new ArrayBuffer(4)
    expect(refusal({ buffer, f() {} }, [buffer]).details).toMatchObject({ field: 'f' })
    expect(buffer.byteLength).toBe(4)
  })
})

describe('what cannot be cloned', () => {
  const ring: Record<string, unknown> = { list: [] }
  ring.self = ring
  ring.inner = { back: ring }
  ring.f = () => {}
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const detached = new Uint8Array(4)
  structuredClone(detached.buffer, { transfer: [detached.buffer] })

  it.each<[string, unknown, string, string]>([
    ['a function', () => {}, '', 'function'],
    ['a symbol', Symbol('s'), '', 'symbol'],
    ['a function in a field', { a: { b: () => {} } }, 'a.b', 'function'],
    ['a function in an array', { list: [1, { run() {} }] }, 'list[1].run', 'function'],
    ['a symbol in an array of arrays', [[0], [0, Symbol('s')]], '[1][1]', 'symbol'],
    ['a function in a map', { m: new Map([['k', { f() {} }]]) }, 'm.k.f', 'function'],
    ['a function under a key that is an object', new Map([[Object.create(null), () => {}]]), '<value>', 'function'],
    ['a function as a key', { m: new Map([[() => {}, 1]]) }, 'm.<key>', 'function'],
    ['a function in a set', { s: new Set([() => {}]) }, 's.<element>', 'function'],
    ['a function of a class instance', { e: Object.assign(new (class Job {})(), { f() {} }) }, 'e.f', 'function'],
    ['a promise', { p: Promise.resolve() }, 'p', 'Promise'],
    ['a WeakMap', [new WeakMap()], '[0]', 'WeakMap'],
    ['a proxy beside a date', { at: new Date(), p: new Proxy({}, {}) }, 'p', 'Proxy'],
    ['a revoked proxy', { p: proxy }, 'p', 'Proxy'],
    ['a detached array', { bytes: detached }, 'bytes', 'Uint8Array'],
    ['a ring with a function', ring, 'f', 'function'],
    ['an odd constructor', { constructor: { name: 1 }, f() {} }, 'f', 'function'],
    ['the last of many', { rows: [...Array(50_000).fill({ ok: 1 }), { bad() {} }] }, 'rows[50000].bad', 'function'],
  ])('%s is refused, and the field is named', (_name, value, field, kind) => {
    const error = refusal(value)
    expect(error).toMatchObject({ code: 'NotCloneable', details: { field, kind } })
    expect(error.message).toContain(field === '' ? `the payload itself (${kind})` : `field '${field}' (${kind})`)
    expect(error.message).toContain('could not be cloned: ')
  })

  it('a getter that throws is refused with its own words', () => {
    const value = {
      ok: 1,
      get bad(): never {
        throw new Error('no entry')
      },
    }
    expect(refusal({ value }).message).toBe("field 'value.bad' (a getter that throws) could not be cloned: no entry")
  })

  it('a nesting too deep for the platform is refused as well', () => {
    expect(refusal(nested(100_000, 1)).code).toBe('NotCloneable')
    expect(refusal(nested(500, () => {})).code).toBe('NotCloneable')
  })
})

describe('a column', () => {
  it('gives back any payloads in their order', () => {
    const payload = fc.oneof(fc.jsonValue(), fc.date({ noInvalidDate: true }), fc.bigInt(), fc.constant(undefined))
    fc.assert(
      fc.property(fc.array(payload), (values) => {
        expect(arrive(...values.map((value) => encodePayload(value)))).toStrictEqual(structuredClone(values))
      }),
    )
  })

  const kinds: readonly [string, unknown[]][] = [
    [
      'objects of the same fields',
      Array.from({ length: 20 }, (_, n) => ({ n, text: `t${n}`, on: n % 2 === 0, x: n / 3 })),
    ],
    [
      'objects with objects in them',
      Array.from({ length: 20 }, (_, n) => ({ n, at: { x: n, tags: ['a', n] }, none: null })),
    ],
    ['objects of the same fields in another order', [...Array(9).fill({ a: 1, b: 2 }), { b: 2, a: 1 }]],
    ['objects that lack a field, or have one more', [...Array(9).fill({ a: 1 }), { a: 1, b: 2 }, {}]],
    ['objects and others', [...Array(9).fill({ a: 1 }), [1], null, 'text', 5]],
    ['objects of no fields', Array(9).fill({})],
    [
      'fields with names of the language',
      Array.from({ length: 9 }, (_, n) => ({ constructor: n, toString: 'x', '': 1, 7: 2 })),
    ],
    ['a field named __proto__', Array.from({ length: 9 }, (_, n) => JSON.parse(`{"__proto__":${n},"a":1}`) as unknown)],
    ['many fields', Array(9).fill(Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`f${n}`, n])))],
    ['small byte arrays', Array.from({ length: 20 }, (_, n) => new Uint8Array(n).fill(n))],
    ['byte arrays, one of them large', [...Array(9).fill(new Uint8Array(3)), new Uint8Array(9000).fill(7)]],
    ['byte arrays and a date', [...Array(9).fill(new Uint8Array(3)), new Date(5)]],
  ]

  it.each(kinds)('gives back %s', (_, values) => {
    const arrived = arrive(...values.map((value) => encodePayload(value)))
    expect(arrived).toStrictEqual(structuredClone(values))
    for (const value of arrived) if (value instanceof Uint8Array) expect(value.buffer.byteLength).toBe(value.byteLength)
    arrived.forEach((value, index) => {
      if (typeof value === 'object' && value !== null) expect(Object.keys(value)).toEqual(Object.keys(values[index]!))
    })
  })

  it('gives back any objects of one shape', () => {
    const shape = fc.array(fc.string(), { minLength: 1, maxLength: 6 }).chain((names) =>
      fc.array(fc.record(Object.fromEntries(names.map((name) => [name, fc.jsonValue({ maxDepth: 2 })]))), {
        minLength: 8,
        maxLength: 20,
      }),
    )
    fc.assert(
      fc.property(shape, (values) => {
        expect(arrive(...values.map((value) => encodePayload(value)))).toStrictEqual(structuredClone(values))
      }),
    )
  })

  it('of texts alone has nothing beside them', () => {
    const builder = new BodyColumnBuilder()
    for (const value of [1, 'a', { b: 2 }]) builder.add(encodePayload(value))
    expect(builder.build()).toEqual({ text: '[1,"a",{"b":2}]' })
    expect(builder.transfer).toBeUndefined()
  })

  it('keeps null apart from nothing, and a getter that says something else each time away from its neighbours', () => {
    let looks = 0
    const cyclic: unknown[] = []
    cyclic.push(cyclic)
    const fickle = {
      get value(): unknown {
        return looks++ === 0 ? 1 : cyclic
      },
    }
    const bodies = [encodePayload(null), encodePayload(fickle), encodePayload(undefined), encodePayload([null])]
    const [first, second, third, fourth] = arrive(...bodies)
    expect([first, third, fourth]).toEqual([null, undefined, [null]])
    expect(second).toHaveProperty('value')
  })

  it('may be empty', () => {
    expect(arrive()).toEqual([])
  })

  it('is not needed to read a single body', () => {
    const body = encodePayload({ a: { b: 1 } })
    const read = decodeBody(body) as { a: { b: number } }
    read.a.b = 2
    expect(decodeBody(body)).toEqual({ a: { b: 1 } })
    expect(decodeBody(encodePayload(new Date(1)))).toEqual(new Date(1))
  })
})
