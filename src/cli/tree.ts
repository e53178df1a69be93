/** `holt tree` */
import { treeLines } from './format/tree.ts'
import type { Run } from './invocation.ts'

export const tree: Run = async ({ client, print }) => {
  const root = await (await client()).tree()
  await print(root, (look) => treeLines(root, look))
  return undefined
}
