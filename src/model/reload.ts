/** What a reload answers with. */
import type { AgentSnapshot } from './snapshot.ts'

export interface ReloadOutcome {
  /** Versions as the manifests have them. */
  readonly from: string
  readonly to: string
  /** What differs: fields of the manifest by path, `roles` where their code differs, `env` where its variables do. */
  readonly changed: readonly string[]
  /** A new instance has taken over. Not where nothing has changed, and not in a dry run. */
  readonly replaced: boolean
}

export type ReloadAnswer = AgentSnapshot & { readonly reload: ReloadOutcome }

export interface FleetReload {
  /** In start order. */
  readonly agents: readonly (ReloadOutcome & { readonly id: string })[]
}
