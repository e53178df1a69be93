/** `holt list` */
import type { AgentSnapshot } from '../model/snapshot.ts'
import { listLines } from './format/status.ts'
import type { Run } from './invocation.ts'

export const list: Run = async ({ client, io, print }) => {
  const agents = (await (await client()).call('list')) as AgentSnapshot[]
  await print(agents, (look) => listLines(agents, io.now(), look))
  return undefined
}
