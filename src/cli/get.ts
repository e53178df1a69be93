/** `holt get ID` */
import { detailLines } from './format/detail.ts'
import type { Run } from './invocation.ts'

export const get: Run = async ({ args: [id = ''], client, io, print }) => {
  const detail = await (await client()).get(id)
  await print(detail, (look) => detailLines(detail, io.now(), look))
  return undefined
}
