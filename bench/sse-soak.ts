/**
 * `npm run sse-soak -- [MINUTES] [CLIENTS]`: so many clients follow `/events` of one `holt up`, a process of its own, which
 * tells five facts a second. One client after the other leaves for some seconds and comes back from its last event; some
 * ask for the whole log, do not read, and are to be cut. Prints each minute what the server holds, and ends with 1 where
 * that has grown, a client has missed an event or had one twice, or one that does not read was not cut. SIGINT and SIGTERM
 * end it early, with the verdict on what there was.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { get, HttpLane, type Server, withHoltUp } from './rest.ts'

const [minutes = 60, clients = 1000] = process.argv.slice(2).map(Number)
/** Each command tells four facts. */
const EVERY_MS = 800
const AWAY_MS = 3000
/** Begun each minute. */
const STALLED = 10
/** Longer than a server bears with one that does not read, and looks for it. */
const STALLED_MS = 100_000
const CUT_WITHIN_MS = 30_000
/** The log is longer than what the platform takes for a client that does not read. */
const LONG_LOG = { commands: 160, reason: 'r'.repeat(16_384) }
/** Growth of the least of the last fifth, over the least of the second, that still counts as flat. */
const FLAT = 1.15
const KEYS = ['heapMib', 'rssMib', 'handles', 'files'] as const

const say = (text: string): void => void process.stdout.write(`${text}\n`)

let stopped = false
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    stopped = true
  })

/** A client that knows the number of the event it had last, and sees whether the next is the one after it. */
class Follower {
  last = 0
  returns = 0
  /** Events that were not the next, and ends that it did not ask for. */
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
    socket.on('close', () => {
      if (this.#socket === socket) this.faults++
    })
    socket.write(get('/events', this.#server.headers + since))
    await new Promise((resolve) => socket.once('data', resolve).once('close', resolve))
  }

  close(): void {
    const socket = this.#socket
    this.#socket = null
    socket?.destroy()
  }

  async comeBack(): Promise<void> {
    this.close()
    await wait(AWAY_MS)
    await this.open()
    this.returns++
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop()!
    for (const line of lines) {
      if (!line.startsWith('id: ')) continue
      const id = Number(line.slice(4))
      if (this.last !== 0 && id !== this.last + 1) this.faults++
      this.last = id
    }
  }
}

/** Asks for all there is and does not read for long. @returns whether it was cut meanwhile */
async function stalled({ port, headers }: Server): Promise<boolean> {
  const socket = connect(port, '127.0.0.1', () => socket.write(get('/events?since=0', headers)))
  socket.on('error', () => {}).pause()
  await wait(STALLED_MS)
  const cut = new Promise<boolean>((resolve) => socket.once('close', () => resolve(true)))
  socket.resume()
  const late = new AbortController()
  const was = await Promise.race([cut, wait(CUT_WITHIN_MS, false, { signal: late.signal })])
  late.abort()
  socket.destroy()
  return was
}

type Sample = Readonly<Record<(typeof KEYS)[number], number>>

async function sample(server: Server): Promise<Sample> {
  const lane = new HttpLane(server.port)
  const metrics = await lane.call(get('/metrics', server.headers))
  lane.close()
  const read = (name: string): number => Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, 'm').exec(metrics)?.[1])
  return {
    heapMib: read('nodejs_heap_size_used_bytes') / 2 ** 20,
    rssMib: Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024,
    handles: read('nodejs_active_resources_total'),
    files: readdirSync(`/proc/${server.pid}/fd`).length,
  }
}

/** On a connection of its own: one that is idle for long is closed. */
async function command({ port, headers }: Server, n: number, reason?: string): Promise<void> {
  const body = reason === undefined ? '' : JSON.stringify({ reason })
  const lane = new HttpLane(port)
  const type = reason === undefined ? '' : 'Content-Type: application/json\r\n'
  const head = `POST /agents/counter/${n % 2 === 0 ? 'pause' : 'resume'} HTTP/1.1\r\nHost: localhost\r\n${headers}${type}`
  await lane.call(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
  lane.close()
}

interface Soaked {
  readonly all: readonly Follower[]
  readonly samples: readonly Sample[]
  readonly cuts: readonly boolean[]
  readonly minutes: number
}

async function soak(server: Server): Promise<Soaked> {
  for (let n = 0; n < LONG_LOG.commands; n++) await command(server, n, LONG_LOG.reason)
  const all = Array.from({ length: clients }, () => new Follower(server))
  for (const follower of all) await follower.open()
  const samples: Sample[] = []
  const stalls: Promise<boolean>[] = []
  let returning: Promise<void> = Promise.resolve()
  const begun = performance.now()
  const passed = (): number => (performance.now() - begun) / 60_000
  say('| min | heap MiB | RSS MiB | handles | files | event |\n|---|---|---|---|---|---|')
  for (let n = 0; samples.length < minutes && !stopped; n++) {
    await command(server, n)
    // One at a time is away, and nobody is asked twice at once.
    const one = all[n % all.length]!
    if (n % 4 === 0) returning = returning.then(() => one.comeBack())
    if (passed() >= samples.length + 1) {
      const now = await sample(server)
      samples.push(now)
      const figures = [now.heapMib.toFixed(1), now.rssMib.toFixed(0), now.handles, now.files, all[0]!.last]
      say(`| ${[samples.length, ...figures].join(' | ')} |`)
      // None that would outlast the run.
      if ((minutes - samples.length) * 60_000 > STALLED_MS + CUT_WITHIN_MS)
        stalls.push(...Array.from({ length: STALLED }, () => stalled(server)))
    }
    await wait(Math.max(0, (n + 1) * EVERY_MS - (performance.now() - begun)))
  }
  const lasted = passed()
  await returning
  return { all, samples, cuts: await Promise.all(stalls), minutes: lasted }
}

const least = (key: keyof Sample, part: readonly Sample[]): number => Math.min(...part.map((one) => one[key]))

/** The least of a stretch: what garbage there is on the way says nothing. */
function growth(samples: readonly Sample[]): (typeof KEYS)[number][] {
  const fifth = Math.floor(samples.length / 5)
  if (fifth === 0) return []
  const [warm, late] = [samples.slice(fifth, 2 * fifth), samples.slice(-fifth)]
  return KEYS.filter((key) => !(least(key, late) <= least(key, warm) * FLAT))
}

async function judged(server: Server): Promise<boolean> {
  const { all, samples, cuts, minutes: lasted } = await soak(server)
  await wait(2000)
  const sum = (of: (follower: Follower) => number): number => all.reduce((total, one) => total + of(one), 0)
  const faults = sum(({ faults: own }) => own)
  const lasts = new Set(all.map(({ last }) => last))
  const grown = growth(samples)
  const read = cuts.filter((cut) => !cut).length
  for (const follower of all) follower.close()
  say(`\n${all.length} clients, ${lasted.toFixed(1)} minutes, ${sum((one) => one.returns)} returns from the last event`)
  say(`last event: ${[...lasts].join(', ')} (one for all); gaps, doubles and ends not asked for: ${faults}`)
  say(`did not read: ${cuts.length}, of them not cut: ${read}`)
  const flat = samples.length < 5 ? 'not judged within five minutes' : 'nothing'
  say(`grown by more than ${Math.round((FLAT - 1) * 100)} % since warm-up: ${grown.join(', ') || flat}`)
  return faults === 0 && lasts.size === 1 && read === 0 && grown.length === 0
}

const passed = await withHoltUp(judged)
say(passed ? 'PASSED' : 'FAILED')
process.exit(passed ? 0 : 1)
