/**
 * Children of `dynamic` supervisors: added at run time, booted, and taken out again when they have ended for good. One
 * whose first boot fails was never added.
 */
import type { Agent } from '../actors/agent.ts'
import type { Directory } from '../actors/directory.ts'
import type { AgentManifest } from '../manifest/agent-manifest.ts'
import type { AgentChild } from '../manifest/fleet-manifest.ts'
import { freeId } from '../manifest/ids.ts'
import { loadSpawned } from '../manifest/load.ts'
import { HoltError } from '../model/error.ts'
import type { Report } from '../model/fact.ts'
import type { IntentStore } from '../model/intent.ts'
import { nearest } from '../model/nearest.ts'
import type { Spawned, SpawnOptions } from '../model/spawn.ts'
import type { Clock } from '../platform/clock.ts'
import type { Supervisor } from '../supervisor/supervisor.ts'
import { tooManyAgents } from './catalog-refusals.ts'
import type { Room } from './room.ts'
import { startedOrThrow } from './started.ts'
import type { Tree } from './tree.ts'

export interface SpawnDeps {
  readonly clock: Clock
  readonly report: Report
  readonly intents: IntentStore
  readonly fleetDir: string
  readonly tree: Tree
  readonly directory: Pick<Directory, 'all'>
  readonly maxAgents: number
  readonly room: Pick<Room, 'check'>
  make(child: AgentChild, readManifest: () => Promise<AgentManifest>): Agent
  shuttingDown(): boolean
}

/**
 * Adds an agent and boots it.
 * @throws HoltError `NoSuchSupervisor`, `TooManyChildren`, `NotEnoughMemory`, `IdTaken`, `InvalidManifest`, `BootFailed`, `ShuttingDown`
 */
export async function spawn(deps: SpawnDeps, to: string, options: SpawnOptions, by: string): Promise<Spawned> {
  const { tree, clock, report, intents, fleetDir } = deps
  const supervisor = dynamicOf(tree, to)
  const read = (id: string | undefined): Promise<AgentManifest> =>
    loadSpawned({ ...options, ...(id === undefined ? {} : { id }) }, { fleetDir })
  const manifest = await read(options.id)
  // Nothing is awaited between the checks and the entry: two that ask at once do not both find room.
  checkUp(deps, supervisor, manifest.id)
  checkRoom(supervisor)
  if (deps.directory.all().length >= deps.maxAgents) throw tooManyAgents(deps.maxAgents)
  deps.room.check({ id: manifest.id, spec: manifest })
  const id = options.id === undefined ? freeId(manifest.id, { has: (one) => tree.has(one) }) : options.id
  if (tree.has(id)) throw new HoltError('IdTaken', `the fleet has '${id}' already: choose another id`, { id })
  const child = childOf({ ...manifest, id }, options)
  const agent = deps.make(child, () => read(id))
  tree.add(supervisor, child, agent, by)
  try {
    await intents.commit(id, { intent: 'running', admission: 'open', by, reason: null, at: clock.wall() })
    // A stop that came meanwhile has taken it out, or is about to.
    checkUp(deps, supervisor, id, agent)
    report('agent.spawned', { supervisor: to, by }, { agent: id })
    startedOrThrow(agent, await agent.start(true), ', and was not added')
  } catch (error) {
    await takeOut(supervisor, id, by)
    throw error
  }
  supervisor.added(id)
  return { id, instance: agent.instance?.id ?? '' }
}

/**
 * Ends a child of a `dynamic` supervisor and takes it out: OTP's `terminate_child`.
 * @throws HoltError `NoSuchAgent`; `NoSuchSupervisor` where it is no such child
 */
export async function remove(tree: Tree, agent: Agent, by: string): Promise<void> {
  await takeOut(dynamicOf(tree, tree.above(agent.id)[0]?.id ?? ''), agent.id, by)
}

async function takeOut(supervisor: Supervisor, id: string, by: string): Promise<void> {
  do
    if (!(await supervisor.terminate(id, by)))
      throw new HoltError('Unkillable', `the thread of agent '${id}' cannot be ended: it stays until it has`)
  while (!supervisor.remove(id))
}

/** @throws HoltError `ShuttingDown`; `InvalidCommand` where it does not supervise, or has taken the agent out again */
function checkUp(deps: SpawnDeps, { id: to, up, children }: Supervisor, id: string, agent?: Agent): void {
  if (deps.shuttingDown()) throw new HoltError('ShuttingDown', `the host is shutting down: '${id}' is not added`)
  const kept = agent === undefined || children.some(({ member }) => member.kind === 'agent' && member.agent === agent)
  if (up && kept) return
  const text = up
    ? `was stopped while '${id}' was being added`
    : `is Stopped: \`holt start ${to}\` has it supervise again`
  throw new HoltError('InvalidCommand', `supervisor '${to}' ${text}`)
}

function dynamicOf(tree: Tree, id: string): Supervisor {
  const supervisor = tree.supervisors.get(id)
  if (supervisor?.options.strategy === 'dynamic') return supervisor
  const dynamic = [...tree.supervisors.values()]
    .filter(({ options }) => options.strategy === 'dynamic')
    .map((one) => one.id)
  const close = nearest(id, dynamic)
  const hint = close === undefined ? `dynamic ones: ${dynamic.join(', ') || 'none'}` : `did you mean '${close}'?`
  const what =
    supervisor === undefined
      ? `there is no supervisor '${id}'`
      : `supervisor '${id}' is ${supervisor.options.strategy}, and only a dynamic one gains children at run time`
  throw new HoltError('NoSuchSupervisor', `${what}; ${hint}`, { supervisor: id })
}

function checkRoom({ id, options, children }: Supervisor): void {
  const max = options.maxChildren ?? Number.POSITIVE_INFINITY
  if (children.length >= max)
    throw new HoltError(
      'TooManyChildren',
      `supervisor '${id}' has ${children.length} children, its maxChildren is ${max}`,
      { max },
    )
}

function childOf(manifest: AgentManifest, options: SpawnOptions): AgentChild {
  const { restart = null, shutdown = null } = options
  return {
    kind: 'agent',
    id: manifest.id,
    dir: manifest.dir,
    restart: restart ?? manifest.restart.type,
    shutdown: shutdown ?? manifest.limits.stopTimeoutMs,
    significant: false,
    override: { restart, shutdown },
    result: { ok: true, manifest },
  }
}
