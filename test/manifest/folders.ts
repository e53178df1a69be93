/**
 * Folders for the tests of this room: a tree of files from a plain object, in a temporary place that `removeFolders`
 * takes away again.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Fault } from '../../src/manifest/fault.ts'
import { HoltError } from '../../src/model/error.ts'

const made: string[] = []

/** A new folder with these files, by their relative paths. */
export function folder(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'holt-manifest-')))
  made.push(dir)
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true })
    writeFileSync(join(dir, name), content)
  }
  return dir
}

export function removeFolders(): void {
  for (const dir of made.splice(0)) rmSync(dir, { recursive: true, force: true })
}

export const ROLE = `export default { name: 'r', events: {}, commands: {} }\n`

/** An agent's folder with one role and this agent.yml. */
export const agentFolder = (yml: string | Uint8Array): string => folder({ 'agent.yml': yml, 'roles/main.ts': ROLE })

/** What a promise or a call refuses with; fails the test when it does not refuse, or with anything else. */
export async function refusal(attempt: () => unknown): Promise<HoltError> {
  try {
    await attempt()
  } catch (error) {
    if (error instanceof HoltError) return error
    throw new Error('expected a HoltError', { cause: error })
  }
  throw new Error('expected a refusal, but it went through')
}

export async function faultsOf(attempt: () => unknown): Promise<readonly Fault[]> {
  const error = await refusal(attempt)
  if (error.code !== 'InvalidManifest') throw new Error(`expected InvalidManifest, got ${error.code}`, { cause: error })
  return error.details['faults'] as readonly Fault[]
}

/** `field: found` of each fault: enough to tell which, and short enough to read. */
export const brief = (faults: readonly Fault[]): string[] => faults.map(({ field, found }) => `${field}: ${found}`)
