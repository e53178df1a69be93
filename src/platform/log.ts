/** The log: pino, one JSON line each. Values under the names of secrets are never written. */
import { type Logger, pino } from 'pino'

export type { Logger } from 'pino'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

const REDACTED = ['credential', 'token', 'authorization', 'password', 'secret', 'env'].flatMap((name) => [
  name,
  `*.${name}`,
])

/** @param destination where lines go; @default stderr */
export function createLog(level: LogLevel, destination?: { write(line: string): void }): Logger {
  const options = { level, base: null, redact: { paths: REDACTED, censor: '[redacted]' } }
  return destination === undefined
    ? pino(options, pino.destination({ dest: 2, sync: true }))
    : pino(options, destination)
}
