/**
 * Where installed agents stand: under a supervisor of their own below the root of the fleet, which the host makes. None of
 * the fleet's own agents is moved, and as long as nothing is installed it is not shown. Pure.
 */
import { DEFAULTS } from '../manifest/defaults.ts'
import type { SupervisorManifest } from '../manifest/fleet-manifest.ts'
import { freeId } from '../manifest/ids.ts'
import type { TreeNode } from '../model/view.ts'

const CATALOG = 'catalog'

export interface CatalogPlace {
  /** The fleet's tree, with the supervisor in it. */
  readonly root: SupervisorManifest
  /** Its id; null where there can be none: children of a `dynamic` root are added at run time and do not stay. */
  readonly supervisor: string | null
  /** Whether the host has made it; else it is the fleet's own. */
  readonly made: boolean
}

/** The fleet may have one itself, to set its budget or its delays: `catalog`, of strategy `one_for_one`. */
export function withCatalog(root: SupervisorManifest): CatalogPlace {
  const supervisors = supervisorsFrom(root)
  if (supervisors.some(({ id, strategy }) => id === CATALOG && strategy === 'one_for_one'))
    return { root, supervisor: CATALOG, made: false }
  if (root.strategy === 'dynamic') return { root, supervisor: null, made: false }
  const taken = new Set(supervisors.flatMap(({ id, children }) => [id, ...children.map((child) => child.id)]))
  const id = freeId(CATALOG, taken)
  return { root: { ...root, children: [...root.children, supervisorOf(id)] }, supervisor: id, made: true }
}

const supervisorsFrom = (top: SupervisorManifest): SupervisorManifest[] => [
  top,
  ...top.children.flatMap((child) => (child.kind === 'supervisor' ? supervisorsFrom(child) : [])),
]

const supervisorOf = (id: string): SupervisorManifest => ({
  kind: 'supervisor',
  id,
  strategy: 'one_for_one',
  intensity: null,
  periodMs: DEFAULTS.supervisor.periodMs,
  autoShutdown: DEFAULTS.supervisor.auto_shutdown,
  maxChildren: null,
  backoff: DEFAULTS.supervisor.backoff,
  ...DEFAULTS.nested,
  significant: false,
  children: [],
})

/** The tree as it is shown. */
export function withoutEmpty<T extends TreeNode>(
  node: T,
  { supervisor, made }: Pick<CatalogPlace, 'supervisor' | 'made'>,
): T {
  if (!made || node.children === undefined) return node
  const isEmpty = ({ id, children }: TreeNode): boolean => id === supervisor && children?.length === 0
  return { ...node, children: node.children.filter((child) => !isEmpty(child)) }
}
