/**
 * `holt up`: hosts a fleet in the foreground. What agents print goes to stdout under their names, what the host has to
 * say to stderr. It ends within one deadline by SIGINT, by SIGTERM, or when it is asked to over its socket; a second
 * signal ends it at once.
 */
import { rmdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { openHost } from '../host/boot.ts'
import type { Host } from '../host/host.ts'
import { HoltError } from '../model/error.ts'
import { createLog, LOG_LEVELS, type Logger, type LogLevel } from '../platform/log.ts'
import { findSocket } from '../transports/client/find-socket.ts'
import { type Served, serve } from '../transports/serve.ts'
import { socketFor } from '../transports/uds/fleet-socket.ts'
import { EXIT } from './exit.ts'
import type { Options, Run } from './invocation.ts'
import { logPrinter } from './print.ts'
import { reloadOnSave } from './reload-on-save.ts'
import { serviceManagerOf } from './service-manager.ts'
import { restOf } from './up-options.ts'

const SIGNALS = ['SIGINT', 'SIGTERM'] as const
type Signal = (typeof SIGNALS)[number]

export const up: Run = async ({ args, options }) => {
  const level = (options.logLevel ?? 'info') as LogLevel
  if (!LOG_LEVELS.includes(level))
    throw new HoltError('InvalidOption', `--log-level: expected one of ${LOG_LEVELS.join(', ')}, found '${level}'`)
  const firstSignal = listen()
  const log = createLog(level, logPrinter(options.json === true))
  const state = options.state === undefined ? {} : { stateDir: resolve(options.state) }
  const host = await openHost({ fleet: args[0] ?? '.', log, ...state })
  const served = await serveOrEnd(host, options)
  process.once('exit', () => leaveNothing(host, served))
  const ended = new Promise<string>((resolveEnded) => host.onClose(() => resolveEnded('socket')))
  // A signal while the fleet starts ends it as well; so does a start that fails, which the rejection tells.
  const manager = serviceManagerOf(host, log)
  const started = host.start().then(() => {
    tellHowToAttach(log, served)
    manager.ready()
  })
  const saves = options.watch === true ? reloadOnSave(host) : null
  host.onClose(() => saves?.close())
  const failed = new Promise<never>((_, reject) => started.catch(reject))
  try {
    const by = await Promise.race([firstSignal, ended, failed])
    return await end(host, served, by)
  } catch (error) {
    await host.shutdown({ by: 'holt up' })
    throw error
  }
}

type UpServed = Served & { readonly socket: string }

/** A path or a port that cannot be had is told before any agent is started. */
async function serveOrEnd(host: Host, options: Options): Promise<UpServed> {
  const socket = options.socket === undefined ? true : resolve(options.socket)
  const base = { socket, ...(options.socketGroup === undefined ? {} : { socketGroup: options.socketGroup }) } as const
  try {
    const rest = restOf(options)
    if (rest === null) return await serve(host, base)
    const asked = options.port !== undefined || options.listen !== undefined
    return await serve(host, { ...base, rest }).catch((error: unknown) => {
      if (asked || !isTaken(error)) throw error
      // Two fleets with defaults on one machine: the second one runs as well, and says what it lacks.
      host.log.warn({ kind: 'rest.off' }, `REST is off: ${(error as Error).message}`)
      return serve(host, base)
    })
  } catch (error) {
    await host.shutdown({ by: 'holt up' })
    throw error
  }
}

const isTaken = (error: unknown): boolean => error instanceof HoltError && error.details['reason'] === 'EADDRINUSE'

/** However the process ends, but for SIGKILL: the socket goes, and its folders where nobody else has one in them. */
function leaveNothing(host: Host, served: UpServed): void {
  // Its file is gone when this returns.
  void served.close()
  if (served.socket !== socketFor(host.fleetDir)) return
  try {
    const own = dirname(served.socket)
    rmdirSync(own)
    rmdirSync(dirname(own))
  } catch {
    // In use by another host.
  }
}

function tellHowToAttach(log: Logger, { socket, groupSocket, rest }: UpServed): void {
  if (rest !== null) log.info({ kind: 'host.rest', url: rest.url }, `REST at ${rest.url}, see ${rest.url}/openapi.json`)
  if (groupSocket !== null)
    log.info(
      { kind: 'host.group_socket', socket: groupSocket },
      `its group looks with: holt status --socket ${quoted(groupSocket)}`,
    )
  const option = isFound(socket) ? '' : ` --socket ${quoted(socket)}`
  const commands = ['status', 'watch', 'down'].map((command) => `holt ${command}${option}`)
  log.info({ kind: 'host.socket', socket }, `attach with: ${commands.join(' | ')}`)
}

/** Whether a client in the present folder comes to this socket by itself. */
function isFound(socket: string): boolean {
  try {
    return findSocket().path === socket
  } catch {
    return false
  }
}

const quoted = (path: string): string => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`)

async function end(host: Host, served: Served, by: string): Promise<number> {
  // Where it has ended already, this is its report.
  const { stuck } = await host.shutdown({ by })
  await served.close()
  if (stuck.length === 0) return EXIT.done
  process.stderr.write(`holt: ended by force, these could not be stopped: ${stuck.join(', ')}\n`)
  // process.exit would wait for a thread that is inside a native call; only this does not.
  process.kill(process.pid, 'SIGKILL')
  return EXIT.unforeseen
}

/** Listens from the first moment, so that a signal during the boot is not lost. The second one ends the process here. */
function listen(): Promise<Signal> {
  let heard = false
  return new Promise((resolveSignal) => {
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (heard) endAtOnce(signal)
        heard = true
        resolveSignal(signal)
      })
    }
  })
}

/**
 * By the signal itself, as if nobody had listened: process.exit would wait for a thread that is inside a native call. What
 * is done on the way out is done first.
 */
function endAtOnce(signal: Signal): void {
  for (const one of SIGNALS) process.removeAllListeners(one)
  process.emit('exit', 1)
  process.kill(process.pid, signal)
}
