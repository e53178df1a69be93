/** What the catalog answers with. Plain data; times in ms since the epoch. */
import type { Status } from '../model/canonical.ts'

/** An agent that is installed. */
export interface CatalogItem {
  readonly name: string
  readonly version: string
  /** Where it was installed from. */
  readonly source: string
  readonly installedAt: number
  /** Of its files. */
  readonly digest: string
  /** Its folder: where its `.env` belongs. */
  readonly dir: string
  /** Null where it is no member of the fleet. */
  readonly status: Status | null
  /** Of the instance that lives, which may have been started with another version; null: none lives. */
  readonly runningVersion: string | null
  /** Why it is no member of the fleet. */
  readonly fault: string | null
}

export interface InstallAnswer {
  readonly name: string
  readonly version: string
  readonly digest: string
  readonly dir: string
  /** `none`: that very package is installed already. */
  readonly change: 'installed' | 'replaced' | 'none'
  /** The version that was installed before. */
  readonly replaced: string | null
  /** The version that an instance goes on with until the agent is stopped and started; null: there is none. */
  readonly runsOn: string | null
  readonly files: number
  readonly bytes: number
  /** What is never taken into the catalog, of what was there: secrets (`.env`), version control. */
  readonly leftOut: readonly string[]
  /** It is new, and is started by this. */
  readonly starts: boolean
  /** Why that start failed; it is installed nevertheless. */
  readonly notStarted: string | null
  /** Nothing of this has been done. */
  readonly dryRun: boolean
}

/** What goes with an agent. */
export interface RemovedWith {
  readonly files: number
  readonly bytes: number
  /** That waited for it. */
  readonly messages: number
  readonly memoryKeys: number
  readonly sessions: number
}

export interface UninstallAnswer {
  readonly name: string
  readonly version: string
  /** Whether the agent goes too, with all its rows; not where holt.yml has one of the same id, which is another. */
  readonly agent: boolean
  readonly removed: RemovedWith
  /** Nothing of this has been done. */
  readonly dryRun: boolean
}
