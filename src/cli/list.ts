/** `holt list` */
import { listLines } from './format/status.ts'
import type { Run } from './invocation.ts'

export const list: Run = async ({ client, io, print }) => {
  const agents = await (await client()).list()
  await print(agents, (look) => listLines(agents, io.now(), look))
  return undefined
}
