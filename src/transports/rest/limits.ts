/** What the REST server bears with, in one table; every number of it can be set by whoever makes the server. */

const MIB = 1_048_576

export interface RestLimits {
  /** Largest body of a request. */
  readonly bodyBytes: number
  /** How deep its JSON may be nested. */
  readonly depth: number
  /** Headers of a request together, its first line among them. */
  readonly headerBytes: number
  /** How long the headers of a request may take to come. */
  readonly headersTimeoutMs: number
  /** How long a whole request may take to come, its body too. */
  readonly requestTimeoutMs: number
  /** How long a connection may be idle between two requests. */
  readonly keepAliveMs: number
  /** How often the three above are looked at. */
  readonly lookMs: number
  /** Connections at a time. */
  readonly connections: number
  /** Streams at a time, of all clients together. */
  readonly streams: number
  /** A stream is cut when something comes and more than this waits to be read by its client, bytes. */
  readonly unreadBytes: number
  /** A stream is cut when its client has read nothing for so long, while something waits. */
  readonly stalledMs: number
  /** How often a stream sends a comment, so that nobody on the way takes it for dead. */
  readonly heartbeatMs: number
  /** Requests of one token a second, on average. */
  readonly perSecond: number
  /** Requests of one token at once. */
  readonly burst: number
  /** Idempotency keys that are remembered. */
  readonly keys: number
  /** Their answers together, characters. */
  readonly keyChars: number
  /** How long each is remembered. */
  readonly keyMs: number
  /** How long requests in work may take when the server closes. */
  readonly graceMs: number
}

export const REST_LIMITS: RestLimits = {
  bodyBytes: MIB,
  depth: 512,
  headerBytes: 16_384,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  keepAliveMs: 5000,
  lookMs: 1000,
  connections: 4096,
  streams: 2048,
  unreadBytes: MIB,
  stalledMs: 60_000,
  heartbeatMs: 15_000,
  perSecond: 1000,
  burst: 2000,
  keys: 1024,
  keyChars: 8 * MIB,
  keyMs: 86_400_000,
  graceMs: 2000,
}
