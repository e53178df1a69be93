/**
 * A first look over the tree of a fleet, before any agent is read: which agents there are and where, and what is wrong
 * with the tree by its own file alone, beyond what the schema of one field can say. Called by read-fleet.ts. Pure.
 */
import { DEFAULTS } from './defaults.ts'
import { describe, type Fault, type Finding, type Path, quoted } from './fault.ts'
import { faultAt, placeText, type Source } from './source.ts'
import type { ParsedAgent, ParsedBranch, ParsedChild, ParsedSupervisor } from './supervisor-schema.ts'

/** A child that is an agent, with its place in the tree. */
export interface Leaf {
  readonly parsed: ParsedAgent
  readonly path: Path
}

export interface Tree {
  readonly leaves: readonly Leaf[]
  /** Id of each supervisor to where it is written. */
  readonly supervisors: ReadonlyMap<string, string>
  readonly faults: readonly Fault[]
}

export const duplicate = (id: string, other: string): Finding => ({
  expected: 'an id that no other agent or supervisor of the fleet has',
  found: `${quoted(id)}, as at ${other}`,
})

/**
 * Why a child may not be significant. As in OTP: nobody would look, or it never ends for good. Where an agent's own
 * file says how it is restarted, that is for `refuseAsSignificant` to find.
 */
function* againstSignificance(child: ParsedChild, { id, auto_shutdown }: ParsedSupervisor): Generator<Finding> {
  if (!child.significant) return
  if (auto_shutdown === 'never') {
    const expected = `false, since auto_shutdown of the supervisor ${quoted(id)} is never`
    yield { expected, found: 'true', hint: 'set auto_shutdown to any_significant or all_significant' }
  }
  const type = child.restart ?? ('children' in child ? DEFAULTS.nested.restart : undefined)
  if (type !== 'permanent') return
  const found = `true beside restart ${child.restart === undefined ? `${type} (the default)` : describe(type)}`
  yield { expected: 'true only beside restart transient or temporary', found }
}

export function survey(source: Source, fleet: ParsedBranch): Tree {
  const leaves: Leaf[] = []
  const supervisors = new Map<string, string>()
  const faults: Fault[] = []
  const visit = (branch: ParsedBranch, path: Path): void => {
    const { id } = branch.supervisor
    const at = [...path, 'supervisor', 'id']
    const other = supervisors.get(id)
    if (other === undefined) supervisors.set(id, placeText(source, at))
    else faults.push(faultAt(source, at, duplicate(id, other)))
    for (const [index, child] of branch.children.entries()) {
      const inner = [...path, 'children', index]
      for (const finding of againstSignificance(child, branch.supervisor)) {
        faults.push(faultAt(source, [...inner, 'significant'], finding))
      }
      if ('children' in child) visit(child, inner)
      else leaves.push({ parsed: child, path: inner })
    }
  }
  visit(fleet, [])
  return { leaves, supervisors, faults }
}
