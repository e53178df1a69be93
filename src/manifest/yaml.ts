/**
 * Reads a YAML file into a source, or says what is wrong with it by file, line and column. Hostile input is refused
 * within bounds: the tokens are counted before the parser sees them, since the parser itself has no limit (a megabyte
 * of `[` costs it 10 s and a gigabyte). Called by the loaders; knows nothing of what the fields mean.
 */
import { type Document, type EmptyStream, Lexer, LineCounter, type ParsedNode, parseAllDocuments } from 'yaml'
import { decode } from './decode.ts'
import { type Fault, type Finding, fieldOf, type Path } from './fault.ts'
import type { Source } from './source.ts'
import { unreadable } from './source.ts'
import { type Misplaced, type Tree, treeOf } from './yaml-tree.ts'

const MAX_TOKENS = 50_000
const MAX_FLOW_DEPTH = 64
const MAX_SYNTAX_FAULTS = 20

type Documents = Document.Parsed<ParsedNode>[] | EmptyStream

/** A fault at an offset, which `yamlSource` turns into line and column. */
type Trouble = Misplaced

const EXPECTED_MAP = 'a map of fields'

/** What is too much for the parser, if anything: counted on its own tokens, which are cheap. */
function excess(text: string): string | undefined {
  let tokens = 0
  let depth = 0
  for (const token of new Lexer().lex(text)) {
    if (++tokens > MAX_TOKENS) return `more than ${MAX_TOKENS} tokens`
    if (token === '[' || token === '{') depth++
    else if (token === ']' || token === '}') depth--
    if (depth > MAX_FLOW_DEPTH) return `more than ${MAX_FLOW_DEPTH} levels of [ and {`
  }
  return undefined
}

const whole = (finding: Finding, offset = 0): Trouble => ({ path: [], offset, ...finding })

function syntaxTrouble(document: Document.Parsed<ParsedNode>): Trouble[] {
  const { explicit, version } = document.directives.yaml
  if (explicit && version !== '1.2') {
    return [whole({ expected: 'YAML 1.2', found: `%YAML ${version}`, hint: 'remove the directive' })]
  }
  return [...document.errors, ...document.warnings].slice(0, MAX_SYNTAX_FAULTS).map(({ code, message, pos }) => ({
    path: [],
    offset: pos[0],
    expected: 'valid YAML',
    found: message.split('\n', 1)[0] ?? message,
    ...(code === 'TAB_AS_INDENT' ? { hint: 'indent with spaces' } : {}),
  }))
}

/** The one document of the file, or what is wrong. */
function only(documents: Documents): Document.Parsed<ParsedNode> | Trouble[] {
  const [first, second] = documents
  if (first === undefined) return [whole({ expected: EXPECTED_MAP, found: 'an empty manifest' })]
  const syntax = syntaxTrouble(first)
  if (syntax.length > 0) return syntax
  if (second !== undefined) {
    const finding = { expected: 'one document', found: `${documents.length}`, hint: 'remove the line ---' }
    return [whole(finding, second.range[0])]
  }
  const empty = first.contents === null || ('value' in first.contents && first.contents.source === '')
  return empty ? [whole({ expected: EXPECTED_MAP, found: 'an empty manifest' })] : first
}

function parse(text: string, lines: LineCounter): Tree | Trouble[] {
  const found = excess(text)
  if (found !== undefined) return [whole({ expected: 'a manifest of sane size', found })]
  let documents: Documents
  try {
    documents = parseAllDocuments(text, {
      lineCounter: lines,
      prettyErrors: false,
      // Duplicates are told with both lines by yaml-tree.ts; the library's own search is quadratic.
      uniqueKeys: false,
      logLevel: 'silent',
    })
  } catch (error) {
    // The library throws on some broken input in place of reporting it.
    return [whole({ expected: 'valid YAML', found: error instanceof Error ? error.message : String(error) })]
  }
  const document = only(documents)
  if (Array.isArray(document)) return document
  return treeOf(document.contents, (offset) => lines.linePos(offset).line)
}

/** The source of a file's bytes; on any fault of the YAML itself, one without a value. */
export function yamlSource(bytes: Uint8Array, file: string): Source {
  const decoded = decode(bytes)
  if (!decoded.ok) {
    const { line, column, ...finding } = decoded.refused
    return unreadable(file, [{ file, line, column, field: '', ...finding }])
  }
  const lines = new LineCounter()
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const tell = ({ path, offset, ...finding }: Trouble): Fault => ({
    file,
    ...at(offset),
    field: fieldOf(path),
    ...finding,
  })
  const tree = parse(decoded.text, lines)
  if (Array.isArray(tree)) return unreadable(file, tree.map(tell))
  const parsed = tree as Tree
  return {
    file,
    prefix: [],
    value: parsed.value,
    faults: parsed.faults.map(tell),
    doubts: parsed.doubts,
    place: (path, part) => at(spotOf(parsed, path)?.[part] ?? 0),
    written: (path) => parsed.spots.get(fieldOf(path))?.written,
  }
}

/** The spot of a field; of what holds it where it is missing. */
function spotOf(tree: Tree, path: Path) {
  for (let length = path.length; length >= 0; length--) {
    const spot = tree.spots.get(fieldOf(path.slice(0, length)))
    if (spot !== undefined) return spot
  }
  return undefined
}
