/**
 * After a death: what becomes of every message that was in the thread's hands. Exactly once, in order: what was done
 * is forgotten, what was in flight gets its fate, and the rest waits for the next instance as if it had never left.
 */
import type { DeathRecord, InFlight } from '../model/death.ts'
import { type ErrorShape, HoltError, reviveError } from '../model/error.ts'
import type { Fate } from '../model/message.ts'
import { type Body, Copied } from '../model/payload.ts'
import type { Inbox } from './inbox.ts'
import type { Letter } from './mailbox.ts'
import type { Remains } from './pump.ts'

/** The in-flight part of a death record; the messages are still where they were. */
export function describeInFlight(inbox: Inbox, remains: Remains, begunAt: number): InFlight[] {
  return remains.inFlight.map(({ position, seq }) => {
    const meta = inbox.mailbox.metaAt(position)
    return {
      seq,
      name: inbox.mailbox.nameAt(position),
      id: inbox.mailbox.idAt(position),
      kind: meta?.kind ?? 'event',
      begunAt,
    }
  })
}

export interface AftermathOptions {
  /** The handler's own error and the delivery it came from, where it was one. */
  readonly failed: { readonly seq: number; readonly error: ErrorShape } | undefined
  /** The instance was told to give up its work: what was in flight is aborted, not crashed. */
  readonly aborted: boolean
}

/** Settles what the dead instance had been handed, and puts what may be delivered again at the head. */
export function settleDeath(inbox: Inbox, remains: Remains, record: DeathRecord, options: AftermathOptions): void {
  const { mailbox, asks, fates } = inbox
  const open = new Set(remains.inFlight.map(({ position }) => position))
  const oldSent = mailbox.sent
  const letters = remains.inFlight.flatMap(({ position, seq }) => {
    const letter = mailbox.withdraw(position)
    return letter === undefined ? [] : [{ position, seq, letter }]
  })
  fates.counters.completed += remains.doneCount
  mailbox.settleTo(remains.begunTo + 1)
  mailbox.rewind()
  const wasDone = (position: number): boolean => position <= remains.begunTo && !open.has(position)
  asks.failWhere(wasDone, (command) => died(record, command, true))
  fates.settleWhere(wasDone, { fate: 'handled' })
  const again = letters.filter(({ position, seq, letter }) => {
    fates.counters.failed++
    return !settleInFlight(inbox, record, options, { position, seq, letter, lone: letters.length === 1 })
  })
  inbox.journal.close()
  withdrawFirst(inbox)
  inbox.withdrawAbandoned()
  buryMoved(inbox, oldSent)
  for (const { position, letter } of again.reverse()) redeliver(inbox, position, letter, letters.length > 1)
}

interface Flying {
  readonly position: number
  readonly seq: number
  readonly letter: Letter
  /** Nothing else was in flight: this one did it. */
  readonly lone: boolean
}

/** True when it has its fate; false when it is to be delivered again. */
function settleInFlight(inbox: Inbox, record: DeathRecord, options: AftermathOptions, flying: Flying): boolean {
  const { asks, fates } = inbox
  const { position, seq, letter, lone } = flying
  const deliveries = (letter.meta?.deliveries ?? 0) + 1
  if (letter.meta?.kind === 'ask') {
    const own =
      options.failed?.seq === (seq | 0) ? fatal(options.failed.error, record) : died(record, letter.name, false)
    if (asks.has(position)) asks.fail(position, own)
    else asks.ended(position)
    return true
  }
  const moved = hasMoved(letter.body)
  const mayRepeat = !options.aborted && !moved && letter.meta?.once !== true && inbox.options.redeliver > 0
  if (mayRepeat && (deliveries <= inbox.options.redeliver || !lone)) return false
  const reason = options.aborted ? 'aborted' : mayRepeat ? 'quarantined' : 'crashed'
  const meta = { kind: 'event' as const, ...letter.meta, deliveries }
  const body = moved ? GONE : letter.body
  fates.settle(position, fates.bury({ ...letter, body, meta }, reason, record.id))
  return true
}

/** Back at the head, under its old number; alone, if it is not known which of several did it. */
function redeliver(inbox: Inbox, from: number, letter: Letter, solo: boolean): void {
  const deliveries = (letter.meta?.deliveries ?? 0) + 1
  const meta = {
    kind: 'event' as const,
    ...letter.meta,
    deliveries,
    solo: solo || letter.meta?.solo === true,
  }
  const to = inbox.mailbox.unshift(letter.name, letter.body, meta, letter.at, letter.id)
  inbox.fates.move(from, to)
  inbox.journal.again(letter.meta)
}

/** Takes out the first event of an instance that ended before it began it: no other is to have it. */
function withdrawFirst({ mailbox }: Inbox): void {
  if (!mailbox.has(mailbox.head) || mailbox.metaAt(mailbox.head)?.once !== true) return
  mailbox.withdraw(mailbox.head)
  mailbox.settleTo(mailbox.head + 1)
}

const GONE = new Copied(undefined)

const hasMoved = (body: Body | undefined): boolean => body instanceof Copied && body.transfer !== undefined

/** A buffer that had moved into the dead thread cannot be handed over again. */
function buryMoved(inbox: Inbox, oldSent: number): void {
  for (const position of inbox.mailbox.positions()) {
    if (position >= oldSent) return
    if (!hasMoved(inbox.mailbox.bodyAt(position))) continue
    const letter = inbox.mailbox.withdraw(position)!
    const fate: Fate = inbox.fates.bury({ ...letter, body: GONE }, 'transferred')
    inbox.fates.settle(position, fate)
  }
}

function died(record: DeathRecord, command: string, handled: boolean): HoltError {
  const how = handled ? 'after it had handled' : 'while it handled'
  const text = `agent '${record.agent}' died (${record.cause}) ${how} '${command}'${saying(record)}`
  return new HoltError('AgentDied', text, { handled, deathId: record.id, record })
}

const saying = ({ error, exitCode }: DeathRecord): string => {
  if (error !== undefined) return `: ${error.message}`
  return exitCode === undefined ? '' : `: exit code ${exitCode}`
}

/** The handler's own error, marked as the one that ended the agent. */
function fatal(shape: ErrorShape, record: DeathRecord): Error {
  return Object.assign(reviveError(shape), { fatal: true, deathId: record.id })
}
