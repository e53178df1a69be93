/**
 * A fleet as holt.yml describes it: the tree of supervisors and, for each agent in it, either its manifest or the
 * error that keeps it out, so that one bad agent never keeps the others from loading. Types only.
 */
import type { HoltError } from '../model/error.ts'
import type { AgentManifest, AgentObject, RestartType, Shutdown } from './agent-manifest.ts'

/** Strategies of this version. */
export type Strategy = 'one_for_one'

/** An agent's manifest, or why there is none. The id of a failed one is the file's where it can be read, else the folder's. */
export type AgentResult =
  | { readonly ok: true; readonly manifest: AgentManifest }
  | { readonly ok: false; readonly id: string; readonly error: HoltError }

export interface AgentChild {
  readonly kind: 'agent'
  /** Unique in the fleet, also where the manifest failed. */
  readonly id: string
  /** Folder of the agent; for an object the base folder. */
  readonly dir: string
  /** @default the agent's own `restart.type` */
  readonly restart: RestartType
  /** @default the agent's own `limits.stopTimeoutMs` */
  readonly shutdown: Shutdown
  /** What the fleet's file itself says of the two above; null where it is silent. */
  readonly override: { readonly restart: RestartType | null; readonly shutdown: Shutdown | null }
  readonly result: AgentResult
}

export interface SupervisorManifest {
  readonly kind: 'supervisor'
  /** Unique in the fleet, among the agents' ids too. @default 'root' for the top one */
  readonly id: string
  /** @default 'one_for_one' */
  readonly strategy: Strategy
  /** Restarts allowed within {@link periodMs}; null where the file sets no budget. 0 to 10000. @default null */
  readonly intensity: number | null
  /** @default 5000 */
  readonly periodMs: number
  readonly restart: 'permanent'
  readonly shutdown: 'infinity'
  /** In start order. */
  readonly children: readonly ChildManifest[]
}

export type ChildManifest = AgentChild | SupervisorManifest

export interface FleetManifest {
  readonly dir: string
  /** The holt.yml; null where the fleet was handed over as an object. */
  readonly file: string | null
  readonly root: SupervisorManifest
  /** Absolute paths of the capability modules. @default none */
  readonly capabilities: readonly string[]
}

interface SupervisorObject {
  readonly id: string
  readonly strategy?: Strategy
  readonly intensity?: number
  readonly periodMs?: number
}

export type ChildObject =
  | {
      /** A folder relative to the base folder, or the agent's manifest itself. */
      readonly agent: string | AgentObject
      readonly restart?: RestartType
      readonly shutdown?: Shutdown
    }
  | { readonly supervisor: SupervisorObject; readonly children: readonly ChildObject[] }

/** A holt.yml as an object; an agent's manifest may stand in place of its path. */
export interface FleetObject {
  readonly supervisor?: SupervisorObject
  readonly children: readonly ChildObject[]
  readonly capabilities?: readonly string[]
}
