/** From arguments and options to a checked input: the whole matrix of what can be given, and how each fault is told. */
import { describe, expect, it } from 'vitest'
import { bindArgs, parseInput } from '../../src/transports/bind.ts'
import { find } from '../../src/transports/dispatch.ts'

const bound = (name: string, args: readonly unknown[], opts = {}): unknown => bindArgs(find(name), args, opts)
const parsed = (name: string, input: unknown): unknown => parseInput(find(name), input)

describe('bindArgs', () => {
  it.each([
    ['status', [], {}, {}],
    ['get', ['hand'], {}, { id: 'hand' }],
    ['get', [], { id: 'hand' }, { id: 'hand' }],
    ['deaths', [], {}, {}],
    ['deaths', ['hand'], {}, { id: 'hand' }],
    ['pause', ['hand'], { now: true, reason: 'x' }, { id: 'hand', now: true, reason: 'x' }],
    ['pause', ['hand'], { now: undefined }, { id: 'hand' }],
    ['emit', ['hand', 'add'], {}, { id: 'hand', event: 'add' }],
    ['emit', ['hand', 'add', { n: 1 }], { ttlMs: 5 }, { id: 'hand', event: 'add', payload: { n: 1 }, ttlMs: 5 }],
    ['emit', ['hand', 'add', null], {}, { id: 'hand', event: 'add', payload: null }],
    ['emit', ['hand', 'add', undefined], {}, { id: 'hand', event: 'add' }],
    ['emit', ['hand', undefined], { event: 'add' }, { id: 'hand', event: 'add' }],
    ['get', [7], { other: 1 }, { id: 7, other: 1 }],
  ])('%s %j %j', (name, args, opts, input) => {
    expect(bound(name, args, opts)).toEqual(input)
  })

  it('refuses more arguments than there are, with the usage', () => {
    expect(() => bound('get', ['hand', 'again'])).toThrow(
      expect.objectContaining({
        code: 'InvalidInput',
        message: 'get: expected 1 at most (id), found 2. Usage: get ID',
      }),
    )
    expect(() => bound('status', ['hand'])).toThrow('status: expected no arguments, found 1. Usage: status')
  })

  it('refuses what is given twice', () => {
    expect(() => bound('get', ['hand'], { id: 'hand' })).toThrow('id: given twice, as an argument and as an option')
  })
})

describe('parseInput', () => {
  it('hands on what fits, without defaults and without change', () => {
    const payload = { n: [1, { deep: null }] }
    expect(parsed('emit', { id: 'hand', event: 'add', payload })).toEqual({ id: 'hand', event: 'add', payload })
    expect(parsed('ask', { id: 'hand', command: 'total' })).toEqual({ id: 'hand', command: 'total' })
    expect(parsed('get', { id: 'no such agent, but a text' })).toEqual({ id: 'no such agent, but a text' })
  })

  it.each([
    [
      'pause',
      {},
      'pause: id: expected string, found nothing. Usage: pause ID [--reason TEXT] [--if-generation N] [--dry-run] [--now]',
    ],
    ['pause', { id: 7 }, 'pause: id: expected string, found 7.'],
    ['pause', { id: 'hand', now: 'yes' }, "now: expected boolean, found 'yes'."],
    ['pause', { id: 'hand', nwo: true }, "nwo: there is no such field; did you mean 'now'?"],
    ['status', { all: true }, 'all: there is no such field; expected one of none.'],
    ['emit', { id: 'hand', event: '' }, "event: Too small: expected string to have >=1 characters, found ''."],
    ['emit', { id: [], event: 'add' }, 'id: expected string, found a list.'],
    ['ask', { id: 'hand', command: 'x', timeoutMs: 0 }, 'timeoutMs: Too small: expected number to be >0, found 0.'],
    ['ask', { id: 'hand', command: 'x', timeoutMs: 2 ** 31 }, 'timeoutMs: Too big: expected number to be <=2147483647'],
    ['ask', { id: {}, command: 1 }, 'id: expected string, found an object; command: expected string, found 1.'],
    ['get', null, 'get: input: expected object, found null.'],
    ['get', 'hand', "get: input: expected object, found 'hand'."],
    ['get', ['hand'], 'get: input: expected object, found a list.'],
  ])('%s %j is refused', (name, input, message) => {
    expect(() => parsed(name, input)).toThrow(
      expect.objectContaining({ code: 'InvalidInput', message: expect.stringContaining(message) }),
    )
  })

  it('names every field that is wrong in its details', () => {
    expect(() => parsed('emit', { event: 1 })).toThrow(
      expect.objectContaining({
        details: {
          operation: 'emit',
          faults: ['id: expected string, found nothing', 'event: expected string, found 1'],
          usage: 'emit ID EVENT [JSON] [--ttl-ms N] [--dry-run]',
        },
      }),
    )
  })

  it('is not led astray by names that every object has', () => {
    const input: unknown = JSON.parse('{ "id": "hand", "__proto__": { "now": true }, "constructor": 1 }')
    expect(() => parsed('stop', input)).toThrow('constructor: there is no such field')
    expect(bound('stop', ['hand'], JSON.parse('{ "__proto__": 1 }') as object)).not.toHaveProperty('now')
  })
})
