/**
 * `npm run sse-soak -- [MINUTES] [CLIENTS]`: so many clients follow `/events` of one `holt up` while its agent is paused and
 * resumed each second; one in a hundred leaves and comes back from its last event each minute, one in a hundred does not
 * read and is cut. Prints each minute what the server's process holds, and ends with 1 where that grows or a client has
 * missed an event or had one twice. The clients are in this process, the server in one of its own.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { get, HttpLane, type Server, withHoltUp } from './rest.ts'

const [minutes = 60, clients = 1000] = process.argv.slice(2).map(Number)
const EVERY_MS = 1000
/** Growth from the sample after warm-up to the last that still counts as flat. */
const FLAT = 1.15

const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** A client that knows the number of the event it had last, and sees whether the next is the one after it. */
class Follower {
  last = 0
  faults = 0
  #rest = ''
  #socket: Socket | null = null
  readonly #server: Server

  constructor(server: Server) {
    this.#server = server
  }

  async open(): Promise<void> {
    const since = this.last === 0 ? '' : `Last-Event-ID: ${this.last}\r\n`
    const socket = connect(this.#server.port, '127.0.0.1')
    this.#socket = socket
    this.#rest = ''
    socket.setEncoding('latin1').on('data', (text: string) => this.#take(text))
    socket.on('error', () => {})
    socket.write(get('/events', this.#server.headers + since))
    await new Promise((resolve) => socket.once('data', resolve))
  }

  close(): void {
    this.#socket?.destroy()
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop()!
    for (const line of lines) {
      if (!line.startsWith('id: ')) continue
      const id = Number(line.slice(4))
      if (this.last !== 0 && id !== this.last + 1 && id !== this.last) this.faults++
      this.last = id
    }
  }
}

/** Asks and never reads. */
function stalled({ port, headers }: Server): Socket {
  const socket = connect(port, '127.0.0.1', () => socket.write(get('/events', headers)))
  return socket.pause().on('error', () => {})
}

interface Sample {
  readonly heapMb: number
  readonly rssMb: number
  readonly files: number
}

async function sample(server: Server): Promise<Sample> {
  const lane = new HttpLane(server.port)
  const metrics = await lane.call(get('/metrics', server.headers))
  lane.close()
  const read = (name: string): number => Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(metrics)?.[1])
  return {
    heapMb: read('nodejs_heap_size_used_bytes') / 2 ** 20,
    rssMb: Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024,
    files: readdirSync(`/proc/${server.pid}/fd`).length,
  }
}

async function soak(server: Server): Promise<boolean> {
  const all = Array.from({ length: clients }, () => new Follower(server))
  for (const follower of all) await follower.open()
  const samples: Sample[] = []
  for (let second = 0; second < minutes * 60; second++) {
    const verb = second % 2 === 0 ? 'pause' : 'resume'
    // Each on a connection of its own: one that is idle for long is closed.
    const lane = new HttpLane(server.port)
    await lane.call(
      `POST /agents/counter/${verb} HTTP/1.1\r\nHost: localhost\r\n${server.headers}Content-Length: 0\r\n\r\n`,
    )
    lane.close()
    if (second % 60 === 30) await coming(all, server)
    if (second % 60 === 59) {
      const now = await sample(server)
      samples.push(now)
      say(
        `minute ${samples.length}: heap ${now.heapMb.toFixed(1)} MiB, RSS ${now.rssMb.toFixed(0)} MiB, ${now.files} files, event ${all[0]!.last}`,
      )
    }
    await wait(EVERY_MS)
  }
  return judged(all, samples)
}

async function coming(all: readonly Follower[], server: Server): Promise<void> {
  const few = Math.ceil(all.length / 100)
  const from = Math.floor(Math.random() * (all.length - few))
  for (const follower of all.slice(from, from + few)) {
    follower.close()
    await follower.open()
  }
  const idle = Array.from({ length: few }, () => stalled(server))
  await wait(5000)
  for (const socket of idle) socket.destroy()
}

async function judged(all: readonly Follower[], samples: readonly Sample[]): Promise<boolean> {
  await wait(2000)
  const faults = all.reduce((sum, follower) => sum + follower.faults, 0)
  const lasts = new Set(all.map(({ last }) => last))
  const least = (key: keyof Sample, part: readonly Sample[]): number => Math.min(...part.map((one) => one[key]))
  const fifth = Math.max(1, Math.floor(samples.length / 5))
  // The least of a stretch: what garbage there is on the way says nothing.
  const grown = (['heapMb', 'rssMb', 'files'] as const).filter(
    (key) => least(key, samples.slice(-fifth)) > least(key, samples.slice(fifth, 2 * fifth + 1)) * FLAT,
  )
  say(`${all.length} clients, ${minutes} minutes, ${[...lasts].join(' and ')} events: ${faults} gaps or doubles`)
  say(grown.length === 0 ? 'nothing has grown' : `GREW: ${grown.join(', ')}`)
  for (const follower of all) follower.close()
  return faults === 0 && lasts.size === 1 && grown.length === 0
}

process.exit((await withHoltUp(soak)) ? 0 : 1)
