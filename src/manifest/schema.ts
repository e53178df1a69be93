/**
 * The schema of agent.yml: which fields there are, what they may be, what they are when left out. The loader calls it
 * through check.ts. To add a field: here, in agent-manifest.ts (its meaning) and in defaults.ts.
 */
import { z } from 'zod'
import type { Unkillable } from '../model/agent-options.ts'
import { OVERFLOWS } from '../model/mailbox-policy.ts'
import { MISSED_POLICIES, OVERLAPS, SCHEDULE_LIMITS, type ScheduleInput } from '../model/schedule.ts'
import type { Backoff, Grant, RestartType, Shutdown } from './agent-manifest.ts'
import { DEFAULTS } from './defaults.ts'
import {
  choose,
  fraction,
  id,
  list,
  map,
  method,
  milliseconds,
  oneOf,
  path,
  powerOfTwo,
  text,
  truth,
  unique,
  whole,
} from './fields.ts'

const NAME_BYTES = 200
const VERSION_BYTES = 64
/** With full jitter still within what a timer can hold. */
const MAX_BACKOFF_MS = 1_000_000_000

const RESTART_TYPES = ['permanent', 'transient', 'temporary'] as const satisfies readonly RestartType[]
const UNKILLABLE = ['wait', 'replace'] as const satisfies readonly Unkillable[]

export const restartType = () => oneOf(RESTART_TYPES)

/** `shutdown` of a child. */
export const shutdown = (): z.ZodType<Shutdown> => {
  const error = 'whole milliseconds from 1 to 2147483647, brutal_kill or infinity'
  return choose<Shutdown>((value) =>
    typeof value === 'number'
      ? milliseconds()
      : z.custom<Shutdown>((word) => word === 'brutal_kill' || word === 'infinity', { error }),
  )
}

const grant: z.ZodType<Grant> = map({
  id: id(),
  allow: list(method(), 'names of methods')
    .superRefine(unique((name) => name, 'each method once'))
    .default([]),
})

const m = DEFAULTS.mailbox
const mailbox = map({
  capacity: whole(1, 1_000_000).default(m.capacity),
  overflow: oneOf(OVERFLOWS).default(m.overflow),
  window: powerOfTwo(16, 65_536).default(m.window),
  backlog: whole(1, 10_000_000).default(m.backlog),
  concurrency: whole(1, 256).default(m.concurrency),
  redeliver: whole(0, 1000).default(m.redeliver),
  durable: truth().default(m.durable),
})

const l = DEFAULTS.limits
const limits = map({
  heapMb: whole(8, 65_536).default(l.heapMb),
  bootTimeoutMs: milliseconds().default(l.bootTimeoutMs),
  stopTimeoutMs: milliseconds().default(l.stopTimeoutMs),
  pauseTimeoutMs: milliseconds().default(l.pauseTimeoutMs),
  abortGraceMs: milliseconds().default(l.abortGraceMs),
  handlerTimeoutMs: milliseconds(0).default(l.handlerTimeoutMs),
  unresponsiveAfterMs: milliseconds(100).default(l.unresponsiveAfterMs),
  killAfterMs: milliseconds(101).default(l.killAfterMs),
}).superRefine((value, ctx) => {
  if (value.unresponsiveAfterMs < value.killAfterMs) return
  const message = `more than unresponsiveAfterMs (${value.unresponsiveAfterMs})`
  ctx.addIssue({ code: 'custom', path: ['killAfterMs'], message, params: { value: value.killAfterMs } })
})

const r = DEFAULTS.restart
const delays = map({
  minMs: milliseconds(1, MAX_BACKOFF_MS).default(r.backoff.minMs),
  maxMs: milliseconds(1, MAX_BACKOFF_MS).default(r.backoff.maxMs),
  factor: fraction(1, 100).default(r.backoff.factor),
  jitter: fraction(0, 1).default(r.backoff.jitter),
}).superRefine((value, ctx) => {
  if (value.minMs <= value.maxMs) return
  const message = `at least minMs (${value.minMs})`
  ctx.addIssue({ code: 'custom', path: ['maxMs'], message, params: { value: value.maxMs } })
})

/** Of an agent and of a supervisor. */
export const backoff = choose<Backoff | 'none'>((value) =>
  typeof value === 'object' && value !== null ? delays : z.literal('none', { error: 'a map of delays, or none' }),
)

const restart = map({
  type: restartType().default(r.type),
  backoff: backoff.default(r.backoff),
  stableMs: milliseconds().default(r.stableMs),
  maxRestarts: whole(0, 1_000_000).nullable().default(r.maxRestarts),
  unkillable: oneOf(UNKILLABLE).default(r.unkillable),
})

const EVENT_BYTES = 200
const PATTERN_BYTES = 200

/** Its form. Patterns, zones and dates are checked where they are read: by the room of the schedules. */
const schedule = map({
  id: id(),
  event: text(EVENT_BYTES),
  payload: z.unknown().optional(),
  cron: text(PATTERN_BYTES).optional(),
  everyMs: whole(SCHEDULE_LIMITS.everyMinMs, SCHEDULE_LIMITS.everyMaxMs).optional(),
  at: choose<string>(() => text(PATTERN_BYTES)).optional(),
  timezone: text(PATTERN_BYTES).optional(),
  overlap: oneOf(OVERLAPS).optional(),
  missed: oneOf(MISSED_POLICIES).optional(),
}).superRefine(({ cron, everyMs, at }, ctx) => {
  const times = [cron, everyMs, at].filter((one) => one !== undefined)
  if (times.length !== 1) ctx.addIssue({ code: 'custom', message: 'exactly one of cron, everyMs and at' })
})

export const agentSchema = map({
  id: id(),
  name: text(NAME_BYTES),
  version: text(VERSION_BYTES).default(DEFAULTS.version),
  autostart: truth().default(DEFAULTS.autostart),
  roles: list(path(), 'paths of role modules').min(1, { error: 'at least one role' }).optional(),
  capabilities: list(grant, 'maps { id, allow }')
    .superRefine(unique((one: Grant) => one.id, 'each capability once'))
    .default([]),
  mailbox: mailbox.prefault({}),
  limits: limits.prefault({}),
  restart: restart.prefault({}),
  channels: list(id(), 'names of channels')
    .superRefine(unique((name) => name, 'each channel once'))
    .default([]),
  schedules: (list(schedule, 'maps { id, cron or everyMs or at, event }') as z.ZodArray<z.ZodType<ScheduleInput>>)
    .superRefine(unique((one: ScheduleInput) => one.id, 'each id once'))
    .default([]),
  isolation: z.literal('thread', { error: 'thread (this version has no other isolation)' }).default(DEFAULTS.isolation),
})
