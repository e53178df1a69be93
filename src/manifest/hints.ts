/**
 * What to do about a field that does not exist: it is not here yet, it belongs elsewhere, or another name was meant.
 * Read by check.ts; the names of the blocks come from DEFAULTS, so that they cannot drift.
 */

import { nearest } from '../model/nearest.ts'
import { DEFAULTS } from './defaults.ts'

const NOT_YET = 'this version does not have it yet'

const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['durable', NOT_YET],
  ['channels', NOT_YET],
  ['schedules', NOT_YET],
  ['spares', NOT_YET],
  ['significant', NOT_YET],
  ['auto_shutdown', NOT_YET],
  ['maxChildren', NOT_YET],
  ['cwd', "not supported: a thread shares the host's folder, which no agent may change"],
  ['env', 'put variables into a file .env beside agent.yml'],
])

/** Field to the block it belongs in. */
const HOMES: ReadonlyMap<string, string> = new Map(
  (['mailbox', 'limits', 'restart', 'supervisor'] as const).flatMap((block) =>
    Object.keys(DEFAULTS[block])
      .filter((key) => key !== 'id' && key !== 'type')
      .map((key) => [key, block] as const),
  ),
)

/** @param known the fields there are where `key` was found */
export function hintForUnknown(key: string, known: readonly string[]): string | undefined {
  const instead = INSTEAD.get(key)
  if (instead !== undefined) return instead
  const near = nearest(key, known)
  if (near !== undefined) return `did you mean ${near}?`
  const home = HOMES.get(key)
  return home === undefined ? undefined : `it belongs in ${home}`
}
