/**
 * Markdown to plain text and a title, well enough to be searched: no parser, a few substitutions in order. What is in
 * a code fence stays as it is, for names of functions are what people look for. Pure; linear in the length.
 */
export interface Page {
  /** Null where the document names none. */
  readonly title: string | null
  readonly text: string
}

/** A key must follow, for a document may begin with a rule. */
const FRONT_MATTER = /^---[ \t]*\n(?=[\w-]+:|---)([\s\S]*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|$)/
const FENCE = /^\s*(`{3,}|~{3,})(.*)$/

/** HTML and addresses, but none of it within a code span: `Map<string>` is no tag. */
const CODE_OR_HTML = /(`[^`\n]{1,500}`)|<!--[\s\S]*?(?:-->|$)|<\/?[a-z][^<>]{0,2000}>|<[a-z]+:[^<>\s]{1,2000}>/gi

/** In this order: each works on what the ones before have left. Quantifiers that could scan far are bounded. */
const SUBSTITUTIONS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // Images before links, for a badge is an image in a link.
  [/!\[([^\]]{0,300})\](?:\([^)\n]{0,1000}\)|\[[^\]\n]{0,300}\])/g, '$1'],
  [/\[([^\]]{0,500})\](?:\([^)\n]{0,1000}\)|\[[^\]\n]{0,300}\])/g, '$1'],
  [/^ {0,3}\[[^\]\n]{1,300}\]:.*$/gm, ''],
  // Rules, underlines of headings, and the second row of a table.
  [/^[ \t]*[-=*_|:][-=*_|: \t]*$/gm, ''],
  [/^[ \t]*(?:>[ \t]?)+/gm, ''],
  [/^[ \t]*#{1,6}[ \t]+/gm, ''],
  [/[ \t]#+[ \t]*$/gm, ''],
  [/^[ \t]*(?:[-+*]|\d{1,9}[.)])[ \t]+(?:\[[ x]\][ \t]+)?/gim, ''],
  [/\|/g, ' '],
  [/(?<!\\)[*`]+|~~|(?<![\p{L}\p{N}_])_+|_+(?![\p{L}\p{N}_])/gu, ''],
  [/\\([!-/:-@[-`{-~])/g, '$1'],
  [/&nbsp;/g, ' '],
  [/&lt;/g, '<'],
  [/&gt;/g, '>'],
  [/&quot;/g, '"'],
  [/&#39;/g, "'"],
  [/&amp;/g, '&'],
]

const TITLES: readonly RegExp[] = [
  /^#[ \t]+(\S.*)$/m,
  /<h1[^<>]{0,500}>([\s\S]{1,500}?)<\/h1>/i,
  /^(\S.*)\n={2,}[ \t]*$/m,
  /^#{2,6}[ \t]+(\S.*)$/m,
]

export function readMarkdown(source: string): Page {
  const lines = source.replace(/\r\n?/g, '\n')
  const matter = FRONT_MATTER.exec(lines)
  const pieces = splitFences(lines.slice(matter?.[0].length ?? 0))
  const text = pieces.map(({ code, body }) => (code ? body : plain(body))).join('\n')
  return { title: findTitle(matter?.[1] ?? '', pieces), text: squeeze(text) }
}

/** The marks of the fence a line is within; null in prose. */
type Fence = string | null

interface Piece {
  readonly code: boolean
  readonly body: string
}

/** Prose and code in turn. A fence that is never closed runs to the end, as in CommonMark. */
function splitFences(text: string): Piece[] {
  const pieces: Piece[] = []
  let fence: Fence = null
  let lines: string[] = []
  const cut = (): void => {
    pieces.push({ code: fence !== null, body: lines.join('\n') })
    lines = []
  }
  for (const line of text.split('\n')) {
    const next = fenceAfter(line, fence)
    if (next === fence) {
      lines.push(line)
      continue
    }
    cut()
    fence = next
  }
  cut()
  return pieces
}

function fenceAfter(line: string, fence: Fence): Fence {
  const [, marks, info = ''] = FENCE.exec(line) ?? []
  if (marks === undefined) return fence
  if (fence === null) return info.includes('`') ? null : marks
  return marks.startsWith(fence) && info.trim() === '' ? null : fence
}

function plain(markdown: string): string {
  const bare = markdown.replace(CODE_OR_HTML, (_, code?: string) => code ?? ' ')
  return SUBSTITUTIONS.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), bare)
}

const squeeze = (text: string): string =>
  text
    .replace(/[ \t]+/g, ' ')
    .replace(/ ?\n(?: ?\n)+/g, '\n\n')
    .trim()

/** The front matter's title, else the first that is there of `#`, `<h1>`, an underlined heading, any heading. */
function findTitle(matter: string, pieces: readonly Piece[]): string | null {
  const named = /^title:[ \t]*(["']?)(\S.*?)\1[ \t]*$/m.exec(matter)?.[2]
  if (named !== undefined) return named
  const prose = pieces.map(({ code, body }) => (code ? '' : body)).join('\n')
  for (const pattern of TITLES) {
    const title = plain(pattern.exec(prose)?.[1] ?? '')
      .replace(/\s+/g, ' ')
      .trim()
    if (title !== '') return title
  }
  return null
}
