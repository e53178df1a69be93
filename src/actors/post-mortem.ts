/**
 * From an ended thread to a death record: what the evidence says, what was in flight, and the record without its
 * decision. Called by `agent.ts` once a death; settles nothing.
 */
import { classOf, type DeathCause, type DeathRecord, judge } from '../model/death.ts'
import { describeError } from '../model/error.ts'
import { CELL } from '../model/flight-recorder.ts'
import type { Clock } from '../platform/clock.ts'
import { describeInFlight } from './aftermath.ts'
import { BootFailure } from './agent-spec.ts'
import type { Inbox } from './inbox.ts'
import type { Ended, Instance } from './instance.ts'
import { NO_REMAINS, type Remains } from './pump.ts'

/** Causes by which an instance ends because it was told to: what was in flight is aborted, not crashed. */
const TOLD: ReadonlySet<DeathCause> = new Set<DeathCause>(['shutdown', 'suspended', 'shutdown_timeout', 'reclaimed'])

/** What one end of an instance amounts to. */
export interface PostMortem {
  readonly facts: Omit<DeathRecord, 'id' | 'agent' | 'class' | 'at' | 'mailboxDepth' | 'decision'>
  readonly remains: Remains
  /** It finished a message. */
  readonly progressed: boolean
  /** The boot failed, as against an instance that died or was told to end. */
  readonly bootFailed: boolean
  /** Nothing in flight is to blame: it was told to end. */
  readonly aborted: boolean
}

/** Reads the evidence; the pump is detached by it. */
export function examine(inbox: Inbox, instance: Instance, ended: Ended, clock: Clock): PostMortem {
  const { step, error, cause, exitCode } = judge(ended)
  const remains = ended.booting ? NO_REMAINS : inbox.pump.detach()
  const { recorder } = instance
  const begunAt = clock.wall() - Math.max(0, clock.now() - recorder.turnAt)
  inbox.fates.counters.failed += recorder.read(CELL.failed)
  const aborted = TOLD.has(cause)
  return {
    remains,
    aborted,
    progressed: remains.doneCount > 0,
    bootFailed: ended.booting && !aborted && cause !== 'killed',
    facts: {
      instance: instance.id,
      epoch: instance.epoch,
      cause,
      ...(step === undefined ? {} : { step }),
      ...(error === undefined ? {} : { error }),
      ...(exitCode === undefined ? {} : { exitCode }),
      uptimeMs: Math.round(clock.now() - instance.startedAt),
      inFlight: ended.booting ? [] : describeInFlight(inbox, remains, Math.round(begunAt)),
      unflushed: remains.unflushed,
      heapUsedMb: recorder.heapUsedMb > 0 ? recorder.heapUsedMb : null,
    },
  }
}

/** The same for a boot that failed, or was told to end, before there was a thread. */
export function examineBoot(
  id: string,
  epoch: number,
  uptimeMs: number,
  thrown: unknown,
  told: DeathCause | null,
): PostMortem {
  const failure = thrown instanceof BootFailure ? thrown : new BootFailure('manifest', thrown)
  const why = told === null ? { step: failure.step, error: describeError(failure.cause) } : {}
  const cause = told ?? 'boot_failed'
  return {
    remains: NO_REMAINS,
    aborted: told !== null,
    progressed: false,
    bootFailed: told === null,
    facts: {
      instance: id,
      epoch,
      cause,
      ...why,
      uptimeMs: Math.round(uptimeMs),
      inFlight: [],
      unflushed: 0,
      heapUsedMb: null,
    },
  }
}

/** The record, but for the decision. */
export function draftRecord(
  agent: string,
  id: string,
  found: PostMortem,
  inbox: Inbox,
  clock: Clock,
): Omit<DeathRecord, 'decision'> {
  const { facts } = found
  return { id, agent, ...facts, class: classOf(facts.cause), at: clock.wall(), mailboxDepth: inbox.mailbox.depth }
}
