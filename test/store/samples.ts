/** Rows for tests of the store. */
import type { DeathRecord } from '../../src/model/death.ts'
import type { NewDeadLetter } from '../../src/store/dead-letters.ts'
import type { DurableMessage } from '../../src/store/mailboxes.ts'
import { body } from './temp-store.ts'

export const death = (n: number, agent = 'a', at = n): DeathRecord => ({
  id: `death_${agent}_${n}`,
  agent,
  instance: `inst_${n}`,
  epoch: n,
  cause: 'crash',
  class: 'crash',
  error: { name: 'Error', message: 'bang "\'; DROP TABLE deaths', cause: { name: 'TypeError', message: 'ä😀' } },
  exitCode: 1,
  uptimeMs: 12.5,
  at,
  inFlight: [{ seq: 1, name: 'add', id: 7, kind: 'event', begunAt: 5 }],
  unflushed: 0,
  mailboxDepth: 3,
  heapUsedMb: null,
  decision: { rule: 'backoff', action: 'restart', delayMs: 0, supervisor: 'root', attempt: 1 },
})

export const letter = (agent: string, over: Partial<NewDeadLetter> = {}): NewDeadLetter => ({
  agent,
  at: 5,
  reason: 'crashed',
  kind: 'event',
  name: 'add',
  payload: body({ n: 1 }),
  from: null,
  deliveryCount: 1,
  deathId: null,
  messageId: null,
  ...over,
})

export const message = (id: string, over: Partial<DurableMessage> = {}): DurableMessage => ({
  id,
  kind: 'event',
  name: 'add',
  payload: body({ id }),
  from: null,
  senderSeq: null,
  acceptedAt: 5,
  expiresAt: null,
  deliveryCount: 0,
  ...over,
})
