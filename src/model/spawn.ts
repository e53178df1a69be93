/** Adding an agent to a `dynamic` supervisor at run time: what is asked for, and what comes back. */

export interface SpawnOptions {
  /** Folder of the agent, relative to the fleet's; it may not lead out of that. */
  readonly agent: string
  /** Its id in the fleet. @default its manifest's id, with a number where that is taken */
  readonly id?: string
  /** @default its manifest's `restart.type` */
  readonly restart?: 'permanent' | 'transient' | 'temporary'
  /** Ms, `brutal_kill` or `infinity`. @default its manifest's `limits.stopTimeoutMs` */
  readonly shutdown?: number | 'brutal_kill' | 'infinity'
}

export interface Spawned {
  readonly id: string
  /** Id of its first instance, which is ACTIVE. */
  readonly instance: string
}
