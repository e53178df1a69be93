/** `holt watch [ID]`: one line a fact, until the host ends or Ctrl-C ends this process. */
import type { Fact } from '../model/fact.ts'
import { toldLine } from './format/fact.ts'
import type { Run } from './invocation.ts'
import { wholeNumber } from './usage.ts'

export const watch: Run = async ({ args, options, client, print }) => {
  const since = options.since === undefined ? undefined : wholeNumber('--since', options.since)
  const kinds = options.kinds?.split(',')
  const facts = (await client()).stream('watch', args, { since, kinds }) as AsyncIterable<Fact>
  for await (const fact of facts) await print(fact, (look) => [toldLine({ ...fact, text: fact.message }, look)])
  return undefined
}
