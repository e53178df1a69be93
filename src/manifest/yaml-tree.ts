/**
 * A parsed YAML document to plain data, with the place of every field. Does what `toJS` of the library does not:
 * duplicate keys with both lines, cycles and alias bombs refused by count before anything is expanded, `__proto__` as
 * a key like any other. Called by yaml.ts.
 */
import { isAlias, isMap, isScalar, isSeq, type Pair, type ParsedNode, Scalar, type YAMLMap, type YAMLSeq } from 'yaml'
import { describe, type Finding, fieldOf, type Path, quoted } from './fault.ts'
import type { Doubt } from './source.ts'

const MAX_DEPTH = 64
/** Values that all aliases of a file may stand for together. */
const MAX_ALIASED = 1000

/** Other YAML readers take these for true or false. */
const YES_OR_NO = /^(?:yes|no|on|off)$/i
/** Other YAML readers take these for octal. */
const LEADING_ZERO = /^[-+]?0\d/

/** A finding with its place as an offset into the text. */
export interface Misplaced extends Finding {
  readonly path: Path
  readonly offset: number
}

export interface Spot {
  readonly value: number
  readonly key: number
  readonly written?: string
}

export interface Tree {
  readonly value: unknown
  readonly spots: ReadonlyMap<string, Spot>
  readonly faults: readonly Misplaced[]
  readonly doubts: readonly Doubt[]
}

/** What an anchor stands for, and how many values that is; `open` while it is being read, so inside itself. */
type Anchored = { readonly value: unknown; readonly size: number } | 'open'

interface Walk {
  readonly spots: Map<string, Spot>
  readonly faults: Misplaced[]
  readonly doubts: Doubt[]
  readonly anchors: Map<string, Anchored>
  readonly lineOf: (offset: number) => number
  /** Values seen so far, those behind aliases included. */
  size: number
  aliased: number
}

type Node = ParsedNode | null

const offsetOf = (node: Node, otherwise: number): number => node?.range?.[0] ?? otherwise

export function treeOf(root: Node, lineOf: (offset: number) => number): Tree {
  const walk: Walk = { spots: new Map(), faults: [], doubts: [], anchors: new Map(), lineOf, size: 0, aliased: 0 }
  const value = visit(walk, root, [], 0)
  return { value, spots: walk.spots, faults: walk.faults, doubts: walk.doubts }
}

function visit(walk: Walk, node: Node, path: Path, keyOffset: number): unknown {
  const offset = offsetOf(node, keyOffset)
  const written = isScalar(node) ? node.source : undefined
  walk.spots.set(fieldOf(path), { value: offset, key: keyOffset, ...(written === undefined ? {} : { written }) })
  walk.size++
  if (path.length > MAX_DEPTH) {
    walk.faults.push({ path, offset, expected: `at most ${MAX_DEPTH} levels`, found: 'more' })
    return undefined
  }
  if (isAlias(node)) return follow(walk, node.source, path, offset)
  const anchor = node?.anchor
  const before = walk.size
  if (anchor !== undefined) walk.anchors.set(anchor, 'open')
  const value = dataOf(walk, node, path, offset)
  if (anchor !== undefined) walk.anchors.set(anchor, { value, size: walk.size - before + 1 })
  return value
}

function dataOf(walk: Walk, node: Node, path: Path, offset: number): unknown {
  if (isMap(node)) return mapOf(walk, node as YAMLMap.Parsed, path, offset)
  if (isSeq(node))
    return (node as YAMLSeq.Parsed).items.map((item, i) => visit(walk, item as Node, [...path, i], offset))
  if (!isScalar(node)) return null
  if (node.type === Scalar.PLAIN) doubt(walk, node.value, node.source ?? '', path)
  return node.value
}

/** A shared reference: what is behind an alias is counted, never copied. */
function follow(walk: Walk, name: string, path: Path, offset: number): unknown {
  const anchored = walk.anchors.get(name)
  const refuse = (expected: string, found: string): undefined => {
    walk.faults.push({ path, offset, expected, found })
  }
  if (anchored === undefined) return refuse(`an anchor &${name} before its alias`, 'none')
  if (anchored === 'open') return refuse('an end', `the alias *${name} inside its own anchor`)
  walk.size += anchored.size
  walk.aliased += anchored.size
  if (walk.aliased <= MAX_ALIASED) return anchored.value
  if (walk.aliased - anchored.size > MAX_ALIASED) return undefined
  return refuse(`aliases that stand for at most ${MAX_ALIASED} values`, 'more')
}

function mapOf(walk: Walk, node: YAMLMap.Parsed, path: Path, offset: number): Record<string, unknown> {
  const value: Record<string, unknown> = Object.create(null)
  for (const pair of node.items as Pair<ParsedNode, Node>[]) {
    const at = offsetOf(pair.key, offset)
    if (!isScalar(pair.key)) {
      const found = isAlias(pair.key) ? 'an alias' : 'a list or a map'
      walk.faults.push({ path, offset: at, expected: 'a name as key', found })
      continue
    }
    const key = typeof pair.key.value === 'string' ? pair.key.value : (pair.key.source ?? '')
    const inner = [...path, key]
    const first = walk.spots.get(fieldOf(inner))
    if (Object.hasOwn(value, key) && first !== undefined) {
      const found = `a second ${quoted(key)}; the first is in line ${walk.lineOf(first.key)}`
      walk.faults.push({ path: inner, offset: at, expected: 'each key once', found })
      continue
    }
    value[key] = visit(walk, pair.value, inner, at)
  }
  return value
}

function doubt(walk: Walk, value: unknown, written: string, path: Path): void {
  if (typeof value === 'string' && YES_OR_NO.test(written)) {
    const found = `${written} (true or false to other readers)`
    walk.doubts.push({ path, expected: 'a text', found, hint: 'quote it' })
  }
  if (typeof value === 'number' && LEADING_ZERO.test(written)) {
    const found = describe(value, written)
    walk.doubts.push({ path, expected: 'a number without a leading zero', found, hint: 'quote it if it is a text' })
  }
}
