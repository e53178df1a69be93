/** `holt ask ID COMMAND [JSON]`: the reply, as JSON. */
import { replyLines } from './format/answer.ts'
import type { Run } from './invocation.ts'
import { payloadOf } from './payload.ts'

export const ask: Run = async ({ args, options, client, print }) => {
  const [id = '', command = '', text] = args
  const payload = text === undefined ? undefined : payloadOf(text)
  const reply = await (await client()).ask(id, command, payload, { timeoutMs: options.timeoutMs })
  await print(reply, () => replyLines(reply))
  return undefined
}
