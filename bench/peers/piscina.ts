/**
 * Piscina as a peer: a pool of one thread, which is what one agent is. The settings are the fastest of those tried on
 * this work (README.md).
 */
import { Piscina } from 'piscina'

export function startPiscina(atomics: 'sync' | 'async' | 'disabled', concurrentTasksPerWorker: number): Piscina {
  return new Piscina({
    filename: new URL('./piscina-worker.mjs', import.meta.url).href,
    minThreads: 1,
    maxThreads: 1,
    execArgv: [],
    atomics,
    concurrentTasksPerWorker,
  })
}
