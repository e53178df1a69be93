/**
 * Replacing a running version under 10,000 events a second: the longest time between two handled events. Nothing may be
 * lost, doubled or out of order; each variant throws where it is.
 */
import { appendFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { percentile } from './arithmetic.ts'
import type { Bench, Effort, Figures, Variant } from './definition.ts'
import { type BenchAgent, importBuilt } from './holt.ts'
import { expectHandled } from './measure.ts'

/** In each round. */
const TIMES = 7
const PER_MS = 10
const BETWEEN_MS = 300
const FLEET = fileURLToPath(new URL('./fleets/rolling', import.meta.url))

interface RollingAgent extends BenchAgent {
  reload(): Promise<{ readonly reload: { readonly replaced: boolean } }>
  restart(): Promise<unknown>
}

/** What is done to the agent while events come in; `file` is its code. */
type Interrupt = (agent: RollingAgent, file: string) => Promise<unknown>

/** Sends so many a ms until it is told to stop, and answers with how many it has sent. */
async function send(agent: BenchAgent, cells: Float64Array, signal: AbortSignal): Promise<number> {
  const began = performance.now()
  let sent = 0
  while (!signal.aborted) {
    const due = Math.floor((performance.now() - began) * PER_MS)
    while (sent < due) {
      if (!agent.hasRoom) await agent.room()
      if (!agent.tell('note', { n: sent, cells })) throw new Error('a tell was refused though there was room')
      sent++
    }
    await wait(1)
  }
  return sent
}

async function gaps(agent: RollingAgent, file: string, effort: Effort, interrupt: Interrupt): Promise<Figures> {
  const cells = new Float64Array(new SharedArrayBuffer(5 * 8))
  cells[0] = performance.timeOrigin + performance.now()
  const stop = new AbortController()
  const sending = send(agent, cells, stop.signal)
  const longest: number[] = []
  const times = Math.max(2, Math.round(TIMES * effort.share))
  await wait(BETWEEN_MS)
  for (let n = 0; n < times; n++) {
    cells[1] = 0
    await interrupt(agent, file)
    await wait(BETWEEN_MS)
    longest.push(cells[1])
  }
  stop.abort()
  const sent = await sending
  await agent.ask('done')
  expectHandled(cells[2], sent)
  if (cells[4] !== 0) throw new Error(`${cells[4]} events came out of turn`)
  return { gap50: percentile(longest, 0.5), gapMax: Math.max(...longest) }
}

const holt =
  (interrupt: Interrupt, spares = 0): Variant =>
  async (effort) => {
    const dir = mkdtempSync(join(tmpdir(), 'holt-bench-'))
    cpSync(FLEET, dir, { recursive: true })
    const { createHost } = await importBuilt<{
      createHost(options: unknown): Promise<{ agent(id: string): RollingAgent; shutdown(): Promise<unknown> }>
    }>('index.js')
    if (spares > 0) appendFileSync(join(dir, 'holt.yml'), `spares: ${spares}\n`)
    const host = await createHost({ fleet: dir, stateDir: ':memory:', log: 'silent' })
    try {
      return await gaps(host.agent('rolling'), join(dir, 'agents/rolling/roles/roll.ts'), effort, interrupt)
    } finally {
      await host.shutdown()
      rmSync(dir, { recursive: true, force: true })
    }
  }

async function reloaded(agent: RollingAgent, file: string): Promise<void> {
  appendFileSync(file, '\nconsole.debug.name\n')
  const answer = await agent.reload()
  if (!answer.reload.replaced) throw new Error('nothing was replaced')
}

export const reload: Bench = {
  name: 'reload',
  summary: 'the longest time between two handled events, at 10,000 a second, while the version is replaced',
  metrics: [
    { key: 'gap50', label: 'p50 ms', ratio: true },
    { key: 'gapMax', label: 'longest ms', ratio: true },
  ],
  base: 'restart',
  variants: {
    'nothing done': holt(async () => {}),
    restart: holt((agent) => agent.restart()),
    reload: holt(reloaded),
    'restart, warm (spares: 1)': holt((agent) => agent.restart(), 1),
    'reload, warm (spares: 1)': holt(reloaded, 1),
  },
  targets: [],
  packages: [],
}
