#!/usr/bin/env node
/** The command `holt`: reads the arguments and runs one command. Exit codes are those of the error table. */
import { describeError, ERRORS, isErrorCode } from '../model/error.ts'

const USAGE = `Usage: holt up [DIR] [--log-level debug|info|warn|error|silent] [--json]

  up   host the fleet in DIR (default: the present folder) in the foreground, until Ctrl-C
`

async function main(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args
  if (command === 'up') return (await import('./up.ts')).up(rest)
  const asked = command === undefined || command === 'help' || command === '--help' || command === '-h'
  if (!asked) process.stderr.write(`holt: there is no command '${command}'\n\n`)
  process[asked ? 'stdout' : 'stderr'].write(USAGE)
  return asked ? 0 : ERRORS.InvalidOption.exit
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code
  },
  (thrown: unknown) => {
    const { code, message } = describeError(thrown)
    process.stderr.write(`holt: ${message}\n`)
    process.exitCode = isErrorCode(code) ? ERRORS[code].exit : 1
  },
)
