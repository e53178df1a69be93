/** An inbox whose instances die and are followed by others, as `agent.ts` would have it. */
import { settleDeath } from '../../src/actors/aftermath.ts'
import type { DeathRecord } from '../../src/model/death.ts'
import { signedDifference } from '../../src/model/flight-recorder.ts'
import { encodePayload } from '../../src/model/payload.ts'
import { BodyColumnBuilder } from '../../src/model/payload-column.ts'
import { TestedInbox } from './tested-inbox.ts'

export class MortalInbox extends TestedInbox {
  deaths = 0

  /** All that the window allows has left. */
  flushed(): this {
    this.inbox.pump.flush()
    return this
  }

  /** The instance ends, and its messages get their fates. */
  die({ aborted = false, failedSeq }: { aborted?: boolean; failedSeq?: number } = {}): void {
    const remains = this.inbox.pump.detach()
    const record: DeathRecord = {
      id: `d_${++this.deaths}`,
      agent: 'a',
      instance: 'i',
      epoch: this.deaths,
      cause: aborted ? 'shutdown' : 'crash',
      class: aborted ? 'normal' : 'crash',
      uptimeMs: 1,
      at: this.clock.wall(),
      inFlight: [],
      unflushed: remains.unflushed,
      mailboxDepth: this.inbox.mailbox.depth,
      heapUsedMb: null,
      decision: { rule: 'backoff', action: 'restart', supervisor: 'root', attempt: 1 },
    }
    const failed = failedSeq === undefined ? undefined : { seq: failedSeq, error: { name: 'Boom', message: 'boom' } }
    settleDeath(this.inbox, remains, record, { failed, aborted })
    this.inbox.setMode('queue', false)
  }

  /** The next instance is ACTIVE and has been handed what waited. */
  succeed(): this {
    return this.activate().flushed()
  }

  /** The thread says that these awaited events were handled. */
  flushHandled(seqs: readonly number[]): void {
    this.inbox.onFlush({ type: 'flush', handled: seqs })
  }

  /** The thread replies to these with their own numbers. */
  flushReplies(seqs: readonly number[]): void {
    const column = new BodyColumnBuilder()
    const inOrder = [...seqs].sort(signedDifference)
    for (const seq of inOrder) column.add(encodePayload(`reply ${seq}`))
    this.inbox.onFlush({ type: 'flush', replies: { seqs: inOrder, ...column.build() } })
  }
}
