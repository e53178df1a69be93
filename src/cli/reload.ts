/** `holt reload ID`, `holt reload --all`: says of each agent what differs, and whether a new version has taken over. */
import { HoltError } from '../model/error.ts'
import { reloadLines } from './format/reload.ts'
import type { Run } from './invocation.ts'

export const reload: Run = async ({ args, options, client, print }) => {
  const [id] = args
  const { reason, ifGeneration, dryRun, all } = options
  if ((id === undefined) === (all !== true))
    throw new HoltError('InvalidOption', 'expected the id of an agent or --all, found both or neither', {
      next: 'see how it is written: holt reload --help',
    })
  const dry = dryRun === true
  if (id === undefined) {
    const answer = await (await client()).reloadAll({ reason, dryRun })
    await print(answer, (look) => reloadLines(answer.agents, dry, look))
    return undefined
  }
  const answer = await (await client()).reload(id, { reason, ifGeneration, dryRun })
  await print(answer, (look) => reloadLines([{ id: answer.id, ...answer.reload }], dry, look))
  return undefined
}
