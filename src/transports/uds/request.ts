/**
 * A line of a client to what it asks for. Pure; nothing in it is trusted: invalid UTF-8, JSON nested without end and
 * keys with the names of built-ins come out as refusals or as plain data. Both forms of the protocol are told apart
 * here: an object with the key `jsonrpc`, or an array, is JSON-RPC.
 */
import { describeError } from '../../model/error.ts'
import type { Encoding } from '../packed.ts'
import type { Given } from '../service.ts'
import { unpack } from '../superjson.ts'

/** A request in line form. */
export interface LineRequest {
  readonly cmd: string
  readonly given: Given
  readonly who: string
  /** Of what answers it, as of what it gave. */
  readonly encoding: Encoding
}

export interface RpcRequest {
  readonly method: string
  readonly given: Given
  readonly who: string
  readonly encoding: Encoding
  /** Undefined: a notification, which gets no answer. */
  readonly id: RpcId | undefined
}

export type RpcId = string | number | null

/** Why a message was not taken. */
export interface Refusal {
  readonly refused: string
  /** JSON-RPC's code for it. */
  readonly rpcCode: -32700 | -32600
  /** That of the request, where it could be read. */
  readonly id: RpcId
}

export type Message =
  | { readonly form: 'line'; readonly request: LineRequest | Refusal }
  | { readonly form: 'rpc'; readonly request: RpcRequest | Refusal }
  | { readonly form: 'batch'; readonly requests: readonly (RpcRequest | Refusal)[] }
  /** The form could not be told. */
  | { readonly form: null; readonly request: Refusal }

const DEFAULT_WHO = 'socket'
const MAX_WHO = 256
const SHOWN = 60
const BLANK = /^[\t\r ]*$/
const LINE_KEYS = ['cmd', 'args', 'opts', 'who', 'encoding']

const utf8 = new TextDecoder('utf-8', { fatal: true })

const refusal = (refused: string, id: RpcId = null, rpcCode: Refusal['rpcCode'] = -32600): Refusal => ({
  refused,
  rpcCode,
  id,
})

/** Null: the line is blank and asks for nothing. */
export function readMessage(
  line: Uint8Array,
  limits: { readonly depth: number; readonly batch: number },
): Message | null {
  let text: string
  try {
    text = utf8.decode(line)
  } catch {
    return { form: null, request: refusal('expected a line of UTF-8, found bytes that are none', null, -32700) }
  }
  if (BLANK.test(text)) return null
  const broken = (why: string): Message => {
    const request = refusal(why, null, -32700)
    return { form: looksLikeRpc(text) ? 'rpc' : null, request }
  }
  if (nestedDeeper(text, limits.depth)) return broken(`expected JSON at most ${limits.depth} deep`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return broken(`expected a line of JSON, found '${text.slice(0, SHOWN)}' (${(error as Error).message})`)
  }
  return Array.isArray(value) ? readBatch(value, limits.batch) : readValue(value)
}

/** Of a line that cannot be parsed, and may be cut. */
export const looksLikeRpc = (text: string): boolean => /^\s*\[/.test(text) || text.includes('"jsonrpc"')

function readValue(value: unknown): Message {
  if (isObject(value) && Object.hasOwn(value, 'jsonrpc')) return { form: 'rpc', request: readRpc(value) }
  return { form: 'line', request: readLine(value) }
}

function readBatch(values: readonly unknown[], most: number): Message {
  if (values.length === 0) return { form: 'rpc', request: refusal('expected a request in the batch, found none') }
  if (values.length > most) {
    return { form: 'rpc', request: refusal(`expected at most ${most} requests in a batch, found ${values.length}`) }
  }
  return { form: 'batch', requests: values.map(readRpc) }
}

function readLine(value: unknown): LineRequest | Refusal {
  if (!isObject(value)) return refusal(`expected {"cmd":…}, found ${kindOf(value)}`)
  const { cmd, who = DEFAULT_WHO, encoding = 'json' } = value
  const other = Object.keys(value).find((key) => !LINE_KEYS.includes(key))
  if (typeof cmd !== 'string') return refusal(`cmd: expected the name of an operation, found ${kindOf(cmd)}`)
  if (other !== undefined) return refusal(`expected the keys ${LINE_KEYS.join(', ')}, found '${other.slice(0, SHOWN)}'`)
  if (!isEncoding(encoding)) return refusal(`encoding: expected json or superjson, found ${kindOf(encoding)}`)
  const given = opened(value, encoding)
  if (typeof given === 'string') return refusal(given)
  const { args = [], opts = {} } = given
  if (!Array.isArray(args)) return refusal(`args: expected a list, found ${kindOf(args)}`)
  if (!isObject(opts)) return refusal(`opts: expected an object, found ${kindOf(opts)}`)
  if (!isWho(who)) return refusal(`who: expected a text of at most ${MAX_WHO} characters, found ${kindOf(who)}`)
  return { cmd, given: { args, opts }, who, encoding }
}

/** One request of JSON-RPC 2.0. Beside what that has, Holt reads `who`, and `opts` beside params by position. */
function readRpc(value: unknown): RpcRequest | Refusal {
  if (!isObject(value)) return refusal(`expected a request, found ${kindOf(value)}`)
  const { method, id, who = DEFAULT_WHO, encoding = 'json' } = value
  if (id !== undefined && !isId(id)) return refusal('id: expected a text, a number that is exact, or null')
  const refuse = (text: string): Refusal => refusal(text, id ?? null)
  if (value['jsonrpc'] !== '2.0') return refuse(`jsonrpc: expected "2.0", found ${kindOf(value['jsonrpc'])}`)
  if (typeof method !== 'string') return refuse(`method: expected the name of an operation, found ${kindOf(method)}`)
  if (!isEncoding(encoding)) return refuse(`encoding: expected json or superjson, found ${kindOf(encoding)}`)
  const read = opened(value, encoding)
  if (typeof read === 'string') return refuse(read)
  const { params = [], opts = {} } = read
  if (!isObject(opts)) return refuse(`opts: expected an object, found ${kindOf(opts)}`)
  if (!isWho(who)) return refuse(`who: expected a text of at most ${MAX_WHO} characters, found ${kindOf(who)}`)
  if (Array.isArray(params)) return { method, given: { args: params, opts }, who, encoding, id }
  if (!isObject(params)) return refuse(`params: expected a list or an object, found ${kindOf(params)}`)
  if (Object.keys(opts).length > 0) return refuse('opts: expected beside a list of params only')
  return { method, given: { input: params }, who, encoding, id }
}

const isEncoding = (value: unknown): value is Encoding => value === 'json' || value === 'superjson'

/** What was given, taken out of its form; a text says what is wrong with it. */
function opened(value: Record<string, unknown>, encoding: Encoding): Record<string, unknown> | string {
  if (encoding === 'json') return value
  const given: Record<string, unknown> = {}
  for (const key of ['args', 'params', 'opts']) {
    if (!Object.hasOwn(value, key)) continue
    try {
      given[key] = unpack(value[key])
    } catch (error) {
      return `${key}: ${describeError(error).message}`
    }
  }
  return given
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isWho = (value: unknown): value is string => typeof value === 'string' && value.length <= MAX_WHO

/** A number that is not exact would come back as another. */
const isId = (value: unknown): value is RpcId =>
  value === null ||
  typeof value === 'string' ||
  (typeof value === 'number' && Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)))

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  return typeof value === 'string' ? `'${value.slice(0, SHOWN)}'` : String(value)
}

const QUOTE = 34
const BACKSLASH = 92
/** A bracket with this bit set is a brace. */
const BRACE_BIT = 32
const OPEN = 123
const CLOSE = 125

/** Whether brackets outside texts are nested deeper than this; read by its characters, for what follows may recurse. */
export function nestedDeeper(text: string, most: number): boolean {
  if (text.length <= most) return false
  let depth = 0
  let inText = false
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (inText && char === BACKSLASH) at++
    else if (char === QUOTE) inText = !inText
    else if (inText) continue
    else if ((char | BRACE_BIT) === OPEN && ++depth > most) return true
    else if ((char | BRACE_BIT) === CLOSE) depth--
  }
  return false
}
