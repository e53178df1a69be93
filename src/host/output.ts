/** What agents print and log: to the host's log, and to the stream, in the order in which it was posted. */
import type { Agent } from '../actors/agent.ts'
import type { FromThread } from '../model/wire.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import type { Output } from './host.ts'

type Message = Extract<FromThread, { type: 'lines' | 'log' }>

export function createOutput(
  log: Logger,
  clock: Clock,
  publish: (output: Output) => void,
): (agent: Agent, message: Message) => void {
  const put = (output: Output): void => {
    const { level, text, ...rest } = output
    log[level](rest, text)
    publish(output)
  }
  return (agent, message) => {
    const at = clock.wall()
    if (message.type === 'log') {
      const { level, text, data } = message
      put({ at, agent: agent.id, stream: 'log', level, text, ...(data === undefined ? {} : { data }) })
      return
    }
    for (const text of message.lines) put({ at, agent: agent.id, stream: message.stream, level: 'info', text })
  }
}
