/**
 * The guard before Comlink. Bare Comlink lets the far side read any path (`text.tokens.constructor` is `Function`, which
 * runs code in the host), set, construct and ask for more ports. Of all that arrives on a loan's port only a call of
 * exactly [capability, method], granted and from the present instance, may pass. Pure: `expose.ts` acts on the verdict.
 */
import { describeError, type ErrorCode, type ErrorShape, HoltError } from '../model/error.ts'
import type { Facade } from './facade.ts'

/** What may pass to Comlink, rebuilt from checked parts. */
export interface Call {
  readonly type: 'APPLY'
  readonly id: string
  readonly path: readonly [capability: string, method: string]
  readonly argumentList: readonly unknown[]
}

/** Something that was not let through. */
export interface Refusal {
  readonly agent: string
  readonly code: ErrorCode
  /** What was tried, for people: `GET text.tokens.constructor`. */
  readonly what: string
}

export type Verdict =
  | { readonly kind: 'call'; readonly call: Call }
  | { readonly kind: 'release'; readonly id: string }
  /** `id` is null when there is nobody to answer. */
  | { readonly kind: 'refused'; readonly id: string | null; readonly error: HoltError; readonly what: string }

export interface Terms {
  readonly agent: string
  /** What is lent, by capability id. */
  readonly facades: ReadonlyMap<string, Facade>
  /** Whether the borrower is still the agent's present instance. */
  readonly isCurrent: () => boolean
}

/** An error answer in Comlink's own form: the caller's promise rejects with an Error that has the fields of `shape`. */
export const errorAnswer = (id: string, shape: ErrorShape): object => ({
  id,
  type: 'HANDLER',
  name: 'throw',
  value: { isError: true, value: shape },
})

type Message = Readonly<Record<string, unknown>>

const text = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 64) : `[${typeof value}]`)

/** The path as text. It comes from the far side: bounded, and nothing of it is called. */
function pathText(path: unknown): string {
  if (!Array.isArray(path)) return path === undefined ? '' : ` ${text(path)}`
  return ` ${path.slice(0, 5).map(text).join('.')}${path.length > 5 ? '…' : ''}`
}

function isGranted(path: unknown, facades: Terms['facades']): path is [string, string] {
  if (!Array.isArray(path) || path.length !== 2) return false
  const [capability, method] = path
  if (typeof capability !== 'string' || typeof method !== 'string') return false
  const facade = facades.get(capability)
  return facade !== undefined && Object.hasOwn(facade, method)
}

/** Only plain arguments: any other kind makes Comlink run a transfer handler, and an unknown one throws in the host. */
const arePlain = (list: unknown): list is readonly { readonly type: 'RAW' }[] =>
  Array.isArray(list) && list.every((item) => typeof item === 'object' && item !== null && item.type === 'RAW')

function refuse(id: string | null, code: ErrorCode, what: string, because: string): Verdict {
  return { kind: 'refused', id, error: new HoltError(code, `${what} was refused: ${because}`), what }
}

/** Decides about one message of the far side. */
export function judge(data: unknown, { agent, facades, isCurrent }: Terms): Verdict {
  if (typeof data !== 'object' || data === null) return refuse(null, 'InvalidInput', text(data), 'not a message')
  const { id, type, path, argumentList } = data as Message
  const what = (): string => `${text(type)}${pathText(path)}`
  if (typeof id !== 'string') return refuse(null, 'InvalidInput', what(), 'a message without an id')
  if (type === 'RELEASE') return { kind: 'release', id }
  if (!isCurrent()) {
    return refuse(id, 'StaleEpoch', what(), `it comes from an instance of agent '${agent}' that has been replaced`)
  }
  if (type !== 'APPLY') return refuse(id, 'NoSuchCapability', what(), 'an agent may only call methods')
  if (!isGranted(path, facades)) {
    return refuse(id, 'NoSuchCapability', what(), `agent '${agent}' was not granted this method`)
  }
  if (!arePlain(argumentList)) return refuse(id, 'InvalidInput', what(), 'arguments must be plain data')
  return { kind: 'call', call: { type, id, path, argumentList } }
}

/** The answer to a refusal. */
export const refusalAnswer = (id: string, error: HoltError): object => errorAnswer(id, describeError(error))
