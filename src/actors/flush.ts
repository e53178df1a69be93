/** What a thread flushes: replies, fates and ends of handlers, matched with what waits for them in the inbox. */
import { reviveError } from '../model/error.ts'
import type { Fate } from '../model/message.ts'
import { encodePayload } from '../model/payload.ts'
import { readColumn } from '../model/payload-column.ts'
import type { Flush, Outcome, Replies } from '../model/wire.ts'
import type { Inbox } from './inbox.ts'

/** Takes in what a thread has flushed; what it sends has been taken by then. */
export function takeFlush(inbox: Inbox, flush: Flush): void {
  for (const outcome of flush.outcomes ?? []) onOutcome(inbox, outcome)
  for (const seq of flush.handled ?? []) handled(inbox, inbox.pump.positionOf(seq), { fate: 'handled' })
  if (flush.replies !== undefined) onReplies(inbox, flush.replies)
  inbox.pump.reclaim()
}

/** The id under which the message of a delivery is written down, where it is. */
export function messageIdOf({ pump, mailbox, journal, options }: Inbox, seq: number): string | undefined {
  // Elsewhere an id says nothing: nobody keeps what was done under it.
  if (!options.durable) return undefined
  const position = pump.positionOf(seq)
  return mailbox.metaAt(position)?.messageId ?? journal.idAt(position)
}

function onReplies(inbox: Inbox, replies: Replies): void {
  const values = readColumn(replies)
  const errors = new Map(replies.errors)
  replies.seqs.forEach((seq, index) => {
    const position = inbox.pump.positionOf(seq)
    const error = errors.get(index)
    if (error === undefined) inbox.asks.reply(position, values[index])
    else inbox.asks.fail(position, reviveError(error))
  })
}

function handled(inbox: Inbox, position: number, fate: Fate): void {
  inbox.journal.handled(position, inbox.mailbox.metaAt(position))
  inbox.fates.settle(position, fate)
}

/** Of an event: an ask ends in a reply or an error. */
function onOutcome(inbox: Inbox, { seq, fate, name, payload, error }: Outcome): void {
  const position = inbox.pump.positionOf(seq)
  if (fate === 'failed') {
    return handled(inbox, position, { fate: 'handled', reason: `the handler failed: ${error?.message ?? 'unknown'}` })
  }
  const reason = fate === 'ignored' ? 'no_handler' : fate
  // While it is still here, more is known of it than its thread says: who sent it, and what, where the handler had begun.
  const letter = inbox.mailbox.letterAt(position)
  const body = payload === undefined && letter !== undefined ? letter.body : encodePayload(payload)
  const meta = { kind: 'event' as const, ...letter?.meta, deliveries: (letter?.meta?.deliveries ?? 0) + 1 }
  const buried = { id: letter?.id ?? position, name, body, meta }
  inbox.fates.settle(position, inbox.fates.bury(buried, reason))
}
