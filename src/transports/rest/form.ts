/**
 * The two forms in which values go over HTTP: plain JSON, and superjson for programs that want dates, maps, sets and
 * bigints as they were. Asked for by `Content-Type` and by `Accept`. Pure.
 */
import { describeError, HoltError } from '../../model/error.ts'
import { toJsonText } from '../json.ts'
import { SUPERJSON_TYPE } from '../packed.ts'
import { pack, packLoosely, unpack } from '../superjson.ts'
import { nestedDeeper } from '../uds/request.ts'

export const JSON_TYPE = 'application/json'

export interface Form {
  readonly type: string
  /** @throws HoltError `NotCloneable` for what the form does not carry, naming the field */
  write(value: unknown): string
  /** Of a stream, where there is nobody to refuse it to. */
  writeLoosely(value: unknown): string
}

const PLAIN: Form = { type: JSON_TYPE, write: toJsonText, writeLoosely: toJsonText }
const RICH: Form = {
  type: SUPERJSON_TYPE,
  write: (value) => JSON.stringify(pack(value)),
  writeLoosely: (value) => JSON.stringify(packLoosely(value)),
}

export const formFor = (accept: string | undefined): Form => (accept?.includes(SUPERJSON_TYPE) ? RICH : PLAIN)

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * What a body says.
 * @throws HoltError `UnsupportedMediaType`, `BadRequest`
 */
export function readBody(bytes: Uint8Array, contentType: string | undefined, depth: number): unknown {
  if (bytes.length === 0) return {}
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((part) => part.startsWith('charset='))?.slice('charset='.length) ?? 'utf-8'
  if ((type !== JSON_TYPE && type !== SUPERJSON_TYPE) || charset.replaceAll('"', '') !== 'utf-8') {
    const found = contentType === undefined ? 'none' : `'${contentType.slice(0, 80)}'`
    throw new HoltError(
      'UnsupportedMediaType',
      `Content-Type: expected ${JSON_TYPE} or ${SUPERJSON_TYPE}, found ${found}`,
    )
  }
  const value = parse(bytes, depth)
  return type === JSON_TYPE ? value : unpack(value)
}

function parse(bytes: Uint8Array, depth: number): unknown {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw new HoltError('BadRequest', 'expected a body of UTF-8, found bytes that are none')
  }
  if (nestedDeeper(text, depth)) throw new HoltError('BadRequest', `expected JSON at most ${depth} deep`)
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new HoltError('BadRequest', `expected a body of JSON (${describeError(error).message})`)
  }
}
