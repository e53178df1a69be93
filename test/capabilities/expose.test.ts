import { once } from 'node:events'
import { type Endpoint, wrap } from 'comlink'
import { describe, expect, test } from 'vitest'
import { lendMethods, post, raw } from './loan.ts'

const methods = () => ({
  tokens: (text: string) => text.split(' '),
  erase: () => 'gone',
  fail: () => {
    throw Object.assign(new RangeError('too far', { cause: new TypeError('the root') }), { code: 'E_FAR', row: 3 })
  },
  live: () => ({ rows: [{ read: () => 1 }] }),
  never: () => new Promise(() => {}),
})

const errorOf = (answer: { value: unknown }): unknown => (answer.value as { isError: true; value: unknown }).value

describe('a loan', () => {
  test('answers a call of a granted method', async () => {
    const { far, loan, refusals } = lendMethods(methods(), ['tokens'])
    const message = { id: '1', type: 'APPLY', path: ['text', 'tokens'], argumentList: [raw('a b')] }
    expect(await post(far, message)).toEqual({ id: '1', type: 'RAW', value: ['a', 'b'] })
    expect(refusals).toEqual([])
    loan.close()
  })

  test('speaks to any Comlink on the other side', async () => {
    const { far, loan } = lendMethods(methods(), ['tokens', 'fail'])
    const remote = wrap(far as unknown as Endpoint) as unknown as {
      text: Record<keyof ReturnType<typeof methods>, (text?: string) => Promise<unknown>>
    }
    expect(await remote.text.tokens('a b')).toEqual(['a', 'b'])
    await expect(remote.text.fail()).rejects.toMatchObject({ name: 'RangeError', message: 'too far', code: 'E_FAR' })
    await expect(remote.text.erase()).rejects.toMatchObject({ code: 'NoSuchCapability' })
    loan.close()
  })

  const call = { type: 'APPLY', argumentList: [] }
  test.each<[string, object]>([
    ['SET of a granted method', { type: 'SET', path: ['text', 'tokens'], value: raw(1) }],
    ['SET of a new field', { type: 'SET', path: ['text', 'mine'], value: raw(1) }],
    ['SET of a capability', { type: 'SET', path: ['text'], value: raw(1) }],
    ['SET through __proto__', { type: 'SET', path: ['__proto__', 'polluted'], value: raw(1) }],
    ['GET of a method', { type: 'GET', path: ['text', 'tokens'] }],
    ['GET of Function', { type: 'GET', path: ['text', 'tokens', 'constructor'] }],
    ['GET of the root', { type: 'GET', path: [] }],
    ['APPLY of Function', { ...call, path: ['text', 'tokens', 'constructor'], argumentList: [raw('return process')] }],
    ['APPLY of call', { ...call, path: ['text', 'tokens', 'call'] }],
    ['APPLY of __proto__', { ...call, path: ['__proto__', 'toString'] }],
    ['APPLY of an inherited method', { ...call, path: ['text', 'toString'] }],
    ['APPLY of an ungranted method', { ...call, path: ['text', 'erase'] }],
    ['APPLY of another capability', { ...call, path: ['disk', 'erase'] }],
    ['APPLY of a capability', { ...call, path: ['text'] }],
    ['APPLY without a path', call],
    ['APPLY with a path that is no list', { ...call, path: 'text.tokens' }],
    ['APPLY with a path of objects', { ...call, path: [{ toString: 1 }, { valueOf: 1 }] }],
    ['CONSTRUCT of a granted method', { type: 'CONSTRUCT', path: ['text', 'tokens'], argumentList: [] }],
    ['ENDPOINT', { type: 'ENDPOINT' }],
    ['an unknown type', { type: 'EVAL', path: ['text', 'tokens'] }],
    ['a type that is an object', { type: { toString: 1 }, path: ['text', 'tokens'] }],
  ])('refuses and counts %s', async (_what, message) => {
    const lent = methods()
    const before = { ...lent }
    const { far, loan, refusals } = lendMethods(lent, ['tokens'])
    const answer = await post(far, { id: 'attack', ...message })
    expect(answer).toMatchObject({ id: 'attack', type: 'HANDLER', name: 'throw' })
    expect(errorOf(answer)).toMatchObject({ code: 'NoSuchCapability' })
    expect(refusals).toMatchObject([{ agent: 'librarian', code: 'NoSuchCapability' }])
    expect(lent).toEqual(before)
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
    expect(await post(far, { id: '2', ...call, path: ['text', 'tokens'], argumentList: [raw('still here')] })).toEqual({
      id: '2',
      type: 'RAW',
      value: ['still', 'here'],
    })
    loan.close()
  })

  test.each([
    ['a transfer handler that does not exist', [{ type: 'HANDLER', name: 'nope', value: 1 }]],
    ['a thrown value', [{ type: 'HANDLER', name: 'throw', value: { isError: false, value: 1 } }]],
    ['nothing', [null]],
    ['a list that is none', 'abc'],
    ['no list', undefined],
  ])('refuses arguments that are %s', async (_what, argumentList) => {
    const { far, loan, refusals } = lendMethods(methods(), ['tokens'])
    const answer = await post(far, { id: '1', type: 'APPLY', path: ['text', 'tokens'], argumentList })
    expect(errorOf(answer)).toMatchObject({ code: 'InvalidInput' })
    expect(refusals).toHaveLength(1)
    loan.close()
  })

  test('counts what is no message and answers nobody', async () => {
    const { far, loan, refusals } = lendMethods(methods(), ['tokens'])
    for (const message of [null, 0, 'APPLY', { type: 'APPLY', path: ['text', 'tokens'] }, { id: 7, type: 'GET' }]) {
      far.postMessage(message)
    }
    const answer = await post(far, { id: '1', type: 'APPLY', path: ['text', 'tokens'], argumentList: [raw('a')] })
    expect(answer.id).toBe('1')
    expect(refusals.map(({ code }) => code)).toEqual(Array(5).fill('InvalidInput'))
    loan.close()
  })

  test('refuses an instance that has been replaced', async () => {
    const { far, loan, refusals, instance } = lendMethods(methods(), ['tokens'])
    instance.current = false
    const answer = await post(far, { id: '1', type: 'APPLY', path: ['text', 'tokens'], argumentList: [raw('a')] })
    expect(errorOf(answer)).toMatchObject({ code: 'StaleEpoch', message: expect.stringContaining('librarian') })
    expect(refusals).toEqual([{ agent: 'librarian', code: 'StaleEpoch', what: 'APPLY text.tokens' }])
    loan.close()
  })

  test('lets an error cross with name, code, fields and cause', async () => {
    const { far, loan } = lendMethods(methods(), ['fail'])
    const answer = await post(far, { id: '1', type: 'APPLY', path: ['text', 'fail'], argumentList: [] })
    expect(errorOf(answer)).toMatchObject({
      name: 'RangeError',
      message: 'too far',
      code: 'E_FAR',
      data: { row: 3 },
      cause: { name: 'TypeError', message: 'the root' },
    })
    loan.close()
  })

  test('rejects a call whose result cannot be copied, naming method and field', async () => {
    const { far, loan } = lendMethods(methods(), ['live'])
    const answer = await post(far, { id: '1', type: 'APPLY', path: ['text', 'live'], argumentList: [] })
    expect(errorOf(answer)).toMatchObject({
      code: 'NotCloneable',
      message: expect.stringMatching(/result of text\.live .*'rows\[0\]\.read'/),
    })
    expect(loan.pending).toBe(0)
    loan.close()
  })

  test('keeps nothing after it was closed, not even a call that never ends', async () => {
    const { far, near, loan } = lendMethods(methods(), ['never'])
    far.postMessage({ id: '1', type: 'APPLY', path: ['text', 'never'], argumentList: [] })
    await post(far, { id: '2', type: 'GET' })
    expect(loan.pending).toBe(1)
    const ended = once(far, 'close')
    loan.close()
    loan.close()
    await ended
    expect(loan.pending).toBe(0)
    for (const event of ['message', 'messageerror', 'close']) expect(near.listenerCount(event)).toBe(0)
  })

  test('ends when the far side goes or releases it', async () => {
    const gone = lendMethods(methods(), ['never'])
    gone.far.close()
    await once(gone.near, 'close')
    expect(gone.near.listenerCount('message')).toBe(0)

    const released = lendMethods(methods(), ['never'])
    const ended = once(released.far, 'close')
    expect(await post(released.far, { id: '1', type: 'RELEASE' })).toMatchObject({ id: '1' })
    await ended
    expect(released.near.listenerCount('message')).toBe(0)
  })
})
