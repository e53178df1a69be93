/** Options of `createHost`, checked at the door. */
import { resolve } from 'node:path'
import type { FleetObject } from '../manifest/fleet-manifest.ts'
import { HoltError } from '../model/error.ts'
import { MAX_TIMER_MS } from '../platform/clock.ts'
import { createLog, LOG_LEVELS, type Logger, type LogLevel } from '../platform/log.ts'
import { MEMORY } from '../store/database.ts'
import { LEASE_TERMS, type LeaseTerms } from '../supervisor/lease.ts'
import { checkLogOptions, type LogOptions } from './logs.ts'
import { isTracingApi, type TracingApi } from './tracing-api.ts'

export interface HostOptions {
  /** A folder with a holt.yml, or the same tree as an object. */
  readonly fleet: string | FleetObject
  /** Folder that paths in a fleet object are relative to. @default the present folder */
  readonly baseDir?: string
  /**
   * Folder of the state, made (0700) where it is not there, or `:memory:`.
   * @default for a fleet in a folder `$HOLT_STATE_DIR`, else the user's own place for states; for an object `:memory:`
   */
  readonly stateDir?: string
  /** A pino logger, or a level for one that writes JSON lines to stderr. @default 'warn' */
  readonly log?: Logger | LogLevel
  /**
   * What is kept of the output of each agent: in memory `ringLines` and `ringChars`, in the state directory `files` of
   * `fileBytes`. @default 1000, 262144, 4, 1048576
   */
  readonly logs?: Partial<LogOptions>
  /** One deadline over the whole of `shutdown`, ms. @default 10000 */
  readonly shutdownTimeoutMs?: number
  /**
   * How long an instance may be silent before it is fenced (`ttlMs`; 0: there are no leases), how often that is written
   * down, and how long it has then to prove its identity again. @default 15000, 5000, 30000
   */
  readonly lease?: Partial<LeaseTerms>
  /**
   * Agents the host may have: a larger fleet is refused before anything starts, and one agent more when it is added. Each is
   * a thread, of 5 MB and more. @default that of holt.yml, else 2000
   */
  readonly maxAgents?: number
  /**
   * MB that the machine, or the control group, is to have left when an agent has been started; 0: nothing is looked at.
   * @default that of holt.yml, else 128
   */
  readonly minFreeMb?: number
  /**
   * The module `@opentelemetry/api` with which the program has registered a tracer: one span a message, one an ask.
   * @default none: nothing is traced, at no cost
   */
  readonly tracing?: TracingApi
}

export interface CheckedOptions {
  readonly fleet: string | FleetObject
  readonly baseDir: string
  /** Absolute, or `:memory:`; undefined: by default. */
  readonly stateDir: string | undefined
  readonly log: Logger
  readonly logs: LogOptions
  readonly shutdownTimeoutMs: number
  /** Null: not given. */
  readonly maxAgents: number | null
  readonly minFreeMb: number | null
  readonly lease: LeaseTerms
  readonly tracing: TracingApi | null
}

const DEFAULT_SHUTDOWN_MS = 10_000

/** @throws HoltError `InvalidOption` saying what was expected and what was found */
export function checkOptions(options: HostOptions): CheckedOptions {
  const {
    fleet,
    baseDir = process.cwd(),
    stateDir,
    log = 'warn',
    shutdownTimeoutMs = DEFAULT_SHUTDOWN_MS,
    maxAgents = null,
    minFreeMb = null,
  } = options
  if (typeof fleet !== 'string' && (typeof fleet !== 'object' || fleet === null))
    throw wrong('fleet', 'a folder or a fleet object', fleet)
  if (stateDir !== undefined && (typeof stateDir !== 'string' || stateDir === ''))
    throw wrong('stateDir', "a folder, or ':memory:'", stateDir)
  if (typeof log === 'string' && !LOG_LEVELS.includes(log))
    throw wrong('log', `a pino logger or one of ${LOG_LEVELS.join(', ')}`, log)
  return {
    fleet,
    baseDir,
    stateDir: stateDir === undefined || stateDir === MEMORY ? stateDir : resolve(stateDir),
    log: typeof log === 'string' ? createLog(log) : log,
    logs: checkLogOptions(options.logs),
    shutdownTimeoutMs: checkTimeout(shutdownTimeoutMs),
    maxAgents: maxAgents === null ? null : checkCount('maxAgents', maxAgents, 1),
    minFreeMb: minFreeMb === null ? null : checkCount('minFreeMb', minFreeMb, 0),
    lease: checkLease(options.lease),
    tracing: checkTracing(options.tracing),
  }
}

function checkLease(given: Partial<LeaseTerms> | undefined): LeaseTerms {
  if (given === undefined) return LEASE_TERMS
  if (typeof given !== 'object' || given === null) throw wrong('lease', 'an object', given)
  for (const [name, ms] of Object.entries(given)) {
    if (!Object.hasOwn(LEASE_TERMS, name)) throw wrong('lease', `only ${Object.keys(LEASE_TERMS).join(', ')}`, name)
    if (ms !== undefined && !(Number.isFinite(ms) && ms >= 0 && ms <= MAX_TIMER_MS))
      throw wrong(`lease.${name}`, `a number from 0 to ${MAX_TIMER_MS}`, ms)
  }
  const ttlMs = given.ttlMs ?? LEASE_TERMS.ttlMs
  const renewEveryMs = given.renewEveryMs ?? Math.min(LEASE_TERMS.renewEveryMs, ttlMs / 3)
  if (ttlMs > 0 && !(renewEveryMs > 0 && renewEveryMs < ttlMs))
    throw wrong('lease.renewEveryMs', `more than 0 and less than ttlMs (${ttlMs})`, renewEveryMs)
  return { ttlMs, renewEveryMs, recoverMs: given.recoverMs ?? LEASE_TERMS.recoverMs }
}

function checkTracing(given: TracingApi | undefined): TracingApi | null {
  if (given === undefined) return null
  if (isTracingApi(given)) return given
  throw wrong('tracing', "the module '@opentelemetry/api'", given)
}

function checkCount(option: string, count: number, least: number): number {
  if (Number.isSafeInteger(count) && count >= least) return count
  throw wrong(option, `a whole number from ${least}`, count)
}

export function checkTimeout(ms: number): number {
  if (Number.isFinite(ms) && ms >= 0 && ms <= MAX_TIMER_MS) return ms
  throw wrong('shutdownTimeoutMs', `a number from 0 to ${MAX_TIMER_MS}`, ms)
}

const wrong = (option: string, expected: string, found: unknown): HoltError =>
  new HoltError(
    'InvalidOption',
    `${option}: expected ${expected}, found ${typeof found === 'string' ? `'${found}'` : String(found)}`,
    { option },
  )
