/** `holt tree`: supervisors and agents, drawn with lines. */
import type { TreeNode } from '../../model/view.ts'
import { paint, statusColour } from './colour.ts'
import { clean, cut, type Look, pad, widthOf } from './text.ts'
import { duration } from './time.ts'

interface Branch {
  /** Lines and name. */
  readonly left: string
  readonly node: TreeNode
}

const GAP = 2

export function treeLines(root: TreeNode, look: Look): string[] {
  const branches = [...walk(root, '', '')]
  const widest = Math.max(...branches.map(({ left }) => widthOf(left)))
  // Names give way before what is said of them does.
  const column = Math.min(widest, Math.max(Math.floor(look.width / 2), look.width - 40))
  return branches.map(({ left, node }) => {
    const name = pad(cut(left, column), column)
    const right = cut(about(node), Math.max(0, look.width - column - GAP))
    return `${name}${' '.repeat(GAP)}${paint(right, statusColour(node.status), look.colour)}`
  })
}

function* walk(node: TreeNode, own: string, below: string): Generator<Branch> {
  yield { left: own + clean(node.id), node }
  const { children = [] } = node
  for (const [i, child] of children.entries()) {
    const last = i === children.length - 1
    yield* walk(child, `${below}${last ? '└── ' : '├── '}`, `${below}${last ? '    ' : '│   '}`)
  }
}

function about({ strategy, phase, status, restarts, gaveUp }: TreeNode): string {
  const parts: string[] = [status]
  const kind = phase ?? strategy
  if (kind !== undefined) parts.push(kind)
  if (restarts > 0) parts.push(`${restarts} restart${restarts === 1 ? '' : 's'}`)
  if (gaveUp !== undefined) parts.push(`gave up after ${gaveUp.restarts} in ${duration(gaveUp.withinMs)}`)
  return clean(parts.join('  '))
}
