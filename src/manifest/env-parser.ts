/**
 * The grammar of a `.env` file: a scanner over its text that yields names and values, or the line that does not fit.
 * Called by env.ts. What it refuses it never quotes, since any part of a broken line may be a secret.
 */
import type { Finding } from './fault.ts'

export interface Entry {
  readonly name: string
  readonly value: string
}

export interface BadLine extends Finding {
  /** From 1. */
  readonly line: number
}

export interface EnvText {
  readonly entries: readonly Entry[]
  readonly bad: readonly BadLine[]
}

const BLANK = /^[ \t]*(?:#.*)?$/
// Blanks after the sign stay with the rest: they decide whether a `#` begins a comment.
const ASSIGNMENT = /^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=(.*)$/
const QUOTED = /^[ \t]*["'`]/
const COMMENT = /[ \t]#.*$/

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['\\', '\\'],
  ['"', '"'],
  ['$', '$'],
])

/** Unknown escapes stay as written. */
const unescaped = (text: string): string => text.replaceAll(/\\([\s\S])/g, (both, c: string) => ESCAPES.get(c) ?? both)

/** Where the quote that opened before `from` ends, or -1. Only double quotes know escapes. */
function endOf(text: string, quote: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    if (text[i] === '\\' && quote === '"') i++
    else if (text[i] === quote) return i
  }
  return -1
}

type Quoted = { readonly end: number } & ({ readonly value: string } | Finding)

/** A value in quotes, which may run over several lines; it opens at `open`, and what follows `end` is read next. */
function quotedValue(text: string, open: number): Quoted {
  const quote = text.charAt(open)
  const end = endOf(text, quote, open + 1)
  if (end === -1) return { end: text.length, expected: `a closing ${quote}`, found: 'the end of the file' }
  if (!BLANK.test(text.slice(end + 1, lineEnd(text, end)))) {
    const hint = quote === '"' ? 'write \\" for a quote inside double quotes' : 'use another kind of quotes'
    return { end, expected: 'nothing but a comment after the closing quote', found: 'more text', hint }
  }
  const inner = text.slice(open + 1, end)
  return { value: quote === '"' ? unescaped(inner) : inner, end }
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

const newlinesIn = (text: string): number => text.split('\n').length - 1

export function parseEnvText(source: string): EnvText {
  const text = source.replaceAll(/\r\n?/g, '\n')
  const entries: Entry[] = []
  const bad: BadLine[] = []
  let next = 0
  for (let start = 0, line = 1; start < text.length; start = next + 1, line++) {
    next = lineEnd(text, start)
    const content = text.slice(start, next)
    if (BLANK.test(content)) continue
    const [, name, rest] = ASSIGNMENT.exec(content) ?? []
    if (name === undefined || rest === undefined) {
      const found = content.includes('=') ? 'a name that is none' : 'a line without ='
      bad.push({ line, expected: 'NAME=value, a comment or an empty line', found })
    } else if (!QUOTED.test(rest)) {
      entries.push({ name, value: rest.replace(COMMENT, '').trim() })
    } else {
      const { end, ...value } = quotedValue(text, next - rest.trimStart().length)
      if ('value' in value) entries.push({ name, value: value.value })
      else bad.push({ line, ...value })
      next = lineEnd(text, end)
      line += newlinesIn(text.slice(start, end))
    }
  }
  return { entries, bad }
}
