/**
 * Whether there is memory for one more agent: a pure decision over what was measured. Asked before an agent is started that
 * did not run; one that ran keeps its place, and comes back whatever this says.
 */

/** An empty thread takes between 5 and 8 MB, measured; less is not assumed of an agent. */
export const LEAST_COST_MB = 8

/** What bears on one start. All in MB. */
export interface RoomCase {
  readonly agent: string
  /** Null: the platform does not say. */
  readonly availableMb: number | null
  /** To be left over once it has started; 0: nothing is looked at. */
  readonly minFreeMb: number
  /** By how much the process has grown since its host was opened. */
  readonly grownMb: number
  /** Agents that have a thread now. */
  readonly threads: number
  /** `limits.heapMb` of the one that is to start. */
  readonly heapMb: number
}

/** What was asked and what there is; `text` says what to do. */
export interface NoRoom {
  readonly needMb: number
  readonly availableMb: number
  readonly minFreeMb: number
  readonly text: string
}

/** What one more is expected to take: what one takes now in the mean, but no more than its own limit lets its heap be. */
export function costMb({ grownMb, threads, heapMb }: Pick<RoomCase, 'grownMb' | 'threads' | 'heapMb'>): number {
  const mean = threads === 0 ? 0 : grownMb / threads
  return Math.min(Math.max(mean, LEAST_COST_MB), heapMb + LEAST_COST_MB)
}

/** Why it is not to start; null: there is room. */
export function noRoom(asked: RoomCase): NoRoom | null {
  const { agent, availableMb, minFreeMb } = asked
  if (minFreeMb === 0 || availableMb === null) return null
  const needMb = costMb(asked)
  if (availableMb - needMb >= minFreeMb) return null
  const [need, has] = [Math.ceil(needMb), Math.floor(availableMb)]
  const text =
    `agent '${agent}' needs about ${need} MB, and ${minFreeMb} MB are to stay free (minFreeMb): the machine has ${has} MB left. ` +
    'Stop other agents, give the host more memory, or lower minFreeMb in holt.yml'
  return { needMb: need, availableMb: has, minFreeMb, text }
}
