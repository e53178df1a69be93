/**
 * The steps of a boot before there is a thread, in order: manifest → env → identity → gate → compile. Each failure says
 * which step it was; the actor is handed only what has passed.
 */
import { join } from 'node:path'
import { BootFailure, type Prepared } from '../actors/agent-spec.ts'
import { missing, sentenceOf } from '../capabilities/gate.ts'
import type { Registry } from '../capabilities/registry.ts'
import type { AgentManifest } from '../manifest/agent-manifest.ts'
import { type compileModules, inputsOf } from '../manifest/compile.ts'
import { type Env, loadEnv, threadEnv } from '../manifest/env.ts'
import { statesOf } from '../manifest/file-states.ts'
import type { BootStep } from '../model/death.ts'
import { HoltError } from '../model/error.ts'
import { contractFiles } from '../platform/paths.ts'
import { checkSchedules } from './schedules.ts'

export interface PrepareOptions {
  /** The id under which the fleet knows it. */
  readonly id: string
  readonly readManifest: () => Promise<AgentManifest>
  readonly registry: Registry
  readonly cacheDir: string
  readonly fleetDir: string
  readonly compile: typeof compileModules
  /** Told of a capability call that was refused. */
  readonly onRefused: (what: string, staleEpoch: boolean) => void
  /** Told of the agent's own `.env`, before anything can print it. */
  readonly onEnv: (own: Env) => void
  /** Told of the manifest that has passed every step. */
  readonly onAccepted: (manifest: AgentManifest) => void
}

async function at<T>(step: BootStep, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new BootFailure(step, error)
  }
}

/** @throws BootFailure naming the step */
export async function prepare(options: PrepareOptions): Promise<Prepared> {
  const { registry, cacheDir, fleetDir } = options
  const manifest = await at('manifest', options.readManifest)
  // Before they are read again: what changes from here on is seen to have changed.
  const before = manifest.file === null ? new Map<string, string>() : await statesOf(ownFiles(manifest))
  await at('manifest', () => checkSchedules(manifest))
  const own = await at('env', () => loadEnv(manifest.dir))
  options.onEnv(own)
  const env = threadEnv(process.env, own)
  await at('identity', () => checkIdentity(options.id, manifest))
  await at('gate', () => checkGrants(manifest, registry))
  const how = { cacheDir, fleetDir, resolveHolt: contractFiles(), commonJs: true }
  const roles = await at('compile', () => options.compile(manifest.roles, how))
  const files = new Map([...before, ...(await inputsOf(manifest.roles, how))])
  const grants = manifest.capabilities
  const lent = registry.needsPort(grants)
  return {
    spec: manifest,
    env,
    roles,
    files,
    mounts: registry.mounts(grants),
    lend: lent
      ? (port, isCurrent) =>
          registry.lend(port, {
            agent: manifest.id,
            grants,
            isCurrent,
            onRefused: ({ what, code }) => options.onRefused(what, code === 'StaleEpoch'),
          })
      : null,
    accept: () => options.onAccepted(manifest),
  }
}

const ownFiles = ({ file, dir }: AgentManifest): string[] => [file!, join(dir, '.env')]

function checkIdentity(id: string, manifest: AgentManifest): void {
  if (manifest.id === id) return
  const text = `${manifest.file ?? 'the manifest'}: id: expected '${id}', the id the fleet was started with, found '${manifest.id}'`
  throw new HoltError('InvalidManifest', `${text}. Change it back, or restart the host`)
}

/** @throws HoltError `GateRefused` listing all that is missing */
export function checkGrants(manifest: AgentManifest, registry: Registry): void {
  const lacking = missing(manifest.capabilities, registry.offers())
  if (lacking.length > 0)
    throw new HoltError('GateRefused', `agent '${manifest.id}': ${sentenceOf(lacking)}`, { missing: lacking })
}
