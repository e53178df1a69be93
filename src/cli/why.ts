/** `holt why ID` */
import type { Why } from '../model/view.ts'
import { whyLines } from './format/why.ts'
import type { Run } from './invocation.ts'

export const why: Run = async ({ args, client, print }) => {
  const answer = (await (await client()).call('why', args)) as Why
  await print(answer, (look) => whyLines(answer, look))
  return undefined
}
