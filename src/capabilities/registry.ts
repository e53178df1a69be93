/**
 * The registry: every capability of the host, where it runs and who may borrow what. The host makes one at boot, asks it
 * for offers (the gate), mounts and loans, and shuts it down last. A capability that is wrong or does not boot is
 * unavailable and says why; it keeps nothing else from working.
 */
import type { MessagePort } from 'node:worker_threads'
import { describeError, HoltError } from '../model/error.ts'
import type { ModuleSource, Mount } from '../model/wire.ts'
import { checkCapability, fault } from './check.ts'
import type { Capability, CapabilityContext, Methods, Placement } from './contract.ts'
import { type Loan, lend } from './expose.ts'
import { createFacade, type Facade } from './facade.ts'
import type { Grant, Offer } from './gate.ts'
import type { Refusal } from './guard.ts'
import { Pool, type PoolSettings } from './pool.ts'

export interface RegistryOptions {
  /** Compiled capability modules, in the order of holt.yml; of two with one id the first wins. */
  readonly modules: readonly ModuleSource[]
  /** Imports one: its namespace. */
  readonly load: (source: ModuleSource) => Promise<unknown>
  readonly log: CapabilityContext['log']
  readonly poolWorkerUrl: URL
  /** When it aborts, a capability that is still booting is given up as unavailable. @default waits for all */
  readonly bootDeadline?: AbortSignal
  readonly pool?: PoolSettings
}

export interface CapabilityInfo {
  readonly id: string
  readonly placement: Placement
  readonly methods: readonly string[]
}

/** Who borrows what. */
export interface Borrower {
  readonly agent: string
  readonly grants: readonly Grant[]
  /** Whether this instance is still the agent's present one. Asked at every call. */
  readonly isCurrent: () => boolean
  /** Told of every message that was not let through. */
  readonly onRefused?: (refusal: Refusal) => void
}

export interface Registry {
  /** What was wrong with modules, one `InvalidManifest` each. */
  readonly faults: readonly HoltError[]
  list(): CapabilityInfo[]
  /** What can be granted, for the gate. */
  offers(): Offer[]
  /** What an agent with these grants has mounted. */
  mounts(grants: readonly Grant[]): Mount[]
  /** Whether any of these grants needs a port to the host. */
  needsPort(grants: readonly Grant[]): boolean
  /** Lends to one instance over its port, what is granted and available. */
  lend(port: MessagePort, borrower: Borrower): Loan
  /** Ends capabilities and pools. Calls are refused from now on. `stuck` names those that had not ended at the deadline. */
  shutdown(deadline: AbortSignal): Promise<{ readonly stuck: readonly string[] }>
}

interface Entry {
  readonly source: ModuleSource
  readonly capability: Capability
  readonly pool: Pool | null
  /** What calls go to; null for placement `agent`. */
  readonly methods: Methods | null
  unavailable: string | undefined
  booted: boolean
}

const withId = (log: CapabilityContext['log'], id: string): CapabilityContext['log'] => ({
  info: (text, data) => log.info(`capability '${id}': ${text}`, data),
  warn: (text, data) => log.warn(`capability '${id}': ${text}`, data),
  error: (text, data) => log.error(`capability '${id}': ${text}`, data),
})

/** Settles with `late` when the signal aborts first. */
async function within<T>(work: Promise<T>, deadline: AbortSignal | undefined, late: T): Promise<T> {
  if (deadline === undefined) return work
  let onAbort = (): void => {}
  const aborted = new Promise<T>((resolve) => {
    onAbort = () => resolve(late)
    if (deadline.aborted) onAbort()
    else deadline.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    deadline.removeEventListener('abort', onAbort)
  }
}

async function boot(entry: Entry, options: RegistryOptions): Promise<void> {
  const { capability } = entry
  const failure = async (): Promise<string | undefined> => {
    try {
      await capability.boot?.({ log: withId(options.log, capability.id) })
      entry.booted = true
      return undefined
    } catch (error) {
      return `its boot failed: ${describeError(error).message}`
    }
  }
  entry.unavailable = await within(failure(), options.bootDeadline, 'its boot did not end in time')
  if (entry.unavailable !== undefined) {
    options.log.error(`capability '${capability.id}' is unavailable: ${entry.unavailable}`)
  }
}

/** What ends a capability; never throws. */
async function end({ capability, booted, pool }: Entry, log: CapabilityContext['log']): Promise<void> {
  try {
    if (booted) await capability.shutdown?.()
    await pool?.destroy()
  } catch (error) {
    log.error(`capability '${capability.id}' failed to shut down`, describeError(error))
  }
}

function mapMethods(methods: Methods, call: (name: string, args: readonly unknown[]) => unknown): Methods {
  const names = Object.keys(methods)
  return Object.fromEntries(names.map((name) => [name, (...args: readonly unknown[]) => call(name, args)]))
}

function createEntry(source: ModuleSource, capability: Capability, options: RegistryOptions): Entry {
  const entry = { source, capability, unavailable: undefined, booted: false }
  if (capability.placement === 'agent') return { ...entry, pool: null, methods: null }
  if (capability.placement === 'pool') {
    const { poolWorkerUrl: workerUrl, log } = options
    const pool = new Pool({ ...options.pool, id: capability.id, module: source, workerUrl, log })
    return { ...entry, pool, methods: mapMethods(capability.methods, (name, args) => pool.call(name, args)) }
  }
  return { ...entry, pool: null, methods: capability.methods }
}

async function load(source: ModuleSource, options: RegistryOptions): Promise<Capability | HoltError> {
  try {
    return checkCapability(await options.load(source), source.file)
  } catch (error) {
    if (error instanceof HoltError && error.code === 'InvalidManifest') return error
    return fault(source.file, 'module', 'one that can be imported', describeError(error).message, error)
  }
}

/** Loads, checks and boots the capabilities. Settles when each is either ready or known to be unavailable. */
export async function createRegistry(options: RegistryOptions): Promise<Registry> {
  const entries = new Map<string, Entry>()
  const faults: HoltError[] = []
  const loaded = await Promise.all(options.modules.map((source) => load(source, options)))
  for (const [index, source] of options.modules.entries()) {
    const capability = loaded[index]!
    if (capability instanceof HoltError) {
      faults.push(capability)
      continue
    }
    const first = entries.get(capability.id)
    if (first === undefined) entries.set(capability.id, createEntry(source, capability, options))
    else
      faults.push(
        fault(source.file, 'id', 'one of its own', `'${capability.id}', which is that of ${first.source.file}`),
      )
  }
  await Promise.all(
    [...entries.values()]
      .filter(({ capability }) => capability.placement === 'host')
      .map((entry) => boot(entry, options)),
  )
  return registryOf(entries, faults, options.log)
}

function registryOf(
  entries: ReadonlyMap<string, Entry>,
  faults: readonly HoltError[],
  log: CapabilityContext['log'],
): Registry {
  let closed = false
  const methodsOf = ({ capability }: Entry): string[] => Object.keys(capability.methods)
  const granted = (grants: readonly Grant[]): { grant: Grant; entry: Entry }[] =>
    grants.flatMap((grant) => {
      const entry = entries.get(grant.id)
      return entry === undefined ? [] : [{ grant, entry }]
    })
  /** Asked at the call, so that an open loan cannot reach what has been shut down. */
  const whileOpen = (id: string, methods: Methods): Methods =>
    mapMethods(methods, (name, args) => {
      if (closed) throw new HoltError('ShuttingDown', `capability '${id}' is shut down`)
      return Reflect.apply(methods[name] as (...all: readonly unknown[]) => unknown, methods, args)
    })
  return {
    faults,
    list: () =>
      [...entries].map(([id, entry]) => ({ id, placement: entry.capability.placement, methods: methodsOf(entry) })),
    offers: () =>
      [...entries].map(([id, entry]) => ({
        id,
        methods: methodsOf(entry),
        ...(entry.unavailable === undefined ? {} : { unavailable: entry.unavailable }),
      })),
    mounts: (grants) =>
      granted(grants).map(({ grant: { id, allow }, entry }) => ({
        id,
        allow,
        module: entry.methods === null ? entry.source : null,
      })),
    needsPort: (grants) => granted(grants).some(({ grant, entry }) => entry.methods !== null && grant.allow.length > 0),
    lend(port, { agent, grants, isCurrent, onRefused = () => {} }) {
      const facades = new Map<string, Facade>()
      for (const { grant, entry } of granted(grants)) {
        if (entry.methods === null || entry.unavailable !== undefined) continue
        facades.set(grant.id, createFacade(whileOpen(grant.id, entry.methods), grant.allow))
      }
      return lend(port, { agent, facades, isCurrent, onRefused })
    },
    async shutdown(deadline) {
      closed = true
      const endings = [...entries.values()].map(async (entry) => {
        const ended = end(entry, log).then(() => true)
        return (await within(ended, deadline, false)) ? [] : [entry.capability.id]
      })
      return { stuck: (await Promise.all(endings)).flat() }
    },
  }
}
