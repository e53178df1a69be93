/**
 * `npm run soak -- [MINUTES]`: 50 agents, one random death every 50 ms of one that is up (a throw, an exit, a kill, an own stop), for ten
 * minutes. Prints what the process holds every half minute and what the host looks like 5 s after the last death, and
 * ends with 1 where something has leaked or an agent has not come back.
 */
import { readdirSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { importBuilt } from './holt.ts'

const AGENTS = 50
const EVERY_MS = 50
const SAMPLE_MS = 30_000
const SETTLE_MS = 5000
/** Growth from the sample after warm-up to the last that still counts as flat. */
const FLAT = 1.15

interface SoakAgent {
  readonly id: string
  readonly phase: string
  tell(name: string): boolean
  kill(): Promise<unknown>
}

interface SoakHost {
  agents(): readonly SoakAgent[]
  deaths$: { subscribe(next: (record: { readonly instance: string; readonly cause: string }) => void): unknown }
  shutdown(): Promise<{ readonly killed: readonly string[]; readonly stuck: readonly string[] }>
}

interface Sample {
  readonly heapMb: number
  readonly rssMb: number
  readonly threads: number
  readonly handles: number
  readonly files: number
}

const countIn = (folder: string): number => {
  try {
    return readdirSync(folder).length
  } catch {
    return Number.NaN
  }
}

function sample(): Sample {
  ;(globalThis as { gc?: () => void }).gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  return {
    heapMb: heapUsed / 2 ** 20,
    rssMb: rss / 2 ** 20,
    threads: countIn('/proc/self/task'),
    handles: process.getActiveResourcesInfo().length,
    files: countIn('/proc/self/fd'),
  }
}

const say = (text: string): void => void process.stdout.write(`${text}\n`)

const sampleLine = (minute: number, { heapMb, rssMb, threads, handles, files }: Sample): string =>
  `| ${minute.toFixed(1)} | ${heapMb.toFixed(1)} | ${rssMb.toFixed(0)} | ${threads} | ${handles} | ${files} |`

const WAYS: readonly ((agent: SoakAgent) => unknown)[] = [
  (agent) => agent.tell('die'),
  (agent) => agent.tell('exit'),
  (agent) => agent.tell('end'),
  (agent) => agent.kill().catch(() => {}),
]

async function soak(host: SoakHost, minutes: number): Promise<Sample[]> {
  const samples: Sample[] = []
  const agents = host.agents()
  const begun = performance.now()
  for (let n = 1; performance.now() - begun < minutes * 60_000; n++) {
    // One that is not up would only keep its death waiting in its mailbox.
    const up = agents.filter(({ phase }) => phase === 'ACTIVE')
    const agent = up[Math.floor(Math.random() * up.length)]
    if (agent !== undefined) WAYS[Math.floor(Math.random() * WAYS.length)]!(agent)
    if (performance.now() - begun >= samples.length * SAMPLE_MS) {
      samples.push(sample())
      say(sampleLine((performance.now() - begun) / 60_000, samples.at(-1)!))
    }
    await wait(Math.max(0, n * EVERY_MS - (performance.now() - begun)))
  }
  return samples
}

async function main(): Promise<number> {
  const minutes = Number(process.argv[2] ?? 10)
  const { createHost } = await importBuilt<{ createHost(options: unknown): Promise<SoakHost> }>('index.js')
  const children = Array.from({ length: AGENTS }, (_, n) => ({
    agent: { id: `mortal-${n}`, name: 'Mortal', roles: ['agents/mortal/roles/die.ts'], restart: { backoff: 'none' } },
  }))
  const supervisor = { id: 'root', intensity: 10_000, periodMs: 1000 }
  const baseDir = fileURLToPath(new URL('./fleets/mortal', import.meta.url))
  const host = await createHost({ fleet: { supervisor, children, spares: 2 }, baseDir, log: 'silent' })
  const causes = new Map<string, number>()
  const instances = new Set<string>()
  let deaths = 0
  host.deaths$.subscribe(({ cause, instance }) => {
    deaths++
    instances.add(instance)
    causes.set(cause, (causes.get(cause) ?? 0) + 1)
  })
  say('| min | heap MB | RSS MB | threads | handles | files |\n|---|---|---|---|---|---|')
  const samples = await soak(host, minutes)
  await wait(SETTLE_MS)
  const last = sample()
  say(sampleLine(minutes, last))
  const down = host.agents().flatMap(({ id, phase }) => (phase === 'ACTIVE' ? [] : [`${id} ${phase}`]))
  const warm = samples[Math.min(2, samples.length - 1)] ?? last
  const grown = (['heapMb', 'threads', 'handles', 'files'] as const).filter((key) => last[key] > warm[key] * FLAT + 4)
  const { killed, stuck } = await host.shutdown()
  say(`\n${deaths} deaths (${[...causes].map(([cause, count]) => `${count} ${cause}`).join(', ')})`)
  say(`records per instance: ${deaths === instances.size ? 'one each' : `${deaths} for ${instances.size} instances`}`)
  say(`not ACTIVE ${SETTLE_MS} ms after the last death: ${down.join(', ') || 'none'}`)
  say(`grown by more than ${Math.round((FLAT - 1) * 100)} % since warm-up: ${grown.join(', ') || 'nothing'}`)
  say(`at shutdown killed: ${killed.length}, stuck: ${stuck.length}; threads left: ${countIn('/proc/self/task')}`)
  return down.length + grown.length + stuck.length + (deaths === instances.size ? 0 : 1) === 0 ? 0 : 1
}

process.exitCode = await main()
