/** `holt get ID` */
import type { AgentDetail } from '../model/view.ts'
import { detailLines } from './format/detail.ts'
import type { Run } from './invocation.ts'

export const get: Run = async ({ args, client, io, print }) => {
  const detail = (await (await client()).call('get', args)) as AgentDetail
  await print(detail, (look) => detailLines(detail, io.now(), look))
  return undefined
}
