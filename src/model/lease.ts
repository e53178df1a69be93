/**
 * The epoch: a number per agent that only grows, one for each instance. Only the highest is believed; whatever an
 * older one says is refused and counted.
 */

/** Where epochs come from. The number it resolves to is higher than any before for that agent. */
export interface EpochStore {
  next(agent: string): Promise<number>
  current(agent: string): number
}

/** Whether something of this epoch is to be believed. */
export const isCurrent = (epoch: number, current: number): boolean => epoch === current
