/**
 * What a command is handed: its words and options, the way to the host, and the way to print. Commands know neither the
 * process nor the socket, so that tests run them against a client of their own.
 */
import type { Client } from '../transports/client/client.ts'
import type { HostCaller } from '../transports/client/methods.ts'
import type { Look } from './format/text.ts'
import type { Sink } from './output.ts'
import type { Screen } from './screen.ts'

export interface ConnectOptions {
  readonly socket?: string | undefined
  /** Address of REST, in place of a socket. */
  readonly host?: string | undefined
  readonly token?: string | undefined
  readonly tokenFile?: string | undefined
  /** For the connection and for each answer. */
  readonly timeoutMs: number
}

/** The world around the command. */
export interface Io {
  readonly out: Sink
  readonly err: Sink
  readonly outLook: Look
  readonly errLook: Look
  readonly cwd: string
  /** The terminal as a screen with keys; undefined where input or output is none. */
  screen?(): Promise<Screen | undefined>
  /** Standard input, to its end. */
  stdin(): AsyncIterable<Uint8Array>
  /** Wall clock, ms. */
  now(): number
  /**
   * @param socket path of the socket; without it, where clients look for one
   * @throws HoltError `NoHost`
   */
  connect(options: ConnectOptions): Promise<Client>
  /** Whether this process ends within the time. */
  hasEnded(pid: number, withinMs: number): Promise<boolean>
}

export interface Options {
  readonly json?: true
  readonly socket?: string
  readonly host?: string
  readonly token?: string
  readonly tokenFile?: string
  readonly timeoutMs?: number
  readonly ttlMs?: number
  readonly reason?: string
  readonly now?: true
  readonly ifGeneration?: number
  readonly dryRun?: true
  readonly abort?: true
  readonly all?: true
  readonly watch?: true
  readonly before?: number
  readonly limit?: number
  readonly follow?: true
  readonly since?: string
  readonly kinds?: string
  readonly access?: string
  readonly expiresIn?: string
  readonly deadline?: string
  readonly grep?: string
  readonly tail?: number
  readonly cpu?: number
  readonly heap?: true
  readonly out?: string
  readonly state?: string
  readonly logLevel?: string
  readonly socketGroup?: string
  /** False: `--no-rest`. */
  readonly rest?: boolean
  readonly port?: number
  readonly listen?: string
  readonly allowHost?: string
  readonly cors?: string
  readonly rateLimit?: number
  readonly previous?: string
  readonly cordoned?: string
  readonly stopping?: string
}

export interface Invocation {
  /** What stands for each word of the usage; empty or shorter where it was left out. */
  readonly args: readonly string[]
  readonly options: Options
  readonly io: Io
  /** Connects at the first call; the connection is closed when the command has ended. */
  client(): Promise<HostCaller>
  /** With `--json` the value as one line of JSON, else the lines. */
  print(value: unknown, lines: (look: Look) => readonly string[]): Promise<void>
}

/** Answers with an exit code, if not 0. */
export type Run = (invocation: Invocation) => Promise<number | undefined>
