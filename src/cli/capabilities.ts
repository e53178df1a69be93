/** `holt capabilities` */
import type { CapabilityView } from '../model/view.ts'
import { capabilityLines } from './format/abilities.ts'
import type { Run } from './invocation.ts'

export const capabilities: Run = async ({ client, print }) => {
  const lent = (await (await client()).call('capabilities')) as CapabilityView[]
  await print(lent, (look) => capabilityLines(lent, look))
  return undefined
}
