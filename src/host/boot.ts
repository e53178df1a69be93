/**
 * Where everything is joined: manifests, capabilities, agents, supervisors, commands and streams become one host.
 * Read this file to see who is handed what.
 */
import { rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { poolWorkerUrl } from '../capabilities/pool.ts'
import { createRegistry, type Registry } from '../capabilities/registry.ts'
import { compileModules, stopCompiler } from '../manifest/compile.ts'
import type { FleetManifest, SupervisorManifest } from '../manifest/fleet-manifest.ts'
import { fleetFromObject, loadFleet } from '../manifest/load.ts'
import { HoltError } from '../model/error.ts'
import type { IntentStore } from '../model/intent.ts'
import { systemClock as clock } from '../platform/clock.ts'
import { newId } from '../platform/id.ts'
import type { Logger } from '../platform/log.ts'
import { contractFiles, privateFolder } from '../platform/paths.ts'
import { systemRandom } from '../platform/random.ts'
import { memoryIntents } from '../store/memory.ts'
import { startWatch } from '../supervisor/watch.ts'
import { agentMaker } from './agents.ts'
import { Commands } from './commands.ts'
import { createFacts } from './facts.ts'
import { Host } from './host.ts'
import { intentReader } from './intents.ts'
import { type CheckedOptions, checkOptions, checkTimeout, type HostOptions } from './options.ts'
import { shutDown } from './shutdown.ts'
import { SupervisorCommands } from './supervisor-commands.ts'
import { buildTree, type Tree } from './tree.ts'
import { VERSION } from './version.ts'
import { nodeOf } from './views.ts'

/** The compiler is one process for all hosts of this one; the last host to leave ends it. */
let openHosts = 0

/**
 * Starts a fleet and resolves once every agent has settled: ACTIVE, or FAILED with a death record that says why.
 * @throws HoltError `InvalidOption`; `InvalidManifest` when the holt.yml itself is wrong
 */
export async function createHost(options: HostOptions): Promise<Host> {
  const host = await openHost(options)
  await host.start()
  return host
}

/**
 * Reads the fleet and makes its host; no thread runs until `start`.
 * @throws as {@link createHost}
 */
export async function openHost(options: HostOptions): Promise<Host> {
  const checked = checkOptions(options)
  const { fleet, baseDir } = checked
  const manifest = typeof fleet === 'string' ? await loadFleet(fleet) : await fleetFromObject(fleet, baseDir)
  checkSize(manifest, checked.maxAgents)
  const cacheDir = await privateFolder()
  const abandon = (): void => rmSync(cacheDir, { recursive: true, force: true })
  // A program that exits without a shutdown leaves no folder behind either.
  process.once('exit', abandon)
  openHosts++
  const release = async (): Promise<void> => {
    process.off('exit', abandon)
    if (--openHosts === 0) await stopCompiler()
    await rm(cacheDir, { recursive: true, force: true })
  }
  try {
    const registry = await openRegistry(manifest, cacheDir, checked.log)
    return join({ manifest, cacheDir, registry, release, ...checked })
  } catch (error) {
    await release()
    throw error
  }
}

/** @throws HoltError `InvalidManifest` when the fleet has more agents than this host may start */
function checkSize({ root, file }: FleetManifest, maxAgents: number): void {
  const count = (node: SupervisorManifest): number =>
    node.children.reduce((sum, child) => sum + (child.kind === 'agent' ? 1 : count(child)), 0)
  const found = count(root)
  if (found <= maxAgents) return
  const text = `${file ?? 'the fleet'}: expected at most ${maxAgents} agents, each is a thread of its own, found ${found}`
  throw new HoltError('InvalidManifest', `${text}. Split the fleet over several hosts, or raise maxAgents`, {
    found,
    maxAgents,
  })
}

async function openRegistry({ capabilities, dir }: FleetManifest, cacheDir: string, log: Logger): Promise<Registry> {
  const modules = await Promise.all(
    capabilities.map(async (file) => {
      try {
        return (await compileModules([file], { cacheDir, fleetDir: dir, resolveHolt: contractFiles() }))[0]!
      } catch (error) {
        // Unavailable, like one that does not import; the gate says so to the agents that were granted it.
        log.error({ file }, error instanceof Error ? error.message : String(error))
        return undefined
      }
    }),
  )
  const registry = await createRegistry({
    modules: modules.filter((module) => module !== undefined),
    load: ({ url }) => import(url),
    log: {
      info: (text, data) => log.info({ data }, text),
      warn: (text, data) => log.warn({ data }, text),
      error: (text, data) => log.error({ data }, text),
    },
    poolWorkerUrl: poolWorkerUrl(),
  })
  for (const fault of registry.faults) log.error(fault.message)
  return registry
}

interface Parts extends CheckedOptions {
  readonly manifest: FleetManifest
  readonly cacheDir: string
  readonly registry: Registry
  readonly release: () => Promise<void>
}

/** What is made after what it is handed to. */
interface Late {
  tree?: Tree
  commands?: Commands
  supervisorCommands?: SupervisorCommands
  shuttingDown: boolean
}

function join(parts: Parts): Host {
  const { manifest, registry, release, log, stateDir, shutdownTimeoutMs } = parts
  const facts = createFacts(clock, log)
  const { report } = facts
  const intents = memoryIntents()
  const intentOf = intentReader(intents)
  const late: Late = { shuttingDown: false }
  const supervisorOf = (agent: string) => late.tree!.above(agent)[0]!
  const shuttingDown = (): boolean => late.shuttingDown
  const host: Host = new Host({
    clock,
    log,
    fleetDir: manifest.dir,
    facts,
    intentOf,
    identity: { id: newId('h'), version: VERSION, startedAt: clock.wall(), stateDir },
    tree: () => late.tree!,
    commands: () => late.commands!,
    supervisorCommands: () => late.supervisorCommands!,
    registry,
    grantsOf: (agent) => maker.grantsOf(agent),
    start: async () => {
      const began = clock.now()
      await firstIntents(host, intents)
      await late.tree!.root.start(true)
      if (late.shuttingDown) return
      report('host.started', { agents: host.directory.all().length, tookMs: Math.round(clock.now() - began) })
    },
    shutdown: ({ timeoutMs = shutdownTimeoutMs, by = 'program' }) => {
      checkTimeout(timeoutMs)
      late.shuttingDown = true
      watch.cancel()
      return shutDown(
        { clock, report, root: late.tree!.root, directory: host.directory, registry, release },
        timeoutMs,
        by,
      )
    },
  })
  const maker = agentMaker({ ...parts, clock, host, report, intentOf, supervisorOf, shuttingDown })
  late.tree = buildTree(manifest.root, maker.make, {
    clock,
    random: systemRandom,
    report,
    intentOf: (agent) => intentOf(agent).intent,
    shuttingDown,
  })
  late.commands = new Commands({
    clock,
    intents,
    report,
    supervisorOf,
    shuttingDown,
    revive: (agent) => late.tree!.revive(agent),
    checkGate: maker.checkGate,
    snapshot: (agent) => host.snapshotOf(agent),
  })
  late.supervisorCommands = new SupervisorCommands({
    clock,
    report,
    tree: late.tree,
    commands: late.commands,
    node: nodeOf,
    shuttingDown,
  })
  const watch = startWatch(() => host.directory.all(), clock)
  return host
}

/** `autostart` counts only for an agent that nobody has wanted anything of yet. */
async function firstIntents(host: Host, intents: IntentStore): Promise<void> {
  for (const agent of host.directory.all()) {
    if (!agent.spec.autostart || intents.read(agent.id) !== undefined) continue
    await intents.commit(agent.id, { intent: 'running', by: 'autostart', reason: null, at: clock.wall() })
    agent.refresh()
  }
}
