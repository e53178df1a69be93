/**
 * Intents and epochs of a host without a state directory: they live as long as the process. Epochs start from the
 * wall clock, so that they still only grow from one host to the next.
 */
import { type IntentChange, type IntentRecord, type IntentStore, nextIntent } from '../model/intent.ts'
import type { EpochStore } from '../model/lease.ts'
import type { Clock } from '../platform/clock.ts'

export function memoryIntents(): IntentStore {
  const records = new Map<string, IntentRecord>()
  return {
    read: (agent) => records.get(agent),
    async commit(agent: string, change: IntentChange) {
      const record = nextIntent(records.get(agent), change, 'stopped')
      records.set(agent, record)
      return record
    },
  }
}

export function memoryEpochs(clock: Pick<Clock, 'wall'>): EpochStore {
  const epochs = new Map<string, number>()
  return {
    async next(agent) {
      const epoch = Math.max((epochs.get(agent) ?? 0) + 1, clock.wall())
      epochs.set(agent, epoch)
      return epoch
    },
    current: (agent) => epochs.get(agent) ?? 0,
  }
}
