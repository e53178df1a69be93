/**
 * Due times of a schedule of any kind, as pure functions of the wall clock. A distance (`everyMs`) counts from an anchor,
 * which is any due time of it that is known, so that it does not drift however late its runs are.
 */
import type { ScheduleSpec } from '../model/schedule.ts'
import { cronTimes, type Passed } from './cron.ts'

/**
 * The first due time strictly after `afterWallMs`; null where there is none.
 * @param anchorMs a due time of a schedule by distance; @default `afterWallMs`
 */
export function nextTime(spec: ScheduleSpec, afterWallMs: number, anchorMs = afterWallMs): number | null {
  if (spec.cron !== undefined) return cronTimes(spec.cron, spec.timezone).next(afterWallMs)
  if (spec.everyMs !== undefined) {
    return anchorMs + (Math.floor((afterWallMs - anchorMs) / spec.everyMs) + 1) * spec.everyMs
  }
  return spec.at !== undefined && spec.at > afterWallMs ? spec.at : null
}

const NONE = { times: [], count: 0, more: false } as const

/** The due times from `first`, which is one, to `uptoMs`: the newest `limit` of them, and how many there are. */
export function passedTimes(spec: ScheduleSpec, first: number | null, uptoMs: number, limit: number): Passed {
  if (first === null || first > uptoMs) return { ...NONE, next: first }
  if (spec.cron !== undefined) return cronTimes(spec.cron, spec.timezone).passed(first, uptoMs, limit)
  if (spec.everyMs === undefined) return { times: [first], count: 1, more: false, next: null }
  const { everyMs } = spec
  const count = Math.floor((uptoMs - first) / everyMs) + 1
  const kept = Math.min(count, limit)
  const times = Array.from({ length: kept }, (_, i) => first + (count - kept + i) * everyMs)
  return { times, count: kept, more: count > kept, next: first + count * everyMs }
}
