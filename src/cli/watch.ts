/** `holt watch [ID]`: one line a fact, until the host ends or Ctrl-C ends this process. */
import type { Fact } from '../model/fact.ts'
import { toldLine } from './format/fact.ts'
import type { Run } from './invocation.ts'

export const watch: Run = async ({ args, client, print }) => {
  for await (const fact of (await client()).stream('watch', args) as AsyncIterable<Fact>)
    await print(fact, (look) => [toldLine({ ...fact, text: fact.message }, look)])
  return undefined
}
