/** `holt watch [ID]`: one line a fact, until the host ends or Ctrl-C ends this process. */
import type { FactKind } from '../model/fact.ts'
import { toldLine } from './format/fact.ts'
import type { Run } from './invocation.ts'
import { wholeNumber } from './usage.ts'

export const watch: Run = async ({ args: [id], options, client, print }) => {
  const since = options.since === undefined ? undefined : wholeNumber('--since', options.since)
  // The host knows them, and names those that it does not.
  const kinds = options.kinds?.split(',')
  const facts = (await client()).watch(id, { since, kinds: kinds as FactKind[] | undefined })
  for await (const fact of facts) await print(fact, (look) => [toldLine({ ...fact, text: fact.message }, look)])
  return undefined
}
