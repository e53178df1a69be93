/**
 * The fence: what an instance says that is not to be heard, counted by kind. An instance that was given up for another,
 * or that has lost its lease for good, may say what it will; nothing of it takes effect, each attempt is counted, and
 * whoever waits for an answer in there is told why.
 */
import { describeError, HoltError } from '../model/error.ts'
import { CELL } from '../model/flight-recorder.ts'
import { nameIn } from '../model/name-column.ts'
import { encodePayload } from '../model/payload.ts'
import { BodyColumnBuilder } from '../model/payload-column.ts'
import { type Flush, HOST_ADDRESS, type Sends } from '../model/wire.ts'
import type { Agent } from './agent.ts'
import type { Instance } from './instance.ts'

/**
 * What was refused. `fate`: the end of a handler; `timer`: what it tells itself, as `ctx.after` does; `memory` and
 * `session`: reads too; `schedule` and `watch`: taking back too.
 */
export const FENCED_KINDS = [
  ...(['reply', 'fate', 'tell', 'timer', 'emit', 'ask', 'capability'] as const),
  ...(['memory', 'session', 'publish', 'schedule', 'watch', 'spawn', 'request'] as const),
] as const
export type FencedKind = (typeof FENCED_KINDS)[number]

const OF_REQUESTS: Readonly<Record<string, FencedKind>> = {
  publish: 'publish',
  schedule: 'schedule',
  unschedule: 'schedule',
  watch: 'watch',
  unwatch: 'watch',
  spawn: 'spawn',
}

/** What a request of the host is counted as. */
export function kindOfRequest(name: string): FencedKind {
  if (name.startsWith('memory.')) return 'memory'
  if (name.startsWith('session.')) return 'session'
  return Object.hasOwn(OF_REQUESTS, name) ? OF_REQUESTS[name]! : 'request'
}

function kindOfSend(self: string, sends: Sends, index: number): FencedKind {
  const to = nameIn(sends.to, index)
  if (to === HOST_ADDRESS) return kindOfRequest(nameIn(sends.names, index))
  if ((sends.ids?.[index] ?? 0) === 0) return to === self ? 'timer' : 'tell'
  return (sends.due?.[index] ?? 0) === 0 ? 'emit' : 'ask'
}

/** Everything in a flush that would have had an effect. */
export function kindsIn(self: string, { outcomes, handled, replies, sends }: Flush): Map<FencedKind, number> {
  const kinds = new Map<FencedKind, number>()
  const add = (kind: FencedKind, count: number): void => {
    if (count > 0) kinds.set(kind, (kinds.get(kind) ?? 0) + count)
  }
  add('fate', (outcomes?.length ?? 0) + (handled?.length ?? 0))
  add('reply', replies?.seqs.length ?? 0)
  if (sends !== undefined) for (let index = 0; index < sends.count; index++) add(kindOfSend(self, sends, index), 1)
  return kinds
}

/** A fact of each kind is told this often at most; what comes meanwhile is in the next one's count. */
const TELL_EVERY_MS = 1000

interface Tally {
  total: number
  untold: number
  /** Monotonic ms. */
  toldAt: number
}

/** Counts of one agent over its life. */
export class Fenced {
  readonly #tallies = new Map<FencedKind, Tally>()

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#tallies].map(([kind, { total }]) => [kind, total]))
  }

  /** @param epoch of the instance that was refused; 0: not known */
  add(agent: Agent, kind: FencedKind, count: number, epoch: number): void {
    let tally = this.#tallies.get(kind)
    if (tally === undefined) {
      tally = { total: 0, untold: 0, toldAt: Number.NEGATIVE_INFINITY }
      this.#tallies.set(kind, tally)
    }
    tally.total += count
    tally.untold += count
    agent.inbox.fates.counters.staleEpoch += count
    if (agent.deps.clock.now() - tally.toldAt >= TELL_EVERY_MS) tell(agent, kind, tally, epoch)
  }

  /** What is left of the counts is told now: the instance has ended. */
  flush(agent: Agent, epoch: number): void {
    for (const [kind, tally] of this.#tallies) if (tally.untold > 0) tell(agent, kind, tally, epoch)
  }
}

function tell(agent: Agent, what: FencedKind, tally: Tally, epoch: number): void {
  const current = agent.instance?.epoch ?? 0
  agent.deps.report('message.stale_epoch', { what, epoch, current, count: tally.untold }, { agent: agent.id })
  tally.untold = 0
  tally.toldAt = agent.deps.clock.now()
}

/** Counts what a fenced instance has flushed, and answers what waits in its thread. */
export function refuse(agent: Agent, instance: Instance, flush: Flush): void {
  for (const [kind, count] of kindsIn(agent.id, flush)) agent.inbox.fates.fenced.add(agent, kind, count, instance.epoch)
  const { sends } = flush
  if (sends === undefined) return
  instance.recorder.add(CELL.sendsTaken, sends.count)
  const ids = sends.ids?.filter((id) => id !== 0) ?? []
  if (ids.length === 0) return
  const column = new BodyColumnBuilder()
  for (const _ of ids) column.add(encodePayload(undefined))
  const text = `Epoch ${instance.epoch} of agent '${agent.id}' is fenced: nothing it says takes effect`
  const error = describeError(new HoltError('StaleEpoch', text, { agent: agent.id, epoch: instance.epoch }))
  instance.post({ type: 'answers', ids, ...column.build(), errors: ids.map((_, index) => [index, error] as const) })
}
