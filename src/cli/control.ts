/** `holt start ID`, `holt pause ID` and the other commands of an operator: one call, one line on how it stands now. */
import type { Command } from '../model/intent.ts'
import { answerLines } from './format/answer.ts'
import type { Run } from './invocation.ts'

export const control =
  (verb: Command): Run =>
  async ({ args: [id = ''], options, client, io, print }) => {
    const { reason, now, ifGeneration, dryRun } = options
    const answer = await (await client())[verb](id, { reason, now, ifGeneration, dryRun })
    await print(answer, (look) => answerLines(answer, io.now(), look))
    return undefined
  }
