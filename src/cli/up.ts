/**
 * `holt up`: hosts a fleet in the foreground. What agents print goes to stdout under their names, what the host has to
 * say to stderr. SIGINT and SIGTERM end it within one deadline; a second signal ends it at once.
 */
import { parseArgs } from 'node:util'
import { openHost } from '../host/boot.ts'
import type { Host } from '../host/host.ts'
import { HoltError } from '../model/error.ts'
import { createLog, LOG_LEVELS, type LogLevel } from '../platform/log.ts'
import { logPrinter } from './print.ts'

/** Exit code of a process ended by a signal, after POSIX shells: 128 and the number of the signal. */
const SIGNAL_EXIT = { SIGINT: 130, SIGTERM: 143 } as const
type Signal = keyof typeof SIGNAL_EXIT

export async function up(args: readonly string[]): Promise<number> {
  const { values, positionals } = readArgs(args)
  if (positionals.length > 1)
    throw new HoltError(
      'InvalidOption',
      `expected one folder at most, found ${positionals.length}: ${positionals.join(', ')}`,
    )
  const level = values['log-level'] as LogLevel
  if (!LOG_LEVELS.includes(level))
    throw new HoltError('InvalidOption', `--log-level: expected one of ${LOG_LEVELS.join(', ')}, found '${level}'`)
  const firstSignal = listen()
  const host = await openHost({ fleet: positionals[0] ?? '.', log: createLog(level, logPrinter(values.json === true)) })
  // A signal while the fleet starts ends it as well.
  void host.start()
  return end(host, await firstSignal)
}

async function end(host: Host, signal: Signal): Promise<number> {
  const { stuck } = await host.shutdown({ by: signal })
  if (stuck.length === 0) return 0
  process.stderr.write(`holt: ended by force, these could not be stopped: ${stuck.join(', ')}\n`)
  // process.exit would wait for a thread that is inside a native call; only this does not.
  process.kill(process.pid, 'SIGKILL')
  return 1
}

function readArgs(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { 'log-level': { type: 'string', default: 'info' }, json: { type: 'boolean', default: false } },
    })
  } catch (error) {
    throw new HoltError('InvalidOption', error instanceof Error ? error.message : String(error))
  }
}

/** Listens from the first moment, so that a signal during the boot is not lost. The second one ends the process here. */
function listen(): Promise<Signal> {
  let heard = false
  return new Promise((resolve) => {
    for (const signal of Object.keys(SIGNAL_EXIT) as Signal[]) {
      process.on(signal, () => {
        if (heard) process.exit(SIGNAL_EXIT[signal])
        heard = true
        resolve(signal)
      })
    }
  })
}
