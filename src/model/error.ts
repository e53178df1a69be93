/**
 * The table of errors: code, sentence, HTTP status, exit code of the CLI, retryable or not; and the one shape in
 * which an error of any kind crosses a boundary. A code that is retired stays listed.
 */

interface ErrorRow {
  /** What it means and what to do next. */
  readonly text: string
  readonly http: number
  readonly exit: number
  /** Whether the same call may succeed later with nothing changed by the caller. */
  readonly retryable: boolean
}

const row = (text: string, http: number, exit: number, retryable = false): ErrorRow => ({ text, http, exit, retryable })

export const ERRORS = {
  InvalidTransition: row(
    'The lifecycle made a move its table forbids. This is a bug in Holt; please report it.',
    500,
    70,
  ),
  InvalidCommand: row('The command does not apply in this phase. The message lists the ones that do.', 409, 4),
  RestartNeeded: row('What has changed is only taken up by a start of the host. The message lists it.', 409, 4),
  AgentBusy: row('Another command holds the agent. Wait for it, or send one of higher rank.', 409, 5, true),
  Preempted: row('A command of higher rank took over. Look at the agent and decide again.', 409, 5),
  NoSuchAgent: row('No agent has this id. The message names the nearest one.', 404, 3),
  NoSuchOperation: row('The host has no operation of this name. The message names the nearest one.', 404, 3),
  NoSuchCommand: row('The agent has no such command. `commands` lists those it has.', 404, 3),
  NoSuchDeadLetter: row('There is no dead letter of this id any more. `dead-letters` lists those there are.', 404, 3),
  NoSuchCapability: row('The agent was not granted this capability or method. Grant it in agent.yml.', 403, 3),
  NotAccepting: row('The agent takes no messages now. Start or activate it first.', 409, 4, true),
  CommandBusy: row('An exclusive command is still running. Wait until it ends.', 409, 5, true),
  Overloaded: row('The mailbox is full. Wait for room, then send again.', 429, 6, true),
  Timeout: row('No reply came in time. The handler may still be running.', 504, 7, true),
  Aborted: row('The caller gave up, or the work was cut short by a command.', 499, 8),
  AgentDied: row('The agent died before it replied. The death record says why.', 502, 9, true),
  HandlerError: row('The handler refused or failed. The cause is its own error.', 422, 10),
  InvalidInput: row('The input does not fit the schema. The message names the field.', 422, 2),
  NotCloneable: row('The payload cannot be copied. Send plain data; the message names the field.', 422, 2),
  InvalidManifest: row('A manifest is wrong. The message names file, line and field.', 422, 2),
  GateRefused: row('Something the agent needs is missing. The message lists it.', 409, 4),
  BootFailed: row('The agent did not start. The death record names the step.', 502, 9),
  Unkillable: row(
    'The thread is inside a native call and cannot be ended. It is fenced; try again once it has ended.',
    409,
    5,
    true,
  ),
  NoSuchSupervisor: row('No supervisor has this id, or it is not `dynamic`. `tree` shows them.', 404, 3),
  TooManyChildren: row(
    'The supervisor has as many children as its maxChildren allows. Try again when one has ended.',
    429,
    6,
    true,
  ),
  NotEnoughMemory: row(
    'There is no memory for one more agent. The message says how much there is. Stop others, or lower minFreeMb.',
    503,
    6,
    true,
  ),
  IdTaken: row('Another agent or supervisor of the fleet has this id. Choose another.', 409, 4),
  GenerationMismatch: row(
    'Somebody else has changed the intent meanwhile. Look at the agent and decide again.',
    409,
    4,
  ),
  VersionMismatch: row('Somebody else has changed the value meanwhile. Read it and decide again.', 409, 4),
  ValueTooLarge: row('The value is larger than what may be kept under one key. Split it.', 413, 2),
  StateInUse: row('Another host has this state directory. The message says which, and how to reach it.', 409, 5),
  StateLocked: row('Another program keeps the state locked. Close it, then try again.', 503, 11, true),
  StateFull: row('The disk is full: nothing can be saved. Make room; the host goes on by itself.', 507, 13, true),
  StateUnwritable: row('The state cannot be written. The message names the path and the reason.', 503, 13, true),
  StateUnreadable: row('The state cannot be read. The message names the path and the reason.', 500, 13),
  StateCorrupt: row(
    'The state is damaged and was left as it is. Restore a backup, or choose another directory.',
    500,
    13,
  ),
  StateNewer: row(
    'The state was written by a newer version. Install that version, or choose another directory.',
    500,
    13,
  ),
  StateMigrationFailed: row(
    'The state could not be brought up to date and was left as it was. The message says why.',
    500,
    13,
  ),
  StateReplaced: row('The files of the state were removed or replaced under the running host. Restart it.', 500, 13),
  StateLogLost: row(
    'The log of the state was removed after the last host had died: its last writes may be lost.',
    500,
    13,
  ),
  StaleEpoch: row('The caller belongs to an instance that has been replaced.', 409, 4),
  ShuttingDown: row('The host is shutting down and takes no new work.', 503, 11, true),
  NoHost: row('No host answers at this path. `holt up` starts one; the message says what was found instead.', 503, 12),
  Unauthorized: row(
    'The token is missing, unknown, revoked or expired. Send `Authorization: Bearer TOKEN`; `holt token create` makes one.',
    401,
    14,
  ),
  Forbidden: row(
    'The caller may not do this. The message says which access it takes, or which origin was refused.',
    403,
    14,
  ),
  NoSuchToken: row('No token has this id. `holt token list` shows them.', 404, 3),
  MethodNotAllowed: row('The path has no such method. The header `Allow` lists those it has.', 405, 2),
  BadRequest: row('The request cannot be read. The message says what was expected.', 400, 2),
  TooLarge: row('The body is larger than a request may be. Send less at a time.', 413, 2),
  UnsupportedMediaType: row(
    'The body is in a form that is not read here. Send `Content-Type: application/json`.',
    415,
    2,
  ),
  WrongHost: row(
    'The header `Host` names another host. Use the name or the address it listens at, or allow this one.',
    421,
    2,
  ),
  RateLimited: row('Too many requests in a short time. The header `Retry-After` says when to try again.', 429, 6, true),
  KeyReused: row('The idempotency key was used for another request. Use a new one.', 422, 2),
  KeyInUse: row('A request with this idempotency key is still in work. Wait for its answer.', 409, 5, true),
  InvalidOption: row('An option is wrong. The message says what was expected.', 422, 2),
  Internal: row('Something failed inside the host. This is a bug in Holt; please report it.', 500, 70),
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof ERRORS

/** An error of Holt's own: `code` is a key of {@link ERRORS}, `details` is plain data. */
export class HoltError extends Error {
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, details: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = code
    this.code = code
    this.details = details
  }
}

/** An error as plain data: the same shape in a reply, a death record and on the wire. */
export interface ErrorShape {
  readonly name: string
  readonly message: string
  readonly code?: string
  readonly stack?: string
  /** Own plain fields of the error beside those above, bounded. */
  readonly data?: Readonly<Record<string, unknown>>
  readonly cause?: ErrorShape
}

const MAX_TEXT = 8192
const MAX_DEPTH = 4
const MAX_FIELDS = 16

/** Reads a property that may be a getter which throws. */
function read(source: object, key: string): unknown {
  try {
    return Reflect.get(source, key)
  } catch (error) {
    return `[${key} threw: ${textOf(error)}]`
  }
}

/** Text of any value, never a throw. */
function textOf(value: unknown): string {
  try {
    return (typeof value === 'string' ? value : String(value)).slice(0, MAX_TEXT)
  } catch {
    return `[unprintable ${typeof value}]`
  }
}

/** A field as bounded plain data: primitives stay, everything else becomes JSON text with cycles marked. */
function plain(value: unknown): unknown {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value === 'string') return value.slice(0, MAX_TEXT)
  if (typeof value !== 'object') return textOf(value)
  const open: unknown[] = []
  try {
    const json: string | undefined = JSON.stringify(value, function (this: unknown, _key, inner: unknown) {
      while (open.length > 0 && open.at(-1) !== this) open.pop()
      if (typeof inner === 'bigint' || typeof inner === 'symbol' || typeof inner === 'function') return textOf(inner)
      if (typeof inner !== 'object' || inner === null) return inner
      if (inner instanceof Error) return textOf(inner)
      if (open.includes(inner)) return '[circular]'
      open.push(inner)
      return inner
    })
    if (json === undefined) return null
    return json.length <= MAX_TEXT ? JSON.parse(json) : `${json.slice(0, MAX_TEXT)}…`
  } catch (error) {
    return `[unreadable: ${textOf(error)}]`
  }
}

/** A value that was thrown and has no message, as one. */
const saying = (value: unknown): string => `thrown value: ${typeof value === 'string' ? value : JSON.stringify(value)}`

const KNOWN = new Set(['name', 'message', 'stack', 'code', 'cause'])

function ownData(error: object): Record<string, unknown> | undefined {
  let keys: string[]
  try {
    keys = Object.keys(error).filter((key) => !KNOWN.has(key))
    // The errors of an AggregateError are not enumerable, and all there is to it.
    if (Object.hasOwn(error, 'errors') && !keys.includes('errors')) keys.push('errors')
  } catch {
    return undefined
  }
  if (keys.length === 0) return undefined
  const data: Record<string, unknown> = Object.create(null)
  for (const key of keys.slice(0, MAX_FIELDS)) data[key] = plain(read(error, key))
  return { ...data }
}

/**
 * Any thrown value as plain data: null, a symbol, a frozen object, a getter that throws and an error that cannot be
 * cloned all come out whole. Never throws; texts are cut at 8 KiB, causes at depth 4.
 */
export function describeError(thrown: unknown, depth = 0): ErrorShape {
  if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) {
    return { name: 'NonError', message: `thrown value: ${textOf(thrown)}` }
  }
  const text = (key: string): string | undefined => {
    const value = read(thrown, key)
    return value === undefined || value === null ? undefined : textOf(value)
  }
  const code = text('code')
  const stack = text('stack')
  const data = ownData(thrown)
  const cause = depth < MAX_DEPTH ? read(thrown, 'cause') : undefined
  return {
    name: text('name') ?? 'NonError',
    message: text('message') ?? saying(plain(thrown)),
    ...(code === undefined ? {} : { code }),
    ...(stack === undefined ? {} : { stack }),
    ...(data === undefined ? {} : { data }),
    ...(cause === undefined ? {} : { cause: describeError(cause, depth + 1) }),
  }
}

/** The error that a shape described: name, message, code, stack, own fields and causes as they were. */
export function reviveError(shape: ErrorShape): Error {
  const cause = shape.cause === undefined ? undefined : { cause: reviveError(shape.cause) }
  const ours = isErrorCode(shape.code)
  const { details, fields } = ours ? ownFields(shape) : { details: {}, fields: shape.data ?? {} }
  const error = ours
    ? new HoltError(shape.code as ErrorCode, shape.message, details, cause?.cause)
    : new Error(shape.message, cause)
  const define = (key: string, value: unknown): void => {
    Object.defineProperty(error, key, { value, writable: true, configurable: true, enumerable: key !== 'stack' })
  }
  define('name', shape.name)
  if (shape.stack !== undefined) define('stack', shape.stack)
  if (shape.code !== undefined) define('code', shape.code)
  for (const [key, value] of Object.entries(fields)) define(key, value)
  return error
}

type Fields = Readonly<Record<string, unknown>>

/** The details of an error of our own, which `describeError` found among its fields, and what was added to it. */
function ownFields({ data = {} }: ErrorShape): { readonly details: Fields; readonly fields: Fields } {
  const { details, ...fields } = data
  return typeof details === 'object' && details !== null
    ? { details: details as Fields, fields }
    : { details: data, fields: {} }
}

export const isErrorCode = (code: unknown): code is ErrorCode => typeof code === 'string' && Object.hasOwn(ERRORS, code)
