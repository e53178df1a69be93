/** `holt mailbox ID [purge]` */
import { HoltError } from '../model/error.ts'
import { forecastLines } from './format/answer.ts'
import { mailboxLines } from './format/mailbox.ts'
import { clean } from './format/text.ts'
import type { Run } from './invocation.ts'

export const mailbox: Run = async ({ args, options, client, io, print }) => {
  const [id = '', verb] = args
  if (verb === undefined) {
    const view = await (await client()).mailbox(id)
    await print(view, (look) => mailboxLines(view, io.now(), look))
    return undefined
  }
  if (verb !== 'purge')
    throw new HoltError('InvalidOption', `expected purge or nothing after the id, found '${verb}'`, {
      next: 'see how it is written: holt mailbox --help',
    })
  const { dryRun } = options
  const answer = await (await client()).purge(id, { dryRun })
  await print(answer, (look) =>
    'dryRun' in answer ? forecastLines(answer, look) : [`${clean(id)}: ${answer.purged} purged`],
  )
  return undefined
}
