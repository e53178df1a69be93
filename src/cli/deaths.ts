/** `holt deaths [ID]` */
import type { DeathRecord } from '../model/death.ts'
import { deathLines } from './format/deaths.ts'
import type { Run } from './invocation.ts'

export const deaths: Run = async ({ args, client, print }) => {
  const records = (await (await client()).call('deaths', args)) as DeathRecord[]
  await print(records, (look) => deathLines(records, look))
  return undefined
}
