/**
 * Many threads of one kind, agents or bare workers with the limits that Holt sets, started a few at a time. For the
 * benches that count in threads: `fleet`, `start`, `memory`.
 */
import { once } from 'node:events'
import { type ResourceLimits, Worker } from 'node:worker_threads'
import { type BenchAgent, type BenchHost, importBuilt } from './holt.ts'
import { lanes } from './measure.ts'

/** More at a time start no faster on two processors, and each waits longer. */
const AT_A_TIME = 4

/** What Holt sets for an agent whose manifest says nothing of memory. */
export async function limitsOfHolt(): Promise<ResourceLimits> {
  const { resourceLimits } = await importBuilt<{ resourceLimits(heapMb: number): ResourceLimits }>('actors/spawn.js')
  const { DEFAULTS } = await importBuilt<{ DEFAULTS: { limits: { heapMb: number } } }>('manifest/defaults.js')
  return resourceLimits(DEFAULTS.limits.heapMb)
}

/** A worker of bench/peers with what Holt gives its threads: limits, no flags, an empty environment, its own output. */
export function startPeer(file: string, resourceLimits: ResourceLimits): Worker {
  const url = new URL(`./peers/${file}`, import.meta.url)
  return new Worker(url, { resourceLimits, execArgv: [], env: {}, stdout: true, stderr: true })
}

/** Starts `count` workers and resolves once `up` of each has. */
export async function startPeers(
  count: number,
  start: () => Worker,
  up: (worker: Worker) => Promise<unknown>,
): Promise<Worker[]> {
  const workers: Worker[] = []
  const one = (): Promise<unknown> => {
    const worker = start()
    workers.push(worker)
    return up(worker)
  }
  await lanes(count, one, AT_A_TIME)
  return workers
}

export const online = (worker: Worker): Promise<unknown> => once(worker, 'online')
export const firstMessage = (worker: Worker): Promise<unknown> => once(worker, 'message')

/** One more member of the fleet `many`; resolves once it is ACTIVE. */
export async function spawnMember(host: BenchHost, id: string): Promise<BenchAgent> {
  await host.spawn('root', { agent: 'agents/member', id })
  return host.agent(id)
}

/** Members `from` to `to - 1`, a few at a time. */
export async function spawnMembers(host: BenchHost, from: number, to: number): Promise<BenchAgent[]> {
  const members: BenchAgent[] = []
  await lanes(to - from, async (n) => members.push(await spawnMember(host, `member-${from + n}`)), AT_A_TIME)
  return members
}
