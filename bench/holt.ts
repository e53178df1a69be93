/**
 * Holt as its users have it: the built package in dist/, not the sources. Opens the counter fleet with its state in
 * memory and hands out the one agent.
 */
import { fileURLToPath } from 'node:url'

/** What the benches use of an agent of `createHost`. */
export interface BenchAgent {
  readonly hasRoom: boolean
  room(): Promise<void>
  tell(name: string, payload?: unknown): boolean
  emit(name: string, payload?: unknown): Promise<{ readonly fate: string }>
  ask(name: string, payload?: unknown): Promise<unknown>
}

interface BuiltPackage {
  createHost(options: { fleet: string; stateDir: string }): Promise<{
    agent(id: string): BenchAgent
    shutdown(): Promise<unknown>
  }>
}

/** A module of the built package; the name is computed so that neither compiler nor loader reads the sources instead. */
export async function importBuilt<T>(path: string): Promise<T> {
  return (await import(new URL(`../dist/${path}`, import.meta.url).href)) as T
}

/** Runs `work` with the counter agent and shuts the host down, also when `work` throws. */
export async function withCounter<T>(work: (counter: BenchAgent) => Promise<T>): Promise<T> {
  const { createHost } = await importBuilt<BuiltPackage>('index.js')
  const fleet = fileURLToPath(new URL('./fleets/counter', import.meta.url))
  const host = await createHost({ fleet, stateDir: ':memory:' })
  try {
    return await work(host.agent('counter'))
  } finally {
    await host.shutdown()
  }
}
