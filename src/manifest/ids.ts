/**
 * Ids for agents whose manifest failed: they are shown and commanded like any other, so each needs an id that is valid
 * and that no other has. Pure.
 */
import { ID } from './fields.ts'

const MAX_ID = 63

/** The name of a folder as an id. */
export function idFromName(name: string): string {
  const id = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, MAX_ID)
  return ID.test(id) ? id : 'agent'
}

/** `wanted`, or `wanted-2`, `wanted-3`, … */
export function freeId(wanted: string, taken: { has(id: string): boolean }): string {
  if (!taken.has(wanted)) return wanted
  for (let n = 2; ; n++) {
    const suffix = `-${n}`
    const id = `${wanted.slice(0, MAX_ID - suffix.length)}${suffix}`
    if (!taken.has(id)) return id
  }
}
