/**
 * Comlink's address in the host: lends facades to one agent's thread over one port. Every message passes the guard
 * first; errors leave as `describeError` shapes, so that code, cause and fields arrive; a result that cannot be copied
 * is answered as an error. Called by the registry. Must not know placements, and must keep nothing after `close`.
 */
import type { MessagePort, Transferable } from 'node:worker_threads'
import * as Comlink from 'comlink'
import { describeError, type ErrorShape, HoltError } from '../model/error.ts'
import { notCloneable } from '../model/not-cloneable.ts'
import type { Callable, Facade } from './facade.ts'
import { errorAnswer, judge, type Refusal, refusalAnswer, type Terms } from './guard.ts'

export interface LoanTerms extends Terms {
  readonly onRefused: (refusal: Refusal) => void
}

/** One agent's loan. */
export interface Loan {
  /** Calls that have begun and are not answered yet. */
  readonly pending: number
  /** Ends the loan: later messages reach nobody, results of what still runs are dropped. Idempotent. */
  close(): void
}

/** What Comlink posts: an id, and a value or a thrown one. */
interface Answer {
  readonly id: string
  readonly type: string
  readonly name?: string
  readonly value?: unknown
}

type Listener = (event: { readonly data: unknown }) => void

const isLiveProxy = (value: unknown): boolean =>
  ((typeof value === 'object' && value !== null) || typeof value === 'function') && Comlink.proxyMarker in value

/** A method whose errors are thrown as plain shapes: Comlink itself would keep only name, message and stack. */
function crossable(name: string, method: Callable): Callable {
  return async (...args) => {
    try {
      const result = await method(...args)
      if (isLiveProxy(result))
        throw new HoltError('NotCloneable', `${name} returned a Comlink proxy; return plain data`)
      return result
    } catch (error) {
      throw describeError(error)
    }
  }
}

function crossableFacade(id: string, facade: Facade): Facade {
  const crossing: Record<string, Callable> = Object.create(null)
  for (const [name, method] of Object.entries(facade)) {
    crossing[name] = Object.freeze(crossable(`${id}.${name}`, method))
  }
  return Object.freeze(crossing)
}

/** Comlink marks a thrown non-Error as such; ours are always shapes and shall arrive as Errors. */
function asErrorAnswer(answer: Answer): object {
  if (answer.type !== 'HANDLER' || answer.name !== 'throw') return answer
  const thrown = answer.value as { readonly isError: boolean; readonly value: ErrorShape }
  return thrown.isError ? answer : errorAnswer(answer.id, thrown.value)
}

/** Why the result of a call cannot be copied, naming the field. */
function refusedResult(call: string, value: unknown, error: unknown): ErrorShape {
  const { message, details } = notCloneable(value, error)
  const text = `the result of ${call} cannot be copied to the agent: ${message}`
  return describeError(new HoltError('NotCloneable', text, details))
}

/** The port as Comlink's endpoint, with the guard inside. One listener a kind, whatever the number of calls. */
function guardPort(port: MessagePort, terms: LoanTerms): Comlink.Endpoint & Loan {
  const running = new Map<string, string>()
  let open: MessagePort | null = port
  let listener: Listener | null = null

  const refused = (refusal: Omit<Refusal, 'agent'>): void => terms.onRefused({ agent: terms.agent, ...refusal })
  const onMessage = (data: unknown): void => {
    const verdict = judge(data, terms)
    if (verdict.kind === 'refused') {
      refused({ code: verdict.error.code, what: verdict.what })
      if (verdict.id !== null) open?.postMessage(refusalAnswer(verdict.id, verdict.error))
      return
    }
    if (verdict.kind === 'release') return listener?.({ data: { type: 'RELEASE', id: verdict.id } })
    running.set(verdict.call.id, verdict.call.path.join('.'))
    listener?.({ data: verdict.call })
  }
  const onUnreadable = (): void => refused({ code: 'InvalidInput', what: 'a message that cannot be read' })

  const close = (): void => {
    if (open === null) return
    open.off('message', onMessage).off('messageerror', onUnreadable).off('close', close)
    open.close()
    open = null
    listener = null
    running.clear()
  }
  const postMessage = (answer: Answer, transfer: readonly Transferable[] = []): void => {
    const call = running.get(answer.id) ?? 'the call'
    running.delete(answer.id)
    try {
      open?.postMessage(asErrorAnswer(answer), transfer)
    } catch (error) {
      open?.postMessage(errorAnswer(answer.id, refusedResult(call, answer.value, error)))
    }
  }
  port.on('message', onMessage).on('messageerror', onUnreadable).on('close', close)
  return {
    postMessage,
    addEventListener: (_type: string, added: unknown) => {
      listener = added as Listener
    },
    // Comlink takes its listener away when the far side has released the port.
    removeEventListener: close,
    close,
    get pending() {
      return running.size
    },
  }
}

/** Lends `terms.facades` over `port`, to be used by one thread and no other. */
export function lend(port: MessagePort, terms: LoanTerms): Loan {
  const target: Record<string, Facade> = Object.create(null)
  for (const [id, facade] of terms.facades) target[id] = crossableFacade(id, facade)
  const guarded = guardPort(port, terms)
  Comlink.expose(Object.freeze(target), guarded)
  return guarded
}
