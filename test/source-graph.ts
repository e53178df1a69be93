/**
 * Source text as data: what each file of `src/` imports, and its code without comments and texts. A scanner of forty
 * lines and no compiler; `architecture.test.ts` holds its arrows against those the bundler sees.
 */
import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))

export interface Import {
  /** As written. */
  readonly specifier: string
  /** `import type` or `export type`: nothing is left of it at run time. */
  readonly typeOnly: boolean
  readonly dynamic: boolean
}

export interface SourceFile {
  /** Relative to `src/`, with `/`. */
  readonly path: string
  readonly text: string
  /** Comments blanked. */
  readonly bare: string
  /** Comments and the insides of texts blanked. */
  readonly code: string
  readonly imports: readonly Import[]
}

/** After one of these a slash begins a regular expression. */
const BEFORE_REGEX = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of))\s*$/

interface Span {
  readonly end: number
  readonly kind: 'comment' | 'text' | 'other'
}

/** Where what begins at `at` ends: a comment, a text, a regular expression, or one character. */
function spanAt(text: string, at: number): Span {
  const two = text.slice(at, at + 2)
  const until = (mark: string): number => {
    const found = text.indexOf(mark, at + 2)
    return found === -1 ? text.length : found
  }
  if (two === '//' || (at === 0 && two === '#!')) return { end: until('\n'), kind: 'comment' }
  if (two === '/*') return { end: until('*/') + 2, kind: 'comment' }
  const opener = text[at] ?? ''
  if (opener === "'" || opener === '"' || opener === '`') return { end: closing(text, at, opener), kind: 'text' }
  if (opener === '/' && BEFORE_REGEX.test(text.slice(Math.max(0, at - 80), at)))
    return { end: closing(text, at, '/'), kind: 'text' }
  return { end: at + 1, kind: 'other' }
}

/** The end of a text or a regular expression; what stands in `${}` counts as part of its template. */
function closing(text: string, at: number, mark: string): number {
  let inClass = false
  for (let i = at + 1; i < text.length; i++) {
    const c = text[i]
    if (c === '\\') i++
    else if (mark === '/' && c === '[') inClass = true
    else if (mark === '/' && c === ']') inClass = false
    else if (mark === '`' && c === '$' && text[i + 1] === '{') i = endOfHole(text, i + 2)
    else if (c === mark && !inClass) return i + 1
  }
  return text.length
}

function endOfHole(text: string, from: number): number {
  let depth = 1
  for (let i = from; i < text.length; ) {
    const span = spanAt(text, i)
    if (text[i] === '{') depth++
    if (text[i] === '}' && --depth === 0) return i
    i = span.end
  }
  return text.length
}

/** The same text with some kinds of span blanked, line for line. */
function blanked(text: string, kinds: ReadonlySet<Span['kind']>): string {
  let result = ''
  for (let i = 0; i < text.length; ) {
    const { end, kind } = spanAt(text, i)
    const part = text.slice(i, end)
    result += kinds.has(kind) ? part.replace(/[^\n]/g, ' ') : part
    i = end
  }
  return result
}

const STATIC =
  /^(?:import|export)\s+(type\s+(?!from\b))?(?:[\w$]+\s*,\s*)?(?:\*(?:\s+as\s+[\w$]+)?|\{[^}]*\}|[\w$]+)\s+from\s*(['"])(.+?)\2/gm
const BARE = /^import\s*(['"])(.+?)\1/gm
const DYNAMIC = /\bimport\s*\(\s*(?:(['"`])(.+?)\1\s*)?/g

/** Every import and re-export of a source text whose comments are blanked. A computed `import()` has no specifier. */
export function importsOf(bare: string): Import[] {
  const statics = [...bare.matchAll(STATIC)].map(
    ([, type, , specifier]): Import => ({ specifier: specifier!, typeOnly: type !== undefined, dynamic: false }),
  )
  const bares = [...bare.matchAll(BARE)].map(
    ([, , specifier]): Import => ({ specifier: specifier!, typeOnly: false, dynamic: false }),
  )
  const dynamics = [...bare.matchAll(DYNAMIC)].map(
    ([, , specifier = '']): Import => ({ specifier, typeOnly: false, dynamic: true }),
  )
  return [...statics, ...bares, ...dynamics]
}

const COMMENTS: ReadonlySet<Span['kind']> = new Set(['comment'] as const)
const COMMENTS_AND_TEXTS: ReadonlySet<Span['kind']> = new Set(['comment', 'text'] as const)

export function sourceFile(path: string, text: string): SourceFile {
  const bare = blanked(text, COMMENTS)
  return { path, text, bare, code: blanked(text, COMMENTS_AND_TEXTS), imports: importsOf(bare) }
}

/** All of `src/`. */
export async function readSources(): Promise<SourceFile[]> {
  const names = await readdir(`${ROOT}src`, { recursive: true })
  return names
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.ts'))
    .sort()
    .map((name) => sourceFile(name, readFileSync(`${ROOT}src/${name}`, 'utf8')))
}

/** The file of `src/` that an import leads to; null for a package. */
export function targetOf(from: string, { specifier }: Import): string | null {
  return specifier.startsWith('.') ? posix.normalize(`${dirname(from)}/${specifier}`) : null
}

/** The package behind a specifier; null for a file of ours and for what Node brings. */
export function packageOf({ specifier }: Import): string | null {
  if (specifier === '' || specifier.startsWith('.') || specifier.startsWith('node:')) return null
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
