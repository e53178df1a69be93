/** An error as `application/problem+json` (RFC 9457), with the code of the table and its details. Pure. */
import { ERRORS, type ErrorCode, isErrorCode } from '../../model/error.ts'
import { answerError } from '../dispatch.ts'
import type { Reply } from './reply.ts'

export interface Problem {
  /** One for each code. */
  readonly type: string
  readonly title: string
  readonly status: number
  /** What happened this time: what was expected, what was found, what to do next. */
  readonly detail: string
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>>
}

export const PROBLEM_TYPE = 'application/problem+json'

/** Where a condition came as a header, HTTP has a status of its own for it. */
const PRECONDITION_FAILED = 412

export function problemOf(thrown: unknown, conditional = false): Problem {
  const { code, message, details } = answerError(thrown)
  // A handler may give its error any code.
  const { http, text } = ERRORS[isErrorCode(code) ? code : 'Internal']
  const status = conditional && code === 'GenerationMismatch' ? PRECONDITION_FAILED : http
  return { type: `urn:holt:error:${code}`, title: text, status, detail: message, code, details }
}

export function problemReply(thrown: unknown, conditional = false): Reply {
  const problem = problemOf(thrown, conditional)
  const headers: Record<string, string> = { 'Content-Type': PROBLEM_TYPE }
  const { allow, retryAfterS } = problem.details
  if (problem.status === 401) headers['WWW-Authenticate'] = 'Bearer realm="holt"'
  if (Array.isArray(allow)) headers['Allow'] = allow.join(', ')
  if (typeof retryAfterS === 'number') headers['Retry-After'] = String(retryAfterS)
  else if (problem.status === 503) headers['Retry-After'] = '1'
  return { status: problem.status, headers, body: JSON.stringify(problem) }
}
