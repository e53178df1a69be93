/**
 * Recovery: from the throw in a thread to the first answer of the next one. Each variant has its worker die, asks
 * again at once and counts the answer; between two deaths there is time for what is kept in reserve to be made anew.
 */

import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { Tinypool } from 'tinypool'
import { percentile } from './arithmetic.ts'
import type { Bench, Effort, Figures, Variant } from './definition.ts'
import { type BenchAgent, importBuilt } from './holt.ts'
import { expectHandled } from './measure.ts'

/** In each round. */
const DEATHS = 15
const WARM_UP = 3
const BETWEEN_MS = 120

/** One death and the recovery from it; answers with what the new worker said to `n`, and when it was up where that is known. */
type Recover = (n: number) => Promise<{ readonly reply: unknown; readonly upAfterMs?: number }>

async function recoveries(effort: Effort, recover: Recover): Promise<Figures> {
  const count = Math.max(3, Math.round(DEATHS * effort.share))
  const answered: number[] = []
  const up: number[] = []
  let right = 0
  for (let n = 0; n < count + WARM_UP; n++) {
    await wait(BETWEEN_MS)
    const start = performance.now()
    const { reply, upAfterMs } = await recover(n)
    if (n < WARM_UP) continue
    answered.push(performance.now() - start)
    if (upAfterMs !== undefined) up.push(upAfterMs)
    if (reply === n) right++
  }
  expectHandled(right, count)
  const figures = { p50: percentile(answered, 0.5), longest: Math.max(...answered) }
  return up.length === 0 ? figures : { ...figures, up50: percentile(up, 0.5), upLongest: Math.max(...up) }
}

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

/** What one writes by hand: a new worker at each exit. */
const bare: Variant = async (effort) => {
  const start = (): Worker => new Worker(at('./peers/mortal-worker.mjs'), { execArgv: [] })
  let worker = start()
  return recoveries(effort, async (n) => {
    worker.once('error', () => {})
    const dead = new Promise((resolve) => worker.once('exit', resolve))
    worker.postMessage('die')
    await dead
    worker = start()
    const reply = new Promise((resolve) => worker.once('message', resolve))
    worker.postMessage(n)
    return { reply: await reply }
  })
}

interface Pool {
  run(task: unknown, options: { name: string }): Promise<unknown>
}

/** The pool's own recovery: the task in flight rejects, the next one runs in the thread that was started for the dead one. */
const pooled =
  (open: () => Pool): Variant =>
  async (effort) => {
    const pool = open()
    return recoveries(effort, async (n) => {
      await pool.run(undefined, { name: 'die' }).catch(() => {})
      return { reply: await pool.run(n, { name: 'echo' }) }
    })
  }

const TASKS = new URL('./peers/mortal-tasks.mjs', import.meta.url).href
const openPiscina = (): Pool => new Piscina({ filename: TASKS, minThreads: 1, maxThreads: 1, execArgv: [] })
const openTinypool = (): Pool => new Tinypool({ filename: TASKS, minThreads: 1, maxThreads: 1, execArgv: [] })

interface RestartHost {
  agent(id: string): BenchAgent & { readonly phase$: { subscribe(next: (phase: string) => void): unknown } }
  shutdown(): Promise<unknown>
}

const holt =
  (spares: number): Variant =>
  async (effort) => {
    const { createHost } = await importBuilt<{ createHost(options: unknown): Promise<RestartHost> }>('index.js')
    const supervisor = { id: 'root', intensity: 10_000, periodMs: 1000 }
    const fleet = { supervisor, children: [{ agent: 'agents/mortal' }], spares }
    const host = await createHost({ fleet, baseDir: at('./fleets/mortal'), stateDir: ':memory:', log: 'silent' })
    const mortal = host.agent('mortal')
    let upAt = 0
    mortal.phase$.subscribe((phase) => {
      if (phase === 'ACTIVE') upAt = performance.now()
    })
    try {
      return await recoveries(effort, async (n) => {
        const start = performance.now()
        await mortal.emit('die')
        const reply = await mortal.ask('echo', n)
        return { reply, upAfterMs: upAt - start }
      })
    } finally {
      await host.shutdown()
    }
  }

export const restart: Bench = {
  name: 'restart',
  summary: 'from the throw in a thread to the next one at work',
  metrics: [
    { key: 'p50', label: 'p50 ms to the first answer', ratio: true },
    { key: 'longest', label: 'longest ms', ratio: false },
    { key: 'up50', label: 'p50 ms to ACTIVE', ratio: false },
    { key: 'upLongest', label: 'longest ms to ACTIVE', ratio: false },
  ],
  base: 'Holt, cold',
  variants: {
    'new Worker at exit': bare,
    Piscina: pooled(openPiscina),
    Tinypool: pooled(openTinypool),
    'Holt, cold': holt(0),
    'Holt, warm (spares: 1)': holt(1),
  },
  targets: [
    { variant: 'Holt, cold', against: 'Holt, warm (spares: 1)', metric: 'up50', atLeast: 5 },
    { variant: 'Holt, warm (spares: 1)', against: 'Piscina', metric: 'p50', atMost: 0.2 },
  ],
  packages: ['piscina', 'tinypool'],
}
