/** An answer as it goes out: status, headers, a text. What is not a stream is written here and nowhere else. */
import type { ServerResponse } from 'node:http'

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Of every answer: nothing of it is kept on the way, and no browser makes anything else of it. */
export const SAFE_HEADERS = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' } as const

/** @param bare the headers alone, as HEAD asks for them */
export function send(res: ServerResponse, { status, headers, body }: Reply, bare = false): void {
  if (res.headersSent || res.destroyed) return
  res.writeHead(status, { ...SAFE_HEADERS, ...headers, 'Content-Length': Buffer.byteLength(body) })
  res.end(bare ? undefined : body)
}
