/**
 * The agent's side of capabilities: what `ctx.capability(id)` answers with. Lent ones are called through Comlink over
 * the loan's port, those of placement `agent` live in this thread. Each is a frozen object of the granted methods, never
 * a proxy (an awaited proxy hangs). Called once by the thread's main; must not outlive `shutdown`.
 */
import type { MessagePort, Transferable } from 'node:worker_threads'
import type { Endpoint } from 'comlink'
import type { Capability, CapabilityContext, Methods } from '../capabilities/contract.ts'
import { describeError, type ErrorShape, HoltError, reviveError } from '../model/error.ts'
import { notCloneable } from '../model/not-cloneable.ts'
import type { ModuleSource, Mount } from '../model/wire.ts'
import type { Lent } from './role.ts'

export interface MountedCapabilities {
  /**
   * The capability as this agent was granted it. A method that was not granted is absent.
   * @throws HoltError `NoSuchCapability`
   */
  get<T = Record<string, (...args: unknown[]) => unknown>>(id: string): Lent<T>
  /** Closes the loan and runs the shutdowns of what lives in this thread, the last mounted first. Never rejects. */
  shutdown(): Promise<void>
}

type AsyncMethod = (...args: unknown[]) => Promise<unknown>
type Facade = Readonly<Record<string, AsyncMethod>>
type Log = CapabilityContext['log']
type Request = { readonly id: string; readonly argumentList?: readonly { readonly value?: unknown }[] }
type Listener = (event: { readonly data: unknown }) => void

function facadeOf(names: readonly string[], methodOf: (name: string) => AsyncMethod): Facade {
  const facade: Record<string, AsyncMethod> = Object.create(null)
  for (const name of names) facade[name] = Object.freeze(methodOf(name))
  return Object.freeze(facade)
}

/** Mounted without a method. */
const NOTHING: Facade = Object.freeze(Object.create(null))

// --- lent by the host --------------------------------------------------------------------------------------

/** Why a call's arguments could not be posted, naming the field. */
function refusedArguments({ argumentList = [] }: Request, error: unknown): HoltError {
  const { message, details } = notCloneable(
    argumentList.map(({ value }) => value),
    error,
  )
  return new HoltError('NotCloneable', `the arguments cannot be copied to the host: ${message}`, details)
}

/**
 * The port as Comlink's endpoint. Comlink settles a call only by an answer: here a call that cannot be posted, and
 * calls whose port is closed, get one too.
 */
function endpointOf(port: MessagePort): Endpoint {
  const waiting = new Set<string>()
  let listener: Listener | null = null
  let closed = false
  const fail = (id: string, error: HoltError): void =>
    listener?.({
      data: { id, type: 'HANDLER', name: 'throw', value: { isError: true, value: describeError(error) } },
    })
  const takenBack = (): HoltError => new HoltError('Aborted', 'the host has ended the loan of its capabilities')

  port.on('message', (data: Request) => {
    waiting.delete(data.id)
    listener?.({ data })
  })
  port.on('close', () => {
    closed = true
    for (const id of waiting) fail(id, takenBack())
    waiting.clear()
  })
  return {
    postMessage(request: Request, transfer: readonly Transferable[] = []) {
      if (closed) return fail(request.id, takenBack())
      try {
        port.postMessage(request, transfer)
        waiting.add(request.id)
      } catch (error) {
        fail(request.id, refusedArguments(request, error))
      }
    },
    addEventListener: (_type: string, added: unknown) => {
      listener = added as Listener
    },
    removeEventListener: () => {
      listener = null
    },
  }
}

/** Comlink's error has the fields of the shape it came from. */
const revived = (caught: unknown): Error => reviveError(caught as ErrorShape)

/** Imports Comlink only when something is lent: an agent without loans does not pay for it. */
async function borrow(port: MessagePort | null, mounts: readonly Mount[]): Promise<[string, Facade][]> {
  const called = mounts.filter(({ allow }) => allow.length > 0)
  if (called.length === 0) return mounts.map(({ id }) => [id, NOTHING])
  if (port === null)
    throw new HoltError('BootFailed', `capability '${called[0]!.id}' is lent, but there is no port to it`)
  const { wrap } = await import('comlink')
  const remote = wrap(endpointOf(port)) as unknown as Record<string, Record<string, AsyncMethod>>
  return mounts.map(({ id, allow }) => {
    const methodOf = (name: string): AsyncMethod => {
      // Held for good: Comlink makes a proxy a look-up, and releases the port when all of them are collected.
      const method = remote[id]![name]!
      return async (...args) => {
        try {
          return await method(...args)
        } catch (error) {
          throw revived(error)
        }
      }
    }
    return [id, facadeOf(allow, methodOf)]
  })
}

// --- living in this thread ---------------------------------------------------------------------------------

function localFacade(mount: Mount, methods: Methods): Facade {
  return facadeOf(mount.allow, (name) => {
    const method = Object.hasOwn(methods, name) ? (methods[name] as (...args: unknown[]) => unknown) : undefined
    if (method === undefined) {
      throw new HoltError('GateRefused', `capability '${mount.id}' has no method '${name}'`)
    }
    return async (...args) => Reflect.apply(method, methods, args)
  })
}

async function settle(mount: Mount, module: ModuleSource, importModule: ImportModule, log: Log): Promise<Local> {
  try {
    const { default: capability } = (await importModule(module)) as { readonly default: Capability }
    const facade = localFacade(mount, capability.methods)
    await capability.boot?.({ log })
    return { id: mount.id, facade, capability }
  } catch (error) {
    if (error instanceof HoltError) throw error
    const reason = describeError(error).message
    throw new HoltError('BootFailed', `capability '${mount.id}' (${module.file}) did not boot: ${reason}`, {}, error)
  }
}

interface Local {
  readonly id: string
  readonly facade: Facade
  readonly capability: Capability
}

async function endAll(locals: readonly Local[], log: Log): Promise<void> {
  for (const { id, capability } of [...locals].reverse()) {
    try {
      await capability.shutdown?.()
    } catch (error) {
      log.error(`capability '${id}' failed to shut down`, describeError(error))
    }
  }
}

export type ImportModule = (source: ModuleSource) => Promise<unknown>

/**
 * Mounts what an agent was granted, booting in order what lives in this thread.
 * @param port the loan's port; null when nothing is lent
 * @throws HoltError `BootFailed` or `GateRefused`; what had booted is shut down
 */
export async function mountCapabilities(
  port: MessagePort | null,
  mounts: readonly Mount[],
  importModule: ImportModule,
  log: Log,
): Promise<MountedCapabilities> {
  // In the order of the mounts, which is how they are told.
  const mounted = new Map<string, Facade>(mounts.map(({ id }) => [id, NOTHING]))
  const locals: Local[] = []
  const lent = mounts.filter(({ module }) => module === null)
  for (const [id, facade] of await borrow(port, lent)) mounted.set(id, facade)
  try {
    for (const mount of mounts) {
      if (mount.module === null) continue
      const local = await settle(mount, mount.module, importModule, log)
      locals.push(local)
      mounted.set(mount.id, local.facade)
    }
  } catch (error) {
    await endAll(locals, log)
    throw error
  }
  return {
    get<T>(id: string) {
      const facade = mounted.get(id)
      if (facade !== undefined) return facade as Lent<T>
      const names = [...mounted.keys()].join(', ')
      throw new HoltError('NoSuchCapability', `no capability '${id}' is mounted (mounted: ${names || 'none'})`, { id })
    },
    async shutdown() {
      await endAll(locals, log)
      port?.close()
    },
  }
}
