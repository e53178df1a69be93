/**
 * What agents print and log: to the host's log, and to the stream, in the order in which it was posted; without the
 * secrets of `.env` files, and bounded.
 */
import type { Agent } from '../actors/agent.ts'
import type { Output } from '../model/output.ts'
import type { FromThread } from '../model/wire.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import { cut, MAX_TEXT } from './logs-line.ts'
import type { Secrets } from './secrets.ts'

type Message = Extract<FromThread, { type: 'lines' | 'log' }>

export function createOutput(
  log: Logger,
  clock: Clock,
  secrets: Secrets,
  publish: (output: Output) => void,
): (agent: Agent, message: Message) => void {
  const put = (output: Output): void => {
    const { level, text, ...rest } = output
    log[level](rest, text)
    publish(output)
  }
  return (agent, message) => {
    const of = { at: clock.wall(), agent: agent.id, instance: agent.instance?.id ?? '' }
    // Hidden before it is cut: half a secret would not be known for one.
    const shown = (text: string): string => cut(secrets.hide(text), MAX_TEXT)
    if (message.type === 'log') {
      const { level, data } = message
      const more = data === undefined ? {} : { data: secrets.hideIn(data) }
      put({ ...of, stream: 'log', level, text: shown(message.text), ...more })
      return
    }
    for (const line of message.lines) put({ ...of, stream: message.stream, level: 'info', text: shown(line) })
  }
}
