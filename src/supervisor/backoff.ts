/**
 * How soon a child comes back: at once the first time, then `minMs` growing by `factor` up to `maxMs`, for ever at that
 * cap, until the child has shown progress. Pure: randomness and durations are handed in, the state is plain data that
 * the supervisor's loop keeps. It starts no timer and reads no clock. Durations are on a monotonic clock.
 */

/** The shape of the growth. */
export interface BackoffCurve {
  /** Delay of the second restart in a row, ms. @default 1000 */
  readonly minMs: number
  /** The cap, ms, before jitter. @default 300000 */
  readonly maxMs: number
  /** By how much each delay exceeds the one before. @default 2 */
  readonly factor: number
  /** Share by which a delay may be shorter or longer: 0.2 is ±20 %. @default 0.2 */
  readonly jitter: number
}

/** `none`: always at once, as in plain OTP. */
export type Backoff = BackoffCurve | 'none'

export interface BackoffOptions {
  readonly backoff: Backoff
  /** How long a life that got something done must last before its child starts afresh, ms. @default 10000 */
  readonly stableMs: number
}

export const BACKOFF_DEFAULTS: BackoffOptions = {
  backoff: { minMs: 1000, maxMs: 300_000, factor: 2, jitter: 0.2 },
  stableMs: 10_000,
}

/** Where a child stands. */
export interface BackoffState {
  /** Restarts in a row without progress. */
  readonly attempt: number
  /** The delay before the last of them, ms, without jitter. */
  readonly delayMs: number
}

/** A child that has not failed, or that an operator has started. */
export const FRESH_BACKOFF: BackoffState = { attempt: 0, delayMs: 0 }

/** What a life that has ended amounted to. */
export interface Life {
  /** From the start of its thread to its end, ms, monotonic. */
  readonly uptimeMs: number
  /** It finished a message, or a schedule fired. */
  readonly progressed: boolean
}

/** A life without a message done must be this many times `stableMs` long. */
const IDLE_LIVES = 10

/**
 * The delay of the next restart, and the state to keep.
 * @param random a number in [0, 1)
 */
export function nextDelay(
  state: BackoffState,
  options: Pick<BackoffOptions, 'backoff'>,
  random: () => number,
): { readonly delayMs: number; readonly state: BackoffState } {
  const { backoff } = options
  const attempt = state.attempt + 1
  if (backoff === 'none' || attempt === 1) return { delayMs: 0, state: { attempt, delayMs: 0 } }
  const delayMs = Math.min(Math.max(backoff.minMs, state.delayMs * backoff.factor), backoff.maxMs)
  const spread = 1 + backoff.jitter * (2 * random() - 1)
  return { delayMs: Math.max(0, Math.round(delayMs * spread)), state: { attempt, delayMs } }
}

/** The state after a life: fresh where it showed progress, else as it was. */
export function afterLife(
  state: BackoffState,
  { uptimeMs, progressed }: Life,
  { stableMs }: Pick<BackoffOptions, 'stableMs'>,
): BackoffState {
  const worked = progressed && uptimeMs >= Math.max(stableMs, state.delayMs)
  // With `stableMs` 0 every life would count as a long one, and the limits would never apply.
  const lasted = stableMs > 0 && uptimeMs >= IDLE_LIVES * stableMs
  return worked || lasted ? FRESH_BACKOFF : state
}
