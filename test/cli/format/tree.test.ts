import { describe, expect, it } from 'vitest'
import { widthOf } from '../../../src/cli/format/text.ts'
import { treeLines } from '../../../src/cli/format/tree.ts'
import type { TreeNode } from '../../../src/model/view.ts'
import { PLAIN } from '../agents.ts'

const leaf = (id: string, over: Partial<TreeNode> = {}): TreeNode => ({
  id,
  kind: 'agent',
  phase: 'ACTIVE',
  status: 'Running',
  restarts: 0,
  ...over,
})
const branch = (id: string, children: TreeNode[], over: Partial<TreeNode> = {}): TreeNode => ({
  id,
  kind: 'supervisor',
  strategy: 'one_for_one',
  status: 'Running',
  restarts: 0,
  children,
  ...over,
})

describe('the tree', () => {
  it('is drawn with lines', () => {
    const gaveUp = { restarts: 4, withinMs: 2300 }
    const readers = branch('readers', [leaf('reader', { status: 'Stopped', phase: 'STOPPED', restarts: 3 })], {
      status: 'Stopped',
      gaveUp,
    })
    expect(treeLines(branch('root', [leaf('clerk'), readers, leaf('walker', { restarts: 1 })]), PLAIN)).toEqual([
      'root            Running  one_for_one',
      '├── clerk       Running  ACTIVE',
      '├── readers     Stopped  one_for_one  gave up after 4 in 2s',
      '│   └── reader  Stopped  STOPPED  3 restarts',
      '└── walker      Running  ACTIVE  1 restart',
    ])
  })

  it('of one is one line', () => {
    expect(treeLines(branch('root', []), PLAIN)).toEqual(['root  Running  one_for_one'])
  })

  it('is never wider than the terminal', () => {
    const deep = branch('a'.repeat(60), [branch('b'.repeat(60), [leaf('c'.repeat(60), { restarts: 1_000_000 })])])
    for (const width of [20, 80])
      for (const line of treeLines(deep, { width, colour: false })) expect(widthOf(line)).toBeLessThanOrEqual(width)
  })

  it('has the colour of each status', () => {
    expect(treeLines(leaf('clerk'), { width: 80, colour: true })).toEqual(['clerk  \u001b[32mRunning  ACTIVE\u001b[0m'])
  })
})
