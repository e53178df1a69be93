/** The error of a handler as an answer to whoever asked from outside: an error of the table, with the handler's own in it. */
import { describeError, type ErrorShape, HoltError } from '../model/error.ts'

/** Name, message, code, fields and causes of what was thrown, and no stack. An error of the table stays what it is. */
export function handlerError(thrown: unknown): HoltError {
  if (thrown instanceof HoltError) return thrown
  const error = withoutStack(describeError(thrown))
  return new HoltError('HandlerError', error.message, { error }, thrown)
}

function withoutStack({ stack: _stack, cause, ...shape }: ErrorShape): ErrorShape {
  return cause === undefined ? shape : { ...shape, cause: withoutStack(cause) }
}
