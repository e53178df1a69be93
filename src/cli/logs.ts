/**
 * `holt logs [ID] [-f]`: one line for each that an agent has printed or logged; with `-f` also for those to come, until
 * the host ends or Ctrl-C ends this process.
 */
import { toldLine } from './format/fact.ts'
import type { Run } from './invocation.ts'
import { moment } from './moment.ts'

export const logs: Run = async ({ args: [id], options, client, io, print }) => {
  const { follow, grep, tail } = options
  const since = options.since === undefined ? undefined : moment('--since', options.since, io.now())
  const stream = (await client()).logs(id, { follow, since, grep, tail })
  for await (const printed of stream) await print(printed, (look) => [toldLine(printed, look)])
  return undefined
}
