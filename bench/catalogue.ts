/**
 * The benches by name, for main.ts and child.ts. Each is loaded only when asked for, so that a child imports no peer
 * of another bench. A new bench adds a line.
 */
import type { Bench } from './definition.ts'

const BENCHES: Readonly<Record<string, () => Promise<Bench>>> = {
  queue: async () => (await import('./queue.ts')).queue,
  tell: async () => (await import('./tell.ts')).tell,
  payloads: async () => (await import('./payloads.ts')).payloads,
  ask: async () => (await import('./ask.ts')).ask,
  latency: async () => (await import('./latency.ts')).latency,
  relay: async () => (await import('./relay.ts')).relay,
  fleet: async () => (await import('./fleet.ts')).fleet,
  pause: async () => (await import('./pause.ts')).pause,
  start: async () => (await import('./start.ts')).start,
  restart: async () => (await import('./restart.ts')).restart,
  memory: async () => (await import('./memory.ts')).memory,
  control: async () => (await import('./control.ts')).control,
  store: async () => (await import('./store.ts')).store,
  reload: async () => (await import('./reload.ts')).reload,
  observe: async () => (await import('./observe.ts')).observe,
  savina: async () => (await import('./savina.ts')).savina,
}

export const benchNames = Object.keys(BENCHES)

export async function openBench(name: string): Promise<Bench | undefined> {
  return Object.hasOwn(BENCHES, name) ? BENCHES[name]!() : undefined
}
