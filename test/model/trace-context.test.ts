/** `traceparent` as the W3C writes it: what is read, what is ignored, and what is handed on. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkedTraceparent, readTraceparent, writeTraceparent } from '../../src/model/trace-context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length })
const id = (length: number) => hex(length).filter((text) => /[^0]/.test(text))

describe('a traceparent', () => {
  it('is read into its parts', () => {
    expect(readTraceparent(`00-${TRACE}-${SPAN}-01`)).toEqual({ traceId: TRACE, spanId: SPAN, flags: 1 })
    expect(readTraceparent(`00-${TRACE}-${SPAN}-fe`)).toMatchObject({ flags: 0xfe })
  })

  it('of a later version is handed on in this one, without what this one does not know', () => {
    expect(checkedTraceparent(`cc-${TRACE}-${SPAN}-03`)).toBe(`00-${TRACE}-${SPAN}-01`)
    expect(checkedTraceparent(`cc-${TRACE}-${SPAN}-00-what-comes-then`)).toBe(`00-${TRACE}-${SPAN}-00`)
  })

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['no text', 7],
    ['an object that looks like one', { toString: () => `00-${TRACE}-${SPAN}-01` }],
    ['an empty text', ''],
    ['version ff', `ff-${TRACE}-${SPAN}-01`],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['upper case', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['a trace that is short', `00-${TRACE.slice(1)}-${SPAN}-01`],
    ['no flags', `00-${TRACE}-${SPAN}`],
    ['flags of one digit', `00-${TRACE}-${SPAN}-1`],
    ['more than version 00 has', `00-${TRACE}-${SPAN}-01-more`],
    ['a later version that runs on without a dash', `cc-${TRACE}-${SPAN}-01more`],
    ['space around it', ` 00-${TRACE}-${SPAN}-01`],
    ['a line end', `00-${TRACE}-${SPAN}-01\n`],
    ['a text without end', `cc-${TRACE}-${SPAN}-01-${'x'.repeat(100_000)}`],
  ])('that is %s is ignored', (_, given) => {
    expect(readTraceparent(given)).toBeUndefined()
    expect(checkedTraceparent(given)).toBeUndefined()
  })

  it('of any ids and flags comes out as it went in', () => {
    fc.assert(
      fc.property(id(32), id(16), hex(2), (traceId, spanId, flags) => {
        const text = `00-${traceId}-${spanId}-${flags}`
        expect(checkedTraceparent(text)).toBe(text)
        expect(writeTraceparent(readTraceparent(text)!)).toBe(text)
      }),
    )
  })

  it('that is any text is read or ignored, and never throws', () => {
    fc.assert(fc.property(fc.anything(), (given) => void checkedTraceparent(given)))
  })
})
