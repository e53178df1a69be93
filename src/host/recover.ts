/**
 * After the death of a host: instances that were alive have a death, `host_died`, and agents that have been there at
 * several such deaths in a row come back with a delay, since one of them may be what kills the host.
 */
import type { DeathRecord } from '../model/death.ts'
import type { Report } from '../model/fact.ts'
import type { Intent } from '../model/intent.ts'
import type { Clock } from '../platform/clock.ts'
import type { NewId } from '../platform/id.ts'
import type { OpenInstance } from '../store/instances.ts'
import type { Store } from '../store/store.ts'
import type { Host } from './host.ts'

export interface RecoverDeps {
  readonly store: Store
  readonly clock: Clock
  readonly newId: NewId
  readonly supervisorOf: (agent: string) => string
  readonly intentOf: (agent: string) => Intent
}

/** Writes the deaths; answers with them, the oldest first. */
export async function recover({ store, clock, newId, supervisorOf, intentOf }: RecoverDeps): Promise<DeathRecord[]> {
  const open = store.instances.open()
  if (open.length === 0) return []
  const at = clock.wall()
  const records = open.map((instance) => hostDied(instance, newId('d'), at, supervisorOf, intentOf))
  await store.write((tx) => {
    for (const record of records) {
      tx.deaths.add(record)
      tx.instances.ended(record.agent, record.instance)
    }
  })
  return records
}

function hostDied(
  { agent, instance, epoch, startedAt }: OpenInstance,
  id: string,
  at: number,
  supervisorOf: RecoverDeps['supervisorOf'],
  intentOf: RecoverDeps['intentOf'],
): DeathRecord {
  return {
    id,
    agent,
    instance,
    epoch,
    cause: 'host_died',
    class: 'reclaimed',
    uptimeMs: Math.max(0, at - startedAt),
    at,
    inFlight: [],
    unflushed: 0,
    mailboxDepth: 0,
    heapUsedMb: null,
    decision: {
      rule: 'recovery',
      action: intentOf(agent) === 'running' ? 'restart' : 'none',
      supervisor: supervisorOf(agent),
      attempt: 0,
    },
  }
}

/** Tells of these deaths as of any other. */
export function tellHostDied(deaths: readonly DeathRecord[], host: Host, report: Report): void {
  const text = 'ended with its host, which was killed or crashed'
  for (const record of deaths) {
    const { id: deathId, agent, instance, epoch, cause, class: kind } = record
    host.directory.find(agent)?.deaths.push(record)
    report('agent.died', { deathId, cause, class: kind, text }, { agent, instance, epoch })
    host.onDeath(record)
  }
}

/** Deaths of the host in a row from which on an agent that was there is held back. */
const SUSPECT_FROM = 3
const FIRST_MS = 1000
const LONGEST_MS = 300_000
/** A life at least so long says that the host does not die of this agent at once. */
const LASTED_MS = 60_000

/**
 * How long an agent is held back at the start of a host, by its deaths, the newest at the end: not at all, or longer with
 * each death of the host that was the end of another short life of its.
 */
export function heldBackMs(deaths: readonly DeathRecord[]): number {
  const inARow =
    deaths.length - 1 - deaths.findLastIndex((death) => death.cause !== 'host_died' || death.uptimeMs >= LASTED_MS)
  if (inARow < SUSPECT_FROM) return 0
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** (inARow - SUSPECT_FROM))
}
