/**
 * `holt logs [ID] [-f]`: one line for each that an agent has printed or logged; with `-f` also for those to come, until
 * the host ends or Ctrl-C ends this process.
 */
import type { Output } from '../model/output.ts'
import { toldLine } from './format/fact.ts'
import type { Run } from './invocation.ts'
import { moment } from './moment.ts'

export const logs: Run = async ({ args, options, client, io, print }) => {
  const { follow, grep, tail } = options
  const since = options.since === undefined ? undefined : moment('--since', options.since, io.now())
  const stream = (await client()).stream('logs', args, { follow, since, grep, tail })
  for await (const printed of stream as AsyncIterable<Output>) await print(printed, (look) => [toldLine(printed, look)])
  return undefined
}
