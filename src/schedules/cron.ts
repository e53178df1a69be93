/**
 * Cron patterns and zones: the only file that knows croner. What holds around a change of the clock:
 *
 * - A pattern that names its seconds, minutes and hours, also by steps of hours, runs once for each time it names: one in
 *   the hour that is skipped directly after it (two that meet there are one), one in the hour that is repeated at its first.
 * - A pattern in which seconds, minutes or every hour run (`*`, or a step of seconds or minutes) follows real time: no gap
 *   and nothing twice. What it names inside the skipped hour does not exist; the repeated hour is run through.
 *
 * Croner does so by its rule `no-wildcard`, but for steps of hours, which it counts as running: `spelled` names them. A
 * pattern of croner's takes 83 KB, so few are kept; UTC goes by an offset, which is five times as fast as by name.
 */
import { Cron, CronPattern } from 'croner'

const MAX_KEPT = 256
const MAX_PATTERN_CHARS = 256
const HOURS_A_DAY = 24
const RULE = { fixedTimeRule: 'no-wildcard' } as const
/** Where the search for any time at all begins: a pattern whose only years are before 2000 has none. */
const FIRST_MS = Date.UTC(2000, 0, 1) - 1000

/** Due times of a span, ascending. */
export interface Passed {
  /** The newest of them, as many as were asked for. */
  readonly times: readonly number[]
  /** How many there are; with `more` at least so many. */
  readonly count: number
  readonly more: boolean
  /** The first after the span; null where there is none. */
  readonly next: number | null
}

/** A pattern in its zone. Answers to the last question are kept: a thousand agents often ask the same. */
export class CronTimes {
  readonly #cron: Cron
  #asked = { after: Number.POSITIVE_INFINITY, next: null as number | null }
  #span: { first: number; limit: number; passed: Passed } | undefined

  constructor(pattern: string, timezone: string) {
    const zone = timezone.toUpperCase() === 'UTC' ? { utcOffset: 0 } : { timezone }
    this.#cron = new Cron(spelled(pattern), { ...zone, ...RULE, paused: true })
  }

  /** The first due time strictly after `afterMs`. */
  next(afterMs: number): number | null {
    const { after, next } = this.#asked
    if (afterMs >= after && (next === null || afterMs < next)) return next
    const found = this.#cron.nextRun(new Date(afterMs))?.getTime() ?? null
    // Were a time not to move forward, a schedule would run in a circle (C139): rather it ends.
    const later = found !== null && found > afterMs ? found : null
    this.#asked = { after: afterMs, next: later }
    return later
  }

  /** The due times from `first`, which is one, to `uptoMs`: the newest `limit`, and their number up to `limit` and more. */
  passed(first: number, uptoMs: number, limit: number): Passed {
    const kept = this.#span
    const newest = kept?.passed.times.at(-1)
    if (kept?.first === first && kept.limit === limit && newest !== undefined && uptoMs >= newest) {
      const { next } = kept.passed
      if (next === null || uptoMs < next) return kept.passed
    }
    const passed = this.#walk(first, uptoMs, limit)
    this.#span = { first, limit, passed }
    return passed
  }

  #walk(first: number, uptoMs: number, limit: number): Passed {
    const times: number[] = []
    let next: number | null = first
    for (; next !== null && next <= uptoMs && times.length < limit; next = this.next(next)) times.push(next)
    const more = next !== null && next <= uptoMs
    if (!more) return { times, count: times.length, more, next }
    // What croner finds lies before the reference, and a run at `uptoMs` itself has passed.
    const newest = this.#cron.previousRuns(limit, new Date(uptoMs + 1)).map((run) => run.getTime())
    return { times: newest.reverse(), count: limit, more, next: this.next(uptoMs) }
  }
}

/** The pattern with its hours as a list, or as `*` where it names all. */
function spelled(pattern: string): string {
  const hours = new CronPattern(pattern).hour.flatMap((set, hour) => (set ? [hour] : []))
  const fields = pattern.trim().split(/\s+/)
  // A nickname such as @daily.
  if (fields.length === 1) return pattern
  fields[fields.length === 5 ? 1 : 2] = hours.length === HOURS_A_DAY ? '*' : hours.join(',')
  return fields.join(' ')
}

const kept = new Map<string, CronTimes>()
const keyOf = (pattern: string, timezone: string): string => `${timezone}\n${pattern}`

/** The pattern, made once and kept while it is among the last used. Check it with {@link cronFault} first. */
export function cronTimes(pattern: string, timezone: string): CronTimes {
  const key = keyOf(pattern, timezone)
  const times = kept.get(key) ?? new CronTimes(pattern, timezone)
  kept.delete(key)
  kept.set(key, times)
  const [oldest] = kept.keys()
  if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
  return times
}

/** What is wrong with a pattern, in its zone, which is right; null: nothing. */
export function cronFault(pattern: string, timezone: string): string | null {
  // Only what has passed is kept.
  if (kept.has(keyOf(pattern, timezone))) return null
  // Other text than five to seven fields croner may take for a date.
  const fields = pattern.trim().split(/\s+/)
  const known = fields.length >= 5 || pattern.startsWith('@')
  if (!known || fields.length > 7 || pattern.length > MAX_PATTERN_CHARS) {
    return `expected a cron pattern of five fields (six with seconds first, seven with years last), found '${pattern}'`
  }
  try {
    if (new CronTimes(pattern, timezone).next(FIRST_MS) !== null) return null
  } catch (error) {
    const { message } = error as Error
    return `expected a cron pattern, found '${pattern}': ${message.replace(/^CronPattern: /, '')}`
  }
  return `expected a cron pattern that names a time, found '${pattern}', which no date fits`
}

/** Whether this is a zone that the platform knows. */
export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

const ISO = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?(Z|[+-]\d\d:\d\d)?$/
const MINUTE_MS = 60_000

/**
 * The instant of an ISO 8601 text, local to `timezone` where it names no offset: by the same rule as patterns, so that a
 * time that is skipped is directly after. Null: no such text or no such date.
 */
export function instantOf(text: string, timezone: string): number | null {
  const match = ISO.exec(text)
  if (match === null) return null
  const [, year, month, day, hour, minute, second = '0', fraction = '0', offset] = match
  const pattern = [second, minute, hour, day, month, '*', year].map((field) => (field === '*' ? field : Number(field)))
  try {
    const times = new CronTimes(pattern.join(' '), offset === undefined ? timezone : 'UTC')
    const found = times.next(Date.UTC(Number(year), 0, 1) - 2 * HOURS_A_DAY * 60 * MINUTE_MS)
    return found === null ? null : found + Number(fraction.padEnd(3, '0')) - offsetMs(offset)
  } catch {
    return null
  }
}

function offsetMs(offset = 'Z'): number {
  if (offset === 'Z') return 0
  const [hours, minutes] = offset.slice(1).split(':').map(Number)
  return (offset.startsWith('-') ? -1 : 1) * (hours! * 60 + minutes!) * MINUTE_MS
}
