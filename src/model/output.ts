/** A line of output of an agent, as streams, rings and files have it. Types only. */

/** A line an agent printed, or an entry it logged. Secrets of `.env` files are replaced already. */
export interface Output {
  /** Wall clock, ms. */
  readonly at: number
  readonly agent: string
  /** Of the instance that wrote it. */
  readonly instance: string
  readonly stream: 'stdout' | 'stderr' | 'log'
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly text: string
  readonly data?: unknown
}
