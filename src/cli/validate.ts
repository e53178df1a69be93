/** `holt validate [DIR]`: every fault of the fleet's manifests. Starts nothing and compiles nothing. */
import { resolve } from 'node:path'
import type { Fault } from '../manifest/fault.ts'
import type { AgentChild, SupervisorManifest } from '../manifest/fleet-manifest.ts'
import { loadFleet } from '../manifest/load.ts'
import { ERRORS, HoltError } from '../model/error.ts'
import { EXIT } from './exit.ts'
import { type Validation, validationLines } from './format/faults.ts'
import type { Run } from './invocation.ts'

export const validate: Run = async ({ args, io, print }) => {
  const result = await validation(resolve(io.cwd, args[0] ?? '.'))
  await print(result, (look) => validationLines(result, io.cwd, look))
  return result.ok ? EXIT.done : ERRORS.InvalidManifest.exit
}

async function validation(dir: string): Promise<Validation> {
  try {
    const children = agentsOf((await loadFleet(dir)).root)
    const faults = children.flatMap(({ result }) => (result.ok ? [] : faultsOf(result.error)))
    return { ok: faults.length === 0, dir, agents: children.map(({ id, result }) => ({ id, ok: result.ok })), faults }
  } catch (error) {
    if (!(error instanceof HoltError) || error.code !== 'InvalidManifest') throw error
    return { ok: false, dir, agents: [], faults: faultsOf(error) }
  }
}

const agentsOf = (supervisor: SupervisorManifest): AgentChild[] =>
  supervisor.children.flatMap((child) => (child.kind === 'agent' ? [child] : agentsOf(child)))

const faultsOf = ({ details }: HoltError): readonly Fault[] => details['faults'] as readonly Fault[]
