/**
 * How a thread dies by its own doing: it says why, posts what is still to be posted, and exits. Whatever was thrown,
 * the host gets plain data; a second throw on the way changes nothing.
 */
import { describeError } from '../model/error.ts'
import type { FromThread } from '../model/wire.ts'
import { endThread } from './end.ts'
import type { Outbox } from './outbox.ts'

/** Ends the thread for this error; `seq` names the delivery whose handler threw it. Does not return. */
export type Fatal = (error: unknown, seq?: number) => never

export function watchFatal(post: (message: FromThread) => void, outbox: Outbox): Fatal {
  let dying = false
  const fatal: Fatal = (error, seq) => {
    if (!dying) {
      dying = true
      post({ type: 'ending', cause: 'crash', error: describeError(error), ...(seq === undefined ? {} : { seq }) })
    }
    endThread(1)
  }
  // A rejection that nobody handles arrives here too: Node raises it as an uncaught exception.
  process.on('uncaughtException', (error) => fatal(error))
  // Also after process.exit in a handler: replies of handlers that had ended are not lost.
  process.on('exit', () => outbox.close())
  return fatal
}
