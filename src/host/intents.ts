/** Intents where none has been committed yet: how they read, and the first that is. */
import type { Agent } from '../actors/agent.ts'
import { type IntentRecord, type IntentStore, nextIntent } from '../model/intent.ts'
import type { Clock } from '../platform/clock.ts'

const NONE: IntentRecord = { ...nextIntent(undefined, { by: '', reason: null, at: 0 }, 'stopped'), generation: 0 }

/** The record of an agent; `stopped` and `open` in generation 0 where nobody has wanted anything yet. */
export const intentReader =
  (intents: IntentStore) =>
  (agent: string): IntentRecord =>
    intents.read(agent) ?? NONE

/** `autostart` counts only for an agent that nobody has wanted anything of yet. */
export async function commitFirstIntents(
  intents: IntentStore,
  agents: readonly Agent[],
  clock: Pick<Clock, 'wall'>,
): Promise<void> {
  for (const agent of agents) {
    if (!agent.spec.autostart || intents.read(agent.id) !== undefined) continue
    await intents.commit(agent.id, { intent: 'running', by: 'autostart', reason: null, at: clock.wall() })
    agent.refresh()
  }
}
