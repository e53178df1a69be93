/** Opening a host: its fleet is read and checked, its capabilities are loaded, and `join.ts` makes one of the parts. */
import { rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { poolWorkerUrl } from '../capabilities/pool.ts'
import { createRegistry, type Registry } from '../capabilities/registry.ts'
import { compileModules, stopCompiler } from '../manifest/compile.ts'
import type { FleetManifest, SupervisorManifest } from '../manifest/fleet-manifest.ts'
import { fleetFromObject, loadFleet } from '../manifest/load.ts'
import { HoltError } from '../model/error.ts'
import { systemClock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import { contractFiles, privateFolder, stateFolder } from '../platform/paths.ts'
import { systemRandom } from '../platform/random.ts'
import { MEMORY } from '../store/database.ts'
import { openStore } from '../store/open.ts'
import type { Host } from './host.ts'
import { type Joined, join, type Surroundings } from './join.ts'
import { checkOptions, type HostOptions } from './options.ts'
import { outsideSpans } from './tracing-api.ts'

const REAL: Surroundings = { clock: systemClock, random: systemRandom, threads: null, compile: compileModules }

const DEFAULT_MAX_AGENTS = 2000
const DEFAULT_MIN_FREE_MB = 128

/** The compiler is one process for all hosts of this one; the last host to leave ends it. */
let openHosts = 0

/**
 * Starts a fleet and resolves once every agent has settled: ACTIVE, or FAILED with a death record that says why.
 * @throws HoltError `InvalidOption`; `InvalidManifest` when the holt.yml itself is wrong
 */
export async function createHost(options: HostOptions): Promise<Host> {
  return outsideSpans(options.tracing, async () => {
    const host = await openHost(options)
    await host.start()
    return host
  })
}

/**
 * Reads the fleet and makes its host; no thread runs until `start`.
 * @throws as {@link createHost}
 */
export async function openHost(options: HostOptions, surroundings: Surroundings = REAL): Promise<Host> {
  const checked = checkOptions(options)
  const { fleet, baseDir } = checked
  const manifest = typeof fleet === 'string' ? await loadFleet(fleet) : await fleetFromObject(fleet, baseDir)
  const bounds = {
    maxAgents: checked.maxAgents ?? manifest.maxAgents ?? DEFAULT_MAX_AGENTS,
    minFreeMb: checked.minFreeMb ?? manifest.minFreeMb ?? DEFAULT_MIN_FREE_MB,
  }
  checkSize(manifest, bounds.maxAgents)
  const log = checked.log
  const faults = { tell: ({ code, details, message }: HoltError): void => log.error({ code, ...details }, message) }
  const store = await openStore({
    dir: checked.stateDir ?? defaultStateDir(options, manifest.dir),
    clock: surroundings.clock,
    onFault: (fault) => faults.tell(fault),
  })
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
  let joined: Joined
  try {
    const registry = await openRegistry(manifest, cacheDir, checked.log)
    joined = join({ manifest, cacheDir, registry, store, faults, release, surroundings, ...checked, ...bounds })
  } catch (error) {
    await release()
    await store.close()
    throw error
  }
  const { host } = joined
  try {
    await joined.takeOver()
    return host
  } catch (error) {
    await host.shutdown({ by: 'holt' })
    throw error
  }
}

/** A fleet in a folder has a state of its own; a tree that a program made up is forgotten with it, unless it says where. */
function defaultStateDir({ fleet }: HostOptions, fleetDir: string): string {
  if (typeof fleet !== 'string') return MEMORY
  const named = process.env['HOLT_STATE_DIR']
  return named === undefined || named === '' ? stateFolder(fleetDir) : resolve(named)
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
