/** `holt status` */
import { fleetLines } from './format/status.ts'
import type { Run } from './invocation.ts'

export const status: Run = async ({ client, print }) => {
  const fleet = await (await client()).status()
  await print(fleet, (look) => fleetLines(fleet, look))
  return undefined
}
