/** `holt deaths [ID]` */
import { deathLines } from './format/deaths.ts'
import type { Run } from './invocation.ts'

export const deaths: Run = async ({ args: [id], client, print }) => {
  const records = await (await client()).deaths(id)
  await print(records, (look) => deathLines(records, look))
  return undefined
}
