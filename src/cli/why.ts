/** `holt why ID` */
import { whyLines } from './format/why.ts'
import type { Run } from './invocation.ts'

export const why: Run = async ({ args: [id = ''], client, print }) => {
  const answer = await (await client()).why(id)
  await print(answer, (look) => whyLines(answer, look))
  return undefined
}
