import { describe, expect, test } from 'vitest'
import { readMarkdown } from '../../../examples/librarian/agents/reader/markdown.ts'

const textOf = (source: string): string => readMarkdown(source).text
const titleOf = (source: string): string | null => readMarkdown(source).title

describe('text', () => {
  test.each([
    ['emphasis', '*a* **b** _c_ __d__ ~~e~~ ***f***', 'a b c d e f'],
    ['underscores within a name', 'one_for_one and _one_', 'one_for_one and one'],
    ['links', 'see [the docs](https://x.example/a?b=c "t") and [that][ref]', 'see the docs and that'],
    ['a link with code for a text', '[`emit`](#emit) waits', 'emit waits'],
    ['link definitions', 'a\n\n[ref]: https://x.example', 'a'],
    ['badges', '[![build](https://x.example/b.svg)](https://x.example)', 'build'],
    ['autolinks', 'at <https://x.example> now', 'at now'],
    ['HTML', '<p align="center">one<br/>two</p><!-- not\nthis -->', 'one two'],
    ['a comment that never ends', 'one <!-- two', 'one'],
    ['code spans', 'a `Map<string, number>` and `<!--`.', 'a Map<string, number> and <!--.'],
    ['headings', '## Two ##\n\nUnder\n-----', 'Two\n\nUnder'],
    ['lists and tasks', '- a\n* b\n+ [x] c\n10. d', 'a\nb\nc\nd'],
    ['quotes', '> a\n> > b', 'a\nb'],
    ['rules', 'a\n\n* * *\n\nb', 'a\n\nb'],
    ['tables', '| a | b |\n|---|:-:|\n| c | d |', 'a b\n\n c d'],
    ['entities, once', '&lt;b&gt; &amp;lt; &quot;q&quot;&nbsp;&#39;', '<b> &lt; "q" \''],
    ['escapes', '\\*not\\* emphasis', '*not* emphasis'],
    ['Windows line ends', 'a\r\nb\r\n', 'a\nb'],
  ])('%s', (_, source, text) => {
    expect(textOf(source).replace(/ /g, ' ')).toBe(text)
  })

  test('code in fences stays as it is, and a fence of more marks holds one of fewer', () => {
    expect(textOf('a\n```ts\nx[0](**y**) // <b>\n```\n*b*')).toBe('a\nx[0](**y**) // <b>\nb')
    expect(textOf('````md\n```js\n*c*\n```\n````\n*d*')).toBe('```js\n*c*\n```\nd')
    expect(textOf('~~~\n# no title\n~~~')).toBe('# no title')
    expect(textOf('```\nnever *closed*')).toBe('never *closed*')
  })

  test('front matter is dropped; a rule at the top is none', () => {
    expect(textOf('---\ntitle: T\ntags: [a]\n---\nbody')).toBe('body')
    expect(textOf('---\n\nprose here\n\n---\n\nmore')).toBe('prose here\n\nmore')
  })

  test('of an empty document is empty', () => {
    expect(readMarkdown('')).toEqual({ title: null, text: '' })
  })

  test.each(['<!--', '[', '![a](', '<a', '# ', '`', '_ ', '> ', '---\na:\n', '<h1>', '\n \n'])(
    'takes no time that grows with the square of the length: %j',
    (hostile) => {
      const ms = (count: number): number => {
        const from = performance.now()
        readMarkdown(hostile.repeat(count))
        return performance.now() - from
      }
      ms(1000)
      // Sixteen times the length: linear is 16, square is 256; the constant is for a busy machine.
      expect(ms(16_000)).toBeLessThan(64 * ms(1000) + 100)
    },
  )
})

describe('title', () => {
  test.each([
    ['the front matter comes first', '---\ntitle: "Of matter"\n---\n# Heading', 'Of matter'],
    ['a first-level heading', '## Two\n\n# The *first* `one` #', 'The first one'],
    ['an HTML heading', '<h1 align="center">\n  <img alt="x">\n  Big\n</h1>\n\n## Two', 'Big'],
    ['an underlined heading', 'Under\n=====\n', 'Under'],
    ['any heading', 'text\n\n### Third', 'Third'],
    ['a heading with a link', '# [Linked](https://x.example)', 'Linked'],
    ['a comment in code is no heading', '```sh\n# install\n```\n', null],
    ['none', 'just text', null],
  ])('%s', (_, source, title) => {
    expect(titleOf(source)).toBe(title)
  })
})
