/** Reading intents where none has been committed yet. */
import { type IntentRecord, type IntentStore, nextIntent } from '../model/intent.ts'

const NONE: IntentRecord = { ...nextIntent(undefined, { by: '', reason: null, at: 0 }, 'stopped'), generation: 0 }

/** The record of an agent; `stopped` and `open` in generation 0 where nobody has wanted anything yet. */
export const intentReader =
  (intents: IntentStore) =>
  (agent: string): IntentRecord =>
    intents.read(agent) ?? NONE
