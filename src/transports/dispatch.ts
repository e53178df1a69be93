/**
 * What every transport does alike: finds an operation by name, and turns whatever was thrown into an answer. No stack
 * leaves the host in it.
 */
import { describeError, type ErrorCode, HoltError } from '../model/error.ts'
import { nearest } from '../model/nearest.ts'
import { toJson } from './json.ts'
import type { Operation } from './operation.ts'
import { OPERATIONS } from './operations.ts'

/** An error as it goes over the wire. */
export interface WireError {
  readonly code: ErrorCode
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

const BY_NAME: ReadonlyMap<string, Operation> = new Map(OPERATIONS.map((operation) => [operation.name, operation]))

/** @throws HoltError `NoSuchOperation`, naming the nearest */
export function find(name: string): Operation {
  const operation = BY_NAME.get(name)
  if (operation !== undefined) return operation
  const close = nearest(name, BY_NAME.keys())
  const hint = close === undefined ? `Operations: ${[...BY_NAME.keys()].join(', ')}` : `Did you mean '${close}'?`
  throw new HoltError('NoSuchOperation', `there is no operation '${name}'. ${hint}`, {
    operation: name,
    ...(close === undefined ? {} : { nearest: close }),
  })
}

/** The answer to a caller whose operation threw this. */
export function answerError(thrown: unknown): WireError {
  if (thrown instanceof HoltError) {
    const { code, message, details } = thrown
    return { code, message, details: toJson(details) as WireError['details'] }
  }
  const { name, message } = describeError(thrown)
  return { code: 'Internal', message, details: { name } }
}
