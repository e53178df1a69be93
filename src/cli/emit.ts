/** `holt emit ID EVENT [JSON]`: its exit code says whether the event was handled or waits, or what else became of it. */
import { ERRORS, type ErrorCode } from '../model/error.ts'
import type { Fate } from '../model/message.ts'
import { EXIT } from './exit.ts'
import { fateLines, forecastLines } from './format/answer.ts'
import type { Run } from './invocation.ts'
import { payloadOf } from './payload.ts'

/** The error that each fate would have been, had someone waited for a reply. */
const AS_ERROR: Readonly<Record<Fate['fate'], ErrorCode | null>> = {
  handled: null,
  queued: null,
  dropped: 'Overloaded',
  ignored: 'NotAccepting',
  expired: 'Timeout',
  aborted: 'Aborted',
  crashed: 'AgentDied',
  quarantined: 'AgentDied',
}

export const emit: Run = async ({ args, options, client, print }) => {
  const [id = '', event = '', text] = args
  const payload = text === undefined ? undefined : payloadOf(text)
  const { ttlMs, dryRun } = options
  const answer = await (await client()).emit(id, event, payload, { ttlMs, dryRun })
  if ('dryRun' in answer) {
    await print(answer, (look) => forecastLines(answer, look))
    return EXIT.done
  }
  await print(answer, (look) => fateLines(answer, look))
  const code = AS_ERROR[answer.fate]
  return code === null ? EXIT.done : ERRORS[code].exit
}
