/** The table of errors, and anything thrown as plain data that crosses every boundary. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { describeError, ERRORS, type ErrorShape, HoltError, isErrorCode, reviveError } from '../../src/model/error.ts'

/** Described, after both boundaries: a structured clone must not throw, and JSON must change nothing. */
function described(thrown: unknown): ErrorShape {
  const shape = describeError(thrown)
  expect(structuredClone(shape)).toEqual(shape)
  expect(JSON.parse(JSON.stringify(shape))).toEqual(shape)
  return shape
}

/** A getter that throws, in place of a field. */
const hostile = (key: string): object => ({
  get [key](): never {
    throw new Error('no entry')
  },
})

describe('the table of errors', () => {
  it.each(Object.entries(ERRORS))('%s has a sentence, a status, an exit code', (_code, row) => {
    expect(row.text).toMatch(/^[A-Z`].+\.$/)
    expect(row.http).toBeGreaterThanOrEqual(400)
    expect(row.http).toBeLessThan(600)
    expect(row.exit).toBeGreaterThan(1)
    expect(row.exit).toBeLessThan(128)
    expect(row.retryable).toBeTypeOf('boolean')
  })

  it('knows its own codes and not those of objects in general', () => {
    expect(isErrorCode('Timeout')).toBe(true)
    for (const other of ['toString', '__proto__', 'ERR_WORKER_OUT_OF_MEMORY', '', 25, null, undefined]) {
      expect(isErrorCode(other)).toBe(false)
    }
  })
})

describe('anything thrown', () => {
  it.each<[string, unknown, Partial<ErrorShape>]>([
    ['null', null, { name: 'NonError', message: 'thrown value: null' }],
    ['undefined', undefined, { name: 'NonError', message: 'thrown value: undefined' }],
    ['a symbol', Symbol('lost'), { name: 'NonError', message: 'thrown value: Symbol(lost)' }],
    ['a text', 'no', { name: 'NonError', message: 'thrown value: no' }],
    ['a bigint', 12n, { name: 'NonError', message: 'thrown value: 12' }],
    ['a plain object', { a: 1 }, { name: 'NonError', message: 'thrown value: {"a":1}', data: { a: 1 } }],
    ['an object like an error', { name: 'Odd', message: 'odd' }, { name: 'Odd', message: 'odd' }],
    [
      'an object without a prototype',
      Object.assign(Object.create(null), { a: 1 }),
      { message: 'thrown value: {"a":1}' },
    ],
    ['an array', [1, 2], { message: 'thrown value: [1,2]' }],
    ['a frozen error', Object.freeze(new RangeError('cold')), { name: 'RangeError', message: 'cold' }],
    ['an error without a message', new Error(), { name: 'Error', message: '' }],
    [
      'an error whose message is no text',
      Object.assign(new Error(), { message: { a: 1 } }),
      { message: '[object Object]' },
    ],
    ['an error with a code that is a number', Object.assign(new Error('x'), { code: 25 }), { code: '25' }],
  ])('%s is plain data', (_name, thrown, expected) => {
    expect(described(thrown)).toMatchObject(expected)
  })

  it('a function is described by its text', () => {
    const shape = described(function broken() {})
    expect(shape).toMatchObject({ name: 'broken', message: expect.stringContaining('function broken') })
  })

  it.each(['name', 'message', 'stack', 'code', 'cause', 'extra'])(
    'a getter of %s that throws is told in its place',
    (key) => {
      const error = Object.defineProperty(new Error('whole'), key, {
        enumerable: true,
        get(): never {
          throw new Error('no entry')
        },
      })
      const text = JSON.stringify(described(error))
      expect(text).toContain(`[${key} threw: Error: no entry]`)
      if (key !== 'message') expect(text).toContain('whole')
    },
  )

  it('a revoked proxy and one that refuses everything still come out whole', () => {
    const { proxy, revoke } = Proxy.revocable(new Error('gone'), {})
    revoke()
    expect(described(proxy).message).toContain('revoked')
    const refuse = (): never => {
      throw new Error('refused')
    }
    const shape = described(new Proxy({}, { get: refuse, ownKeys: refuse, getPrototypeOf: refuse, has: refuse }))
    expect(shape.message).toContain('refused')
  })

  it('an error about something that could not be cloned keeps its text (C010)', () => {
    let caught: unknown
    try {
      structuredClone({ f() {} })
    } catch (error) {
      caught = error
    }
    expect(described(caught)).toMatchObject({
      name: 'DataCloneError',
      message: expect.stringContaining('could not be cloned'),
      code: '25',
    })
  })

  it('an error that carries a function and itself keeps its message (C011)', () => {
    const error = Object.assign(new Error('bad file'), { setErrno() {}, self: null as unknown })
    error.self = error
    const shape = described(error)
    expect(shape.message).toBe('bad file')
    expect(shape.data).toMatchObject({ setErrno: expect.stringContaining('setErrno'), self: 'Error: bad file' })
  })

  it('an error of a class keeps name, code, fields and cause (C013)', () => {
    class QuotaError extends Error {
      override name = 'QuotaError'
      code = 'E_QUOTA'
      details = { left: 0 }
    }
    const error = new QuotaError('used up', { cause: new TypeError('inner') })
    expect(described(error)).toMatchObject({
      name: 'QuotaError',
      message: 'used up',
      code: 'E_QUOTA',
      stack: expect.stringContaining('error.test'),
      data: { details: { left: 0 } },
      cause: { name: 'TypeError', message: 'inner' },
    })
  })

  it('circular, large and odd fields become bounded texts with a mark, and the others are kept (C127)', () => {
    const context: Record<string, unknown> = { step: 3, big: 10n, at: Symbol('here') }
    context.self = context
    const error = Object.assign(new Error('boom'), {
      context,
      table: Array.from({ length: 500_000 }, (_, i) => i),
      text: 'x'.repeat(1_000_000),
      ok: true,
      absent: null,
    })
    const { data } = described(error)
    expect(data).toMatchObject({
      context: { step: 3, big: '10', at: 'Symbol(here)', self: '[circular]' },
      ok: true,
      absent: null,
    })
    expect(String(data?.table)).toMatch(/^\[0,1,2.*…$/)
    expect(JSON.stringify(data).length).toBeLessThan(3 * 8192 + 1000)
  })

  it('a value that appears twice without a cycle is no cycle', () => {
    const shared = { n: 1 }
    expect(described(Object.assign(new Error('x'), { both: [shared, shared] })).data).toEqual({
      both: [{ n: 1 }, { n: 1 }],
    })
  })

  it('errors within fields keep their texts, and those of an AggregateError too', () => {
    const error = Object.assign(new AggregateError([new TypeError('one'), new RangeError('two')], 'all failed'), {
      last: { why: new Error('three') },
    })
    expect(described(error).data).toEqual({
      errors: ['TypeError: one', 'RangeError: two'],
      last: { why: 'Error: three' },
    })
  })

  it('a field that makes nothing of itself as JSON is null, one that throws says so', () => {
    const error = Object.assign(new Error('x'), {
      nothing: { toJSON: () => undefined },
      broken: {
        toJSON() {
          throw new Error('no')
        },
      },
      hostile: hostile('inner'),
    })
    const { data } = described(error)
    expect(data?.nothing).toBeNull()
    expect(data?.broken).toBe('[unreadable: Error: no]')
    expect(data?.hostile).toBe('[unreadable: Error: no entry]')
  })

  it('has at most sixteen fields and five links of causes, also when the chain is a ring', () => {
    const many = Object.assign(new Error('x'), Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`f${i}`, i])))
    expect(Object.keys(described(many).data ?? {})).toHaveLength(16)
    const ring = new Error('ring')
    ring.cause = ring
    let links = 0
    for (let at: ErrorShape | undefined = described(ring); at !== undefined; at = at.cause) links++
    expect(links).toBe(5)
  })

  it('of any kind never throws, is always whole and survives both boundaries', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withNullPrototype: true, withMap: true, withDate: true }),
        (value) => {
          for (const thrown of [value, Object.assign(new Error('x'), { value }), new Error('x', { cause: value })]) {
            const shape = describeError(thrown)
            expect(shape.name).toBeTypeOf('string')
            expect(shape.message).toBeTypeOf('string')
            structuredClone(shape)
            JSON.stringify(shape)
          }
        },
      ),
    )
  })
})

describe('an error that is revived', () => {
  it('is as it was: name, message, code, stack, fields and causes', () => {
    const error = Object.assign(new TypeError('bad', { cause: new RangeError('inner') }), { code: 'E_X', left: 0 })
    const revived = reviveError(structuredClone(describeError(error)))
    expect(revived).toBeInstanceOf(Error)
    expect(revived).toMatchObject({ name: 'TypeError', message: 'bad', code: 'E_X', left: 0, stack: error.stack })
    expect(revived.cause).toMatchObject({ name: 'RangeError', message: 'inner' })
    expect(String(revived)).toBe('TypeError: bad')
  })

  it('is one of our own with its details where it was', () => {
    const error = new HoltError('NoSuchAgent', "no agent 'x'", { nearest: 'y' }, new Error('why'))
    const revived = reviveError(describeError(error))
    expect(revived).toBeInstanceOf(HoltError)
    expect(revived).toMatchObject({ name: 'NoSuchAgent', code: 'NoSuchAgent', details: { nearest: 'y' } })
    expect(revived.cause).toMatchObject({ message: 'why' })
  })

  it('keeps what was added to one of our own', () => {
    const error = Object.assign(new HoltError('HandlerError', 'x', { a: 1 }), { fatal: true, deathId: 'd1' })
    expect(reviveError(describeError(error))).toMatchObject({ details: { a: 1 }, fatal: true, deathId: 'd1' })
  })

  it('takes bare fields for the details of one of our own', () => {
    const revived = reviveError({ name: 'Timeout', message: 'late', code: 'Timeout', data: { afterMs: 5 } })
    expect(revived).toMatchObject({ details: { afterMs: 5 } })
  })

  it('describes as the same shape again, any number of times', () => {
    const details = fc.dictionary(fc.string(), fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null)), {
      maxKeys: 5,
      noNullPrototype: true,
    })
    fc.assert(
      fc.property(fc.string(), details, fc.boolean(), (message, fields, ours) => {
        const error = ours ? new HoltError('Timeout', message, fields) : Object.assign(new Error(message), { fields })
        const once = describeError(error)
        expect(describeError(reviveError(once))).toEqual(once)
      }),
    )
  })
})
