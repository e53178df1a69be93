/** The first half of a death, before anything is settled or told: the record, what was decided, and the phase that follows. */
import type { DeathRecord, Told } from '../model/death.ts'
import type { Agent } from './agent.ts'
import type { Phases } from './phases.ts'
import { draftRecord, type PostMortem } from './post-mortem.ts'

/** Records held of one agent. */
export const KEPT_DEATHS = 64

export function conclude(agent: Agent, phases: Phases, found: PostMortem, told: Told | null): DeathRecord {
  const { clock, newId, decide, hide } = agent.deps
  const draft = hide(draftRecord(agent.id, newId('d'), found, agent.inbox, clock))
  const life = { uptimeMs: draft.uptimeMs, progressed: found.progressed }
  const record: DeathRecord = { ...draft, decision: decide(agent.id, { draft, told, life }) }
  if (agent.deaths.push(record) > KEPT_DEATHS) agent.deaths.shift()
  const { action, delayMs } = record.decision
  if (action === 'restart') agent.nextStartAt = clock.now() + (delayMs ?? 0)
  if (found.bootFailed && phases.current === 'BOOTING') phases.move('FAILED')
  else phases.move(...(phases.current === 'STOPPING' ? [] : (['STOPPING'] as const)), 'STOPPED')
  return record
}
