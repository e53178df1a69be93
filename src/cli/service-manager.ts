/**
 * Tells systemd how the host stands, where it asks for that ($NOTIFY_SOCKET): ready, status, alive, stopping. Called by
 * `holt up`. Node has no datagram sockets of the Unix kind, and the packages that add them compile or carry a binary;
 * the program `systemd-notify` is there wherever systemd is. The unit needs NotifyAccess=all: the word is a child's.
 */
import { execFile } from 'node:child_process'
import type { Host } from '../host/host.ts'
import { type Clock, systemClock, type Timer } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'

export interface ServiceManagerDeps {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pid: number
  readonly clock: Clock
  /** Runs the program; rejects where it is missing, fails or takes too long. */
  readonly run: (args: readonly string[]) => Promise<void>
  readonly warn: (text: string) => void
}

const PROGRAM = 'systemd-notify'
const PROGRAM_MS = 5000
const SOCKET = 'NOTIFY_SOCKET'

/** Without a shell. */
export const runNotify = (args: readonly string[]): Promise<void> =>
  new Promise((resolve, reject) => {
    execFile(PROGRAM, args, { timeout: PROGRAM_MS }, (error) => (error === null ? resolve() : reject(error)))
  })

export class ServiceManager {
  readonly #deps: ServiceManagerDeps
  readonly #asked: boolean
  readonly #everyMs: number | null
  #beat: Timer | null = null
  /** One at a time, so that they arrive in order. */
  #last: Promise<void> = Promise.resolve()
  #warned = false
  #busy = false

  constructor(deps: ServiceManagerDeps) {
    this.#deps = deps
    this.#asked = (deps.env[SOCKET] ?? '') !== ''
    this.#everyMs = this.#asked ? beatMs(deps.env, deps.pid) : null
  }

  /** The fleet is up; from now on the host says that it is alive, for as long as its loop turns. */
  ready(status: string): void {
    void this.#tell(['READY=1', `STATUS=${oneLine(status)}`])
    if (this.#everyMs !== null && this.#beat === null) this.#alive()
  }

  /** It has begun to end. Resolves once that is told, at the latest after the time the program is given. */
  stopping(status: string): Promise<void> {
    return this.#tell(['STOPPING=1', `STATUS=${oneLine(status)}`])
  }

  /** Nothing more is said. */
  close(): void {
    this.#beat?.cancel()
    this.#beat = null
  }

  #alive(): void {
    this.#beat = this.#deps.clock.after(this.#everyMs!, () => {
      // One that hangs is not joined by others.
      if (!this.#busy) void this.#tell(['WATCHDOG=1'])
      this.#alive()
    })
  }

  #tell(words: readonly string[]): Promise<void> {
    if (!this.#asked) return Promise.resolve()
    this.#last = this.#last.then(async () => {
      this.#busy = true
      try {
        await this.#deps.run(words)
      } catch (error) {
        if (!this.#warned) this.#deps.warn(`systemd cannot be told how the host stands: ${(error as Error).message}`)
        this.#warned = true
      } finally {
        this.#busy = false
      }
    })
    return this.#last
  }
}

const oneLine = (text: string): string => text.replaceAll(/[\r\n]+/g, ' ')

/** Half of what systemd waits for, where that is meant for this process. */
function beatMs(env: ServiceManagerDeps['env'], pid: number): number | null {
  const us = Number(env['WATCHDOG_USEC'])
  const meant = env['WATCHDOG_PID'] === undefined || Number(env['WATCHDOG_PID']) === pid
  return meant && Number.isFinite(us) && us > 0 ? Math.max(1, Math.floor(us / 2000)) : null
}

/** Why a process that is the first of its container does without what others have; null: it is not. */
export const missingInit = (pid: number): string | null =>
  pid === 1
    ? 'the host is process 1, and reaps no processes but its own: start it under an init, as with `docker run --init` or tini'
    : null

/** Tells of this host from its first fact to its end. Warns where it is process 1. */
export function serviceManagerOf(host: Host, log: Logger): { ready(): void } {
  const warn = (text: string): void => log.warn({ kind: 'host.service_manager' }, text)
  const lacks = missingInit(process.pid)
  if (lacks !== null) warn(lacks)
  const manager = new ServiceManager({
    env: process.env,
    pid: process.pid,
    clock: systemClock,
    run: runNotify,
    warn,
  })
  host.facts$.subscribe(({ kind }) => {
    if (kind === 'host.draining' || kind === 'host.stopping') void manager.stopping(statusOf(host))
  })
  host.onClose(() => manager.close())
  return { ready: () => manager.ready(statusOf(host)) }
}

const statusOf = (host: Host): string =>
  Object.entries(host.summary().counts)
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${count} ${status}`)
    .join(', ') || 'no agents'
