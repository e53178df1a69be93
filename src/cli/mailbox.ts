/** `holt mailbox ID [purge]` */
import { HoltError } from '../model/error.ts'
import type { MailboxView } from '../model/view.ts'
import { mailboxLines } from './format/mailbox.ts'
import { clean } from './format/text.ts'
import type { Run } from './invocation.ts'

export const mailbox: Run = async ({ args, client, io, print }) => {
  const [id, verb] = args
  if (verb === undefined) {
    const view = (await (await client()).call('mailbox', [id])) as MailboxView
    await print(view, (look) => mailboxLines(view, io.now(), look))
    return undefined
  }
  if (verb !== 'purge')
    throw new HoltError('InvalidOption', `expected purge or nothing after the id, found '${verb}'`, {
      next: 'see how it is written: holt mailbox --help',
    })
  const answer = (await (await client()).call('purge', [id])) as { readonly purged: number }
  await print(answer, () => [`${clean(String(id))}: ${answer.purged} purged`])
  return undefined
}
