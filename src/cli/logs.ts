/** `holt logs [ID]`: one line for each that an agent prints or logs, until the host ends or Ctrl-C ends this process. */
import type { Output } from '../host/host.ts'
import { toldLine } from './format/fact.ts'
import type { Run } from './invocation.ts'

export const logs: Run = async ({ args, client, print }) => {
  for await (const printed of (await client()).stream('logs', args) as AsyncIterable<Output>)
    await print(printed, (look) => [toldLine(printed, look)])
  return undefined
}
