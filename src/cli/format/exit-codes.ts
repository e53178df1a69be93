/** `holt help exit-codes`: the exit codes of the command, made from the table of errors. */
import { ERRORS } from '../../model/error.ts'
import { EXIT } from '../exit.ts'
import { type Look, wrap } from './text.ts'

const OWN: readonly (readonly [number, string])[] = [
  [EXIT.done, 'it was done; also when the reader of a pipe has gone'],
  [EXIT.unforeseen, 'something that is not foreseen here'],
  [EXIT.output, 'the output could not be written, as on a full disk'],
  [129, 'the terminal went away while a command was followed (SIGHUP)'],
  [130, 'Ctrl-C ended what was followed, or a second one the host at once (SIGINT)'],
  [143, 'the same by SIGTERM'],
]

export function exitCodeLines(look: Look): string[] {
  const rows = [
    ...OWN.map(([exit, text]) => ({ exit, text })),
    ...Object.entries(ERRORS).map(([code, { exit, text }]) => ({ exit, text: `${code}: ${text}` })),
  ].toSorted((a, b) => a.exit - b.exit)
  const lines = rows.flatMap(({ exit, text }, i) => {
    const shown = rows[i - 1]?.exit === exit ? '' : String(exit)
    return wrap(text, look.width, '        ', `${shown.padStart(4)}  `)
  })
  return ['Exit codes', '', ...lines]
}
