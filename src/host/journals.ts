/** Durable mailboxes on disk: how messages are written down, taken out, and found by the next host. */
import type { Agent } from '../actors/agent.ts'
import type { JournalStore, Written } from '../actors/journal.ts'
import type { Clock } from '../platform/clock.ts'
import { newId } from '../platform/id.ts'
import type { WaitingMessage } from '../store/mailboxes.ts'
import type { Store } from '../store/store.ts'
import { restoreBody, storeBody } from '../store/stored-body.ts'

export function journalStore(store: Store, clock: Clock): JournalStore {
  const host = newId('m')
  let count = 0
  return {
    append: (agent, { messageId, name, body, from = null, expiresAt = null, deliveries, isNew }) => {
      const payload = storeBody(body)
      const acceptedAt = clock.wall()
      const message = {
        id: messageId,
        kind: 'event',
        name,
        payload,
        from,
        senderSeq: null,
        acceptedAt,
        expiresAt,
      } as const
      const row = { ...message, deliveryCount: deliveries }
      return store.write((tx) => (isNew === true ? tx.mailboxes.add(agent, row) : tx.mailboxes.append(agent, row)))
    },
    again: (agent, messageIds) => store.write((tx) => tx.mailboxes.bumpDelivery(agent, messageIds)),
    done: (agent, messageIds, keepIds) =>
      store.write((tx) => {
        if (keepIds) tx.mailboxes.settle(agent, messageIds, clock.wall())
        else tx.mailboxes.remove(agent, messageIds)
        tx.effects.forget(agent, messageIds)
      }),
    buried: (agent, messageId) => store.write((tx) => tx.mailboxes.remove(agent, [messageId])),
    seen: (agent, messageId) => store.mailboxes.seen(agent, messageId),
    newId: () => `${host}:${++count}`,
  }
}

/**
 * Puts what the host before this one had accepted back into a durable mailbox. Where that host was killed, those that its
 * thread may have had in hand count one delivery more.
 */
export async function restoreMailbox(store: Store, agent: Agent): Promise<void> {
  const { durable, concurrency } = agent.spec.mailbox
  const waiting = store.mailboxes.load(agent.id)
  if (!durable || waiting.length === 0) return
  const inHand = store.afterCrash ? waiting.slice(0, concurrency).map(({ id }) => id) : []
  if (inHand.length > 0) await store.write((tx) => tx.mailboxes.bumpDelivery(agent.id, inHand))
  agent.inbox.restore(waiting.map((message) => writtenOf(message, inHand.includes(message.id) ? 1 : 0)))
}

const writtenOf = ({ id, name, payload, from, expiresAt, deliveryCount }: WaitingMessage, more: number): Written => ({
  messageId: id,
  name,
  body: restoreBody(payload),
  deliveries: deliveryCount + more,
  ...(from === null ? {} : { from }),
  ...(expiresAt === null ? {} : { expiresAt }),
})
