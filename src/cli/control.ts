/** `holt start ID`, `holt pause ID` and the other commands of an operator: one call, one line on how it stands now. */
import type { Command } from '../model/intent.ts'
import type { SupervisorAnswer } from '../model/view.ts'
import { answerLines, type CommandAnswer } from './format/answer.ts'
import type { Run } from './invocation.ts'

export const control =
  (verb: Command): Run =>
  async ({ args, options, client, io, print }) => {
    const { reason, now, ifGeneration, dryRun } = options
    const answer = (await (await client()).call(verb, args, { reason, now, ifGeneration, dryRun })) as
      | CommandAnswer
      | SupervisorAnswer
    await print(answer, (look) => answerLines(answer, io.now(), look))
    return undefined
  }
