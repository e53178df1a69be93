/**
 * Requests over the Unix socket: time of one at a time, and how many a second with 64 in flight, beside a bare server
 * that echoes JSON lines. Each server is a process of its own; the client is the same for all and counts the answers.
 * Requests over HTTP, and streams, are in `rest.ts`.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Bench, Effort, Figures, Variant } from './definition.ts'
import { expectHandled, latency, perSecond } from './measure.ts'
import { REST_VARIANTS } from './rest.ts'

const ONE_BY_ONE = 500
const MANY = 8_000
const IN_FLIGHT = 64
const OPEN_TIMEOUT_MS = 20_000

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** A client of newline-delimited JSON whose answers come in the order of its requests. */
class LineClient {
  readonly #socket: Socket
  readonly #waiting: ((line: string) => void)[] = []
  #rest = ''

  constructor(socket: Socket) {
    this.#socket = socket
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => {
      const lines = (this.#rest + text).split('\n')
      this.#rest = lines.pop()!
      for (const line of lines) this.#waiting.shift()!(line)
    })
  }

  call(request: string): Promise<string> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#socket.destroy()
  }
}

/** Starts a server, waits until it listens, measures, and ends it. */
async function withServer(
  command: (path: string) => string[],
  work: (client: LineClient) => Promise<Figures>,
): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'holt-bench-'))
  const path = join(folder, 'socket')
  const server = spawn(process.execPath, command(path), { stdio: 'ignore' })
  try {
    for (let waited = 0; !existsSync(path); waited += 20) {
      if (waited > OPEN_TIMEOUT_MS) throw new Error(`no server at ${path} after ${OPEN_TIMEOUT_MS} ms`)
      await wait(20)
    }
    const client = new LineClient(connect(path))
    const figures = await work(client)
    client.close()
    return figures
  } finally {
    server.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

async function requests(client: LineClient, effort: Effort, cmd: string): Promise<Figures> {
  const request = `${JSON.stringify({ cmd, args: [] })}\n`
  let answered = 0
  const call = async (): Promise<void> => {
    if ((await client.call(request)).startsWith('{"ok":true')) answered++
  }
  const times = await latency(ONE_BY_ONE, effort, call)
  const rate = await perSecond(MANY, effort, async (count) => {
    answered = 0
    let next = 0
    const lane = async (): Promise<void> => {
      while (next++ < count) await call()
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, lane))
    expectHandled(answered, count)
  })
  return { ...times, perSecond: rate }
}

const echo: Variant = (effort) =>
  withServer(
    (path) => [at('./peers/echo-server.mjs'), path],
    (client) => requests(client, effort, 'summary'),
  )

const holt =
  (cmd: string): Variant =>
  (effort) =>
    withServer(
      (path) => [
        at('../dist/cli/main.js'),
        'up',
        at('./fleets/counter'),
        '--socket',
        path,
        '--state',
        `${path}-state`,
        '--no-rest',
      ],
      (client) => requests(client, effort, cmd),
    )

export const control: Bench = {
  name: 'control',
  summary: 'requests over the Unix socket and over HTTP; events to many clients',
  metrics: [
    { key: 'p50', label: 'p50 µs, 1 in flight', ratio: true },
    { key: 'p99', label: 'p99 µs, 1 in flight', ratio: false },
    { key: 'perSecond', label: 'requests/s, 64 in flight', ratio: true },
  ],
  base: 'bare echo server',
  variants: {
    'bare echo server': echo,
    'Holt summary': holt('summary'),
    'Holt status': holt('status'),
    ...REST_VARIANTS,
  },
  targets: [{ variant: 'Holt REST, GET', against: 'bare Node, GET', metric: 'perSecond', atLeast: 0.5 }],
  packages: ['fastify', 'hono', '@hono/node-server'],
}
