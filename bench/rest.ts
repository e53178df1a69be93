/**
 * The part of `control` over HTTP: GET of a summary beside a bare server of Node and beside Fastify, by a client that does
 * little more than write requests and count answers; and events to many clients at a time. Each server is a process of
 * its own. Holt's requests show a token, which is checked, and are counted against a rate, as for users.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Effort, Figures, Variant } from './definition.ts'
import { expectHandled, latency, perSecond } from './measure.ts'

const ONE_BY_ONE = 500
const MANY = 6_000
const CONNECTIONS = 64
const COMMANDS = 100
const OPEN_TIMEOUT_MS = 20_000

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export interface Server {
  readonly port: number
  /** Headers of each request. */
  readonly headers: string
  readonly pid?: number | undefined
}

/** One connection of HTTP/1.1 with one request in flight. */
export class HttpLane {
  readonly #socket: Socket
  #rest = ''
  #waiting: ((text: string) => void) | null = null

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1').setEncoding('latin1').setNoDelay()
    this.#socket.on('data', (text: string) => this.#take(text))
  }

  call(request: string): Promise<string> {
    return new Promise((resolve) => {
      this.#waiting = resolve
      this.#socket.write(request)
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(text: string): void {
    this.#rest += text
    const head = this.#rest.indexOf('\r\n\r\n')
    if (head === -1) return
    const length = Number(/content-length: (\d+)/i.exec(this.#rest)?.[1] ?? 0)
    if (this.#rest.length < head + 4 + length) return
    const answer = this.#rest
    this.#rest = ''
    this.#waiting?.(answer)
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function opened(port: number): Promise<void> {
  for (let waited = 0; ; waited += 20) {
    const socket = connect(port, '127.0.0.1')
    const open = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    if (open) return
    if (waited > OPEN_TIMEOUT_MS) throw new Error(`no server at port ${port} after ${OPEN_TIMEOUT_MS} ms`)
    await wait(20)
  }
}

async function withProcess<T>(args: readonly string[], work: (pid: number | undefined) => Promise<T>): Promise<T> {
  const server: ChildProcess = spawn(process.execPath, args, { stdio: 'ignore' })
  try {
    return await work(server.pid)
  } finally {
    server.kill('SIGKILL')
  }
}

const peer =
  (file: string) =>
  async (work: (server: Server) => Promise<Figures>): Promise<Figures> => {
    const port = await freePort()
    return withProcess([at(`./peers/${file}`), String(port)], async () => {
      await opened(port)
      return work({ port, headers: '' })
    })
  }

/** `holt up` with one agent, and a token for it. */
export async function withHoltUp<T>(work: (server: Server) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'holt-bench-'))
  const [port, state] = [await freePort(), join(folder, 'state')]
  const up = [
    at('../dist/cli/main.js'),
    'up',
    at('./fleets/counter'),
    '--socket',
    join(folder, 'socket'),
    '--state',
    state,
  ]
  try {
    return await withProcess([...up, '--port', String(port), '--rate-limit', '10000000'], async (pid) => {
      await opened(port)
      const lane = new HttpLane(port)
      while (!(await lane.call(get('/readyz', ''))).includes('"ready"')) await wait(20)
      lane.close()
      const token = readFileSync(join(state, 'admin.token'), 'utf8').trim()
      return work({ port, pid, headers: `Authorization: Bearer ${token}\r\n` })
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const get = (path: string, headers: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`

const requests =
  (effort: Effort) =>
  async ({ port, headers }: Server): Promise<Figures> => {
    const request = get('/', headers)
    const all = Array.from({ length: CONNECTIONS }, () => new HttpLane(port))
    let answered = 0
    const call = async (lane: HttpLane): Promise<void> => {
      if ((await lane.call(request)).startsWith('HTTP/1.1 200')) answered++
    }
    const times = await latency(ONE_BY_ONE, effort, () => call(all[0]!))
    const rate = await perSecond(MANY, effort, async (count) => {
      answered = 0
      let next = 0
      await Promise.all(
        all.map(async (lane) => {
          while (next++ < count) await call(lane)
        }),
      )
      expectHandled(answered, count)
    })
    for (const lane of all) lane.close()
    return { ...times, perSecond: rate }
  }

const MARK = Buffer.from('\nid: ')

/** A client of `/events` that counts what comes. */
class Listener {
  events = 0
  readonly #socket: Socket
  readonly opened: Promise<unknown>

  constructor({ port, headers }: Server) {
    this.#socket = connect(port, '127.0.0.1', () => void this.#socket.write(get('/events', headers)))
    this.opened = new Promise((resolve) => this.#socket.once('data', resolve))
    this.#socket.on('data', (piece: Buffer) => {
      for (let from = piece.indexOf(MARK); from !== -1; from = piece.indexOf(MARK, from + MARK.length)) this.events++
      // An event at the very beginning of a piece.
      if (piece.indexOf('id: ') === 0) this.events++
    })
  }

  close(): void {
    this.#socket.destroy()
  }
}

/** Events that reach clients, a second: each command tells a few facts, each fact goes to all. */
const fanOut =
  (clients: number) =>
  (effort: Effort) =>
  async (server: Server): Promise<Figures> => {
    const all = Array.from({ length: clients }, () => new Listener(server))
    await Promise.all(all.map((one) => one.opened))
    const lane = new HttpLane(server.port)
    const count = (): number => all.reduce((sum, { events }) => sum + events, 0)
    const round = async (commands: number): Promise<number> => {
      const before = count()
      const start = performance.now()
      for (let n = 0; n < commands; n++) {
        const verb = n % 2 === 0 ? 'pause' : 'resume'
        const head = `POST /agents/counter/${verb} HTTP/1.1\r\nHost: localhost\r\n${server.headers}`
        await lane.call(`${head}Content-Length: 0\r\n\r\n`)
      }
      // All have the same when nothing more comes and none is behind another.
      let last = -1
      while (last !== count() || new Set(all.map(({ events }) => events)).size > 1) {
        last = count()
        await wait(20)
      }
      return ((count() - before) / (performance.now() - start)) * 1000
    }
    const commands = 2 * Math.max(2, Math.round((COMMANDS * effort.share) / 2))
    await round(Math.min(commands, 10))
    const rate = await round(commands)
    for (const one of all) one.close()
    return { perSecond: rate }
  }

export const REST_VARIANTS: Readonly<Record<string, Variant>> = {
  'bare Node, GET': (effort) => peer('http-bare.mjs')(requests(effort)),
  'Fastify, GET': (effort) => peer('http-fastify.mjs')(requests(effort)),
  'Holt REST, GET': (effort) => withHoltUp(requests(effort)),
  'Holt SSE, events to 1': (effort) => withHoltUp(fanOut(1)(effort)),
  'Holt SSE, events to 100': (effort) => withHoltUp(fanOut(100)(effort)),
  'Holt SSE, events to 1000': (effort) => withHoltUp(fanOut(1000)(effort)),
}
