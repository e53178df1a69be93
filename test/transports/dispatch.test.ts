/** How an operation is found, and how whatever was thrown becomes an answer. */
import { describe, expect, it } from 'vitest'
import { ERRORS, type ErrorCode, HoltError } from '../../src/model/error.ts'
import { answerError, find } from '../../src/transports/dispatch.ts'
import { handlerError } from '../../src/transports/handler-error.ts'
import { OPERATIONS } from '../../src/transports/operations.ts'

describe('find', () => {
  it('finds every operation', () => {
    for (const operation of OPERATIONS) expect(find(operation.name)).toBe(operation)
  })

  it('names the nearest of one there is not', () => {
    expect(() => find('puase')).toThrow(
      expect.objectContaining({
        code: 'NoSuchOperation',
        message: "there is no operation 'puase'. Did you mean 'pause'?",
        details: { operation: 'puase', nearest: 'pause' },
      }),
    )
  })

  it.each(['constructor', '__proto__', '', 'entirely-different'])("lists them all for '%s'", (name) => {
    expect(() => find(name)).toThrow(/^there is no operation '.*'\. Operations: summary, status/)
  })
})

describe('answerError', () => {
  it('keeps an error of the table', () => {
    const details = { phase: 'PAUSED', valid: ['resume'] }
    expect(answerError(new HoltError('InvalidCommand', 'no', details))).toEqual({
      code: 'InvalidCommand',
      message: 'no',
      details,
    })
    for (const code of Object.keys(ERRORS) as ErrorCode[])
      expect(answerError(new HoltError(code, 'text'))).toEqual({ code, message: 'text', details: {} })
  })

  it('makes its details plain data', () => {
    const details: Record<string, unknown> = { at: new Date(0), big: 1n, call: () => 1, of: new Map([['a', 1]]) }
    details['self'] = details
    const answer = answerError(new HoltError('Timeout', 'late', details))
    expect(answer.details).toEqual({ at: '1970-01-01T00:00:00.000Z', big: '1', of: { a: 1 }, self: '[circular]' })
    expect(JSON.parse(JSON.stringify(answer))).toEqual(answer)
  })

  it.each([
    ['an error', new TypeError('x is not a function'), 'x is not a function', 'TypeError'],
    ['a text', 'thrown', 'thrown value: thrown', 'NonError'],
    ['nothing', null, 'thrown value: null', 'NonError'],
  ])('answers Internal for %s, without a stack', (_what, thrown, message, name) => {
    expect(answerError(thrown)).toEqual({ code: 'Internal', message, details: { name } })
  })
})

describe('handlerError', () => {
  it('leaves an error of the table as it is', () => {
    const error = new HoltError('AgentDied', 'gone')
    expect(handlerError(error)).toBe(error)
  })

  it("has the handler's own code, fields and causes, and no stack at any depth", () => {
    const own = Object.assign(new Error('no', { cause: new Error('because') }), { code: 'NOT_FOUND', row: 7 })
    const answer = answerError(handlerError(own))
    expect(answer).toEqual({
      code: 'HandlerError',
      message: 'no',
      details: {
        error: {
          name: 'Error',
          message: 'no',
          code: 'NOT_FOUND',
          data: { row: 7 },
          cause: { name: 'Error', message: 'because' },
        },
      },
    })
  })
})
