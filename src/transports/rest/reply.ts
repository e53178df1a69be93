/** An answer as it goes out: status, headers, a text. What is not a stream is written here and nowhere else. */
import type { ServerResponse } from 'node:http'
import { nextTurn } from '../../streams/bus.ts'

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Of every answer: nothing of it is kept on the way, and no browser makes anything else of it. */
export const SAFE_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const

interface Due {
  readonly res: ServerResponse
  readonly body: string | undefined
}

/** Answers of this turn, of all servers. */
let due: Due[] = []

/**
 * The head is made at once, so what is wrong with it is thrown here, and a second answer is none. What goes to the socket goes
 * at the end of the turn, with all the others: each write by itself would wake a client that sleeps, which costs more
 * than to make the answer.
 * @param bare the headers alone, as HEAD asks for them
 */
export function send(res: ServerResponse, { status, headers, body }: Reply, bare = false): void {
  if (res.headersSent || res.destroyed) return
  res.writeHead(status, headOf(headers, body))
  if (due.length === 0) nextTurn(flush)
  due.push({ res, body: bare ? undefined : body })
}

function flush(): void {
  const all = due
  due = []
  // Its client may have gone meanwhile.
  for (const { res, body } of all) if (!res.destroyed) res.end(body)
}

/** As a list of names and values, which Node writes as it is. */
function headOf(headers: Reply['headers'], body: string): string[] {
  const all: Record<string, string> = { ...SAFE_HEADERS, ...headers }
  const list: string[] = []
  for (const name of Object.keys(all)) list.push(name, all[name]!)
  list.push('Content-Length', String(Buffer.byteLength(body)))
  return list
}
