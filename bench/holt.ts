/**
 * Holt as its users have it: the built package in dist/, not the sources. Opens a fleet of bench/fleets with its state in
 * memory and hands out the host, or of the counter fleet the one agent.
 */
import { fileURLToPath } from 'node:url'

/** What the benches use of an agent of `createHost`. */
export interface BenchAgent {
  readonly phase: string
  readonly hasRoom: boolean
  room(): Promise<void>
  tell(name: string, payload?: unknown, options?: { readonly transfer: readonly ArrayBuffer[] }): boolean
  emit(name: string, payload?: unknown): Promise<{ readonly fate: string }>
  ask(name: string, payload?: unknown, options?: { readonly timeoutMs: number }): Promise<unknown>
}

/** What the benches use of a host. */
export interface BenchHost {
  agent(id: string): BenchAgent
  spawn(supervisor: string, options: { readonly agent: string; readonly id: string }): Promise<unknown>
  shutdown(): Promise<unknown>
}

interface BuiltPackage<H> {
  createHost(options: { fleet: string; stateDir: string; log: 'silent' }): Promise<H>
}

/** A module of the built package; the name is computed so that neither compiler nor loader reads the sources instead. */
export async function importBuilt<T>(path: string): Promise<T> {
  return (await import(new URL(`../dist/${path}`, import.meta.url).href)) as T
}

/** Runs `work` with a host of that fleet in bench/fleets and shuts it down, also when `work` throws. */
export async function withHost<T, H extends BenchHost = BenchHost>(
  fleet: string,
  work: (host: H) => Promise<T>,
): Promise<T> {
  const { createHost } = await importBuilt<BuiltPackage<H>>('index.js')
  const folder = fileURLToPath(new URL(`./fleets/${fleet}`, import.meta.url))
  const host = await createHost({ fleet: folder, stateDir: ':memory:', log: 'silent' })
  try {
    return await work(host)
  } finally {
    await host.shutdown()
  }
}

/** Runs `work` with the counter agent and shuts the host down, also when `work` throws. */
export const withCounter = <T>(work: (counter: BenchAgent) => Promise<T>): Promise<T> =>
  withHost('counter', (host) => work(host.agent('counter')))
