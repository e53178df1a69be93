/** Waiting for what happens in other threads: by a condition, never by a time. */
import { setTimeout as pause } from 'node:timers/promises'

const POLL_MS = 2
const GIVE_UP_MS = 15_000

/** What a condition answers while it does not hold. */
type Falsy = false | null | undefined | 0 | ''

/**
 * Resolves with what the condition answers, once that is truthy; it may throw until then.
 * @param reason what is being waited for, told when it never comes
 * @throws after 15 s, with the reason and what the condition last said
 */
export async function eventually<T>(
  condition: () => T | Falsy | Promise<T | Falsy>,
  reason: string | (() => string),
): Promise<T> {
  const end = performance.now() + GIVE_UP_MS
  for (;;) {
    let last: unknown
    try {
      const value = await condition()
      if (value) return value as T
      last = value
    } catch (error) {
      last = error
    }
    if (performance.now() > end) {
      const text = typeof reason === 'string' ? reason : reason()
      throw new Error(`waited in vain: ${text} (last: ${String(last)})`, { cause: last })
    }
    await pause(POLL_MS)
  }
}
