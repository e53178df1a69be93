/** `holt capabilities` */
import { capabilityLines } from './format/abilities.ts'
import type { Run } from './invocation.ts'

export const capabilities: Run = async ({ client, print }) => {
  const lent = await (await client()).capabilities()
  await print(lent, (look) => capabilityLines(lent, look))
  return undefined
}
