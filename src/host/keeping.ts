/**
 * What agents keep, as requests of their newest instances: reads answer from what is committed, and wait for what the
 * same agent has written before; writes are fenced by the instance's epoch and answered once they are on disk.
 */
import type { Agent } from '../actors/agent.ts'
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

export interface KeepingDeps {
  readonly store: Store
  readonly clock: Clock
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

const bounded = <P extends { readonly limit?: number }>(page: P): P =>
  ({ ...page, limit: Math.min(MAX_PAGE, Math.max(1, page.limit ?? 100)) }) as P

export const KEEPING = {
  'memory.entry': async ({ store }: KeepingDeps, from: Agent, { key }: Keyed): Promise<MemoryEntry | undefined> => {
    const entry = await store.write(() => store.memory.get(from.id, key))
    return entry === undefined ? undefined : { ...entry, value: revived(entry.value) }
  },
  'memory.set': (deps: KeepingDeps, from: Agent, { key, value, ifVersion }: Keyed<{ readonly value: unknown }>) => {
    const epoch = epochOf(from)
    const body = stored(value)
    return deps.store.write((tx) => tx.memory.set(from.id, key, body, deps.clock.wall(), { epoch, ifVersion }))
  },
  'memory.delete': ({ store }: KeepingDeps, from: Agent, { key, ifVersion }: Keyed) => {
    const epoch = epochOf(from)
    return store.write((tx) => tx.memory.delete(from.id, key, { epoch, ifVersion }))
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
    { store, clock }: KeepingDeps,
    from: Agent,
    { steps }: { readonly steps: readonly MemoryStep[] },
  ) => {
    const epoch = epochOf(from)
    const operations = steps.map((step) => (step.op === 'set' ? { ...step, value: stored(step.value) } : step))
    return store.write((tx) => tx.memory.apply(from.id, operations, clock.wall(), epoch))
  },
  'session.append': (
    { store, clock }: KeepingDeps,
    from: Agent,
    { session, value }: OfSession<{ readonly value: unknown }>,
  ) => {
    const epoch = epochOf(from)
    const name = named(session)
    const body = stored(value)
    return store.write((tx) => tx.sessions.append(from.id, name, body, clock.wall(), epoch))
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
  'session.remove': ({ store }: KeepingDeps, from: Agent, { session }: OfSession) => {
    const epoch = epochOf(from)
    return store.write((tx) => tx.sessions.remove(from.id, named(session), epoch))
  },
} as const
