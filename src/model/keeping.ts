/** What an agent keeps on disk: values by key, and sessions that only grow. Plain data, the same on both sides. */

/** A value of `ctx.memory`. */
export interface MemoryEntry<T = unknown> {
  readonly key: string
  readonly value: T
  /** Grows with each write of the key; what compare-and-set compares. */
  readonly version: number
  /** When it was written; wall clock, ms. */
  readonly at: number
}

export interface MemoryCondition {
  /** Write only where the key has this version; null: only where it does not exist. @default any */
  readonly ifVersion?: number | null
}

export interface MemoryPage {
  /** @default 1000 */
  readonly limit?: number
  /** The last key of the page before. */
  readonly after?: string
}

/** One step of a transaction. */
export type MemoryStep =
  | ({ readonly op: 'set'; readonly key: string; readonly value: unknown } & MemoryCondition)
  | ({ readonly op: 'delete'; readonly key: string } & MemoryCondition)

/** What an agent keeps between its instances and hosts. What a call that was awaited has written is on disk. */
export interface Memory {
  /** Undefined where there is none. */
  get<T = unknown>(key: string): Promise<T | undefined>
  /** With its version. */
  entry<T = unknown>(key: string): Promise<MemoryEntry<T> | undefined>
  /**
   * @param value what `postMessage` could copy; at most 1 MiB
   * @returns its version
   * @throws HoltError `VersionMismatch`, naming the present one; `ValueTooLarge`; `InvalidInput` for the key
   */
  set(key: string, value: unknown, condition?: MemoryCondition): Promise<number>
  /** @returns whether it was there @throws HoltError `VersionMismatch` */
  delete(key: string, condition?: MemoryCondition): Promise<boolean>
  /** Those whose key begins with `prefix`, in order of keys. */
  list<T = unknown>(prefix?: string, page?: MemoryPage): Promise<MemoryEntry<T>[]>
  /**
   * All of them or none, in order.
   * @returns the version of each key that was set, null of each that was deleted
   * @throws HoltError as `set` and `delete` do
   */
  transaction(steps: readonly MemoryStep[]): Promise<(number | null)[]>
}

/** One entry of a session. */
export interface SessionEntry<T = unknown> {
  /** From 0. */
  readonly position: number
  /** Wall clock, ms. */
  readonly at: number
  readonly value: T
}

export interface SessionPage {
  /** The position of the first entry. @default 0; the last one where `reverse` is set */
  readonly from?: number
  /** @default 100 */
  readonly limit?: number
  /** From `from` down. @default false */
  readonly reverse?: boolean
}

/** A list that only grows: a conversation, a log. What an awaited call has written is on disk. */
export interface Session {
  readonly id: string
  /** @returns the position of the entry @throws HoltError `ValueTooLarge` past 1 MiB */
  append(value: unknown): Promise<number>
  page<T = unknown>(page?: SessionPage): Promise<SessionEntry<T>[]>
  /** How many entries it has. */
  length(): Promise<number>
  /** @returns whether it was there */
  remove(): Promise<boolean>
}
