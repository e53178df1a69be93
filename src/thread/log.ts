/** The agent's logger: entries cross the boundary as plain data. A log line never ends an agent. */
import type { FromThread } from '../model/wire.ts'
import type { Logger } from './role.ts'

export function createLogger(post: (message: FromThread) => void): Logger {
  const at = (level: keyof Logger) => (text: string, data?: unknown) => {
    post({ type: 'log', level, text: textOf(text), ...(data === undefined ? {} : { data: plain(data) }) })
  }
  return Object.freeze({ debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') })
}

function plain(data: unknown): unknown {
  try {
    return structuredClone(data)
  } catch {
    return textOf(data)
  }
}

function textOf(value: unknown): string {
  try {
    return String(value)
  } catch {
    return `[unprintable ${typeof value}]`
  }
}
