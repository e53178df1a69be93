/**
 * Payloads and values as a table holds them: JSON text as it is handed over, everything else in structured
 * serialisation (`v8`), which keeps dates, maps, bytes and cycles and is read by later versions of Node too.
 */
import { deserialize, serialize } from 'node:v8'
import { HoltError } from '../model/error.ts'
import { type Body, Copied, encodePayload, type Plain } from '../model/payload.ts'
import { stateFault } from './faults.ts'
import { bytes, maybe, word } from './rows.ts'

export type StoredBody =
  | { readonly encoding: 'json'; readonly body: string }
  | { readonly encoding: 'v8'; readonly body: Uint8Array }

/** @throws HoltError `NotCloneable` for what only another thread of this process could be handed */
export function storeBody(body: Body): StoredBody {
  if (!(body instanceof Copied)) return { encoding: 'json', body: JSON.stringify(body) }
  try {
    return { encoding: 'v8', body: serialize(body.value) }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    throw new HoltError('NotCloneable', `The payload cannot be kept on disk: ${text}`, {}, error)
  }
}

/** The body as a mailbox keeps it. @throws HoltError `StateCorrupt` */
export function restoreBody({ encoding, body }: StoredBody): Body {
  try {
    if (encoding === 'json') return JSON.parse(body) as Plain
    // Encoded anew: what was read may be views on the bytes of the whole row.
    return encodePayload(deserialize(body))
  } catch (error) {
    throw stateFault('StateCorrupt', 'body', 'A stored payload is damaged: it cannot be read', {}, error)
  }
}

/** The two columns of a body, to be put into a shape. */
export const BODY = { body: maybe(bytes), encoding: word<StoredBody['encoding']>() }

/** What {@link BODY} read, as a stored body. */
export function bodyOf(row: { readonly body: Buffer | null; readonly encoding: StoredBody['encoding'] }): StoredBody {
  const read = row.body ?? Buffer.alloc(0)
  return row.encoding === 'json' ? { encoding: 'json', body: read.toString('utf8') } : { encoding: 'v8', body: read }
}

export const sizeOfBody = ({ body }: StoredBody): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
