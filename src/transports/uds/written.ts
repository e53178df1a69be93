/** A value as an answer or a stream carries it, in the encoding that was asked for. Used by both forms of the protocol. */
import { asJson } from '../json.ts'
import type { Encoding } from '../packed.ts'
import { pack, packLoosely } from '../superjson.ts'

/** @throws HoltError `NotCloneable` for what superjson does not carry, naming the field */
export const written = (value: unknown, encoding: Encoding): unknown =>
  encoding === 'superjson' ? pack(value) : (asJson(value) ?? null)

export const writtenLoosely = (value: unknown, encoding: Encoding): unknown =>
  encoding === 'superjson' ? packLoosely(value) : (asJson(value) ?? null)
