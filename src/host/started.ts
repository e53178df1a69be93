/** What whoever asked for a start is told where it came to nothing. */
import type { Agent } from '../actors/agent.ts'
import type { DeathRecord } from '../model/death.ts'
import { HoltError } from '../model/error.ts'

/**
 * @param record how it has ended; null: it is up, or its thread cannot be ended
 * @param consequence what follows from that, for the text
 * @throws HoltError `BootFailed` with the death record; `Unkillable` where the boot is inside a native call
 */
export function startedOrThrow(agent: Agent, record: DeathRecord | null, consequence = ''): void {
  if (record === null) {
    if (agent.unkillable) throw stillRunning(agent.id)
    return
  }
  const step = record.step === undefined ? '' : ` at step '${record.step}'`
  const why = record.error?.message ?? record.cause
  throw new HoltError('BootFailed', `agent '${agent.id}' did not start${step}${consequence}: ${why}`, { record })
}

export const stillRunning = (agent: string): HoltError =>
  new HoltError(
    'Unkillable',
    `the thread of agent '${agent}' is inside a native call and cannot be ended: it is fenced, and is started anew when it ends`,
  )
