/**
 * A fleet as holt.yml describes it: the tree of supervisors and, for each agent in it, either its manifest or the
 * error that keeps it out, so that one bad agent never keeps the others from loading. Types only.
 */
import type { HoltError } from '../model/error.ts'
import type { AgentManifest, AgentObject, Backoff, RestartType, Shutdown } from './agent-manifest.ts'

/**
 * Who is restarted when a child has died. `one_for_one`: that child; `one_for_all`: all; `rest_for_one`: it and those
 * after it; `dynamic`: that child, of children that are added and removed at run time.
 */
export type Strategy = 'one_for_one' | 'one_for_all' | 'rest_for_one' | 'dynamic'

/** Whether a supervisor ends once its significant children have ended for good: never, with the first, with the last. */
export type AutoShutdown = 'never' | 'any_significant' | 'all_significant'

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
  /** Its end for good counts for the supervisor's {@link SupervisorManifest.autoShutdown}. @default false */
  readonly significant: boolean
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
  /** @default 'never' */
  readonly autoShutdown: AutoShutdown
  /** Of a `dynamic` one, 1 to 100000; null is no limit. @default null */
  readonly maxChildren: number | null
  /** Delays between its own restarts by the supervisor above. @default 1 s doubling to 5 min */
  readonly backoff: Backoff | 'none'
  /** As a child of the supervisor above. @default 'permanent' */
  readonly restart: RestartType
  /** As a child of the supervisor above. @default 'infinity' */
  readonly shutdown: Shutdown
  /** As of an agent. @default false */
  readonly significant: boolean
  /** In start order; none of a `dynamic` one. */
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
  /** Threads kept booted and empty for each heap size of the fleet; 0 to 64. @default 0 */
  readonly spares: number
  /** Agents the host may have, 1 to 100000; null: the file is silent, and the host's own limit holds. @default null */
  readonly maxAgents: number | null
  /** MB that are to stay free when an agent is started, 0 to 1048576; 0: nothing is looked at; null as above. @default null */
  readonly minFreeMb: number | null
}

interface SupervisorObject {
  readonly id: string
  readonly strategy?: Strategy
  readonly intensity?: number
  readonly periodMs?: number
  readonly auto_shutdown?: AutoShutdown
  /** Of a `dynamic` one only. */
  readonly maxChildren?: number | null
  readonly backoff?: Partial<Backoff> | 'none'
}

/** How a child stands under its supervisor. */
interface StandingObject {
  readonly restart?: RestartType
  readonly shutdown?: Shutdown
  readonly significant?: boolean
}

export type ChildObject =
  | (StandingObject & {
      /** A folder relative to the base folder, or the agent's manifest itself. */
      readonly agent: string | AgentObject
    })
  | (StandingObject & {
      readonly supervisor: SupervisorObject
      /** Left out for a `dynamic` one, else required. */
      readonly children?: readonly ChildObject[]
    })

/** A holt.yml as an object; an agent's manifest may stand in place of its path. */
export interface FleetObject {
  readonly supervisor?: SupervisorObject
  /** Left out where the supervisor is `dynamic`, else required. */
  readonly children?: readonly ChildObject[]
  readonly capabilities?: readonly string[]
  readonly spares?: number
  readonly maxAgents?: number
  readonly minFreeMb?: number
}

/** An agent added at run time. */
export interface SpawnedObject {
  /** A folder relative to the fleet's folder, or the agent's manifest itself. */
  readonly agent: string | AgentObject
  /** In place of the manifest's own id, so that one folder may be several agents. @default the manifest's own */
  readonly id?: string
  /** @default the agent's own `restart.type` */
  readonly restart?: RestartType
  /** @default the agent's own `limits.stopTimeoutMs` */
  readonly shutdown?: Shutdown
}
