/**
 * What agents keep, as requests of their newest instances: reads answer from what is committed, and wait for what the
 * same agent has written before; writes are fenced by the instance's epoch and answered once they are on disk.
 */
import type { Agent } from '../actors/agent.ts'
import { messageIdOf } from '../actors/flush.ts'
import { HoltError } from '../model/error.ts'
import type {
  MemoryCondition,
  MemoryEntry,
  MemoryPage,
  MemoryStep,
  SessionEntry,
  SessionPage,
} from '../model/keeping.ts'
import { decodeBody, encodePayload } from '../model/payload.ts'
import type { Clock } from '../platform/clock.ts'
import type { Store } from '../store/store.ts'
import { restoreBody, type StoredBody, storeBody } from '../store/stored-body.ts'
import type { Tables } from '../store/tables.ts'

export interface KeepingDeps {
  readonly store: Store
  readonly clock: Clock
}

/** Of which delivery a write is, and the how many-th of it. */
interface Written {
  readonly of: { readonly seq: number; readonly n: number }
}

type Keyed<T = object> = T & { readonly key: string } & MemoryCondition
type OfSession<T = object> = T & { readonly session: string }

const stored = (value: unknown): StoredBody => storeBody(encodePayload(value))
const revived = (body: StoredBody): unknown => decodeBody(restoreBody(body))
const MAX_NAME = 200
const MAX_PAGE = 10_000

/** @throws HoltError `StaleEpoch` where no instance lives any more */
function epochOf({ id, instance }: Agent): number {
  if (instance !== null) return instance.epoch
  throw new HoltError('StaleEpoch', `agent '${id}' has no instance any more: what it keeps cannot be written by it`)
}

function named(session: unknown): string {
  if (typeof session === 'string' && session !== '' && session.length <= MAX_NAME) return session
  throw new HoltError(
    'InvalidInput',
    `session: expected a name of 1 to ${MAX_NAME} characters, found ${typeof session === 'string' ? `'${session.slice(0, 20)}…'` : typeof session}`,
  )
}

/**
 * A write of the newest instance, once: one that a durable message had made before it was delivered again is left out, and
 * answered as `again` says.
 */
function once<T>(
  deps: KeepingDeps,
  from: Agent,
  { of }: Written,
  work: (tx: Tables, epoch: number) => T,
  again: (tx: Tables) => T,
): Promise<T> {
  const epoch = epochOf(from)
  const messageId = messageIdOf(from.inbox, of.seq)
  return deps.store.write((tx) => {
    const first = messageId === undefined || tx.effects.once(from.id, messageId, of.n, deps.clock.wall())
    return first ? work(tx, epoch) : again(tx)
  })
}

const bounded = <P extends { readonly limit?: number }>(page: P): P =>
  ({ ...page, limit: Math.min(MAX_PAGE, Math.max(1, page.limit ?? 100)) }) as P

export const KEEPING = {
  'memory.entry': async ({ store }: KeepingDeps, from: Agent, { key }: Keyed): Promise<MemoryEntry | undefined> => {
    const entry = await store.write(() => store.memory.get(from.id, key))
    return entry === undefined ? undefined : { ...entry, value: revived(entry.value) }
  },
  'memory.set': (deps: KeepingDeps, from: Agent, write: Keyed<Written & { readonly value: unknown }>) => {
    const { key, ifVersion } = write
    const body = stored(write.value)
    return once(
      deps,
      from,
      write,
      (tx, epoch) => tx.memory.set(from.id, key, body, deps.clock.wall(), { epoch, ifVersion }),
      (tx) => tx.memory.get(from.id, key)?.version ?? 0,
    )
  },
  'memory.delete': (deps: KeepingDeps, from: Agent, write: Keyed<Written>) => {
    const { key, ifVersion } = write
    return once(
      deps,
      from,
      write,
      (tx, epoch) => tx.memory.delete(from.id, key, { epoch, ifVersion }),
      () => true,
    )
  },
  'memory.list': async (
    { store }: KeepingDeps,
    from: Agent,
    { prefix, page }: { readonly prefix: string; readonly page: MemoryPage },
  ): Promise<MemoryEntry[]> => {
    const entries = await store.write(() => store.memory.list(from.id, prefix, bounded({ limit: 1000, ...page })))
    return entries.map((entry) => ({ ...entry, value: revived(entry.value) }))
  },
  'memory.transaction': (
    deps: KeepingDeps,
    from: Agent,
    write: Written & { readonly steps: readonly MemoryStep[] },
  ) => {
    const operations = write.steps.map((step) => (step.op === 'set' ? { ...step, value: stored(step.value) } : step))
    return once(
      deps,
      from,
      write,
      (tx, epoch) => tx.memory.apply(from.id, operations, deps.clock.wall(), epoch),
      (tx) => operations.map(({ op, key }) => (op === 'set' ? (tx.memory.get(from.id, key)?.version ?? 0) : null)),
    )
  },
  'session.append': (deps: KeepingDeps, from: Agent, write: OfSession<Written & { readonly value: unknown }>) => {
    const name = named(write.session)
    const body = stored(write.value)
    return once(
      deps,
      from,
      write,
      (tx, epoch) => tx.sessions.append(from.id, name, body, deps.clock.wall(), epoch),
      // Where it stands is not remembered; that of the last entry is as near as any.
      (tx) => Math.max(0, (tx.sessions.get(from.id, name)?.length ?? 1) - 1),
    )
  },
  'session.page': async (
    { store }: KeepingDeps,
    from: Agent,
    { session, page }: OfSession<{ readonly page: SessionPage }>,
  ): Promise<SessionEntry[]> => {
    const entries = await store.write(() => store.sessions.page(from.id, named(session), bounded(page)))
    return entries.map((entry) => ({ ...entry, value: revived(entry.value) }))
  },
  'session.length': ({ store }: KeepingDeps, from: Agent, { session }: OfSession) =>
    store.write(() => store.sessions.get(from.id, named(session))?.length ?? 0),
  'session.remove': (deps: KeepingDeps, from: Agent, write: OfSession<Written>) => {
    const name = named(write.session)
    return once(
      deps,
      from,
      write,
      (tx, epoch) => tx.sessions.remove(from.id, name, epoch),
      () => true,
    )
  },
} as const
