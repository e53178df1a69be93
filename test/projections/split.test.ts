/** JSON text in pieces: its documents one by one, and never more than one of them held. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DocumentSplitter } from '../../src/projections/split.ts'

const runs = Number(process.env['HOLT_FUZZ_RUNS'] ?? 300)

function split(pieces: readonly string[], lists: readonly string[] = ['items'], max?: number): string[] {
  const splitter = new DocumentSplitter(lists, max)
  return [...pieces.flatMap((piece) => [...splitter.push(piece)]), ...splitter.end()]
}
const values = (pieces: readonly string[], lists?: readonly string[]): unknown[] =>
  split(pieces, lists).map((text) => JSON.parse(text))

describe('documents', () => {
  it.each([
    ['a list', '[{"a":1}, {"a":2}]', [{ a: 1 }, { a: 2 }]],
    ['a list that is empty', ' [ ] ', []],
    ['a list with all kinds of values', '[1, "a,]", null, [2, 3], {"b":[4]}]', [1, 'a,]', null, [2, 3], { b: [4] }]],
    ['items', '{"apiVersion":"v1","items":[{"a":1},{"a":2}],"kind":"List"}', [{ a: 1 }, { a: 2 }]],
    ['items that are none', '{"kind":"List","items":[]}', []],
    ['items within something else', '{"spec":{"items":[1,2]}}', [{ spec: { items: [1, 2] } }]],
    ['items as a text', '{"a":"items","b":[1]}', [{ a: 'items', b: [1] }]],
    ['items that are no list', '{"items":{"a":1}}', [{ items: { a: 1 } }]],
    ['one document', '{"a":{"b":"}\\""}}', [{ a: { b: '}"' } }]],
    ['lines', '{"a":1}\n{"a":2}\r\n\n{"a":3}', [{ a: 1 }, { a: 2 }, { a: 3 }]],
    ['documents without anything between', '{"a":1}{"a":2}[{"a":3}]', [{ a: 1 }, { a: 2 }, { a: 3 }]],
  ])('of %s', (_, text, expected) => {
    expect(values([text])).toEqual(expected)
    // Wherever the pieces are cut.
    expect(values([...text])).toEqual(expected)
  })

  it('of two lists in one answer', () => {
    expect(values(['{"tasks":[{"a":1}],"failures":[{"b":2}]}'], ['tasks', 'failures'])).toEqual([{ a: 1 }, { b: 2 }])
  })

  it('are those of JSON.parse, however the text is laid out and cut', () => {
    const lists = fc.array(fc.jsonValue({ maxDepth: 4 }))
    fc.assert(
      fc.property(lists, fc.constantFrom(undefined, 2), fc.integer({ min: 1, max: 9 }), (list, indent, size) => {
        for (const [whole, expected] of [
          [JSON.stringify(list, null, indent), list],
          [JSON.stringify({ kind: 'List', items: list, metadata: { items: [1] } }, null, indent), list],
        ] as const) {
          const pieces = whole.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
          expect(values(pieces)).toEqual(JSON.parse(JSON.stringify(expected)))
        }
      }),
      { numRuns: runs },
    )
  })

  it('never throw anything but an error that says what was expected, whatever the text', () => {
    const text = fc.oneof(fc.string(), fc.stringMatching(/^[[\]{}",:\\a1 \n]*$/))
    fc.assert(
      fc.property(text, (any) => {
        try {
          split([any], ['items'], 64)
        } catch (error) {
          expect(error).toMatchObject({ code: expect.stringMatching(/^(?:InvalidInput|TooLarge)$/) })
          expect((error as Error).message).toMatch(/^expected .*, found /)
        }
      }),
      { numRuns: runs },
    )
  })
})

describe('a text that is none', () => {
  it.each([
    ['nothing', '', /found nothing/],
    ['blanks', ' \n', /found nothing/],
    ['YAML', 'apiVersion: v1\nkind: Pod', /begins with 'a'/],
    ['a bare value', '42', /begins with '4'/],
    ['UTF-16', new TextDecoder().decode(new Uint8Array([0xff, 0xfe, 0x7b, 0])), /no UTF-8 text/],
    ['half a document', '{"a":', /cut off/],
    ['half a list', '[{"a":1},', /cut off/],
    ['half a text', '["a', /cut off/],
  ])('as %s is refused', (_, text, message) => {
    expect(() => split([text])).toThrow(message)
  })

  it('in the middle of lines is told as it is', () => {
    expect(split(['{"a":1}\ntime="x" level=warning\n{"a":2}\nend'])).toEqual([
      '{"a":1}',
      'time="x" level=warning',
      '{"a":2}',
      'end',
    ])
  })
})

describe('memory', () => {
  it('is bounded by one document: a larger one is refused, in one piece and in many', () => {
    const large = `[{"a":"${'x'.repeat(1000)}"}]`
    expect(() => split([large], [], 500)).toThrow(/at most .* found one that is larger/)
    expect(() => split([...large], [], 500)).toThrow(/larger/)
    expect(split([large], [], 2000)).toHaveLength(1)
  })

  it('does not grow with the list', () => {
    const splitter = new DocumentSplitter(['items'], 200)
    const count = 20_000
    let seen = 0
    for (const piece of [
      '{"kind":"List","items":[',
      ...Array.from({ length: count }, (_, n) => `${n === 0 ? '' : ','}{"n":${n}}`),
    ])
      for (const _ of splitter.push(piece)) seen++
    // The last one may still go on.
    expect(seen).toBe(count - 1)
    expect([...splitter.push(']}'), ...splitter.end()]).toEqual([`{"n":${count - 1}}`])
  })
})
