/** `holt commands ID` */
import type { CommandInfo } from '../model/wire.ts'
import { commandLines } from './format/abilities.ts'
import type { Run } from './invocation.ts'

export const commands: Run = async ({ args, client, print }) => {
  const known = (await (await client()).call('commands', args)) as CommandInfo[]
  await print(known, (look) => commandLines(known, look))
  return undefined
}
