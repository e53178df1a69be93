/** A moment in the past as people write it: how long ago, or when. Used by commands that take `--since`. */
import { HoltError } from '../model/error.ts'

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/
/** A date, with or without a time; without a zone it is the local time, as ISO 8601 has it. */
const ISO = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/
const EPOCH_MS = /^\d{12,}$/

/**
 * `10m` and `1h30m` before now, `2026-07-30T12:00:00Z`, or ms since the epoch; as whole ms since the epoch.
 * @throws HoltError `InvalidOption`
 */
export function moment(flag: string, text: string, now: number): number {
  const ago = durationOf(text)
  if (ago !== null) return Math.max(0, Math.round(now - ago))
  const at = EPOCH_MS.test(text) ? Number(text) : ISO.test(text) ? Date.parse(text.replace(' ', 'T')) : Number.NaN
  if (Number.isSafeInteger(at) && at >= 0) return at
  const expected = 'a duration (10m, 1h30m), a time (2026-07-30T12:00:00Z) or ms since the epoch'
  throw new HoltError('InvalidOption', `${flag}: expected ${expected}, found '${text}'`)
}

/**
 * `90s`, `12h`, `1d12h`, in ms.
 * @throws HoltError `InvalidOption`
 */
export function duration(flag: string, text: string): number {
  const ms = durationOf(text)
  if (ms !== null && ms > 0) return ms
  throw new HoltError('InvalidOption', `${flag}: expected a duration (90s, 12h, 30d), found '${text}'`)
}

function durationOf(text: string): number | null {
  if (!DURATION.test(text)) return null
  return [...text.matchAll(PART)].reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_MS[unit!]!, 0)
}
