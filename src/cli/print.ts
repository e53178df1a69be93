/** How the host's log looks on a terminal: one line each, the time, the agent, the text. */
import { clean } from './format/text.ts'
import { lookOf } from './terminal.ts'

/** An entry of the log, as pino writes it. */
interface Entry {
  readonly time: number
  readonly level: number
  readonly msg: string
  readonly agent?: string
  readonly stream?: 'stdout' | 'stderr' | 'log'
}

const WARN = 40
const NAME_WIDTH = 12
const RED = '\u001b[31m'
const DIM = '\u001b[2m'
const RESET = '\u001b[0m'

/** A pino destination: JSON lines as they are to stdout, or text: what agents print to stdout, the rest to stderr. */
export function logPrinter(json: boolean): { write(line: string): void } {
  // A reader that has gone away ends nothing here.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  if (json) return { write: (line) => void process.stdout.write(line) }
  return {
    write: (line) => {
      const entry = JSON.parse(line) as Entry
      const target = entry.stream === undefined ? process.stderr : process.stdout
      target.write(`${format(entry, lookOf(target, process.env).colour)}\n`)
    },
  }
}

/** What agents print may come from anywhere: it moves no cursor and changes no colour here. */
function format({ time, level, agent, msg: text }: Entry, colour: boolean): string {
  const msg = clean(text)
  const at = new Date(time).toISOString().slice(11, 23)
  const name = (agent ?? 'holt').padEnd(NAME_WIDTH)
  if (!colour) return `${at} ${name} ${msg}`
  return `${DIM}${at}${RESET} ${name} ${level >= WARN ? `${RED}${msg}${RESET}` : msg}`
}
