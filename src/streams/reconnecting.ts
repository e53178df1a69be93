/**
 * Values of a stream that may be cut, as one observable: it comes back from its cursor, so that nothing is missed and
 * nothing comes twice. Waits longer after each failure, by chance a little more or less. Used by the client.
 */
import { Observable } from 'rxjs'

export interface Source<T> extends AsyncIterable<T> {
  readonly opened: Promise<void>
  close(): void
}

export interface ReconnectOptions<T> {
  /** Opens it, after this cursor; undefined: from now on. The signal says that nobody follows any more. */
  readonly open: (since: number | undefined, signal: AbortSignal) => Source<T> | Promise<Source<T>>
  readonly since?: number | undefined
  /** Null for what has no place in the log, as a word that there was a gap: it is passed on. */
  readonly seqOf: (value: T) => number | null
  /** Whether from here on another log is told, whose numbers begin anew. */
  readonly isNewLog: (value: T) => boolean
  /** Whether it is of no use to come back. */
  readonly isFatal: (error: unknown) => boolean
  readonly onOpened?: () => void
  /** Calls after `ms`. */
  readonly after: (ms: number, call: () => void) => { cancel(): void }
  /** From 0 to 1. */
  readonly random: () => number
  /** Of the first wait; each after it is twice as long. @default 100 */
  readonly firstMs?: number
  /** @default 10000 */
  readonly mostMs?: number
}

/** How long to wait after so many failures in a row: half of it is left to chance. */
export const waitMs = (failures: number, firstMs: number, mostMs: number, random: number): number =>
  Math.min(mostMs, firstMs * 2 ** Math.min(failures, 30)) * (0.5 + random / 2)

export const reconnecting = <T>(options: ReconnectOptions<T>): Observable<T> =>
  new Observable<T>((sink) => {
    const { seqOf, isNewLog, isFatal, after, random, firstMs = 100, mostMs = 10_000 } = options
    let cursor = options.since
    let failures = 0
    let source: Source<T> | null = null
    let opening: AbortController | null = null
    let timer: { cancel(): void } | null = null
    const isNew = (value: T): boolean => {
      if (isNewLog(value)) cursor = 0
      const seq = seqOf(value)
      if (seq === null) return true
      if (cursor !== undefined && seq <= cursor) return false
      cursor = seq
      return true
    }
    const once = async (): Promise<void> => {
      opening = new AbortController()
      const opened = await options.open(cursor, opening.signal)
      opening = null
      source = opened
      if (sink.closed) return opened.close()
      await opened.opened
      options.onOpened?.()
      for await (const value of opened) {
        if (sink.closed) return
        failures = 0
        if (isNew(value)) sink.next(value)
      }
    }
    const again = (): void => {
      if (sink.closed) return
      source?.close()
      timer = after(waitMs(failures++, firstMs, mostMs, random()), () => void start())
    }
    const start = (): Promise<void> =>
      once().then(again, (error) => {
        if (isFatal(error)) sink.error(error)
        else again()
      })
    void start()
    return () => {
      timer?.cancel()
      opening?.abort()
      source?.close()
    }
  })

/**
 * What `load` answers, at first and whenever something changed; one load at a time, and the last change is never missed.
 * A load that fails is tried again, as a stream is.
 */
export const refreshed = <T>(
  changes: (changed: () => void) => Observable<unknown>,
  /** The signal says that nobody follows any more. */
  load: (signal: AbortSignal) => Promise<T>,
  again: Pick<ReconnectOptions<T>, 'after' | 'random' | 'isFatal'>,
) =>
  new Observable<T>((sink) => {
    let loading = false
    let stale = false
    let failures = 0
    let timer: { cancel(): void } | null = null
    let loads: AbortController | null = null
    const changed = (): void => {
      stale = true
      if (loading || sink.closed) return
      loading = true
      stale = false
      timer?.cancel()
      loads = new AbortController()
      load(loads.signal)
        .then(
          (value) => {
            failures = 0
            sink.next(value)
          },
          (error) => {
            if (again.isFatal(error)) sink.error(error)
            else if (!sink.closed) timer = again.after(waitMs(failures++, 100, 10_000, again.random()), changed)
          },
        )
        .finally(() => {
          loading = false
          loads = null
          if (stale) changed()
        })
    }
    const told = changes(changed).subscribe({
      next: changed,
      error: (error) => sink.error(error),
      complete: () => sink.complete(),
    })
    return () => {
      timer?.cancel()
      loads?.abort()
      told.unsubscribe()
    }
  })
