/**
 * The door: what is wrong with a schedule that is asked for, in one sentence, and the same schedule with every default
 * filled in. Used at the load of a manifest and at each call of an agent.
 */
import {
  MISSED_POLICIES,
  OVERLAPS,
  SCHEDULE_DEFAULTS,
  SCHEDULE_LIMITS,
  type ScheduleInput,
  type ScheduleSpec,
} from '../model/schedule.ts'
import { cronFault, instantOf, isTimezone } from './cron.ts'

const ID = /^[a-z][a-z0-9-]{0,62}$/
const MAX_EVENT_CHARS = 200
/** The last instant a Date can hold. */
const MAX_INSTANT_MS = 8.64e15
const KEYS = new Set(['id', 'event', 'payload', 'cron', 'everyMs', 'at', 'timezone', 'overlap', 'missed'])

/**
 * The sentence of what is wrong with a schedule: what was expected and what was found; null where nothing is. A date that
 * no calendar has, such as 30 February, is wrong; one that has passed is not.
 * @param input what was asked for; may be of any type
 */
export function checkSchedule(input: unknown): string | null {
  if (typeof input !== 'object' || input === null) return `expected a schedule, found ${shown(input)}`
  const fields = input as Readonly<Record<string, unknown>>
  const fault = headFault(fields) ?? timeFault(fields) ?? payloadFault(fields['payload'])
  return fault === null || !isId(fields['id']) ? fault : `schedule '${fields['id']}': ${fault}`
}

/** The schedule with its defaults; {@link checkSchedule} must have found nothing wrong with it. */
export function completeSchedule(input: ScheduleInput): ScheduleSpec {
  const { id, event, payload, cron, everyMs, at, timezone = SCHEDULE_DEFAULTS.timezone } = input
  return {
    id,
    event,
    // A copy: the caller may change its object afterwards.
    ...(payload === undefined ? {} : { payload: JSON.parse(JSON.stringify(payload)) as unknown }),
    ...(cron === undefined ? {} : { cron }),
    ...(everyMs === undefined ? {} : { everyMs }),
    ...(at === undefined ? {} : { at: typeof at === 'string' ? (instantOf(at, timezone) as number) : at }),
    timezone,
    overlap: input.overlap ?? SCHEDULE_DEFAULTS.overlap,
    missed: input.missed ?? SCHEDULE_DEFAULTS.missed,
  }
}

const isId = (value: unknown): value is string => typeof value === 'string' && ID.test(value)

function headFault(fields: Readonly<Record<string, unknown>>): string | null {
  const unknown = Object.keys(fields).find((key) => !KEYS.has(key))
  if (unknown !== undefined) return `expected one of ${[...KEYS].join(', ')}, found '${unknown}'`
  const { id, event, timezone, overlap, missed } = fields
  if (!isId(id)) return `id: expected a lower-case letter, then at most 62 of a-z, 0-9 and "-", found ${shown(id)}`
  if (typeof event !== 'string' || event.trim() === '' || event.length > MAX_EVENT_CHARS) {
    return `event: expected the name of an event, 1 to ${MAX_EVENT_CHARS} characters, found ${shown(event)}`
  }
  if (timezone !== undefined && !(typeof timezone === 'string' && isTimezone(timezone))) {
    return `timezone: expected the name of a zone such as Europe/Vienna, found ${shown(timezone)}`
  }
  return oneOfFault('overlap', OVERLAPS, overlap) ?? oneOfFault('missed', MISSED_POLICIES, missed)
}

const oneOfFault = (name: string, values: readonly string[], found: unknown): string | null =>
  found === undefined || values.some((value) => value === found)
    ? null
    : `${name}: expected one of ${values.join(', ')}, found ${shown(found)}`

function timeFault({ cron, everyMs, at, timezone }: Readonly<Record<string, unknown>>): string | null {
  const given = Object.entries({ cron, everyMs, at }).filter(([, value]) => value !== undefined)
  if (given.length !== 1) {
    return `expected exactly one of cron, everyMs and at, found ${given.map(([name]) => name).join(' and ') || 'none'}`
  }
  const zone = typeof timezone === 'string' ? timezone : SCHEDULE_DEFAULTS.timezone
  if (everyMs !== undefined) return distanceFault(everyMs)
  if (at !== undefined) return instantFault(at, zone)
  if (typeof cron !== 'string') return `cron: expected a cron pattern, found ${shown(cron)}`
  const fault = cronFault(cron, zone)
  return fault === null ? null : `cron: ${fault}`
}

function distanceFault(everyMs: unknown): string | null {
  const { everyMinMs, everyMaxMs } = SCHEDULE_LIMITS
  if (Number.isInteger(everyMs) && Number(everyMs) >= everyMinMs && Number(everyMs) <= everyMaxMs) return null
  return `everyMs: expected whole milliseconds from ${everyMinMs} to ${everyMaxMs}, found ${shown(everyMs)}`
}

function instantFault(at: unknown, timezone: string): string | null {
  if (typeof at === 'string') {
    if (instantOf(at, timezone) !== null) return null
    return `at: expected a date that exists, such as 2030-01-31T09:00:00Z, found ${shown(at)}`
  }
  if (Number.isInteger(at) && Number(at) >= 0 && Number(at) <= MAX_INSTANT_MS) return null
  return `at: expected ms since the epoch or ISO 8601 text, found ${shown(at)}`
}

function payloadFault(payload: unknown): string | null {
  if (payload === undefined) return null
  try {
    const text: string | undefined = JSON.stringify(payload)
    if (text === undefined) return `payload: expected JSON data, found ${shown(payload)}`
    if (text.length <= SCHEDULE_LIMITS.payloadChars) return null
    return `payload: expected at most ${SCHEDULE_LIMITS.payloadChars} characters of JSON, found ${text.length}`
  } catch (error) {
    return `payload: expected JSON data: ${(error as Error).message.split('\n')[0]}`
  }
}

function shown(value: unknown): string {
  if (typeof value === 'string') return `'${value.slice(0, MAX_EVENT_CHARS)}'`
  return value === undefined ? 'nothing' : typeof value === 'number' ? String(value) : `a value of type ${typeof value}`
}
