/** Death records as a host would answer. */
import type { DeathRecord } from '../../src/model/death.ts'
import { NOW } from './agents.ts'

export const death = (over: Partial<DeathRecord> = {}): DeathRecord => ({
  id: 'd-1',
  agent: 'reader',
  instance: 'i-1',
  epoch: 2,
  cause: 'crash',
  class: 'crash',
  error: { name: 'TypeError', message: 'The encoded data was not valid for encoding utf-8' },
  uptimeMs: 1000,
  at: NOW,
  inFlight: [{ seq: 3, name: 'read', id: 3, kind: 'ask', begunAt: NOW - 5 }],
  unflushed: 0,
  mailboxDepth: 12,
  heapUsedMb: 10,
  decision: { rule: 'backoff', action: 'restart', delayMs: 0, supervisor: 'root', attempt: 1 },
  ...over,
})
