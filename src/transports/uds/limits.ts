/** What a socket server bears with, in one table; every number of it can be set by whoever makes the server. */

const MIB = 1_048_576

export interface Limits {
  /** Longest line of a client, bytes without its LF. */
  readonly lineBytes: number
  /** How deep a client's JSON may be nested. */
  readonly depth: number
  /** Incomplete lines of all clients together, bytes. */
  readonly heldBytes: number
  /** How long a line may stay incomplete with nothing more coming. */
  readonly incompleteMs: number
  /** Clients at a time. */
  readonly connections: number
  /** Requests of one client in work; past it its socket is not read. */
  readonly inWork: number
  /** Their lines together, bytes. */
  readonly inWorkBytes: number
  /** Requests in one JSON-RPC batch. */
  readonly batch: number
  /** Streams one client may follow at a time. */
  readonly subscriptions: number
  /** No request of a client is begun while more than this waits to be read by it, bytes. */
  readonly unreadBytes: number
  /** A client is cut when a value of a stream comes and more than this waits, bytes. */
  readonly unreadValueBytes: number
  /** The same for an answer: requests that were begun together may answer together. */
  readonly unreadAnswerBytes: number
  /** How long a client that was told to go may take to read that, and how long requests may take when the server closes. */
  readonly graceMs: number
  /** How often time-outs are looked for. */
  readonly sweepMs: number
  /** How often the socket file is looked for. */
  readonly lookMs: number
  /** At most one line of the log about failed accepts in this time. */
  readonly acceptLogMs: number
}

export const LIMITS: Limits = {
  lineBytes: MIB,
  depth: 512,
  heldBytes: 64 * MIB,
  incompleteMs: 30_000,
  connections: 4096,
  inWork: 1024,
  inWorkBytes: 4 * MIB,
  batch: 1024,
  subscriptions: 256,
  unreadBytes: MIB,
  unreadValueBytes: 8 * MIB,
  unreadAnswerBytes: 64 * MIB,
  graceMs: 2000,
  sweepMs: 1000,
  lookMs: 5000,
  acceptLogMs: 1000,
}
