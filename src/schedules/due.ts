/**
 * What to do about a schedule now: which of the due times that have passed are run, which are missed, when the next one
 * is, and what of the runs is sent, waits or is skipped. Pure; the scheduler does what is said here.
 */
import { type Overlap, SCHEDULE_LIMITS, type ScheduleSpec } from '../model/schedule.ts'
import { nextTime, passedTimes } from './times.ts'

/** What is known of a schedule when it is looked at. */
export interface Standing {
  readonly spec: ScheduleSpec
  /** The newest due time that was decided, however; null before the first. */
  readonly lastDueAt: number | null
  /** The first due time that was not; null where there is none. */
  readonly nextDueAt: number | null
  /** Nothing could be sent when the first of them passed: none of them is merely late. */
  readonly held: boolean
  /** Due times that were decided to run and were never sent, ascending; not after `lastDueAt`. */
  readonly owed: readonly number[]
}

export interface Verdict {
  /** Due times to run, ascending. */
  readonly run: readonly number[]
  /** Whether they are caught up with, one after the other, by `missed: all`. */
  readonly catchUp: boolean
  /** Of what is owed, what is not run. */
  readonly dropped: readonly number[]
  /** What else passed and is not run; null: nothing. */
  readonly missed: Gap | null
  readonly lastDueAt: number | null
  readonly nextDueAt: number | null
}

/** Missed due times, from the first to the last; `more` than `count` of them, where so many are not counted. */
export interface Gap {
  readonly from: number
  readonly to: number
  readonly count: number
  readonly more: boolean
}

/** Decides on all that is owed or has passed by `wallMs`. A due time is decided once: the next is later than all of them. */
export function judge({ spec, lastDueAt, nextDueAt, held, owed }: Standing, wallMs: number): Verdict {
  // One more than can be caught up with, so that what is missed then has an end that is known.
  const passed = passedTimes(spec, nextDueAt, wallMs, SCHEDULE_LIMITS.catchUp + 1)
  const newest = passed.times.at(-1)
  const onTime = newest !== undefined && !held && wallMs - newest <= SCHEDULE_LIMITS.lateMs
  const due = [...owed, ...passed.times]
  const wanted = { once: 1, skip: onTime ? 1 : 0, all: SCHEDULE_LIMITS.catchUp }[spec.missed]
  const run = due.slice(Math.max(0, due.length - wanted))
  const isLeft = (time: number): boolean => run[0] === undefined || time < run[0]
  return {
    run,
    catchUp: spec.missed === 'all' && (run.length > 1 || !onTime),
    dropped: owed.filter(isLeft),
    missed: gapOf(passed.times.filter(isLeft), passed.more ? nextDueAt : null),
    lastDueAt: newest ?? lastDueAt,
    nextDueAt: passed.next,
  }
}

/** @param before where more passed than `left`: the first of them */
function gapOf(left: readonly number[], before: number | null): Gap | null {
  const [first] = left
  const to = left.at(-1)
  if (first === undefined || to === undefined) return null
  return { from: before ?? first, to, count: left.length, more: before !== null }
}

/** How the runs of a verdict begin. */
export interface Placed {
  readonly send: readonly number[]
  /** Behind what is open and what waits already. */
  readonly wait: readonly number[]
  readonly skip: readonly number[]
}

/**
 * What overlap makes of runs.
 * @param open runs that are sent and not settled
 * @param waiting runs that wait for them
 */
export function place(
  { run, catchUp }: Pick<Verdict, 'run' | 'catchUp'>,
  overlap: Overlap,
  { open, waiting }: { readonly open: number; readonly waiting: number },
): Placed {
  if (overlap === 'parallel') {
    const room = Math.max(0, SCHEDULE_LIMITS.open - open)
    return { send: run.slice(0, room), wait: [], skip: run.slice(room) }
  }
  const free = open === 0 && waiting === 0
  const send = free ? run.slice(0, 1) : []
  const behind = run.slice(send.length)
  const line = catchUp ? SCHEDULE_LIMITS.catchUp : overlap === 'queue' ? SCHEDULE_LIMITS.waiting : 0
  const room = Math.max(0, line - waiting)
  return { send, wait: behind.slice(0, room), skip: behind.slice(room) }
}

/**
 * From this far ahead of the wall clock on, a due time that was decided shows that the clock had been wrong: then the
 * schedule begins anew. Nearer ones are waited out, so that a clock set back runs nothing twice.
 */
const CORRECTED_MS = 24 * 3_600_000

/**
 * What is left of a schedule when the wall clock may have been set back; null: all as it was. What ran in a future that
 * never came does not silence it, and what was planned from a wrong clock is planned again. A single instant stays done.
 */
export function afterStepBack(
  { spec, lastDueAt, nextDueAt }: Pick<Standing, 'spec' | 'lastDueAt' | 'nextDueAt'>,
  wallMs: number,
): Pick<Standing, 'lastDueAt' | 'nextDueAt'> | null {
  if (spec.at !== undefined || nextDueAt === null || nextDueAt <= wallMs) return null
  if (lastDueAt !== null && lastDueAt <= wallMs + CORRECTED_MS) return null
  const next = nextTime(spec, wallMs, nextDueAt)
  return lastDueAt === null && next === nextDueAt ? null : { lastDueAt: null, nextDueAt: next }
}
