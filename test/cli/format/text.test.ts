import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clean, cut, pad, widthOf, wrap } from '../../../src/cli/format/text.ts'

describe('clean', () => {
  it('leaves what can be seen as it is', () => {
    expect(clean('agents/reader: 3 × “read” — 本')).toBe('agents/reader: 3 × “read” — 本')
  })

  it('spells out what would act on the terminal or hide what follows', () => {
    expect(clean('\u001b[2J\u0007')).toBe('\\u001b[2J\\u0007')
    expect(clean('one\ntwo\tthree\r')).toBe('one\\ntwo three\\u000d')
    expect(clean('a\u202egnp.exe\u200b')).toBe('a\\u202egnp.exe\\u200b')
    expect(clean('\u009b31m')).toBe('\\u009b31m')
  })

  it('leaves no control character of any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => !/\p{Cc}/u.test(clean(text))))
  })
})

describe('width', () => {
  it('counts columns, not characters', () => {
    expect(widthOf('reader')).toBe(6)
    expect(widthOf('本の虫')).toBe(6)
    expect(widthOf('🦦')).toBe(2)
    expect(widthOf('e\u0301')).toBe(1)
  })

  it('is kept by a cut, which ends in an ellipsis', () => {
    expect(cut('librarian', 9)).toBe('librarian')
    expect(cut('librarian', 8)).toBe('librari…')
    expect(cut('本の虫', 4)).toBe('本…')
    expect(cut('librarian', 1)).toBe('…')
    expect(cut('librarian', 0)).toBe('')
  })

  it('is filled by a pad, to the left or to the right', () => {
    expect(pad('本', 4)).toBe('本  ')
    expect(pad('12', 4, true)).toBe('  12')
    expect(pad('librarian', 4)).toBe('librarian')
  })

  it('is never more than a cut was asked for', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(30), (text, width) => widthOf(cut(text, width)) <= width),
    )
  })
})

describe('wrap', () => {
  it('breaks between words, with an indent of its own for the first line', () => {
    expect(wrap('it died while a message was in flight', 20, '  ', '- ')).toEqual([
      '- it died while a',
      '  message was in',
      '  flight',
    ])
  })

  it('cuts a word that is longer than a line in pieces', () => {
    expect(wrap('see /a/very/long/path now', 10)).toEqual(['see', '/a/very/lo', 'ng/path', 'now'])
  })

  it('has no line wider than it may be, and loses nothing', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z本]{1,25}$/)), fc.integer({ min: 6, max: 40 }), (words, width) => {
        const lines = wrap(words.join(' '), width, '  ', '')
        expect(lines.every((line) => widthOf(line) <= width)).toBe(true)
        expect(lines.join('').replaceAll(' ', '')).toBe(words.join(''))
      }),
    )
  })
})
