/** `holt watch` and `holt attach`: one line a fact, one line a line of output. */
import { levelColour, paint } from './colour.ts'
import { clean, cut, type Look, pad } from './text.ts'
import { timeOfDay } from './time.ts'

/** What is common to a fact and to a line that an agent printed. */
export interface Told {
  readonly at: number
  readonly level: string
  readonly agent?: string | undefined
  readonly text: string
}

const NAME_WIDTH = 12
const TIME_WIDTH = 12

/** `12:03:04.567 librarian    intent is running …`; cut at the width. */
export function toldLine({ at, level, agent = 'holt', text }: Told, look: Look): string {
  const name = pad(cut(clean(agent), NAME_WIDTH), NAME_WIDTH)
  const time = cut(timeOfDay(at), look.width)
  const room = look.width - TIME_WIDTH - NAME_WIDTH - 2
  if (room < 1) return cut(`${time} ${name} ${clean(text)}`, look.width)
  const said = paint(cut(clean(text), room), levelColour(level), look.colour)
  return `${paint(time, 'dim', look.colour)} ${name} ${said}`
}
