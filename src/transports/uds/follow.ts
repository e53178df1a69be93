/** One subscription to a stream, as both forms of the protocol keep it: its end is told once, and nothing comes after. */
import type { Observable, Unsubscribable } from 'rxjs'

export interface Follower {
  value(value: unknown): void
  /** The stream has ended; `failure` holds what was thrown. Not called after `stop`. */
  end(failure: { readonly error: unknown } | null): void
}

export interface Followed {
  stop(): void
}

export function follow(source: Observable<unknown>, follower: Follower): Followed {
  let over = false
  let subscription: Unsubscribable | null = null
  const stop = (): void => {
    over = true
    try {
      subscription?.unsubscribe()
    } catch {
      // What a teardown throws is the stream's own affair; this end of it is over.
    }
  }
  const finish = (failure: { readonly error: unknown } | null): void => {
    if (over) return
    stop()
    follower.end(failure)
  }
  const next = (value: unknown): void => {
    if (over) return
    try {
      follower.value(value)
    } catch (error) {
      finish({ error })
    }
  }
  try {
    subscription = source.subscribe({
      next,
      error: (error: unknown) => finish({ error }),
      complete: () => finish(null),
    })
  } catch (error) {
    finish({ error })
  }
  // It ended before there was anything to unsubscribe from.
  if (over) stop()
  return { stop }
}
