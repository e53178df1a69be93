/**
 * W3C trace context: which trace a message belongs to, as the header `traceparent` writes it. Read where one comes in (by
 * an option of a send, over HTTP); what is wrong is ignored, as the specification demands: tracing never refuses a message.
 */

/** The parts of a `traceparent`. */
export interface TraceParent {
  /** 32 hex digits, not all 0. */
  readonly traceId: string
  /** 16 hex digits, not all 0: the span that what follows belongs to. */
  readonly spanId: string
  /** 8 bits; the lowest says that the trace is recorded. */
  readonly flags: number
}

/** Of all versions: what follows the flags belongs to a later one. */
const FORM = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** What a `traceparent` says; undefined where it is none: not a text, not of this form, upper case, ids of zeros. */
export function readTraceparent(given: unknown): TraceParent | undefined {
  // Far beyond what any version has been said to need; nothing is searched in a text without end.
  if (typeof given !== 'string' || given.length > 512) return undefined
  const [, version, traceId, spanId, flags, more] = FORM.exec(given) ?? []
  if (traceId === undefined || (version === '00' && more !== undefined)) return undefined
  // Of a later version only the flag that this one knows is handed on.
  const bits = Number.parseInt(flags!, 16)
  return { traceId, spanId: spanId!, flags: version === '00' ? bits : bits & 1 }
}

export const writeTraceparent = ({ traceId, spanId, flags }: TraceParent): string =>
  `00-${traceId}-${spanId}-${(flags & 0xff).toString(16).padStart(2, '0')}`

/** As it is handed on: in version 00, whatever version came in. Undefined where it is to be ignored. */
export function checkedTraceparent(given: unknown): string | undefined {
  const read = given === undefined ? undefined : readTraceparent(given)
  return read === undefined ? undefined : writeTraceparent(read)
}
