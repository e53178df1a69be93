/**
 * One holt.yml in both its forms: written to a file (JSON is YAML) and handed over as an object. What is right or wrong
 * in the one is so in the other, by the same fields.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Fault } from '../../src/manifest/fault.ts'
import type { FleetManifest } from '../../src/manifest/fleet-manifest.ts'
import { fleetFromObject, loadFleet } from '../../src/manifest/load.ts'
import { faultsOf } from './folders.ts'

export const FORMS = ['file', 'object'] as const
export type Form = (typeof FORMS)[number]

/** Loads a fleet of the folder, whose holt.yml is overwritten. */
export function load(form: Form, dir: string, fleet: object): Promise<FleetManifest> {
  if (form === 'object') return fleetFromObject(fleet, dir)
  writeFileSync(join(dir, 'holt.yml'), JSON.stringify(fleet))
  return loadFleet(dir)
}

/** What it is refused with; those of a file all have their place. */
export async function refused(form: Form, dir: string, fleet: object): Promise<readonly Fault[]> {
  const faults = await faultsOf(() => load(form, dir, fleet))
  for (const { file, line } of faults) {
    const placed = form === 'file' ? file === join(dir, 'holt.yml') && line === 1 : line === null
    if (!placed) throw new Error(`a fault without its place: ${file}:${line}`)
  }
  return faults
}

export const fieldsOf = (faults: readonly Fault[]): string[] => faults.map(({ field }) => field).sort()

/** The same supervisor at the top, and as a child of it. */
export const LEVELS: readonly { readonly level: string; readonly at: string; wrap(branch: Branch): object }[] = [
  { level: 'root', at: '', wrap: (branch) => branch },
  { level: 'nested', at: 'children[0].', wrap: (branch) => ({ children: [branch] }) },
]

export interface Branch {
  readonly supervisor: Readonly<Record<string, unknown>>
  readonly children?: unknown
}
