/**
 * Comlink as a peer, over its own adapter for Node. The adapter ships without types for its ES module, hence the
 * import by a name the compiler does not follow.
 */
import { Worker } from 'node:worker_threads'
import { type Endpoint, wrap } from 'comlink'

const ADAPTER: string = 'comlink/dist/esm/node-adapter.mjs'

export interface ComlinkPeer {
  add(payload: unknown): Promise<void>
  echo(payload: unknown): Promise<unknown>
  total(): Promise<number>
}

export async function startComlink(): Promise<ComlinkPeer> {
  const { default: nodeEndpoint } = (await import(ADAPTER)) as { default: (worker: Worker) => Endpoint }
  const worker = new Worker(new URL('./comlink-worker.mjs', import.meta.url), { execArgv: [] })
  return wrap<ComlinkPeer>(nodeEndpoint(worker)) as unknown as ComlinkPeer
}
