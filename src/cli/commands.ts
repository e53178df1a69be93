/** `holt commands ID` */
import { commandLines } from './format/abilities.ts'
import type { Run } from './invocation.ts'

export const commands: Run = async ({ args: [id = ''], client, print }) => {
  const known = await (await client()).commands(id)
  await print(known, (look) => commandLines(known, look))
  return undefined
}
