/**
 * The control socket: takes clients in, bounds how many, looks after time-outs and after its file, and closes. What a
 * client says is a matter of connection.ts; whose the file is, of socket-file.ts.
 */

import { mkdirSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import { dirname } from 'node:path'
import { describeError, HoltError } from '../../model/error.ts'
import { type Clock, systemClock, type Timer } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { Service } from '../service.ts'
import { Connection } from './connection.ts'
import { LIMITS, type Limits } from './limits.ts'
import { lineError } from './line-form.ts'
import { openSocketFile, type SocketFile } from './socket-file.ts'
import { checkPath } from './socket-path.ts'
import { whoAnswers } from './who-answers.ts'

export interface ListenOptions {
  readonly path: string
  readonly service: Service
  readonly log: Logger
  /** A group whose members may connect too. @default its owner alone may */
  readonly gid?: number | null
  /** @default systemClock */
  readonly clock?: Clock
  /** @default LIMITS */
  readonly limits?: Partial<Limits>
}

export interface UdsServer {
  readonly path: string
  /** Clients at present. */
  readonly connections: number
  /**
   * Removes the file at once, takes no more requests, lets those in work answer within a grace, then cuts what is left.
   * @param streams `await`: they are about to end by themselves, and are let @default 'end'
   */
  close(streams?: 'end' | 'await'): Promise<void>
}

/** @throws HoltError `InvalidOption` where there can be no socket at this path */
export async function listen({ gid = null, clock = systemClock, limits, ...rest }: ListenOptions): Promise<UdsServer> {
  const path = checkPath(rest.path)
  const server = new SocketServer({ ...rest, path, gid, clock, limits: { ...LIMITS, ...limits } })
  await server.open()
  return server
}

/** Clients that are given time to read that there is no room. */
const MOST_TURNED_AWAY = 256

type Deps = Required<ListenOptions> & { readonly limits: Limits }

class SocketServer implements UdsServer {
  readonly path: string
  readonly #deps: Deps
  readonly #connections = new Set<Connection>()
  /** Told that there is no room, and not gone yet. */
  readonly #turnedAway = new Set<Socket>()
  readonly #held = { bytes: 0 }
  #file: SocketFile | null = null
  #timers: Timer[] = []
  /** Set while the file is being made again. */
  #opening: Promise<void> | null = null
  #closed: Promise<void> | null = null
  #onIdle: (() => void) | null = null
  #toldAcceptAt = Number.NEGATIVE_INFINITY
  /** What was said of the file last, so that it is said once. */
  #told: 'ours' | 'gone' | 'anothers' = 'ours'

  constructor(deps: Deps) {
    this.path = deps.path
    this.#deps = deps
  }

  get connections(): number {
    return this.#connections.size
  }

  async open(): Promise<void> {
    const { clock, limits } = this.#deps
    await this.#openFile()
    this.#timers = [
      clock.every(limits.sweepMs, () => {
        for (const connection of [...this.#connections]) connection.sweep()
      }),
      clock.every(limits.lookMs, () => this.#look()),
    ]
  }

  close(streams: 'end' | 'await' = 'end'): Promise<void> {
    this.#closed ??= this.#close(streams)
    return this.#closed
  }

  async #openFile(): Promise<void> {
    const { clock, gid, log } = this.#deps
    this.#file = await openSocketFile(this.path, {
      clock,
      log,
      gid,
      whoAnswers,
      onConnection: (socket) => this.#accept(socket),
      onError: (error) => this.#onAcceptError(error),
    })
  }

  #accept(socket: Socket): void {
    const { limits } = this.#deps
    if (this.#closed !== null) {
      socket.destroy()
      return
    }
    if (this.#connections.size >= limits.connections) {
      this.#turnAway(socket)
      return
    }
    const connection = new Connection(socket, {
      ...this.#deps,
      held: this.#held,
      onGone: () => {
        this.#connections.delete(connection)
        if (this.#connections.size === 0) this.#onIdle?.()
      },
    })
    this.#connections.add(connection)
  }

  #turnAway(socket: Socket): void {
    const { clock, limits } = this.#deps
    const most = limits.connections
    this.#tellAccept(
      { connections: most },
      `a client was turned away: the socket has ${most} already, as many as it may`,
    )
    socket.on('error', () => {})
    const error = new HoltError(
      'Overloaded',
      `the host has ${most} clients already, as many as it may. Try again later`,
    )
    socket.end(`${lineError(error)}\n`)
    if (this.#turnedAway.size >= MOST_TURNED_AWAY) {
      socket.destroySoon()
      return
    }
    // Its request is read and thrown away: a client that finds the other side closed may not read what it was told.
    this.#turnedAway.add(socket)
    const timer = clock.after(limits.graceMs, () => socket.destroy())
    socket.resume()
    socket.on('close', () => {
      timer.cancel()
      this.#turnedAway.delete(socket)
    })
  }

  /** Out of descriptors, mostly: the platform drops that client and goes on. */
  #onAcceptError(error: Error): void {
    this.#tellAccept({ code: describeError(error).code }, `a client could not be taken in: ${error.message}`)
  }

  /** Once in a while: whatever makes it fail would make it fail many times. */
  #tellAccept(data: object, text: string): void {
    const { clock, limits, log } = this.#deps
    if (clock.now() - this.#toldAcceptAt < limits.acceptLogMs) return
    this.#toldAcceptAt = clock.now()
    log.warn(data, text)
  }

  /** A cleaner of temporary files takes the file of a running host; then it is made again. */
  #look(): void {
    if (this.#file === null || this.#opening !== null || this.#closed !== null) return
    const seen = this.#file.look()
    if (seen === 'anothers') this.#tellFile(seen, `${this.path} is another's now: new clients do not reach this host`)
    if (seen === 'ours') this.#told = seen
    if (seen !== 'gone') return
    this.#opening = this.#openAgain(this.#file.server).finally(() => {
      this.#opening = null
    })
  }

  async #openAgain(old: Server): Promise<void> {
    try {
      mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 })
      await this.#openFile()
      old.close()
      this.#deps.log.warn({ path: this.path }, `${this.path} had been removed, and was made again`)
    } catch (error) {
      const why = describeError(error).message
      this.#tellFile('gone', `${this.path} has been removed and cannot be made again: ${why}`)
    }
  }

  #tellFile(seen: 'gone' | 'anothers', text: string): void {
    if (this.#told !== seen) this.#deps.log.error({ path: this.path }, text)
    this.#told = seen
  }

  #removeFile(): void {
    const failed = this.#file?.remove() ?? null
    if (failed !== null) this.#deps.log.warn({ path: this.path }, `${this.path} could not be removed: ${failed}`)
    this.#file?.server.close()
  }

  async #close(streams: 'end' | 'await'): Promise<void> {
    const { clock, limits } = this.#deps
    for (const timer of this.#timers) timer.cancel()
    this.#removeFile()
    for (const socket of this.#turnedAway) socket.destroy()
    // A file that was just being made again goes too.
    const opening = this.#opening?.then(() => this.#removeFile())
    for (const connection of [...this.#connections]) connection.close(streams)
    const timer = clock.after(limits.graceMs, () => {
      for (const connection of [...this.#connections]) connection.destroy()
    })
    if (this.#connections.size > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
      })
    }
    timer.cancel()
    await opening
  }
}
