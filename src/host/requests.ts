/**
 * What an agent asks of its host by `ctx`: to watch another, to add a child to a supervisor. One function a request;
 * what it throws reaches the handler as it is.
 */
import type { Agent } from '../actors/agent.ts'
import type { Directory } from '../actors/directory.ts'
import { kindOfRequest } from '../actors/fence.ts'
import { messageIdOf } from '../actors/flush.ts'
import type { Watches } from '../actors/watches.ts'
import { HoltError } from '../model/error.ts'
import { identified } from '../model/message.ts'
import type { ScheduleInput } from '../model/schedule.ts'
import type { Spawned, SpawnOptions } from '../model/spawn.ts'
import type { Scheduler } from '../schedules/scheduler.ts'
import type { Channels } from './channels.ts'
import { KEEPING, type KeepingDeps } from './keeping.ts'

export interface RequestDeps extends KeepingDeps {
  readonly directory: Directory
  readonly watches: Watches
  readonly channels: Channels
  readonly scheduler: Scheduler
  spawn(supervisor: string, options: SpawnOptions, by: string): Promise<Spawned>
}

interface Publication {
  readonly channel: string
  readonly event: string
  readonly payload: unknown
  /** Of a durable agent: the delivery whose handler publishes, and the how many-th effect of that it is. */
  readonly of?: { readonly seq: number; readonly n: number }
  /** Of the message whose handler publishes. */
  readonly traceparent?: string
}

type Request = (deps: RequestDeps, from: Agent, payload: never) => unknown

const REQUESTS = {
  watch: ({ directory, watches }, from, { agent }: { agent: string }) => watches.watch(from, directory.get(agent)),
  unwatch: ({ watches }, from, { agent }: { agent: string }) => watches.unwatch(from, agent),
  publish: ({ channels }, from, { channel, event, payload, of, traceparent }: Publication) => {
    const cause = of === undefined ? undefined : messageIdOf(from.inbox, of.seq)
    const options = identified(cause === undefined ? undefined : `${cause}/${of!.n}`, traceparent)
    return channels.publish(channel, event, payload, from.id, options)
  },
  schedule: ({ scheduler }, from, { schedule }: { schedule: ScheduleInput }) =>
    scheduler.add(from.id, schedule, 'runtime'),
  unschedule: ({ scheduler }, from, { id }: { id: string }) => scheduler.remove(from.id, id),
  spawn: ({ spawn }, from, { supervisor, options }: { supervisor: string; options: SpawnOptions }) =>
    spawn(supervisor, options, from.id),
  ...KEEPING,
} satisfies Record<string, Request>

/** Carries out a request of an agent's newest instance. */
export async function request(deps: RequestDeps, from: string, name: string, payload: unknown): Promise<unknown> {
  const run: Request | undefined = Object.hasOwn(REQUESTS, name) ? REQUESTS[name as keyof typeof REQUESTS] : undefined
  if (run === undefined) throw new HoltError('NoSuchOperation', `the host has no request '${name}'`)
  const agent = deps.directory.get(from)
  const epoch = agent.instance?.epoch ?? 0
  try {
    return await run(deps, agent, payload as never)
  } catch (error) {
    // The store has refused it: a newer instance is in force by now.
    if (error instanceof HoltError && error.code === 'StaleEpoch')
      agent.inbox.fates.fenced.add(agent, kindOfRequest(name), 1, epoch)
    throw error
  }
}
